/** One spelling for texts that differ in white space and the order of keys only. */

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** `text` is JSON, with no key twice in an object, and nested so little that this may recurse. */
export function canonicalJson(text: string): string {
  return new Canonical(text).value();
}

class Canonical {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): string {
    const code = this.#next();
    if (code === BRACE_OPEN) return `{${this.#members().join(',')}}`;
    if (code === BRACKET_OPEN) return `[${this.#elements().join(',')}]`;
    return code === QUOTE ? this.#string() : this.#scalar();
  }

  #next(): number {
    const text = this.#text;
    let code = text.charCodeAt(this.#at);
    while (code === SPACE || code === NEWLINE || code === RETURN || code === TAB) {
      code = text.charCodeAt(++this.#at);
    }
    return code;
  }

  /** As `"key":value`, sorted: no key is the beginning of another with its quote. */
  #members(): string[] {
    const members: string[] = [];
    this.#at += 1;
    for (let code = this.#next(); code !== BRACE_CLOSE; code = this.#next()) {
      if (code === COMMA) {
        this.#at += 1;
        this.#next();
      }
      const key = this.#string();
      this.#next();
      this.#at += 1;
      members.push(`${key}:${this.value()}`);
    }
    this.#at += 1;
    return members.sort();
  }

  #elements(): string[] {
    const elements: string[] = [];
    this.#at += 1;
    for (let code = this.#next(); code !== BRACKET_CLOSE; code = this.#next()) {
      if (code === COMMA) this.#at += 1;
      elements.push(this.value());
    }
    this.#at += 1;
    return elements;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let at = start + 1;
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) {
      at += code === BACKSLASH ? 2 : 1;
    }
    this.#at = at + 1;
    return text.slice(start, at + 1);
  }

  #scalar(): string {
    const text = this.#text;
    const start = this.#at;
    let code = text.charCodeAt(start);
    while (code > SPACE && code !== COMMA && code !== BRACKET_CLOSE && code !== BRACE_CLOSE) {
      code = text.charCodeAt(++this.#at);
    }
    return text.slice(start, this.#at);
  }
}
