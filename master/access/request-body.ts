/**
 * From bytes of a stranger to a value of a known shape: bounded, UTF-8, JSON, without keys that
 * could reach a prototype, then held against its schema. Nothing here recurses over the input.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { HTTP_LIMITS } from '@soda-scheduler/protocol';
import type { z } from 'zod';
import { findSyntaxError } from './json-syntax.ts';
import { type FieldError, invalidFields, Problem } from './problem.ts';

/** The client went away before its request was complete: there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

const FIELD_ERRORS_MAX = 20;
/** Containers around `params` in a submit body: the body itself and `task`. */
const CONTAINERS_ABOVE_PARAMS = 2;
const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Undefined where there is no body at all. */
export async function readJson(req: IncomingMessage, bytesMax: number): Promise<unknown> {
  const contentType = req.headers['content-type'];
  if (contentType !== undefined) checkContentType(contentType);
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new Problem(415, 'Compressed bodies are not supported.');
  }
  const bytes = await readBytes(req, bytesMax);
  if (bytes.length === 0) return undefined;
  if (contentType === undefined) throw new Problem(415, 'Expected Content-Type: application/json.');
  if (!isUtf8(bytes)) throw new Problem(400, 'The body is not valid UTF-8.');
  return parse(bytes.toString('utf8'));
}

function checkContentType(contentType: string): void {
  if (!/^application\/json *(; *charset="?utf-8"? *)?$/i.test(contentType)) {
    throw new Problem(415, 'Expected Content-Type: application/json, in UTF-8.');
  }
}

function readBytes(req: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let byteCount = 0;
    req.on('data', (chunk: Buffer) => {
      byteCount += chunk.length;
      if (byteCount <= bytesMax) {
        chunks.push(chunk);
        return;
      }
      // The rest is still read, and dropped: a client that is cut off never sees the refusal.
      chunks.length = 0;
      reject(new Problem(413, `The body is larger than ${bytesMax} bytes, the most allowed here.`));
    });
    req.on('end', () => resolve(Buffer.concat(chunks)));
    req.on('error', () => reject(new ClientGone()));
    req.on('close', () => {
      if (!req.complete) reject(new ClientGone());
    });
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const at = findSyntaxError(text);
    const before = text.slice(0, at);
    const line = before.split('\n').length;
    const column = at - before.lastIndexOf('\n');
    const what = at === text.length ? 'it ends too early' : 'unexpected character';
    throw new Problem(400, `The body is not valid JSON: ${what} at line ${line} column ${column}.`);
  }
}

/** @throws {Problem} 400, naming every field that is wrong and what was expected. */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const flaw = inspect(value);
  if (flaw !== null) throw invalidFields([flaw]);
  return checkShape(schema, value);
}

/** As `validate`, but takes what the schema leaves unknown as it is. @throws {Problem} 400 */
export function checkShape<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidFields(result.error.issues.flatMap(fieldErrorsOf).slice(0, FIELD_ERRORS_MAX));
}

function fieldErrorsOf(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: fieldName([...issue.path, key]),
      message: 'not a known field',
    }));
  }
  const message = issue.message.replace(/^Invalid input: /, '');
  return [{ field: fieldName(issue.path), message }];
}

interface Visit {
  readonly container: object;
  readonly key: string | number;
  readonly parent: Visit | null;
  readonly depth: number;
}

/**
 * What a schema of unknown contents cannot say: no key that could reach a prototype, no number
 * that JSON cannot write again (1e999 reads as infinity), `params` not too deep.
 */
function inspect(value: unknown): FieldError | null {
  if (typeof value !== 'object' || value === null) return null;
  const stack: Visit[] = [{ container: value, key: '', parent: null, depth: 1 }];
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const depth = visit.depth + 1;
    for (const [key, inner] of entriesOf(visit.container)) {
      if (typeof key === 'string' && forbiddenKeys.has(key)) {
        return { field: pathTo(visit, key), message: 'a key of this name is not allowed' };
      }
      if (typeof inner === 'number' && !Number.isFinite(inner)) {
        return { field: pathTo(visit, key), message: 'expected a number within double precision' };
      }
      if (typeof inner !== 'object' || inner === null) continue;
      if (depth > CONTAINERS_ABOVE_PARAMS + HTTP_LIMITS.paramsDepthMax) {
        const top = pathTo(visit, key, CONTAINERS_ABOVE_PARAMS);
        return { field: top, message: `expected at most ${HTTP_LIMITS.paramsDepthMax} levels` };
      }
      stack.push({ container: inner, key, parent: visit, depth });
    }
  }
  return null;
}

function entriesOf(container: object): Iterable<readonly [string | number, unknown]> {
  return Array.isArray(container) ? container.entries() : Object.entries(container);
}

function pathTo(visit: Visit, key: string | number, partsMax = Number.POSITIVE_INFINITY): string {
  const path: (string | number)[] = [key];
  for (let at: Visit | null = visit; at?.parent; at = at.parent) path.unshift(at.key);
  return fieldName(path.slice(0, partsMax));
}

/** `task.labels[0]`. Keys are the client's: long ones are cut. */
function fieldName(path: readonly PropertyKey[]): string {
  let name = '';
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`;
    else name += `${name === '' ? '' : '.'}${String(part).slice(0, 64)}`;
  }
  return name === '' ? 'body' : name.slice(0, 512);
}
