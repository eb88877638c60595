/**
 * Finds the items of `{"tasks": [...]}` in bytes, without making values of them: inside of an
 * item it looks for the ends of strings and for brackets only. So a body of any kind costs little
 * more than its bytes. Whether an item is JSON is found by whoever reads it.
 */
import { BrokenJson, HTTP_LIMITS, type Range, RefusedJson } from '@soda-scheduler/protocol';

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** Looked at between two yields, in some hundred microseconds. */
const STEP_BYTES = 64 * 1024;
/** A longer key is not worth reading. */
const KEY_BYTES_MAX = 256;
const LIST_EXPECTED = `expected a list of 1 to ${HTTP_LIMITS.batchCountMax} tasks`;

/**
 * Adds the places of the items, by bytes, to `items`.
 * @throws {BrokenJson} what is around the items is not JSON: as far as it came, the items are those
 * added by then, with the one that has no end.
 * @throws {RefusedJson} it is anything but an object with such a list, or has other keys.
 */
export function* findItems(bytes: Buffer, items: Range[]): Generator<void, void> {
  let at = yield* skipSpace(bytes, 0);
  if (bytes[at] !== BRACE_OPEN) throw new RefusedJson([], 'expected an object');
  at = yield* skipSpace(bytes, at + 1);
  while (bytes[at] !== BRACE_CLOSE || items.length > 0) {
    if (bytes[at] !== QUOTE) broken(at);
    const keyEnd = (yield* skipValue(bytes, at)) ?? broken(bytes.length);
    const key = keyOf(bytes, at, keyEnd);
    if (key !== 'tasks') throw new RefusedJson([key], 'not a known field');
    if (items.length > 0) throw new RefusedJson([key], 'this key is there twice');
    at = yield* skipSpace(bytes, keyEnd);
    if (bytes[at] !== COLON) broken(at);
    at = yield* skipSpace(bytes, at + 1);
    at = yield* findElements(bytes, at, items);
    at = yield* skipSpace(bytes, at);
    if (bytes[at] === BRACE_CLOSE) break;
    if (bytes[at] !== COMMA) broken(at);
    at = yield* skipSpace(bytes, at + 1);
  }
  at = yield* skipSpace(bytes, at + 1);
  if (at < bytes.length) broken(at);
  if (items.length === 0) throw new RefusedJson(['tasks'], LIST_EXPECTED);
}

/** Returns where the list ends. */
function* findElements(bytes: Buffer, from: number, items: Range[]): Generator<void, number> {
  if (bytes[from] !== BRACKET_OPEN) throw new RefusedJson(['tasks'], LIST_EXPECTED);
  let at = yield* skipSpace(bytes, from + 1);
  if (bytes[at] === BRACKET_CLOSE) throw new RefusedJson(['tasks'], LIST_EXPECTED);
  for (;;) {
    const end = yield* skipValue(bytes, at);
    if (end === at) broken(at);
    if (items.push({ start: at, end: end ?? bytes.length }) > HTTP_LIMITS.batchCountMax) {
      throw new RefusedJson(['tasks'], LIST_EXPECTED);
    }
    if (end === null) return broken(bytes.length);
    at = yield* skipSpace(bytes, end);
    if (bytes[at] === BRACKET_CLOSE) return at + 1;
    if (bytes[at] !== COMMA) broken(at);
    at = yield* skipSpace(bytes, at + 1);
  }
}

function broken(at: number): never {
  throw new BrokenJson(at);
}

function keyOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, Math.min(end, start + KEY_BYTES_MAX));
  if (end - start > KEY_BYTES_MAX) return text.slice(1);
  try {
    return JSON.parse(text);
  } catch {
    return broken(start);
  }
}

function* skipSpace(bytes: Buffer, from: number): Generator<void, number> {
  let at = from;
  for (;;) {
    const stepEnd = Math.min(at + STEP_BYTES, bytes.length);
    for (; at < stepEnd; at++) {
      const byte = bytes[at];
      if (byte !== SPACE && byte !== NEWLINE && byte !== RETURN && byte !== TAB) return at;
    }
    if (at === bytes.length) return at;
    yield;
  }
}

/** The end of the value that begins there; `from` itself where none does, null where it has none. */
function* skipValue(bytes: Buffer, from: number): Generator<void, number | null> {
  let at = from;
  let depth = 0;
  let isInString = false;
  while (at < bytes.length) {
    for (const stepEnd = Math.min(at + STEP_BYTES, bytes.length); at < stepEnd; at++) {
      const byte = bytes[at];
      if (isInString) {
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) {
          isInString = false;
          if (depth === 0) return at + 1;
        }
      } else if (byte === QUOTE) isInString = true;
      else if (byte === BRACE_OPEN || byte === BRACKET_OPEN) depth += 1;
      else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) {
        if (depth === 0) return at;
        depth -= 1;
        if (depth === 0) return at + 1;
      } else if (depth === 0 && (byte === COMMA || byte === COLON || byte === SPACE)) return at;
      else if (depth === 0 && (byte === NEWLINE || byte === RETURN || byte === TAB)) return at;
    }
    yield;
  }
  return null;
}
