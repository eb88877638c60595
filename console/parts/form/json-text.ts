/** JSON as text that is changed in places, and what differs in it: what nobody has touched keeps every digit. */
import { jsonAt } from '@soda-scheduler/protocol';

/** An object with these members, each as it is written; those that are undefined are left out. */
export function joined(
  keys: readonly string[],
  textAt: (key: string) => string | undefined,
): string {
  const members = keys.flatMap((key) => {
    const value = textAt(key);
    return value === undefined ? [] : [`${JSON.stringify(key)}:${value}`];
  });
  return `{${members.join(',')}}`;
}

export interface Difference {
  /** `limits.max_running` */
  readonly path: string;
  /** As JSON; undefined: it is not set. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Of two definitions, value by value. */
export function differences(before: string, after: string): readonly Difference[] {
  const [was, is] = [leavesOf(before, ''), leavesOf(after, '')];
  const paths = new Set([...was.keys(), ...is.keys()]);
  return [...paths]
    .map((path) => ({ path, before: was.get(path), after: is.get(path) }))
    .filter((one) => one.before !== one.after);
}

/** As they are written, but for the space between values: lists are one. */
function leavesOf(text: string, path: string): Map<string, string> {
  const value = JSON.parse(text) as unknown;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const keys = isObject ? Object.keys(value) : [];
  if (keys.length === 0) return path === '' ? new Map() : new Map([[path, compact(text)]]);
  const dot = path === '' ? '' : `${path}.`;
  return new Map(
    keys.flatMap((key) => [...leavesOf(jsonAt(text, [key]) ?? 'null', `${dot}${key}`)]),
  );
}

const compact = (text: string): string => text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
