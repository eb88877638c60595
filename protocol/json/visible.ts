/**
 * Text that cannot steer a terminal, nor be read in another order than it is written: what would do so
 * stands there as its escape.
 */

/** DEL, the C1 controls, two line separators, and what turns the direction of writing: JSON leaves them as they are. */
const HIDDEN = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const CONTROLS = /[\u0000-\u0009\u000b-\u001f]/g;

/** The same JSON: a string has other escapes in it, and says the same. */
export function visibleJson(json: string): string {
  return json.replaceAll(HIDDEN, escaped);
}

/** For people; lines stay lines. */
export function visibleText(text: string): string {
  return visibleJson(text.replaceAll(CONTROLS, escaped));
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
