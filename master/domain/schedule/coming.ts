/**
 * What calendars, black-outs and people make of the times of a trigger. Preview, fire and backfill all ask here, so
 * that none of them can differ from another. Pure.
 *
 * A time on a day that is left out is skipped, or moved to the next or the previous day that is not, at its time
 * of that day. Of the times that are moved to one day the first fires, and the others are merged with it: a day off
 * makes up for its work once. Where that day has times of its own, all of them are merged with the first of these;
 * of those that are moved to the next day, with none that is skipped.
 * So times keep their order, however they are moved.
 */
import { hashOf } from '../queue/hash.ts';
import type { Calendar } from './calendar.ts';
import { DAY_MS, dateOf, dayOf, instantOf, timeOf, wallOf } from './local-time.ts';
import { type Beginning, type Times, timesOf } from './times.ts';
import type { Blackout, DaysOf, TriggerSpec } from './trigger-spec.ts';
import { without } from './without.ts';

/** Days that are looked at for one answer; a few milliseconds. */
const LOOKED_DAY_COUNT_MAX = 1_500;
/** Days that one entry stands for, and by which a time is moved, at most. */
const RUN_DAY_COUNT_MAX = 400;

/** Why a time is skipped that somebody has named. */
export const BY_PEOPLE = 'skipped by hand';

/** What decides beside the trigger itself. */
export interface Surroundings extends Beginning {
  /** Of the trigger among all: its jitter comes from it. */
  readonly key: string;
  /** Since when the trigger is as it is: times up to then are not of this version, and nothing is merged with them. */
  readonly changedAt: number;
  /** By name. One that is not there has no days at all: what names it never fires. */
  readonly calendars: ReadonlyMap<string, Calendar>;
  /** Of its job, and of all. */
  readonly blackouts: readonly Blackout[];
  /** Nominal times that somebody has skipped. */
  readonly skips: ReadonlySet<number>;
  /** Nominal times that have run ahead of theirs: nothing becomes of them any more, and no entry stands for times on either side. Default: none. */
  readonly decidedAhead?: readonly number[];
  /** How often it may still fire; null: as often as it likes. */
  readonly runsLeft: number | null;
  /** When the newest of those before fires, which jitter lets none overtake. Default: there is none. */
  readonly lastAt?: number;
}

/** What becomes of a nominal time, or of times that follow one another and of which the same becomes. */
export interface Coming {
  readonly nominal: number;
  /** The last that it stands for; one that fires stands for itself. */
  readonly to: number;
  readonly count: number;
  /** When it fires: moved, and with jitter; null: it does not. */
  readonly at: number | null;
  readonly outcome: 'runs' | 'shifted' | 'skipped' | 'merged';
  /** For people; null: nothing has kept it from its time. */
  readonly reason: string | null;
  /** The calendar that has decided; null: something else has, or nothing. */
  readonly calendar: string | null;
}

export interface ComingPage {
  /** In order, and each nominal time after `after` and up to `until` is in exactly one. */
  readonly coming: readonly Coming[];
  /** Null: there are no others, ever. */
  readonly until: number | null;
}

/**
 * What comes of the nominal times after that instant, of which all before are decided: `countMax` entries, or fewer
 * where those stand for years; none after `until`. Takes some milliseconds at most.
 */
export function comingOf(
  spec: TriggerSpec,
  around: Surroundings,
  after: number,
  countMax: number,
  until = Number.POSITIVE_INFINITY,
): ComingPage {
  const fates = new Fates(spec, around);
  const coming: Coming[] = [];
  let runsLeft = around.runsLeft ?? Number.POSITIVE_INFINITY;
  let lastAt = around.lastAt ?? Number.NEGATIVE_INFINITY;
  let reached = after;
  for (;;) {
    const nominal = runsLeft > 0 ? fates.times.next(reached) : null;
    if (nominal === null || nominal > until) return { coming, until: null };
    if (coming.length >= countMax || fates.isTired) return { coming, until: reached };
    let one = fates.of(nominal, until);
    if (one.at !== null) {
      // Jitter does not let one overtake another.
      lastAt = Math.max(lastAt, one.at);
      one = { ...one, at: lastAt };
      runsLeft -= 1;
    }
    coming.push(one);
    reached = one.to;
    // These come again when their run has ended.
    if (one.at !== null && spec.timing.kind === 'delay') return { coming, until: null };
  }
}

/** What decides of the times behind these, where nobody has decided of them yet. */
export function behind(around: Surroundings, coming: readonly Coming[]): Surroundings {
  const fires = coming.map(({ at }) => at).filter((at) => at !== null);
  const { runsLeft, lastAt = Number.NEGATIVE_INFINITY } = around;
  const left = runsLeft === null ? null : runsLeft - fires.length;
  return { ...around, runsLeft: left, lastAt: Math.max(lastAt, ...fires) };
}

/** How much later it fires than it is to: the same for one nominal time whenever it is asked. */
export function jitterOf(jitterMs: number, key: string, nominal: number): number {
  return jitterMs === 0 ? 0 : Math.floor((hashOf(`${key}/${nominal}`) / 2 ** 32) * (jitterMs + 1));
}

type Exclusion = Pick<Coming, 'reason' | 'calendar'>;

/** What becomes of the times of one trigger. Remembers days that it has looked at: of one question only. */
export class Fates {
  /** Those of which anything is yet to become. */
  readonly times: Times;
  /** With those that have run: the others of their days are merged with them still. */
  readonly #all: Times;
  readonly #spec: TriggerSpec;
  readonly #around: Surroundings;
  readonly #days = new Map<number, Exclusion | null>();
  readonly #hasDays: boolean;
  /** No entry stands for one of these and another time. */
  readonly #alone: readonly number[];
  #limit = Number.POSITIVE_INFINITY;
  #lookedCount = 0;

  constructor(spec: TriggerSpec, around: Surroundings) {
    const { skips, decidedAhead = [] } = around;
    this.#all = timesOf(spec, around);
    this.times = without(this.#all, decidedAhead);
    this.#spec = spec;
    this.#around = around;
    this.#hasDays = spec.onlyOn !== null || spec.except !== null;
    this.#alone = [...skips, ...decidedAhead].sort((a, b) => a - b);
  }

  /** It has looked at so many days that the rest is for another question. */
  get isTired(): boolean {
    return this.#lookedCount > LOOKED_DAY_COUNT_MAX;
  }

  /** Of that time, and with it of those that follow, up to `limit`, and of which the same becomes. */
  of(nominal: number, limit = Number.POSITIVE_INFINITY): Coming {
    this.#limit = limit;
    const { skips } = this.#around;
    const one = { nominal, to: nominal, count: 1 };
    if (skips.has(nominal)) {
      return { ...one, at: null, outcome: 'skipped', reason: BY_PEOPLE, calendar: null };
    }
    const day = this.#dayOf(nominal);
    const excluded = this.#excluded(day);
    if (excluded !== null) {
      if (this.#spec.shift !== 'skip') return this.#moved(nominal, day, excluded);
      const end = this.#startOf(this.#endOf(day, (other) => isSame(other, excluded)));
      return this.#run(nominal, end, 'skipped', excluded);
    }
    const blackout = this.#blackoutAt(nominal);
    if (blackout === null) return this.#fires(one, nominal, 'runs', null);
    const isFree = (other: Exclusion | null) => other === null;
    const end = this.#hasDays ? this.#startOf(this.#endOf(day, isFree)) : blackout.to;
    return this.#run(nominal, Math.min(blackout.to, end), 'skipped', saidOf(blackout));
  }

  /** The first instant from that one on at which something other than firing at once may become of a time. */
  runsUntil(nominal: number, end: number): number {
    const { blackouts } = this.#around;
    let until = Math.min(
      end,
      nominal + RUN_DAY_COUNT_MAX * DAY_MS,
      this.#nextAlone(nominal) ?? end,
    );
    this.#lookedCount += (until - nominal) / DAY_MS;
    for (const { from } of blackouts) if (from > nominal) until = Math.min(until, from);
    if (!this.#hasDays) return until;
    return Math.min(
      until,
      this.#startOf(this.#endOf(this.#dayOf(nominal), (other) => other === null)),
    );
  }

  #moved(nominal: number, day: number, excluded: Exclusion): Coming {
    const isNext = this.#spec.shift === 'next';
    const isOff = (other: Exclusion | null) => other !== null;
    const end = this.#endOf(day, isOff);
    const before = this.#beforeOf(day);
    const target = isNext ? end : before;
    const isFree = target !== null && this.#excluded(target) === null;
    const same = this.#startOf(this.#endOf(day, (other) => isSame(other, excluded)));
    if (!isFree) {
      const reason = `${excluded.reason}, as are all days near it`;
      return this.#run(nominal, same, 'skipped', { ...excluded, reason });
    }
    const since = Math.max(this.#around.changedAt + 1, this.#startOf((before ?? day - 1) + 1));
    const merge = (why: string): Coming =>
      this.#run(nominal, same, 'merged', { ...excluded, reason: `${excluded.reason}: ${why}` });
    if (this.#hasOwn(target)) return merge(`with the one of ${dateOf(target)}`);
    let first = this.#all.next(since - 1);
    const passedOver = isNext ? this.#around.skips : null;
    while (first !== null && passedOver?.has(first) === true) first = this.#all.next(first);
    if (first !== null && first < nominal) return merge(`with the one moved to ${dateOf(target)}`);
    const wall = target * DAY_MS + timeOf(wallOf(this.#spec.zone, nominal));
    const at = instantOf(this.#spec.zone, wall);
    const one = { nominal, to: nominal, count: 1 };
    const blackout = this.#blackoutAt(at);
    if (blackout !== null) return { ...one, at: null, outcome: 'skipped', ...saidOf(blackout) };
    const reason = `${excluded.reason}: moved to ${dateOf(target)}`;
    if (at <= this.#around.changedAt) {
      const past = { ...excluded, reason: `${reason}, which had passed when this was set` };
      return { ...one, at: null, outcome: 'skipped', ...past };
    }
    return this.#fires(one, at, 'shifted', { ...excluded, reason });
  }

  /** Whether the day has a time that those which are moved to it can be merged with. */
  #hasOwn(day: number): boolean {
    const end = this.#startOf(day + 1);
    let own = this.#all.next(this.#startOf(day) - 1);
    // What is moved back waits for those before it: it goes by what that day was to have.
    while (this.#spec.shift === 'next' && own !== null && own < end) {
      const blackout = this.#blackoutAt(own);
      if (blackout === null && !this.#around.skips.has(own)) return true;
      own = this.#all.next(blackout === null ? own : blackout.to - 1);
    }
    return own !== null && own < end;
  }

  #fires(
    one: Pick<Coming, 'nominal' | 'to' | 'count'>,
    at: number,
    outcome: 'runs' | 'shifted',
    why: Exclusion | null,
  ): Coming {
    const jitter = jitterOf(this.#spec.jitterMs, this.#around.key, one.nominal);
    return { ...one, at: at + jitter, outcome, ...(why ?? { reason: null, calendar: null }) };
  }

  /** All that come before `end`, and before one that stands for itself; of years those of the first. */
  #run(nominal: number, end: number, outcome: 'skipped' | 'merged', why: Exclusion): Coming {
    const until = Math.max(
      nominal + 1,
      Math.min(
        end,
        this.#limit + 1,
        this.#nextAlone(nominal) ?? end,
        nominal + RUN_DAY_COUNT_MAX * DAY_MS,
      ),
    );
    this.#lookedCount += (until - nominal) / DAY_MS;
    const to = this.times.last(nominal, until) ?? nominal;
    return { nominal, to, count: this.times.count(nominal, until), at: null, outcome, ...why };
  }

  #nextAlone(after: number): number | null {
    return this.#alone.find((one) => one > after) ?? null;
  }

  #blackoutAt(at: number): Blackout | null {
    return this.#around.blackouts.find(({ from, to }) => from <= at && at < to) ?? null;
  }

  #dayOf(at: number): number {
    return dayOf(wallOf(this.#spec.zone, at));
  }

  /** Its first instant. */
  #startOf(day: number): number {
    return instantOf(this.#spec.zone, day * DAY_MS);
  }

  /** The first day after that one of which something else holds. */
  #endOf(day: number, holds: (excluded: Exclusion | null) => boolean): number {
    let end = day + 1;
    while (end - day < RUN_DAY_COUNT_MAX && holds(this.#excluded(end))) end += 1;
    return end;
  }

  /** The last day before that is not left out; null: none near is. */
  #beforeOf(day: number): number | null {
    for (let before = day - 1; day - before < RUN_DAY_COUNT_MAX; before--) {
      if (this.#excluded(before) === null) return before;
    }
    return null;
  }

  /** Why times are left out on that day; null: they are not. */
  #excluded(day: number): Exclusion | null {
    if (!this.#hasDays) return null;
    let excluded = this.#days.get(day);
    if (excluded === undefined) {
      this.#lookedCount += 1;
      const { onlyOn, except } = this.#spec;
      excluded =
        (onlyOn && this.#excludedBy(onlyOn, false, day)) ??
        (except && this.#excludedBy(except, true, day));
      this.#days.set(day, excluded);
    }
    return excluded;
  }

  /** @param isThese Whether these days are left out, or all others. */
  #excludedBy(days: DaysOf, isThese: boolean, day: number): Exclusion | null {
    const calendar = this.#around.calendars.get(days.calendar);
    if (calendar === undefined) {
      return { reason: 'there is no such calendar', calendar: days.calendar };
    }
    if (calendar.has(days, day) !== isThese) return null;
    const label = days.label === null || isThese ? '' : `, not (${days.label})`;
    return { reason: `${calendar.say(day)}${label}`, calendar: calendar.name };
  }
}

const isSame = (a: Exclusion | null, b: Exclusion): boolean =>
  a !== null && a.reason === b.reason && a.calendar === b.calendar;

const saidOf = ({ reason }: Blackout): Exclusion => ({
  reason: reason === null ? 'black-out' : `black-out: ${reason}`,
  calendar: null,
});
