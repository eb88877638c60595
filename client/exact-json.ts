/** The JSON text of what a client has returned: parsed, its numbers may have lost digits. */
import { jsonAt, jsonElements, type JsonPath } from '@soda-scheduler/protocol';

const texts = new WeakMap<object, string>();

/** Keeps the text that `value` was parsed from, for as long as `value` is used. */
export function remember<T>(value: T, text: string): T {
  if (typeof value === 'object' && value !== null) texts.set(value, text);
  return value;
}

/** The same of all that stand in an array, whose text is given. */
export function rememberEach(values: readonly object[], text: string): void {
  const each = jsonElements(text);
  for (const [place, value] of values.entries()) remember(value, each[place] ?? '');
}

/**
 * The JSON of a task, an attempt, an event, a page or the body of a callback, or of what is at `path` in it, as
 * the master sent it: params and results are in there as they were given, with every digit, `1.0`
 * and the order of keys. `exactJson(task, 'result')` may be read by a parser that keeps large integers.
 * @throws {TypeError} `view` is not the very object that `get`, `wait`, `attempt`, `list`, `page`, `events` or
 *   `verifyCallback` returned, or there is nothing at `path`.
 */
export function exactJson(view: object, ...path: JsonPath): string {
  const text = texts.get(view);
  if (text === undefined) {
    throw new TypeError('exactJson() is for what a client returned itself, not for a copy of it.');
  }
  const found = jsonAt(text, path);
  if (found === undefined) throw new TypeError(`There is no ${path.join('.')} in it.`);
  return found;
}
