/** Definitions as people write them in files, and what has changed between two. */
import { ExitCode, Failure } from '../exit-code.ts';
import { textOf } from '../options.ts';

type Fields = Record<string, unknown>;

export interface Change {
  /** `limits.max_running`. */
  readonly path: string;
  /** Undefined: it was not set, or is not set any more. */
  readonly from: unknown;
  readonly to: unknown;
}

/**
 * What is in a file, or comes from stdin for `-`: YAML or JSON, one document or several, or a list.
 * @param key of the field by which each is named. @throws {Failure}
 */
export async function readDefinitions<T>(source: string, key: string): Promise<T[]> {
  const fail = (why: string) => new Failure(`${source}: ${why}`, ExitCode.usage);
  const written = await textOf(source === '-' ? source : `@${source}`, '--file');
  const { parseAllDocuments } = await import('./yaml.ts');
  const documents = parseAllDocuments(written);
  const found: unknown[] = [];
  const faults: string[] = [];
  for (const document of 'empty' in documents ? [] : documents) {
    // What follows from the first is no fault of its own.
    const [error] = document.errors;
    if (error !== undefined) {
      faults.push(error.message);
      continue;
    }
    const value: unknown = document.toJS();
    if (value !== null) found.push(...(Array.isArray(value) ? value : [value]));
  }
  if (found.length + faults.length === 0) throw fail('there is no definition in it');
  const names = new Set<string>();
  for (const [index, value] of found.entries()) {
    const name = ((typeof value === 'object' && value !== null ? value : {}) as Fields)[key];
    if (typeof name !== 'string') faults.push(`definition ${index + 1} has no \`${key}\``);
    else if (names.size === names.add(name).size) faults.push(`${name} is defined twice`);
  }
  throwIfAny(faults, source);
  return found as T[];
}

/** All that is wrong, at once: a line for each. @throws {Failure} */
export function throwIfAny(faults: readonly string[], about: string): void {
  if (faults.length === 0) return;
  const lines = faults.length === 1 ? ` ${faults[0]}` : `\n  ${faults.join('\n  ')}`;
  throw new Failure(`${about}:${lines}`, ExitCode.usage);
}

/** By path, what is not the same in both. Lists are compared as a whole. */
export function changesBetween(before: object, after: object): Change[] {
  const [from, to] = [leavesOf(before), leavesOf(after)];
  const paths = [...new Set([...from.keys(), ...to.keys()])];
  return paths
    .filter((path) => JSON.stringify(from.get(path)) !== JSON.stringify(to.get(path)))
    .map((path) => ({ path, from: from.get(path), to: to.get(path) }));
}

/** `limits.max_running: 5 -> 8` */
export function changeInWords({ path, from, to }: Change): string {
  const shown = (value: unknown) => (value === undefined ? 'not set' : JSON.stringify(value));
  return `${path}: ${shown(from)} -> ${shown(to)}`;
}

export function leavesOf(fields: object, before = ''): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  for (const [name, value] of Object.entries(fields)) {
    const path = before + name;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      leaves.set(path, value);
    else for (const [inner, leaf] of leavesOf(value, `${path}.`)) leaves.set(inner, leaf);
  }
  return leaves;
}
