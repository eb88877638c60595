/** JSON that keeps the spelling it was given, on its way through code that writes JSON. */
import { BrokenJson, RefusedJson, scanValue } from './scan.ts';

/** Made by `rawJson`. */
export class RawJson {
  /** Without white space around it. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Nothing but the whole of a value can be given so: it must not become something else in silence. */
  toJSON(): never {
    throw new TypeError('What rawJson() returns stands for a whole value, not for a part of one.');
  }
}

/**
 * A value as JSON text, to be handed on as it is written: every digit of its numbers, `1.0`, the order
 * of its keys, its escapes. It may be given wherever a whole value is (params, a result, a checkpoint,
 * the state of a progress report), not as a part of one.
 * @throws {SyntaxError} it is not JSON, has a key twice in an object, since readers differ on which of
 *   the two counts, or more than 1,000 levels. The message says where.
 */
export function rawJson(text: string): RawJson {
  try {
    scanValue(text);
  } catch (error) {
    if (error instanceof RefusedJson) throw new SyntaxError(refusalOf(error));
    if (error instanceof BrokenJson) throw new SyntaxError(`not JSON: ${placeOf(text, error.at)}`);
    throw error;
  }
  return new RawJson(text.replace(/^[ \t\n\r]+|[ \t\n\r]+$/g, ''));
}

/** As `JSON.stringify`, which it is but for what `rawJson` has made. */
export function jsonText(value: unknown): string | undefined {
  return value instanceof RawJson ? value.text : JSON.stringify(value);
}

/**
 * The JSON of an object, with members whose values are JSON texts already; undefined: left out.
 * The names of these are written as they are.
 */
export function jsonObject(
  fields: object,
  texts: Readonly<Record<string, string | null | undefined>>,
): string {
  let json = JSON.stringify(fields).slice(0, -1);
  for (const name in texts) {
    const text = texts[name];
    if (text === undefined) continue;
    json += `${json === '{' ? '' : ','}"${name}":${text ?? 'null'}`;
  }
  return `${json}}`;
}

/** In one line: `a[0].b: this key is there twice`. */
export function refusalOf({ path, message }: RefusedJson): string {
  let name = '';
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`;
    else name += `${name === '' ? '' : '.'}${part.slice(0, 64)}`;
  }
  return name === '' ? message : `${name.slice(0, 512)}: ${message}`;
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const column = at - before.lastIndexOf('\n');
  const what = at >= text.length ? 'it ends too early' : 'unexpected character';
  return `${what} at line ${line} column ${column}`;
}
