/**
 * What is wrong with a field, as a sentence: what was expected, and what was given. Of what was given
 * it says numbers and sizes only: a text may hold what belongs in no log.
 */
import { didYouMean } from '@soda-scheduler/protocol';
import { z } from 'zod';
import type { FieldError } from '../http/problem.ts';

/** A name longer than this is nobody's slip, and costs too much to compare. */
const NAME_LENGTH_MAX = 64;

const names: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

/** For `safeParse`: of the issues whose schema has no words of its own. */
export function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return expected(names[issue.expected] ?? issue.expected, issue.input);
    case 'too_small':
      return bound(issue, issue.inclusive ? 'at least' : 'above', issue.minimum);
    case 'too_big':
      return bound(issue, issue.inclusive ? 'at most' : 'below', issue.maximum);
    case 'invalid_value':
      return issue.values.length === 1
        ? `expected ${String(issue.values[0])}`
        : `expected one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return 'pattern' in issue ? `expected ${fitting(issue.pattern)}` : undefined;
    case 'unrecognized_keys':
      // `unknownField` takes it apart: the issue that comes out of zod has lost its schema.
      return knownIn(issue.inst).join(' ');
    default:
      return undefined;
  }
}

/** The same for programs, of what `inWords` has words for; `issue` has its input. */
export function inKinds(issue: z.core.$ZodIssue): Pick<FieldError, 'kind' | 'values'> {
  // Another schema has words of its own, which say more.
  if (issue.message !== inWords(issue as z.core.$ZodRawIssue)) return {};
  if (issue.code !== 'invalid_value' && issue.input === undefined) return { kind: 'required' };
  switch (issue.code) {
    case 'invalid_type':
      return { kind: 'wrong_type', values: { of: issue.expected } };
    case 'too_small':
      return boundOf(issue, issue.inclusive === true ? 'at_least' : 'above', issue.minimum);
    case 'too_big':
      return boundOf(issue, issue.inclusive === true ? 'at_most' : 'below', issue.maximum);
    case 'invalid_value':
      return { kind: 'one_of', values: { words: issue.values.map(String).join(', ') } };
    case 'invalid_format': {
      const found = charactersOf(issue.pattern ?? '');
      return found === null ? {} : { kind: 'characters', values: found };
    }
    default:
      return {};
  }
}

function boundOf(
  { origin }: { readonly origin: string },
  kind: FieldError['kind'] & string,
  limit: number | bigint,
): Pick<FieldError, 'kind' | 'values'> {
  const of = { array: 'entries', string: 'characters' }[origin] ?? 'number';
  return { kind, values: { of, limit: Number(limit) } };
}

/** Of names: so many characters of some that are listed. Nobody reads an expression. */
const OF_CHARACTERS = /^\/\^(?:\(\?!.*\$\))?\[([^\]]+)\]\{(\d+),(\d+)\}\$\/u?$/;

function fitting(pattern: string): string {
  const found = charactersOf(pattern);
  if (found === null) return 'text of another form';
  return `${found.least} to ${found.most} characters of ${found.of}`;
}

function charactersOf(pattern: string) {
  const [, characters, least, most] = OF_CHARACTERS.exec(pattern) ?? [];
  if (characters === undefined) return null;
  const each = characters.match(/\w-\w|\\.|./g) ?? [];
  return { least: Number(least), most: Number(most), of: each.join(' ') };
}

/** `message`: what `inWords` said of the keys that are not known. */
export function unknownField(name: string, message: string): string {
  if (name.length > NAME_LENGTH_MAX) return 'not a known field';
  return `not a known field${didYouMean(name, message.split(' '))}`;
}

function knownIn(schema: unknown): string[] {
  return schema instanceof z.core.$ZodObject ? Object.keys(schema._zod.def.shape) : [];
}

function bound(
  { origin, input }: { readonly origin: string; readonly input?: unknown },
  side: string,
  limit: number | bigint,
): string {
  if (origin === 'array') return expected(`${side} ${counted(limit, 'entry', 'entries')}`, input);
  if (origin === 'string') return expected(`${side} ${counted(limit, 'character')}`, input);
  return expected(`a number ${side.startsWith('at') ? `of ${side}` : side} ${limit}`, input);
}

function expected(what: string, input?: unknown): string {
  return input === undefined
    ? `required: expected ${what}`
    : `expected ${what}, given ${given(input)}`;
}

function given(value: unknown): string {
  if (typeof value === 'string') return `text of ${counted(value.length, 'character')}`;
  if (Array.isArray(value)) return `a list of ${counted(value.length, 'entry', 'entries')}`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function counted(count: number | bigint, one: string, more = `${one}s`): string {
  return `${count} ${Number(count) === 1 ? one : more}`;
}
