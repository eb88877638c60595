/**
 * Whose turn it is to be asked what would start it: that takes a look at all that comes before, so only some are asked in each
 * look. In memory only.
 */
export class RemedyTurns {
  /** That were found last, and have been asked: who was asked longest ago comes first. */
  #asked: readonly string[] = [];

  /** Up to so many of those that are found: who was never asked before who was, longest ago first. */
  take(found: readonly string[], countMax: number): ReadonlySet<string> {
    const isFound = new Set(found);
    const asked = this.#asked.filter((one) => isFound.has(one));
    const isAsked = new Set(asked);
    const waiting = [...isFound].filter((one) => !isAsked.has(one));
    const turn = new Set([...waiting, ...asked].slice(0, countMax));
    this.#asked = [...asked.filter((one) => !turn.has(one)), ...turn];
    return turn;
  }
}
