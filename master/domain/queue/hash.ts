/** Hashes that are the same everywhere and always: of 32 bits, if nothing else is said. Not against an adversary. */

const PRIME = 0x01000193;
const OTHER_PRIME = 0x5f356495;

/** FNV-1a over UTF-16 units. `prime`: another one makes another hash. */
export function hashOf(text: string, prime = PRIME): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), prime);
  return finished(hash);
}

/** Of 53 bits, which is what a number holds exactly. */
export function longHashOf(text: string): number {
  return 2 ** 32 * (hashOf(text, OTHER_PRIME) & 0x1fffff) + hashOf(text);
}

/** Of two hashes, in [0, 2^32): one that says nothing of that of another pair. */
export function mixed(a: number, b: number): number {
  return finished(Math.imul(a, 0x9e3779b1) ^ b);
}

/** The last steps of MurmurHash3 (Austin Appleby, public domain). */
function finished(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
