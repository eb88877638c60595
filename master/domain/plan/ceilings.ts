/** How much of what may run at a time is booked, whichever executors there are: of all tasks, of a type, of a group. */
import { type Claim, Timeline } from './timeline.ts';
import type { Ceiling, Wish } from './divide.ts';

/** What a window takes of each. */
export type Taken = readonly (readonly [Timeline, Claim])[];

export class Ceilings {
  readonly #timelines = new Map<string, Timeline>();

  /** It has its part of all of them from its lead on, also where nothing is set yet. @returns For `release`. */
  take({ from, to, leadMs, count, ceilings }: Wish): Taken {
    return ceilings.map(({ key }) => {
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
    for (const { key } of ceilings.filter(isSet)) {
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

  #roomBelow({ key, max }: Ceiling, { leadMs, from, to }: Wish): number {
    if (!Number.isFinite(max)) return max;
    return max - (this.#timelines.get(key)?.peak(from - leadMs, to) ?? 0);
  }
}

const isSet = ({ max }: Ceiling): boolean => Number.isFinite(max);
