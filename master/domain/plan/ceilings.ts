/** How much of what may run at a time is booked, whichever executors there are: of all tasks, of a type, of a group. */
import type { Maximum } from '../limits/maxima.ts';
import { DAY_MS } from '../schedule/local-time.ts';
import { type Claim, type Span, Timeline } from './timeline.ts';
import type { Ceiling, Wish } from './divide.ts';
import { type Looks, takeLooks } from './looks.ts';

/** What a window takes of each. */
export type Taken = readonly (readonly [Timeline, Claim])[];

const NOTHING = new Timeline();

export class Ceilings {
  readonly #timelines = new Map<string, Timeline>();

  /** It has its part of all of them from its lead on, also where nothing is set yet. @returns For `release`. */
  take({ from, to, leadMs, count, ceilings }: Wish): Taken {
    return ceilings
      .filter(({ byDay }) => byDay === undefined)
      .map(({ key }) => {
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

  /**
   * The first that leaves no room for it, with what that is there, beside `ownCount` that it has taken itself; null: none.
   * @param looks From which each time that is looked at is taken.
   */
  reached(wish: Wish, ownCount: number, looks: Looks | null = null): Ceiling | null {
    for (const ceiling of wish.ceilings) {
      for (const { max } of this.#below(ceiling, wish, wish.count - ownCount, looks)) {
        return { ...ceiling, max };
      }
    }
    return null;
  }

  /** Below all of them, and no more than that. @param looks As of `reached`. */
  room(wish: Wish, most: number, looks: Looks | null = null): number {
    let room = most;
    for (const ceiling of wish.ceilings) {
      for (const { left } of this.#below(ceiling, wish, room, looks)) room = left;
    }
    return room;
  }

  /** When the room below them changes for windows such as that, nearest to its beginning: in that span for times of the day. */
  *changesNear(
    { ceilings, from, leadMs }: Wish,
    within: Span,
    countMax: number,
  ): Generator<number> {
    for (const { key, max, byDay } of ceilings) {
      if (!Number.isFinite(max) && byDay === undefined) continue;
      let left = countMax;
      // What begins within may have its lead before.
      const span = { from: within.from - leadMs, to: within.to };
      for (const maximum of byDay?.within(span) ?? []) {
        yield* [maximum.from, maximum.to, maximum.to + leadMs];
        if (--left === 0) break;
      }
      for (const at of this.#timelines.get(key)?.changesNear(from, countMax) ?? []) {
        yield at;
        yield at + leadMs;
      }
    }
  }

  forgetEmpty(): void {
    for (const [key, timeline] of this.#timelines) {
      if (timeline.isEmpty) this.#timelines.delete(key);
    }
  }

  /**
   * Where one leaves less room than that, and then where it leaves less still. Of times of the day those alone are looked
   * at when so much is taken that they may: most allow more than that, and a window may be as long as a year.
   */
  *#below(
    { key, max, byDay }: Ceiling,
    wish: Wish,
    most: number,
    looks: Looks | null,
  ): Generator<Room> {
    const timeline = this.#timelines.get(key) ?? NOTHING;
    const span = { from: wish.from - wish.leadMs, to: wish.to };
    let room = most;
    if (Number.isFinite(max)) {
      if (looks !== null) takeLooks(looks, 1);
      const left = max - timeline.peak(span.from, span.to);
      if (left < room) yield { max, left: (room = left) };
    }
    if (byDay === undefined) return;
    let maxima: Iterator<Maximum> | null = null;
    let one: Maximum | undefined;
    let until = Number.NEGATIVE_INFINITY;
    for (const stretch of timeline.stretches(span, () => byDay.least - room)) {
      // Many stretches lie in what the one before them lay in: a day is asked for at a time.
      if (stretch.to > until || maxima === null) {
        until = Math.min(span.to, Math.max(stretch.to, stretch.from + DAY_MS));
        maxima = byDay.within({ from: stretch.from, to: until });
        one = nextOf(maxima);
      }
      while (one !== undefined && one.to <= stretch.from) one = nextOf(maxima);
      while (one !== undefined && one.from < stretch.to) {
        if (looks !== null) takeLooks(looks, 1);
        const left = one.max - stretch.load;
        if (left < room) yield { max: one.max, left: (room = left) };
        if (one.max === byDay.least || one.to >= stretch.to) break;
        one = nextOf(maxima);
      }
    }
  }
}

function nextOf(maxima: Iterator<Maximum>): Maximum | undefined {
  const { done, value } = maxima.next();
  return done === true ? undefined : value;
}

interface Room {
  readonly max: number;
  readonly left: number;
}
