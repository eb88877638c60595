/**
 * Which messages of errors say the same: numbers, ids, times and paths in them are of one task each. A word is what went
 * wrong, also one with digits in it, such as `h264`.
 */

/** What of a message is looked at, and what of it is told. */
const LOOKED_LENGTH_MAX = 1_000;
const TOLD_LENGTH_MAX = 200;
const HALF_CHARACTER = /[\ud800-\udbff]$/;
/** Its path is left out; who answered is told. */
const URL_PATH = /(\b[a-z][a-z0-9]{0,9}:\/\/[^\s/'"<>]+)\/[^\s'"<>]*/gi;
/** Of one root, quoted with spaces in it or without either. */
const QUOTED_PATH = /(['"`])(?:\/|[a-z]:\\)[^'"`\n]*\1/gi;
const PATH = /(?<![\w:/.~])(?:~|\.{1,2})?\/[^\s'"`,;:()[\]{}<>]+|\b[a-z]:\\[^\s'"`,;:()[\]{}<>]+/gi;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const INSTANT = /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g;
/** Of eight digits and more, one of them 0 to 9, or with 0x before it. */
const HEX = /(?<![a-z0-9])(?:0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{8,})(?![a-z0-9])/gi;
/** With digits, and its version: `h264`, `H.264`, `v1.2`; and what a server has answered: `HTTP 503`. */
const WORD =
  '(?<![a-z0-9])(?:HTTP [1-5]\\d\\d(?!\\d|[.:]\\d)|[a-z][a-z0-9]*\\d[a-z0-9]*(?:\\.\\d+)*|[a-z]\\.\\d+)';
const UNIT = '(?:[num]?s|sec|min|[hdx]|px|fps|k?hz|[kmgt]?i?b(?:ps|it/s)?)';
/** By itself, or with a unit: `1920x1080`, `3.5`, `12:30:00`, `20ms`. */
const NUMBER = `(?<!\\d)\\d+(?:[.,:x]\\d+)*(?=${UNIT}?(?![a-z0-9]))`;
const WORD_OR_NUMBER = new RegExp(`(${WORD})|${NUMBER}`, 'gi');

/** Of a piece: fewer letters are in messages of all kinds. */
const LETTERS_MIN = 4;
/** As much as may be looked for. */
const PIECE_LENGTH_MAX = 256;
/** In errors of all kinds as they are stored, with a name and a stack: what is looked for would be found of all. */
const IN_ALL = /^(?:message|details|name|stack|\w*error:?)$/i;

/** The message with `#` for all that tells one task from another. */
export function alike(message: string): string {
  const text = marked(message).replace(/\s+/g, ' ').trim();
  if (text.length <= TOLD_LENGTH_MAX) return text;
  return `${text.slice(0, TOLD_LENGTH_MAX).replace(HALF_CHARACTER, '')}…`;
}

/** What stands in the message itself of what messages like it have too, the longest first: to look for them by. */
export function piecesOf(message: string): readonly string[] {
  return marked(message)
    .split(/#|\s{2,}|[^\S ]/)
    .map((piece) => piece.slice(0, PIECE_LENGTH_MAX).replace(HALF_CHARACTER, '').trim())
    .filter((piece) => lettersIn(piece) >= LETTERS_MIN && !IN_ALL.test(piece))
    .sort((a, b) => b.length - a.length);
}

const lettersIn = (text: string): number => text.match(/\p{L}/gu)?.length ?? 0;

function marked(message: string): string {
  return message
    .slice(0, LOOKED_LENGTH_MAX)
    .replace(URL_PATH, '$1/#')
    .replace(QUOTED_PATH, '$1#$1')
    .replace(PATH, '#')
    .replace(UUID, '#')
    .replace(INSTANT, '#')
    .replace(HEX, '#')
    .replace(WORD_OR_NUMBER, (_found, word?: string) => word ?? '#');
}
