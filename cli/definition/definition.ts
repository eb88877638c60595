/** Definitions as people write them in files, and what has changed between two. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Difference } from '@soda-scheduler/protocol';
import { ExitCode, Failure } from '../exit-code.ts';
import { textOf } from '../options.ts';

type Fields = Record<string, unknown>;

/** The same as values, in which numbers have the digits that fit them. @throws {Failure} */
export async function readDefinitions<T>(sources: readonly string[], key: string): Promise<T[]> {
  return (await readTexts(sources, key)).map((text) => JSON.parse(text) as T);
}

/**
 * What is in files, in those of a folder, or comes from stdin for `-`: YAML or JSON, one document or several, or a list. As
 * JSON, with each number as it is written. @param key of the field by which each is named. @throws {Failure}
 */
export async function readTexts(sources: readonly string[], key: string): Promise<string[]> {
  const names = new Set<string>();
  const found: string[] = [];
  const faults: string[] = [];
  for (const source of (await Promise.all(sources.map(filesIn))).flat()) {
    const about = source === '-' ? 'stdin' : source;
    const { texts, wrong } = await readFrom(source, key, names);
    found.push(...texts);
    faults.push(...wrong.map((fault) => `${about}: ${fault}`));
  }
  const [fault = '', ...others] = faults;
  if (fault !== '' && others.length === 0) throw new Failure(fault, ExitCode.usage);
  throwIfAny(faults, 'nothing is read');
  return found;
}

const DEFINES = /\.(ya?ml|json)$/i;

/** Of a folder those that may define something, by name; not those of folders in it. @throws {Failure} */
async function filesIn(source: string): Promise<readonly string[]> {
  const isFolder = source !== '-' && (await stat(source).catch(() => null))?.isDirectory();
  if (isFolder !== true) return [source];
  const files = (await readdir(source)).filter((name) => DEFINES.test(name)).sort();
  if (files.length > 0) return files.map((name) => join(source, name));
  throw new Failure(`${source}: no .yaml, .yml or .json is in this folder`, ExitCode.usage);
}

/** @param names of those before, to which its own are added. */
async function readFrom(source: string, key: string, names: Set<string>) {
  const written = await textOf(source === '-' ? source : `@${source}`, '--file');
  const { documentsIn, jsonOf } = await import('./yaml.ts');
  const found: unknown[] = [];
  const wrong: string[] = [];
  for (const document of documentsIn(written)) {
    // What follows from the first is no fault of its own.
    const [error] = document.errors;
    if (error !== undefined) {
      wrong.push(error.message);
      continue;
    }
    const value: unknown = document.toJS();
    if (value !== null) found.push(...(Array.isArray(value) ? value : [value]));
  }
  if (found.length + wrong.length === 0) wrong.push('there is no definition in it');
  for (const [index, value] of found.entries()) {
    const name = ((typeof value === 'object' && value !== null ? value : {}) as Fields)[key];
    if (typeof name !== 'string') wrong.push(`definition ${index + 1} has no \`${key}\``);
    else if (names.size === names.add(name).size) wrong.push(`${name} is defined twice`);
  }
  return { texts: found.map(jsonOf), wrong };
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
