/**
 * The nominal times of a trigger, as its timing has them: whatever calendars, black-outs and people make of them.
 * Pure. What is asked of it costs by the days in between, not by the times.
 *
 * Of what a clock on the wall shows: a fixed hour that is skipped comes once, at the first instant after it, and
 * one that comes twice comes the first time. An hour with a `*` or a step goes by the time that has passed: what
 * is skipped does not come, and what comes twice comes twice.
 */
import { type Cron, cronOf, hasDay, nextDay } from './cron.ts';
import {
  changeIn,
  DAY_MS,
  dayOf,
  minutesOf,
  offsetOf,
  TIME_END,
  timeOf,
  wallOf,
} from './local-time.ts';
import type { TriggerSpec } from './trigger-spec.ts';

export interface Times {
  /** The first after that instant; null: there is none. */
  next(after: number): number | null;
  /** The last from `from` on and before `to`; null: there is none in between. */
  last(from: number, to: number): number | null;
  /** How many there are from `from` on and before `to`. */
  count(from: number, to: number): number;
}

/** What a trigger counts from. */
export interface Beginning {
  /** Since when its times are as they are (`haveSameTimes`): an interval without `startAt` counts from here. */
  readonly anchorAt: number;
  /** Of `delay` and `on`: the time that has come when a run ended; null: none has. */
  readonly armedAt: number | null;
}

/** One that begins at an instant has its first time then; one without such a beginning an interval after `anchorAt`. */
export function timesOf(spec: TriggerSpec, { anchorAt, armedAt }: Beginning): Times {
  const { timing, zone, startAt } = spec;
  const from = startAt ?? 0;
  const end = Math.min(spec.endAt ?? TIME_END, TIME_END);
  const within = (times: Times): Times => new Within(times, from, end);
  switch (timing.kind) {
    case 'cron':
      return within(new WallTimes(zone, new CronWalls(cronOfKept(timing.expression))));
    case 'every':
      // Without a beginning the first comes after an interval.
      return within(new Steps(startAt ?? anchorAt + timing.everyMs, timing.everyMs));
    case 'rotate': {
      const first = dayOf(wallOf(zone, startAt ?? anchorAt));
      const walls = new RotatedWalls(first, timing.days, minutesOf(timing.time) * 60_000);
      return new Within(new WallTimes(zone, walls), startAt ?? anchorAt + 1, end);
    }
    case 'at':
      return within(new Steps(timing.at, Number.POSITIVE_INFINITY));
    case 'delay':
      return within(new Steps(armedAt ?? TIME_END, timing.delayMs));
    case 'on':
      return within(new Steps(armedAt ?? TIME_END, Number.POSITIVE_INFINITY));
  }
}

/** Of one that counts from ends of runs, before there is any: when it fires first. Null: it counts from no end. */
export function firstArmedAt({ timing, startAt }: TriggerSpec, now: number): number | null {
  return timing.kind === 'delay' ? Math.max(startAt ?? now + timing.delayMs, now) : null;
}

/** The same, of which the last run has ended then. */
export function armedAfter({ timing, startAt }: TriggerSpec, endedAt: number): number | null {
  return timing.kind === 'delay' ? Math.max(startAt ?? 0, endedAt + timing.delayMs) : null;
}

/** Expressions that are kept as they were read. */
const KEPT_COUNT_MAX = 1_000;
const kept = new Map<string, Cron>();

function cronOfKept(expression: string): Cron {
  let cron = kept.get(expression);
  if (cron === undefined) {
    cron = cronOf(expression);
    if (kept.size >= KEPT_COUNT_MAX) kept.clear();
    kept.set(expression, cron);
  }
  return cron;
}

class Within implements Times {
  readonly #times: Times;
  readonly #from: number;
  readonly #end: number;

  constructor(times: Times, from: number, end: number) {
    this.#times = times;
    this.#from = from;
    this.#end = end;
  }

  next(after: number): number | null {
    const next = this.#times.next(Math.max(after, this.#from - 1));
    return next === null || next >= this.#end ? null : next;
  }

  last(from: number, to: number): number | null {
    return this.#times.last(Math.max(from, this.#from), Math.min(to, this.#end));
  }

  count(from: number, to: number): number {
    return this.#times.count(Math.max(from, this.#from), Math.min(to, this.#end));
  }
}

/** At `first`, and each `stepMs` after it. */
class Steps implements Times {
  readonly #first: number;
  readonly #stepMs: number;

  constructor(first: number, stepMs: number) {
    this.#first = first;
    this.#stepMs = stepMs;
  }

  next(after: number): number | null {
    if (after < this.#first) return this.#first;
    if (!Number.isFinite(this.#stepMs)) return null;
    return this.#first + this.#before(after + 1) * this.#stepMs;
  }

  last(from: number, to: number): number | null {
    const before = this.#before(to);
    if (before === 0) return null;
    const last = before === 1 ? this.#first : this.#first + (before - 1) * this.#stepMs;
    return last < from ? null : last;
  }

  count(from: number, to: number): number {
    return Math.max(0, this.#before(to) - this.#before(from));
  }

  /** How many come before that instant. */
  #before(at: number): number {
    return at <= this.#first ? 0 : Math.ceil((at - this.#first) / this.#stepMs) || 1;
  }
}

/** What a clock on the wall shows when it is time. */
interface Walls {
  readonly isByElapsed: boolean;
  hasDay(day: number): boolean;
  /** The first day with times from that one on; null: there is none. */
  nextDay(from: number): number | null;
  /** Times of each of these days, in milliseconds since midnight: the first not before that, and the last before it. */
  timeFrom(time: number): number | null;
  timeBefore(time: number): number | null;
  /** How many there are before that. */
  countBefore(time: number): number;
}

class CronWalls implements Walls {
  readonly isByElapsed: boolean;
  readonly #cron: Cron;

  constructor(cron: Cron) {
    this.#cron = cron;
    this.isByElapsed = cron.isByElapsed;
  }

  hasDay(day: number): boolean {
    return hasDay(this.#cron, day);
  }

  nextDay(from: number): number | null {
    return nextDay(this.#cron, from, DAY_END);
  }

  timeFrom(time: number): number | null {
    const at = this.countBefore(time);
    return at < this.#count ? this.#timeAt(at) : null;
  }

  timeBefore(time: number): number | null {
    const at = this.countBefore(time);
    return at > 0 ? this.#timeAt(at - 1) : null;
  }

  countBefore(time: number): number {
    const { hours, minutes, seconds } = this.#cron;
    const whole = Math.ceil(time / 1_000);
    const [hour, minute, second] = [
      Math.floor(whole / 3_600),
      Math.floor(whole / 60) % 60,
      whole % 60,
    ];
    let count = lowerCount(hours, hour) * minutes.length * seconds.length;
    if (!hours.includes(hour)) return count;
    count += lowerCount(minutes, minute) * seconds.length;
    return minutes.includes(minute) ? count + lowerCount(seconds, second) : count;
  }

  get #count(): number {
    const { hours, minutes, seconds } = this.#cron;
    return hours.length * minutes.length * seconds.length;
  }

  #timeAt(at: number): number {
    const { hours, minutes, seconds } = this.#cron;
    const second = seconds[at % seconds.length] ?? 0;
    const minute = minutes[Math.floor(at / seconds.length) % minutes.length] ?? 0;
    const hour = hours[Math.floor(at / seconds.length / minutes.length)] ?? 0;
    return ((hour * 60 + minute) * 60 + second) * 1_000;
  }
}

const lowerCount = (sorted: readonly number[], value: number): number => {
  const at = sorted.findIndex((each) => each >= value);
  return at === -1 ? sorted.length : at;
};

/** Every so many days, at one time. */
class RotatedWalls implements Walls {
  readonly isByElapsed = false;
  readonly #first: number;
  readonly #days: number;
  readonly #time: number;

  constructor(first: number, days: number, time: number) {
    this.#first = first;
    this.#days = days;
    this.#time = time;
  }

  hasDay(day: number): boolean {
    return day >= this.#first && (day - this.#first) % this.#days === 0;
  }

  nextDay(from: number): number | null {
    return this.#first + Math.max(0, Math.ceil((from - this.#first) / this.#days)) * this.#days;
  }

  timeFrom(time: number): number | null {
    return this.#time >= time ? this.#time : null;
  }

  timeBefore(time: number): number | null {
    return this.#time < time ? this.#time : null;
  }

  countBefore(time: number): number {
    return this.#time < time ? 1 : 0;
  }
}

const DAY_END = TIME_END / DAY_MS;
/** A change of the clock touches no more than that: days have been left out whole. */
const REACH_MS = 2 * DAY_MS;
/** So far it is looked for one where many days are counted. */
const LONG_REACH_MS = 32 * DAY_MS;

/** From what a clock on the wall shows to instants. */
class WallTimes implements Times {
  readonly #zone: string;
  readonly #walls: Walls;

  constructor(zone: string, walls: Walls) {
    this.#zone = zone;
    this.#walls = walls;
  }

  next(after: number): number | null {
    let from = after + 1;
    for (;;) {
      const stretch = this.#stretchAt(from);
      if (stretch.extra !== null && from <= stretch.extra) return stretch.extra;
      const wall = this.#nextWall(Math.max(from + stretch.offset, stretch.firstWall));
      if (wall === null) return null;
      const at = wall - stretch.offset;
      const change = changeIn(this.#zone, from, Math.min(at, from + 2 * REACH_MS));
      if (change !== null) from = change;
      else if (at <= from + 2 * REACH_MS) return at;
      // No time is near: what changes in between is of no interest.
      else from = at - REACH_MS;
    }
  }

  last(from: number, to: number): number | null {
    for (let end = to; end > from; ) {
      const stretch = this.#stretchAt(end - 1);
      const begin = Math.max(from, stretch.from);
      const first = Math.max(begin + stretch.offset, stretch.firstWall);
      const wall = this.#lastWall(first, end + stretch.offset);
      if (wall !== null) return wall - stretch.offset;
      if (stretch.extra !== null && from <= stretch.extra && stretch.extra < end)
        return stretch.extra;
      end = begin;
    }
    return null;
  }

  count(from: number, to: number): number {
    let count = 0;
    for (let end = to; end > from; ) {
      const stretch = this.#stretchAt(end - 1, Math.min(LONG_REACH_MS, end - from + REACH_MS));
      const begin = Math.max(from, stretch.from);
      const first = Math.max(begin + stretch.offset, stretch.firstWall);
      count += this.#countWalls(first, end + stretch.offset);
      if (stretch.extra !== null && from <= stretch.extra && stretch.extra < end) count += 1;
      end = begin;
    }
    return count;
  }

  /**
   * The time around an instant in which the clock is not changed: from the last change, as far as it matters.
   * `firstWall`: what it shows before that it has shown before; `extra`: an instant for what it has skipped.
   */
  #stretchAt(at: number, reachMs = REACH_MS): Stretch {
    const offset = offsetOf(this.#zone, at);
    const none = { offset, firstWall: Number.NEGATIVE_INFINITY, extra: null };
    const from = this.#changeBefore(at, reachMs);
    // What a change before that touches is over where this begins: a day is the most that comes twice.
    if (from === null) return { ...none, from: at - reachMs + REACH_MS / 2 };
    const before = offsetOf(this.#zone, from - 1);
    if (this.#walls.isByElapsed) return { ...none, from };
    if (before > offset) return { ...none, from, firstWall: from + before };
    const skipped = this.#nextWall(from + before);
    const isSkipped = skipped !== null && skipped < from + offset;
    // What it shows then may be a time itself: that is the same instant.
    const isTime = this.#nextWall(from + offset) === from + offset;
    return { ...none, from, extra: isSkipped && !isTime ? from : null };
  }

  /** The last change up to that instant; null: there is none near. */
  #changeBefore(at: number, reachMs: number): number | null {
    let found: number | null = null;
    for (let from = at - reachMs; ; ) {
      const change = changeIn(this.#zone, from, at);
      if (change === null) return found;
      found = change;
      from = change;
    }
  }

  #nextWall(wall: number): number | null {
    const day = dayOf(wall);
    const time = this.#walls.hasDay(day) ? this.#walls.timeFrom(timeOf(wall)) : null;
    if (time !== null) return day * DAY_MS + time;
    const next = this.#walls.nextDay(day + 1);
    return next === null ? null : next * DAY_MS + (this.#walls.timeFrom(0) ?? 0);
  }

  #lastWall(from: number, to: number): number | null {
    for (let day = dayOf(to); day >= dayOf(from); day--) {
      const time = this.#walls.hasDay(day) ? this.#walls.timeBefore(to - day * DAY_MS) : null;
      if (time !== null) return day * DAY_MS + time < from ? null : day * DAY_MS + time;
    }
    return null;
  }

  #countWalls(from: number, to: number): number {
    if (to <= from) return 0;
    const whole = this.#walls.countBefore(DAY_MS);
    let count = 0;
    for (let day = dayOf(from); day * DAY_MS < to; day++) {
      if (!this.#walls.hasDay(day)) continue;
      const [begin, end] = [from - day * DAY_MS, to - day * DAY_MS];
      count += end < DAY_MS ? this.#walls.countBefore(end) : whole;
      if (begin > 0) count -= this.#walls.countBefore(begin);
    }
    return count;
  }
}

interface Stretch {
  readonly from: number;
  readonly offset: number;
  readonly firstWall: number;
  readonly extra: number | null;
}
