/** Definitions as people write them in files, and what has changed between two. */
import type { Difference } from '@soda-scheduler/protocol';
import { ExitCode, Failure } from '../exit-code.ts';
import { textOf } from '../options.ts';

type Fields = Record<string, unknown>;

/** The same as values, in which numbers have the digits that fit them. @throws {Failure} */
export async function readDefinitions<T>(source: string, key: string): Promise<T[]> {
  return (await readTexts(source, key)).map((text) => JSON.parse(text) as T);
}

/**
 * What is in a file, or comes from stdin for `-`: YAML or JSON, one document or several, or a list. As JSON, with each
 * number as it is written. @param key of the field by which each is named. @throws {Failure}
 */
export async function readTexts(source: string, key: string): Promise<string[]> {
  const fail = (why: string) => new Failure(`${source}: ${why}`, ExitCode.usage);
  const written = await textOf(source === '-' ? source : `@${source}`, '--file');
  const { documentsIn, jsonOf } = await import('./yaml.ts');
  const documents = documentsIn(written);
  const found: unknown[] = [];
  const faults: string[] = [];
  for (const document of documents) {
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
  return found.map(jsonOf);
}

/** All that is wrong, at once: a line for each. @throws {Failure} */
export function throwIfAny(faults: readonly string[], about: string): void {
  if (faults.length === 0) return;
  const lines = faults.length === 1 ? ` ${faults[0]}` : `\n  ${faults.join('\n  ')}`;
  throw new Failure(`${about}:${lines}`, ExitCode.usage);
}

/** `limits.max_running: 5 -> 8` */
export function changeInWords({ path, before, after }: Difference): string {
  return `${path}: ${before ?? 'not set'} -> ${after ?? 'not set'}`;
}
