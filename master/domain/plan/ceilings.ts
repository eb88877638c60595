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
    for (const ceiling of this.#below(wish, wish.count - ownCount)) {
      if (this.#roomBelow(ceiling, wish) + ownCount < wish.count) return ceiling;
    }
    return null;
  }

  /** Below all of them, and no more than that. */
  room(wish: Wish, most = Number.POSITIVE_INFINITY): number {
    let room = most;
    for (const ceiling of this.#below(wish, room)) {
      room = Math.min(room, this.#roomBelow(ceiling, wish));
    }
    return room;
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

  /** What a question for room costs, where there is so much without them at most. */
  lookCost(wish: Wish, most: number): number {
    return [...this.#below(wish, most)].length;
  }

  forgetEmpty(): void {
    for (const [key, timeline] of this.#timelines) {
      if (timeline.isEmpty) this.#timelines.delete(key);
    }
  }

  /**
   * Those that may leave less than that. Of the many of a day most never do: for all of these together it is looked
   * once how much is taken.
   */
  *#below(wish: Wish, most: number): Generator<Ceiling> {
    const { from, to, leadMs, ceilings } = wish;
    const peaks = new Map<string, number>();
    for (const ceiling of ceilings) {
      const { key, max, within } = ceiling;
      if (!isSet(ceiling)) continue;
      if (within !== undefined) {
        if (within.to <= from - leadMs || within.from >= to) continue;
        const peak = peaks.get(key) ?? this.#timelines.get(key)?.peak(from - leadMs, to) ?? 0;
        peaks.set(key, peak);
        if (max - peak >= most) continue;
      }
      yield ceiling;
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
