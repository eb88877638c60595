/** What differs between two definitions, value by value, as they are written. Reads every digit, and no meaning into any. */
import { jsonMembers } from './slice.ts';

export interface Difference {
  /** `limits.max_running` */
  readonly path: string;
  /** As JSON; undefined: it is not set. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Of two objects, as JSON. Lists are one value; space and escapes make no difference. */
export function differences(before: string, after: string): readonly Difference[] {
  const [was, is] = [leavesOf(before, ''), leavesOf(after, '')];
  const paths = new Set([...was.keys(), ...is.keys()]);
  return [...paths]
    .map((path) => ({ path, before: was.get(path), after: is.get(path) }))
    .filter((one) => one.before !== one.after);
}

function leavesOf(text: string, path: string): Map<string, string> {
  const members = [...jsonMembers(text)];
  if (members.length === 0) return path === '' ? new Map() : new Map([[path, compact(text)]]);
  const dot = path === '' ? '' : `${path}.`;
  return new Map(members.flatMap(([key, value]) => [...leavesOf(value, `${dot}${key}`)]));
}

function compact(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_, word: string | undefined) => {
    if (word === undefined || !word.includes('\\')) return word ?? '';
    return JSON.stringify(JSON.parse(word));
  });
}
