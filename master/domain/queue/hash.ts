/** Hashes of 32 bits, the same everywhere and always. Not against an adversary. */

/** FNV-1a over UTF-16 units. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return finished(hash);
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
