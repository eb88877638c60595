/**
 * Tells of most ids that a set does not have them, in a few bits for each of the set: a Bloom filter
 * ("Space/time trade-offs in hash coding with allowable errors", 1970). It never denies an id that was
 * added, and takes some others for one of them. Nothing can be taken out. Pure.
 *
 * The bits of an id follow from two hashes of it (Kirsch and Mitzenmacher, "Less hashing, same
 * performance", 2006) modulo a power of two. So a filter can be made before it is known how many ids
 * there will be, and then be folded: one half laid upon the other is the filter of half the size.
 */

const HASH_COUNT = 7;

export interface IdHash {
  readonly first: number;
  /** Odd, so that its multiples come to every bit. */
  readonly step: number;
}

/** `seed`: of this process, so that nobody can choose ids that are taken for one another. */
export function hashOf(id: string, seed: number): IdHash {
  return { first: hash(id, seed), step: hash(id, ~seed) | 1 };
}

/** FNV-1a over UTF-16 units, then the finalizer of MurmurHash3, which spreads what the last units say. */
function hash(text: string, seed: number): number {
  let h = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at++) {
    h = Math.imul(h ^ text.charCodeAt(at), 0x01000193);
  }
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

export class IdFilter {
  #words: Int32Array;

  /** @param bytes a power of two. */
  constructor(bytes: number) {
    this.#words = new Int32Array(bytes / 4);
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  add({ first, step }: IdHash): void {
    const words = this.#words;
    const last = words.length - 1;
    for (let count = 0, bit = first; count < HASH_COUNT; count++, bit = (bit + step) | 0) {
      const at = (bit >>> 5) & last;
      words[at] = (words[at] ?? 0) | (1 << (bit & 31));
    }
  }

  /** False: it was never added. */
  mayHave({ first, step }: IdHash): boolean {
    const words = this.#words;
    const last = words.length - 1;
    for (let count = 0, bit = first; count < HASH_COUNT; count++, bit = (bit + step) | 0) {
      if (((words[(bit >>> 5) & last] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }

  /** To so many bytes, a power of two, not more than it has. */
  fold(bytes: number): void {
    const words = this.#words;
    const length = bytes / 4;
    for (let at = length; at < words.length; at++) {
      const to = at & (length - 1);
      words[to] = (words[to] ?? 0) | (words[at] ?? 0);
    }
    this.#words = words.slice(0, length);
  }
}
