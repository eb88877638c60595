/** How much of what may run at a time is booked, whichever executors there are: of all tasks, of a type, of a group. */
import { type Claim, Timeline } from './timeline.ts';
import type { Ceiling, Wish } from './divide.ts';

/** What a window takes of each. */
export type Taken = readonly (readonly [Timeline, Claim])[];

export class Ceilings {
  readonly #timelines = new Map<string, Timeline>();

  /** It has its part of all of them from its lead on, also where nothing is set yet. @returns For `release`. */
  take({ from, to, leadMs, count, ceilings }: Wish): Taken {
    return ceilings.filter(isLasting).map(({ key }) => {
      const claim: Claim = { from: from - leadMs, to, count, pin: null };
      const timeline = this.#timelines.get(key) ?? new Timeline();
      this.#timelines.set(key, timeline);
      timeline.add(claim);
      return [timeline, claim] as const;
    });
  }

  release(taken: Taken): void {
    for (const [timeline, claim] of taken) timeline.remove(claim);
  }

  /** The first that leaves no room for it, beside `ownCount` that it has taken itself; null: none. */
  reached(wish: Wish, ownCount: number): Ceiling | null {
    const { ceilings, count } = wish;
    return ceilings.find((ceiling) => this.#roomBelow(ceiling, wish) + ownCount < count) ?? null;
  }

  /** Below all of them; infinite where nothing is set. */
  room(wish: Wish): number {
    const rooms = wish.ceilings.map((ceiling) => this.#roomBelow(ceiling, wish));
    return Math.min(Number.POSITIVE_INFINITY, ...rooms);
  }

  /** When the room below them changes for windows such as that, nearest to its beginning. */
  *changesNear({ ceilings, from, leadMs }: Wish, countMax: number): Generator<number> {
    for (const { key, within } of ceilings.filter(isSet)) {
      if (within !== undefined) yield* [within.from, within.to, within.to + leadMs];
      for (const at of this.#timelines.get(key)?.changesNear(from, countMax) ?? []) {
        yield at;
        yield at + leadMs;
      }
    }
  }

  /** What a question for room costs. */
  lookCost({ ceilings }: Wish): number {
    return ceilings.filter(isSet).length;
  }

  forgetEmpty(): void {
    for (const [key, timeline] of this.#timelines) {
      if (timeline.isEmpty) this.#timelines.delete(key);
    }
  }

  #roomBelow({ key, max, within }: Ceiling, { leadMs, from, to }: Wish): number {
    if (!Number.isFinite(max)) return max;
    const begin = Math.max(from - leadMs, within?.from ?? Number.NEGATIVE_INFINITY);
    const end = Math.min(to, within?.to ?? Number.POSITIVE_INFINITY);
    if (begin >= end) return Number.POSITIVE_INFINITY;
    return max - (this.#timelines.get(key)?.peak(begin, end) ?? 0);
  }
}

const isLasting = ({ within }: Ceiling): boolean => within === undefined;

const isSet = ({ max }: Ceiling): boolean => Number.isFinite(max);
