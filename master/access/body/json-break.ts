/**
 * Finds where bytes stop being JSON, however long or deep they are, and makes no values of them. For what
 * is refused for another reason before it was read to its end.
 */
import type { Range } from '@soda-scheduler/protocol';

/** Looked at between two yields, in some hundred microseconds. */
const STEP_BYTES = 32 * 1024;
const STACK_BYTES_MIN = 1024;

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACKET_OPEN = 0x5b;
const BRACE_OPEN = 0x7b;
const isSpace = (byte: number) => byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;
const codes = (text: string): ReadonlySet<number> => new Set(Buffer.from(text));
const ESCAPED = codes('"\\/bfnrt');
const HEX = codes('0123456789abcdefABCDEF');

/** What may come next; of a number, by what has come of it. */
type State =
  | 'value'
  | 'valueOrEnd'
  | 'key'
  | 'keyOrEnd'
  | 'colon'
  | 'after'
  | 'string'
  | 'escape'
  | 'hex'
  | 'word'
  | 'minus'
  | 'zero'
  | 'integer'
  | 'point'
  | 'fraction'
  | 'exponent'
  | 'sign'
  | 'power';

/** A number that has come so far may be over. */
const WHOLE_NUMBER: ReadonlySet<State> = new Set(['zero', 'integer', 'fraction', 'power']);

/**
 * The place of the first byte that no JSON goes on with, in the whole of `bytes`: of an escape or a word
 * its beginning, `end` where the value is cut off. Null: it is one JSON value.
 */
export function* findBreak(bytes: Buffer, { start, end }: Range): Generator<void, number | null> {
  const reader = new Reader();
  for (let at = start; at < end; ) {
    for (const stepEnd = Math.min(at + STEP_BYTES, end); at < stepEnd; at++) {
      const back = reader.read(bytes[at] ?? 0);
      if (back !== null) return at - back;
    }
    yield;
  }
  return reader.isWhole ? null : end;
}

class Reader {
  #state: State = 'value';
  #isKey = false;
  /** The bytes that opened what it is in. */
  #stack = new Uint8Array(STACK_BYTES_MIN);
  #depth = 0;
  #word = '';
  /** Of the word, the escape or its digits, read so far. */
  #readCount = 0;

  get isWhole(): boolean {
    return this.#depth === 0 && (this.#state === 'after' || WHOLE_NUMBER.has(this.#state));
  }

  /** Null: it goes on. Else how far back the break is. */
  read(byte: number): number | null {
    switch (this.#state) {
      case 'string':
        return this.#inString(byte);
      case 'escape':
        if (byte === 0x75) this.#state = 'hex';
        else if (ESCAPED.has(byte)) this.#state = 'string';
        else return 1;
        this.#readCount = 2;
        return null;
      case 'hex':
        if (!HEX.has(byte)) return this.#readCount;
        if (++this.#readCount === 6) this.#state = 'string';
        return null;
      case 'word':
        if (byte !== this.#word.charCodeAt(this.#readCount)) return this.#readCount;
        if (++this.#readCount === this.#word.length) this.#state = 'after';
        return null;
      case 'minus':
        return this.#go(byte === 0x30 ? 'zero' : isDigit(byte) ? 'integer' : null);
      case 'point':
        return this.#go(isDigit(byte) ? 'fraction' : null);
      case 'exponent':
        if (byte === 0x2b || byte === 0x2d) return this.#go('sign');
        return this.#go(isDigit(byte) ? 'power' : null);
      case 'sign':
        return this.#go(isDigit(byte) ? 'power' : null);
      case 'zero':
      case 'integer':
      case 'fraction':
      case 'power':
        return this.#inNumber(this.#state, byte);
      default:
        return isSpace(byte) ? null : this.#between(this.#state, byte);
    }
  }

  #go(state: State | null): number | null {
    if (state === null) return 0;
    this.#state = state;
    return null;
  }

  #inString(byte: number): number | null {
    if (byte === BACKSLASH) this.#state = 'escape';
    else if (byte === QUOTE) this.#state = this.#isKey ? 'colon' : 'after';
    else if (byte < SPACE) return 0;
    return null;
  }

  #inNumber(state: 'zero' | 'integer' | 'fraction' | 'power', byte: number): number | null {
    if (isDigit(byte)) return state === 'zero' ? 0 : null;
    if (byte === 0x2e && (state === 'zero' || state === 'integer')) return this.#go('point');
    if ((byte === 0x65 || byte === 0x45) && state !== 'power') return this.#go('exponent');
    this.#state = 'after';
    return isSpace(byte) ? null : this.#between('after', byte);
  }

  /** Between two tokens, at the first byte of one. */
  #between(state: State, byte: number): number | null {
    const container = this.#stack[this.#depth - 1];
    if (state === 'colon') return this.#go(byte === 0x3a ? 'value' : null);
    if (state === 'key' || state === 'keyOrEnd') {
      if (state === 'keyOrEnd' && byte === 0x7d) return this.#close();
      if (byte !== QUOTE) return 0;
      this.#isKey = true;
      return this.#go('string');
    }
    if (state === 'value') return this.#begin(byte);
    if (state === 'valueOrEnd') return byte === 0x5d ? this.#close() : this.#begin(byte);
    if (this.#depth === 0) return 0;
    if (byte === 0x2c) return this.#go(container === BRACE_OPEN ? 'key' : 'value');
    return byte === (container === BRACE_OPEN ? 0x7d : 0x5d) ? this.#close() : 0;
  }

  #begin(byte: number): number | null {
    if (byte === QUOTE) {
      this.#isKey = false;
      return this.#go('string');
    }
    if (byte === BRACE_OPEN || byte === BRACKET_OPEN) return this.#open(byte);
    if (byte === 0x2d) return this.#go('minus');
    if (isDigit(byte)) return this.#go(byte === 0x30 ? 'zero' : 'integer');
    const first = String.fromCharCode(byte);
    this.#word = ['true', 'false', 'null'].find((word) => word.startsWith(first)) ?? '';
    this.#readCount = 1;
    return this.#go(this.#word === '' ? null : 'word');
  }

  #open(byte: number): null {
    if (this.#depth === this.#stack.length) {
      const larger = new Uint8Array(this.#depth * 2);
      larger.set(this.#stack);
      this.#stack = larger;
    }
    this.#stack[this.#depth++] = byte;
    this.#state = byte === BRACE_OPEN ? 'keyOrEnd' : 'valueOrEnd';
    return null;
  }

  #close(): null {
    this.#depth -= 1;
    this.#state = 'after';
    return null;
  }
}
