/**
 * Reads JSON for what `JSON.parse` does not say: where exactly a text is broken, and whether it
 * holds what is refused. A key that is there twice, since readers differ on which of the two
 * counts, and nesting; in bodies of requests also a key that could reach a prototype, a number that
 * no double can hold, and more values than any request needs. What it lets pass may be handed on as
 * it is written. It looks at each character once, in one piece: the caller bounds the length.
 */
import { HTTP_LIMITS, SESSION_LIMITS } from '../limits.ts';

/** Not JSON. */
export class BrokenJson extends Error {
  override readonly name = 'BrokenJson';
  /** Where the first thing stands that cannot be right; the end, where the text is cut off. */
  readonly at: number;

  constructor(at: number) {
    super(`not JSON from offset ${at}`);
    this.at = at;
  }
}

/** JSON, but not to be taken. */
export class RefusedJson extends Error {
  override readonly name = 'RefusedJson';
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], message: string) {
    super(message);
    this.path = path;
  }
}

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** No code of a character. */
const END = -1;
const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const LOWER_E = 0x65;
const LOWER_U = 0x75;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** Containers around `params` in a submit body: the body itself and `task`. */
const CONTAINERS_ABOVE_PARAMS = 2;
const aboveParams = {
  task: CONTAINERS_ABOVE_PARAMS,
  template: CONTAINERS_ABOVE_PARAMS + 1,
  body: 1,
  ids: null,
} as const;

interface Rules {
  readonly containersMax: number;
  /** As a refusal says it. */
  readonly levelsMax: number;
  /** Of what becomes values in memory, which `params` do not. */
  readonly valuesMax: number;
  /** Refuses keys that could reach a prototype, and numbers that no double can hold. */
  readonly isStrict: boolean;
}

const bodyRules: Rules = {
  containersMax: CONTAINERS_ABOVE_PARAMS + HTTP_LIMITS.paramsDepthMax,
  levelsMax: HTTP_LIMITS.paramsDepthMax,
  // Ten times what a task can need.
  valuesMax: 1000,
  isStrict: true,
};
/** Whoever has too many is told of how many. */
const longRules: Rules = { ...bodyRules, valuesMax: 2 * HTTP_LIMITS.bulkCountMax };
const valueRules: Rules = {
  containersMax: SESSION_LIMITS.jsonDepthMax,
  levelsMax: SESSION_LIMITS.jsonDepthMax,
  valuesMax: Number.POSITIVE_INFINITY,
  isStrict: false,
};
/** Up to so many, comparing a key with each before it is quicker than a set of them. */
const KEYS_COMPARED_MAX = 8;
/** So many digits are within the range of a double, also with an exponent of two digits. */
const ALWAYS_FINITE_LENGTH = 200;
const EXPONENT_LENGTH_FINITE = 2;
/** With the quote before it, as keys are kept: see `#key`. */
const forbiddenKeys: ReadonlySet<string> = new Set(['"__proto__', '"constructor', '"prototype']);
const PARAMS_KEY = '"params';
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Where the body of a request has params: in its `task`, or itself. `ids`: nowhere, and it may have a long list of these. */
export type ParamsPlace = 'task' | 'template' | 'body' | 'ids';

/**
 * Of the body of a request: where the value of its params stands; null where there is none, or
 * where nobody looks for it: then nothing is exempt from the bound on the number of values.
 * @throws {BrokenJson | RefusedJson}
 */
export function scanJson(text: string, paramsIn: ParamsPlace | null): Range | null {
  return new Scan(text, paramsIn === 'ids' ? longRules : bodyRules, paramsIn).run();
}

/**
 * Of a value that nobody here reads, such as a result.
 * @throws {BrokenJson | RefusedJson}
 */
export function scanValue(text: string): void {
  new Scan(text, valueRules, null).run();
}

class Scan {
  readonly #text: string;
  readonly #rules: Rules;
  /** Containers around the params that are looked for; null: none are. */
  readonly #aboveParams: number | null;
  #at = 0;
  /** The keys and places that lead to where it is; what is beyond the depth is void. */
  readonly #path: (string | number)[] = [];
  #params: Range | null = null;
  #isInParams = false;
  #valueCount = 0;

  constructor(text: string, rules: Rules, paramsIn: ParamsPlace | null) {
    this.#text = text;
    this.#rules = rules;
    this.#aboveParams = paramsIn && aboveParams[paramsIn];
  }

  run(): Range | null {
    this.#value(0);
    if (this.#next() !== END) this.#broken();
    return this.#params;
  }

  #broken(at = this.#at): never {
    throw new BrokenJson(at);
  }

  #refuse(depth: number, message: string): never {
    const path = this.#path.slice(0, depth);
    throw new RefusedJson(
      path.map((part) => (typeof part === 'string' ? part.slice(1) : part)),
      message,
    );
  }

  /** Skips white space; the code of the character there, or `END`. */
  #next(): number {
    const text = this.#text;
    let at = this.#at;
    let code = text.charCodeAt(at);
    while (code === SPACE || code === NEWLINE || code === RETURN || code === TAB) {
      code = text.charCodeAt(++at);
    }
    this.#at = at;
    // Beyond the end the code is NaN, which equals nothing.
    return at < text.length ? code : END;
  }

  /** `depth`: how many containers it is in. It recurses, `containersMax` deep at most. */
  #value(depth: number): void {
    const code = this.#next();
    const { valuesMax, containersMax, levelsMax } = this.#rules;
    if (!this.#isInParams && ++this.#valueCount > valuesMax) {
      this.#refuse(0, `expected at most ${valuesMax} values outside of \`params\``);
    }
    if (code === QUOTE) this.#string();
    else if (code === BRACE_OPEN || code === BRACKET_OPEN) {
      const above = this.#isInParams ? (this.#aboveParams ?? 0) : 0;
      if (depth === (this.#isInParams ? above + levelsMax : containersMax)) {
        this.#refuse(above, `expected at most ${levelsMax} levels`);
      }
      this.#at += 1;
      if (code === BRACE_OPEN) this.#object(depth);
      else this.#array(depth);
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) this.#number(depth);
    else this.#literal();
  }

  #array(depth: number): void {
    if (this.#next() === BRACKET_CLOSE) {
      this.#at += 1;
      return;
    }
    for (let place = 0; ; place++) {
      this.#path[depth] = place;
      this.#value(depth + 1);
      const code = this.#next();
      if (code !== COMMA && code !== BRACKET_CLOSE) this.#broken();
      this.#at += 1;
      if (code === BRACKET_CLOSE) return;
    }
  }

  #object(depth: number): void {
    if (this.#next() === BRACE_CLOSE) {
      this.#at += 1;
      return;
    }
    const keys = new Keys();
    for (;;) {
      if (this.#next() !== QUOTE) this.#broken();
      const key = this.#key();
      this.#path[depth] = key;
      if (this.#rules.isStrict && forbiddenKeys.has(key)) {
        this.#refuse(depth + 1, 'a key of this name is not allowed');
      }
      if (!keys.add(key)) this.#refuse(depth + 1, 'this key is there twice');
      if (this.#next() !== COLON) this.#broken();
      this.#at += 1;
      if (key === PARAMS_KEY && this.#isAboveParams(depth + 1)) this.#paramsValue(depth + 1);
      else this.#value(depth + 1);
      const code = this.#next();
      if (code !== COMMA && code !== BRACE_CLOSE) this.#broken();
      this.#at += 1;
      if (code === BRACE_CLOSE) return;
    }
  }

  #isAboveParams(depth: number): boolean {
    if (depth !== this.#aboveParams) return false;
    const [first, second] = this.#path;
    if (depth === 3) return first === '"template' && second === '"task';
    return depth === 1 || first === '"task';
  }

  #paramsValue(depth: number): void {
    this.#isInParams = true;
    this.#next();
    const start = this.#at;
    this.#value(depth);
    this.#isInParams = false;
    this.#params = { start, end: this.#at };
  }

  /**
   * What the key means, whatever its escapes, behind a quote: so no key reads as an array index,
   * whose hashes can be foreseen and made to collide.
   */
  #key(): string {
    const start = this.#at;
    const isPlain = this.#string();
    const quoted = this.#text.slice(start, this.#at - 1);
    return isPlain ? quoted : `"${JSON.parse(`${quoted}"`)}`;
  }

  /** At the opening quote. True where the string means what it looks like. */
  #string(): boolean {
    const text = this.#text;
    let isPlain = true;
    let at = this.#at + 1;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        isPlain = false;
        at = this.#escape(at);
      } else if (code >= SPACE) at += 1;
      else this.#broken(at);
    }
    this.#at = at + 1;
    return isPlain;
  }

  #escape(at: number): number {
    // The usual ones without the cost of a match.
    const code = this.#text.charCodeAt(at + 1);
    if (code === QUOTE || code === BACKSLASH) return at + 2;
    escape.lastIndex = at;
    if (!escape.test(this.#text)) this.#broken(at);
    return code === LOWER_U ? at + 6 : at + 2;
  }

  #number(depth: number): void {
    const text = this.#text;
    const start = this.#at;
    if (text.charCodeAt(start) === MINUS) this.#at += 1;
    if (text.charCodeAt(this.#at) === ZERO) this.#at += 1;
    else this.#digits();
    if (text.charCodeAt(this.#at) === POINT) {
      this.#at += 1;
      this.#digits();
    }
    let exponentLength = 0;
    if ((text.charCodeAt(this.#at) | SPACE) === LOWER_E) {
      const sign = text.charCodeAt(++this.#at);
      if (sign === PLUS || sign === MINUS) this.#at += 1;
      const exponentAt = this.#at;
      this.#digits();
      exponentLength = this.#at - exponentAt;
    }
    if (!this.#rules.isStrict) return;
    const length = this.#at - start;
    if (length <= ALWAYS_FINITE_LENGTH && exponentLength <= EXPONENT_LENGTH_FINITE) return;
    if (!Number.isFinite(Number(text.slice(start, this.#at)))) {
      this.#refuse(depth, 'expected a number within double precision');
    }
  }

  /** One at least. */
  #digits(): void {
    const start = this.#at;
    let code = this.#text.charCodeAt(start);
    while (code >= ZERO && code <= NINE) code = this.#text.charCodeAt(++this.#at);
    if (this.#at === start) this.#broken();
  }

  #literal(): void {
    for (const literal of ['true', 'false', 'null']) {
      if (!this.#text.startsWith(literal, this.#at)) continue;
      this.#at += literal.length;
      return;
    }
    this.#broken();
  }
}

/** The keys of one object. */
class Keys {
  readonly #few: string[] = [];
  #many: Set<string> | null = null;

  /** False: it is there already. */
  add(key: string): boolean {
    if (this.#many !== null) {
      const count = this.#many.size;
      return this.#many.add(key).size > count;
    }
    if (this.#few.includes(key)) return false;
    this.#few.push(key);
    if (this.#few.length > KEYS_COMPARED_MAX) this.#many = new Set(this.#few);
    return true;
  }
}
