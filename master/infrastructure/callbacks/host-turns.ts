/**
 * Whose turn it is among hosts that have not proven themselves. In turn: the newest, the one that
 * has waited longest, and one that failed before. So a host that nobody knows begins at once, however
 * many came before it; and whoever waits, gets there.
 */
interface Candidate {
  readonly isFailing: boolean;
}

export class HostTurns<H extends Candidate> {
  /** In the order in which they came. */
  readonly #unknown = new Set<H>();
  /** The same, to be taken from the end; with some that are gone. */
  #stack: H[] = [];
  readonly #failing = new Set<H>();
  #turn = 0;

  /** Of a host whose `isFailing` changes: take it out before, and add it after. */
  add(host: H): void {
    if (host.isFailing) this.#failing.add(host);
    else if (!this.#unknown.has(host)) {
      this.#unknown.add(host);
      this.#stack.push(host);
    }
  }

  delete(host: H): void {
    this.#failing.delete(host);
    if (!this.#unknown.delete(host)) return;
    if (this.#stack.length > 2 * this.#unknown.size + 100) this.#stack = [...this.#unknown];
  }

  /** Takes out the host whose turn it is. */
  take(mayBeFailing: boolean): H | undefined {
    for (let i = 0; i < 3; i += 1) {
      const host = this.#candidate(this.#turn, mayBeFailing);
      this.#turn = (this.#turn + 1) % 3;
      if (host === undefined) continue;
      this.delete(host);
      return host;
    }
    return undefined;
  }

  /** The one that gives way where not all can wait. */
  leastWanted(): H | undefined {
    return this.#failing.values().next().value ?? this.#unknown.values().next().value;
  }

  #candidate(turn: number, mayBeFailing: boolean): H | undefined {
    if (turn === 0) {
      while (this.#stack.length > 0) {
        const newest = this.#stack.pop();
        if (newest !== undefined && this.#unknown.has(newest)) return newest;
      }
    }
    if (turn === 1) return this.#unknown.values().next().value;
    return turn === 2 && mayBeFailing ? this.#failing.values().next().value : undefined;
  }
}
