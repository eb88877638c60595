/**
 * Finds values in a JSON text without reading what is around them, so that they can be handed on as
 * they are written: a value that was parsed and written again has lost digits, and its spelling. The
 * text must be JSON, which `JSON.parse` has said before; of other texts any piece may come back.
 */

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

/** Names of members and places of elements, the outermost first. */
export type JsonPath = readonly (string | number)[];

/**
 * The value at `path`, as it is written, without the white space around it; undefined where there is
 * none. Of a key that is there twice the last counts, as for `JSON.parse`.
 */
export function jsonAt(text: string, path: JsonPath): string | undefined {
  let start = afterSpace(text, 0);
  for (const step of path) {
    const found =
      typeof step === 'string' ? memberAt(text, start, step) : elementAt(text, start, step);
    if (found === undefined) return undefined;
    start = found;
  }
  return text.slice(start, endOfValue(text, start));
}

/** All elements of an array, as they are written; none where it is no array. */
export function jsonElements(text: string): string[] {
  const elements: string[] = [];
  for (const [start, end] of elementsOf(text, afterSpace(text, 0))) {
    elements.push(text.slice(start, end));
  }
  return elements;
}

/** All members of an object, as they are written, by their names; none where it is no object. */
export function jsonMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  eachMember(text, afterSpace(text, 0), (keyStart, keyEnd, start, end) => {
    members.set(JSON.parse(text.slice(keyStart, keyEnd)) as string, text.slice(start, end));
    return true;
  });
  return members;
}

/**
 * An object with `null` in the place of its members that are longer than `lengthMax`, so that reading it costs
 * little: what is cut is not looked into. Of members called `opened` only what is within them and longer
 * is cut, if that is enough. Where the text is not JSON, neither is what comes back, or what was cut.
 * Null: it is longer itself, and has more than `membersMax` members.
 */
export function withoutLong(
  text: string,
  { lengthMax, membersMax, opened }: Short & { readonly opened?: string },
): string | null {
  if (text.length <= lengthMax) return text;
  let short = '';
  let keptFrom = 0;
  let leftCount = membersMax;
  eachMember(text, afterSpace(text, 0), (keyStart, keyEnd, start, end) => {
    if (leftCount-- === 0) return false;
    if (end - start <= lengthMax) return true;
    const inner =
      opened !== undefined && means(text, keyStart, keyEnd, opened)
        ? withoutLong(text.slice(start, end), { lengthMax, membersMax })
        : null;
    const isEnough = inner !== null && inner.length <= lengthMax;
    short += text.slice(keptFrom, start) + (isEnough ? inner : 'null');
    keptFrom = end;
    return true;
  });
  return leftCount < 0 ? null : short + text.slice(keptFrom);
}

/** What of an object is read. */
export interface Short {
  readonly lengthMax: number;
  readonly membersMax: number;
}

function memberAt(text: string, start: number, name: string): number | undefined {
  let found: number | undefined;
  eachMember(text, start, (keyStart, keyEnd, valueStart) => {
    if (means(text, keyStart, keyEnd, name)) found = valueStart;
    return true;
  });
  return found;
}

/** Where a key and its value stand; each result of each executor comes through here. False: no more. */
type TellMember = (keyStart: number, keyEnd: number, start: number, end: number) => boolean;

function eachMember(text: string, objectStart: number, tell: TellMember): void {
  if (text.charCodeAt(objectStart) !== BRACE_OPEN) return;
  let at = afterSpace(text, objectStart + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = endOfString(text, at);
    const start = afterSpace(text, afterSpace(text, keyEnd) + 1);
    const end = endOfValue(text, start);
    if (!tell(at, keyEnd, start, end)) return;
    at = afterSpace(text, end);
    if (text.charCodeAt(at) !== COMMA) break;
    at = afterSpace(text, at + 1);
  }
}

/** Whether the key that is written there is that name. */
function means(text: string, keyStart: number, keyEnd: number, name: string): boolean {
  const length = keyEnd - keyStart - 2;
  // Escapes make it longer.
  if (length < name.length) return false;
  if (length === name.length) return !name.includes('\\') && text.startsWith(name, keyStart + 1);
  const key = text.slice(keyStart, keyEnd);
  return key.includes('\\') && JSON.parse(key) === name;
}

function elementAt(text: string, start: number, place: number): number | undefined {
  let left = place;
  for (const [elementStart] of elementsOf(text, start)) {
    if (left === 0) return elementStart;
    left -= 1;
  }
  return undefined;
}

function* elementsOf(text: string, start: number): Generator<readonly [number, number], void> {
  if (text.charCodeAt(start) !== BRACKET_OPEN) return;
  let at = afterSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== BRACKET_CLOSE) {
    const end = endOfValue(text, at);
    yield [at, end];
    at = afterSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = afterSpace(text, at + 1);
  }
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at += 1;
  return at;
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start);
  let at = start;
  if (first !== BRACE_OPEN && first !== BRACKET_OPEN) {
    while (at < text.length && !endsScalar(text.charCodeAt(at))) at += 1;
    return at;
  }
  // Counted and not followed: it may be nested to any depth.
  let depth = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    at += 1;
    if (code === BRACE_OPEN || code === BRACKET_OPEN) depth += 1;
    else if ((code === BRACE_CLOSE || code === BRACKET_CLOSE) && --depth === 0) break;
  }
  return at;
}

function endsScalar(code: number): boolean {
  return code <= SPACE || code === COMMA || code === BRACE_CLOSE || code === BRACKET_CLOSE;
}

/** From the opening quote to behind the closing one. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return text.length;
}
