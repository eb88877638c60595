/**
 * Finds where a text stops being JSON. `JSON.parse` says so too, but in words that differ by
 * runtime version and quote the text, which may be secret. Runs only after `JSON.parse` failed.
 */

/** What may come next: `close` stands for the end of the innermost container, besides the rest. */
type Expected = 'value' | 'valueOrClose' | 'key' | 'keyOrClose' | 'colon' | 'commaOrClose' | 'end';

const scalar = /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)/y;
const space = /[ \t\n\r]*/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The offset of the first character that cannot be right; the length where the text is cut off. */
export function findSyntaxError(text: string): number {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = 0;

  for (;;) {
    at = skip(space, text, at) ?? at;
    if (at === text.length) return at;
    const char = text[at];
    const inner = open.at(-1);

    if (char === '}' || char === ']') {
      const mayClose: Expected = char === '}' ? 'keyOrClose' : 'valueOrClose';
      const closes = inner === (char === '}' ? '{' : '[');
      if (!closes || (expected !== 'commaOrClose' && expected !== mayClose)) return at;
      open.pop();
      expected = open.length === 0 ? 'end' : 'commaOrClose';
      at += 1;
    } else if (expected === 'commaOrClose') {
      if (char !== ',') return at;
      expected = inner === '{' ? 'key' : 'value';
      at += 1;
    } else if (expected === 'colon') {
      if (char !== ':') return at;
      expected = 'value';
      at += 1;
    } else if (expected === 'key' || expected === 'keyOrClose') {
      if (char !== '"') return at;
      const string = endOfString(text, at);
      if (!string.whole) return string.at;
      expected = 'colon';
      at = string.at;
    } else if (expected === 'end') {
      return at;
    } else if (char === '{' || char === '[') {
      open.push(char);
      expected = char === '{' ? 'keyOrClose' : 'valueOrClose';
      at += 1;
    } else {
      const value = char === '"' ? endOfString(text, at) : endOfScalar(text, at);
      if (!value.whole) return value.at;
      expected = open.length === 0 ? 'end' : 'commaOrClose';
      at = value.at;
    }
  }
}

interface End {
  readonly whole: boolean;
  readonly at: number;
}

function endOfScalar(text: string, from: number): End {
  const end = skip(scalar, text, from);
  return end === null ? { whole: false, at: from } : { whole: true, at: end };
}

/** `from` is at the opening quote. By hand: a regular expression would recurse per character. */
function endOfString(text: string, from: number): End {
  let at = from + 1;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') return { whole: true, at: at + 1 };
    if (char === '\\') {
      const end = skip(escape, text, at);
      if (end === null) return { whole: false, at };
      at = end;
    } else if (text.charCodeAt(at) < 0x20) {
      return { whole: false, at };
    } else {
      at += 1;
    }
  }
  return { whole: false, at };
}

function skip(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}
