/** What options are given: one value or several, in place, in a file or on stdin. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError, type Option } from 'commander';
import { ExitCode, Failure } from './exit-code.ts';

/** As it stands; of `@file` what is in that file, of `-` what comes on stdin. `what`: for people. @throws {Failure} */
export async function textOf(source: string, what = source): Promise<string> {
  try {
    if (source === '-') return await text(process.stdin);
    return source.startsWith('@') ? await readFile(source.slice(1), 'utf8') : source;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(`${what}: ${why}`, ExitCode.usage);
  }
}

/** Of an option that may be repeated: all its values. */
export const more = (value: string, before: string[] = []): string[] => [...before, value];

/** A second value would take the place of the first without a word. */
export function once(option: Option): Option {
  const { parseArg: parse } = option;
  return option.argParser((value: string, previous?: string) => {
    if (previous !== undefined) throw new InvalidArgumentError('It takes one value only.');
    return parse?.<string | undefined>(value, previous) ?? value;
  });
}

/** Of things: none is no answer to how many. */
export function count(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value > 0 && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('Expected a whole number from 1 on.');
}

export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || Number.isNaN(value))
    throw new InvalidArgumentError('Expected a number.');
  return value;
}
