/** Work that looks at much, in pieces: it rests where it yields, and goes on by what is so then. */

export type Pieces<T> = Generator<undefined, T>;

/** So many are looked at in one piece. */
export const PIECE_COUNT = 500;

/** For whoever cannot wait. */
export function atOnce<T>(work: Pieces<T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}
