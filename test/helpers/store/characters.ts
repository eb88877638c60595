/** What texts are made of by chance. */
import * as fc from 'fast-check';

/** Any but half ones. fast-check has such a unit too, and makes a list of all of them before the first is drawn. */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
