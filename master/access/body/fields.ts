/** From the text of a body to fields of a known shape, or to a refusal that names those at fault. */
import type { z } from 'zod';
import { type FieldError, invalidFields, Problem } from '../http/problem.ts';
import {
  BrokenJson,
  type ParamsPlace,
  type Range,
  RefusedJson,
  scanJson,
} from '@soda-scheduler/protocol';
import { detached } from '../detached.ts';
import { runAtOnce } from './pieces.ts';
import { inKinds, inWords, unknownField } from './words.ts';

const FIELD_ERRORS_MAX = 20;
const NEWLINE = 0x0a;
const STEP_BYTES = 64 * 1024;

/**
 * The fields of a body; one that is left out counts as `{}`. `first` may refuse it before its shape is looked at.
 * @throws {Problem} 400, naming every field that is wrong and what was expected.
 */
export function validate<S extends z.ZodType>(
  schema: S,
  body: Buffer | undefined,
  first?: (value: unknown) => void,
): z.output<S> {
  const value = valueOf(body);
  first?.(value);
  return checkShape(schema, value);
}

/** What a body says, of whatever shape; one that is left out counts as `{}`. @throws {Problem} 400: it is no JSON. */
export function valueOf(body: Buffer | undefined): unknown {
  return valueWithParams(body, null).value;
}

/** The same, with the params that are looked for. @throws {Problem} 400: it is no JSON. */
export function valueWithParams(body: Buffer | undefined, paramsIn: ParamsPlace | null): ReadJson {
  if (body === undefined) return { value: {}, params: null };
  try {
    return readJson(body, { start: 0, end: body.length }, paramsIn);
  } catch (error) {
    throw error instanceof BrokenJson ? runAtOnce(problemOfBroken(body, error.at)) : error;
  }
}

/** The fields in which nothing is wrong, and what is wrong with the others: so that all of it can be told at once. */
export function soundFields<S extends z.ZodObject>(
  schema: S,
  value: unknown,
): { readonly fields: Partial<z.output<S>>; readonly errors: readonly FieldError[] } {
  const result = schema.safeParse(value, { error: inWords, reportInput: true });
  if (result.success) return { fields: result.data, errors: [] };
  const { issues } = result.error;
  const wrong = new Set(
    issues.flatMap((issue) =>
      issue.path.length === 0 && issue.code === 'unrecognized_keys' ? issue.keys : issue.path[0],
    ),
  );
  const sound = Object.entries(value ?? {}).filter(([name]) => !wrong.has(name));
  const { data = {} } = schema.partial().safeParse(Object.fromEntries(sound));
  return { fields: data as Partial<z.output<S>>, errors: errorsOf(issues) };
}

interface ReadJson {
  /** The value of params that were looked for is null in it, for nobody here reads it. */
  readonly value: unknown;
  /** As written, where they were looked for and are there. */
  readonly params: string | null;
}

/**
 * Reads a piece of a body, in one go.
 * @throws {BrokenJson} with the place in the whole of `bytes`.
 * @throws {Problem} 400, for JSON that is not taken, whatever its shape.
 */
export function readJson(
  bytes: Buffer,
  { start, end }: Range,
  paramsIn: ParamsPlace | null,
): ReadJson {
  const text = bytes.toString('utf8', start, end);
  try {
    const params = scanJson(text, paramsIn);
    if (params === null) return { value: JSON.parse(text), params: null };
    const rest = `${text.slice(0, params.start)}null${text.slice(params.end)}`;
    return { value: JSON.parse(rest), params: detached(text.slice(params.start, params.end)) };
  } catch (error) {
    if (error instanceof RefusedJson) throw problemOfRefused(error);
    if (!(error instanceof BrokenJson)) throw error;
    throw new BrokenJson(start + Buffer.byteLength(text.slice(0, error.at)));
  }
}

export function problemOfRefused({ path, message }: RefusedJson): Problem {
  return invalidFields([{ field: fieldName(path), message }]);
}

/** It takes its time over a body of many lines, and yields. */
export function* problemOfBroken(bytes: Buffer, at: number): Generator<void, Problem> {
  let line = 1;
  let lineStart = 0;
  for (let place = 0; place < at; place++) {
    if (place % STEP_BYTES === 0) yield;
    if (bytes[place] !== NEWLINE) continue;
    line += 1;
    lineStart = place + 1;
  }
  const column = bytes.toString('utf8', lineStart, at).length + 1;
  const what = at === bytes.length ? 'it ends too early' : 'unexpected character';
  const detail = `The body is not valid JSON: ${what} at line ${line} column ${column}.`;
  return new Problem('invalid', detail);
}

/** For a value whose keys and depth are known to be harmless. @throws {Problem} 400 */
export function checkShape<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value, { error: inWords, reportInput: true });
  if (result.success) return result.data;
  throw invalidFields(errorsOf(result.error.issues));
}

function errorsOf(issues: readonly z.core.$ZodIssue[]): readonly FieldError[] {
  const first = issues.slice(0, FIELD_ERRORS_MAX);
  // Of several bounds the last is the narrowest: it is what is meant.
  const meant = first.filter((issue, at) => !isSameBound(issue, first[at + 1]));
  return meant.flatMap(fieldErrorsOf).slice(0, FIELD_ERRORS_MAX);
}

function isSameBound(one: z.core.$ZodIssue, other: z.core.$ZodIssue | undefined): boolean {
  const isBound = one.code === 'too_big' || one.code === 'too_small';
  return isBound && one.code === other?.code && fieldName(one.path) === fieldName(other.path);
}

function fieldErrorsOf(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, FIELD_ERRORS_MAX).map((key) => ({
      field: fieldName([...issue.path, key]),
      message: unknownField(key, issue.message),
      kind: 'unknown_field',
    }));
  }
  return [{ field: fieldName(issue.path), message: issue.message, ...inKinds(issue) }];
}

/** `task.labels[0]`. Keys are the client's: long ones are cut. */
export function fieldName(path: readonly PropertyKey[]): string {
  let name = '';
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`;
    else name += `${name === '' ? '' : '.'}${String(part).slice(0, 64)}`;
  }
  return name === '' ? 'body' : name.slice(0, 512);
}
