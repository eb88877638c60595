/** Which messages of errors say the same: numbers and ids in them are of one task each. */

/** What of a message is looked at, and what of it is told. */
const LOOKED_LENGTH_MAX = 1_000;
const TOLD_LENGTH_MAX = 200;
const HALF_CHARACTER = /[\ud800-\udbff]$/;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** Of eight digits and more, one of them 0 to 9, or with 0x before it. */
const HEX = /\b(0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{8,})\b/gi;
const NUMBER = /\d+([.,:]\d+)*/g;

/** The message with `#` for all that tells one task from another. */
export function alike(message: string): string {
  const text = message
    .slice(0, LOOKED_LENGTH_MAX)
    .replace(UUID, '#')
    .replace(HEX, '#')
    .replace(NUMBER, '#')
    .replace(/\s+/g, ' ')
    .trim();
  if (text.length <= TOLD_LENGTH_MAX) return text;
  return `${text.slice(0, TOLD_LENGTH_MAX).replace(HALF_CHARACTER, '')}…`;
}
