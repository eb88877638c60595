/**
 * What is said of something that was thrown, here and to the master. Never throws: anything may be
 * thrown, and the fields of an error may hold anything.
 */
import { types } from 'node:util';

/** Of `stackOf`, as UTF-8. */
const STACK_BYTES_MAX = 4_096;
const CAUSES_MAX = 5;
const HEAD_LENGTH_MAX = 1_024;

/** These are thrown by the language itself: the program is wrong, not what it was given. */
const BUGS: ReadonlySet<string> = new Set(['TypeError', 'ReferenceError', 'SyntaxError']);

/** An error of another realm (`node:vm`) is one too. */
function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown);
}

/** `name` and `message` of an error; of anything else that was thrown its text. */
export function partsOf(thrown: unknown): { readonly name: string; readonly message: string } {
  if (!isError(thrown)) return { name: 'Error', message: textOf(thrown) };
  return { name: field(thrown, 'name'), message: field(thrown, 'message') };
}

/** In one line. */
export function headlineOf(thrown: unknown): string {
  const { name, message } = partsOf(thrown);
  return `${name}: ${message}`.slice(0, HEAD_LENGTH_MAX).replaceAll(/\s+/g, ' ').trim();
}

/**
 * Where it was thrown, then the same of its causes; each has its share of `STACK_BYTES_MAX`.
 * Undefined for what is no error, since that knows nothing of it.
 */
export function stackOf(thrown: unknown): string | undefined {
  if (!isError(thrown)) return undefined;
  const chain = chainOf(thrown);
  const share = Math.floor(STACK_BYTES_MAX / chain.length);
  const parts = chain.map((link, index) => {
    const { name, message } = partsOf(link);
    const head = `${index === 0 ? '' : 'caused by '}${name}: ${message}`;
    const shown = head.slice(0, Math.min(HEAD_LENGTH_MAX, share / 2));
    return cutBytes(shown + framesOf(link), share - 1);
  });
  return parts.join('\n');
}

/**
 * Whether the program is wrong. The innermost cause says so: a `TypeError` around something else is
 * how libraries, `fetch` among them, report what went wrong outside.
 */
export function isBug(thrown: unknown): boolean {
  return isError(thrown) && BUGS.has(partsOf(chainOf(thrown).at(-1)).name);
}

function chainOf(error: Error): unknown[] {
  const chain: unknown[] = [error];
  while (chain.length <= CAUSES_MAX) {
    const cause = causeOf(chain.at(-1));
    if (cause === undefined || cause === null || chain.includes(cause)) break;
    chain.push(cause);
  }
  return chain;
}

function causeOf(error: unknown): unknown {
  if (!isError(error)) return undefined;
  try {
    return error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
  } catch {
    return undefined;
  }
}

/** Without the head, which was made before the error had its name. */
function framesOf(error: unknown): string {
  if (!isError(error)) return '';
  const stack = field(error, 'stack');
  const from = stack.search(/\n\s+at /);
  return from < 0 ? '' : stack.slice(from);
}

function field(error: Error, name: 'name' | 'message' | 'stack'): string {
  try {
    return textOf(error[name]);
  } catch {
    return '';
  }
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'The handler threw a value that cannot be shown.';
  }
}

function cutBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  // A character that was cut in two decodes to one that says so.
  return bytes
    .subarray(0, bytesMax)
    .toString()
    .replace(/\ufffd$/, '');
}
