/** Which times of a trigger are due, and when it is looked at next. Computes, and keeps what took long; reads and writes nothing. */
import {
  FIRES_LOOKS_MAX,
  FOUND_FIRES_MAX,
  FOUND_KEY_MAX,
  PLAN_LOOK_COUNT,
} from '../../domain/bounds.ts';
import type { BrokenTrigger } from '../../domain/jobs/job-events.ts';
import {
  ALL_JOBS,
  type Calendar as CalendarRow,
  type Job,
  type Trigger,
} from '../../domain/model/job.ts';
import type { Pieces } from '../../domain/pieces.ts';
import { Calendar, type CalendarSpec } from '../../domain/schedule/calendar.ts';
import { type Coming, comingOf, type Surroundings } from '../../domain/schedule/coming.ts';
import { CronRefused } from '../../domain/schedule/cron.ts';
import { UnknownZone } from '../../domain/schedule/local-time.ts';
import type { Blackout, TriggerSpec } from '../../domain/schedule/trigger-spec.ts';
import type { StepFaults } from './trigger-faults.ts';

const NEVER = { nextAt: null, nextNominal: null };
/** Where no time is near: it is looked for again then. */
const LOOK_AGAIN_MS = 86_400_000;
/** When a trigger is looked at next. */
export type Plan = Pick<Trigger, 'nextAt' | 'nextNominal'>;

export type Calendars = ReadonlyMap<string, CalendarRow>;

/** Of rows: each is read once. */
const known = new WeakMap<CalendarRow, Calendar>();

function calendarOf(row: CalendarRow): Calendar {
  const calendar = known.get(row) ?? new Calendar(row.name, JSON.parse(row.text) as CalendarSpec);
  known.set(row, calendar);
  return calendar;
}

/** The black-outs of all jobs. */
function blackoutsIn(calendars: Calendars): readonly Blackout[] {
  const row = calendars.get(ALL_JOBS);
  return row === undefined ? [] : (JSON.parse(row.text) as { blackouts: Blackout[] }).blackouts;
}

/** With its job: what spreads its jitter, and its place among all. */
export const keyOf = ({ job, name }: Pick<Trigger, 'job' | 'name'>): string => `${job}/${name}`;

/** What the times of a trigger go by, beside itself. @param blackouts of its job. */
export function surroundingsOf(
  calendars: Calendars,
  trigger: Trigger,
  { onlyOn, except, maxRuns }: TriggerSpec,
  blackouts: readonly Blackout[],
): Surroundings {
  const named = new Map<string, Calendar>();
  for (const days of [onlyOn, except]) {
    const row = days === null ? undefined : calendars.get(days.calendar);
    if (row !== undefined) named.set(row.name, calendarOf(row));
  }
  const { anchorAt, changedAt, armedAt, skips, decidedAhead, firedCount } = trigger;
  return {
    key: keyOf(trigger),
    anchorAt,
    changedAt,
    armedAt,
    calendars: named,
    blackouts: [...blackouts, ...blackoutsIn(calendars)],
    skips: new Set(skips),
    decidedAhead,
    runsLeft: maxRuns === null ? null : Math.max(0, maxRuns - firedCount),
  };
}

/** What the specification of a job says beside its triggers, as far as it matters to whoever fires it. */
export interface JobSpec {
  readonly blackouts?: readonly Blackout[];
  readonly pause_after?: number;
}

/** The same, of a job. */
export function aroundOf(
  calendars: Calendars,
  trigger: Trigger,
  spec: TriggerSpec,
  job: Pick<Job, 'spec'>,
): Surroundings {
  const { blackouts = [] } = JSON.parse(job.spec) as JobSpec;
  return surroundingsOf(calendars, trigger, spec, blackouts);
}

/**
 * What it comes to; null: the times of the trigger cannot be told here, of a zone, say, that only another runtime knows.
 * What is no fault of its definition goes on, unless it is known to last.
 *
 * @param broken It joins them then.
 */
export function unlessBroken<T>(
  trigger: Trigger,
  broken: BrokenTrigger[],
  find: () => T,
  faults?: StepFaults,
): T | null {
  try {
    const found = find();
    faults?.cameThrough(trigger);
    return found;
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof UnknownZone || error instanceof CronRefused) {
      broken.push({ trigger, reason: `this master cannot tell its times: ${message}` });
    } else if (faults === undefined) throw error;
    else if (faults.isLasting(trigger, error)) {
      broken.push({ trigger, reason: `a fault of the master, again and again: ${message}` });
    }
    return null;
  }
}

/** Times of it may have come that are not decided yet. */
export function isOpen({ decidedUntil, nextAt }: Trigger, now: number): boolean {
  return nextAt !== null && decidedUntil < now;
}

/** One that fires. */
export type Firing = Coming & { readonly at: number };

/** The first of so many entries that fires, the last of them, and what `comingOf` says of those behind. */
function firstOf(spec: TriggerSpec, around: Surroundings, after: number, countMax: number) {
  const { coming, until } = comingOf(spec, around, after, countMax);
  return { first: coming.find(isFiring), last: coming.at(-1), until };
}

const isFiring = (coming: Coming): coming is Firing => coming.at !== null;

interface FoundFires {
  readonly found: Firing | null;
  /** By which it was found; they are never changed, but put in place of another. */
  readonly rows: readonly (CalendarRow | undefined)[];
  /** Whoever asks for what is after an instant of these is told the same. */
  readonly from: number;
  readonly until: number;
}

/** What took more than one look, by all else that decides of it; the oldest go first. */
const foundFires = new Map<string, FoundFires>();

/** `firesNext`, where it is not known: what people look at again and again is not looked for anew. */
export function* firesAgain(
  calendars: Calendars,
  trigger: Trigger,
  job: Pick<Job, 'spec'>,
  after: number,
): Pieces<Firing | null> {
  const spec = JSON.parse(trigger.spec) as TriggerSpec;
  const key = JSON.stringify([trigger, job.spec]);
  const rows = namedIn(spec, calendars);
  const known = foundFires.get(key);
  const isSame = known?.rows.every((row, at) => row === rows[at]) === true;
  if (isSame && after >= known.from && after < known.until) return known.found;
  const around = aroundOf(calendars, trigger, spec, job);
  const looks = firesNext(trigger, spec, around, after);
  const first = looks.next();
  if (first.done === true) return first.value;
  yield;
  const found = yield* looks;
  // Where it has found none it has not looked to the end of time: later it looks farther.
  const until =
    found === null
      ? after + LOOK_AGAIN_MS
      : Math.min(found.nominal, found.at, trigger.nextAt ?? found.at);
  foundFires.delete(key);
  if (key.length <= FOUND_KEY_MAX) foundFires.set(key, { found, rows, from: after, until });
  const [oldest = key] = foundFires.keys();
  if (foundFires.size > FOUND_FIRES_MAX) foundFires.delete(oldest);
  return found;
}

/** By name: a calendar that is not there may come. */
function namedIn({ onlyOn, except }: TriggerSpec, calendars: Calendars) {
  return [ALL_JOBS, onlyOn?.calendar, except?.calendar].map((name) => calendars.get(name ?? ''));
}

/**
 * The time for which it is planned to fire, or the first after that instant that fires, whatever is left out before.
 * Null: none does, as far as it looks, or its times cannot be told.
 */
function* firesNext(
  trigger: Trigger,
  spec: TriggerSpec,
  around: Surroundings,
  after: number,
): Pieces<Firing | null> {
  const { nextAt, nextNominal, decidedUntil } = trigger;
  const isPlanned = nextNominal !== null && nextAt !== null && nextAt > after;
  let from = isPlanned ? nextNominal - 1 : Math.max(after, decidedUntil);
  for (let lookCount = 0; lookCount < FIRES_LOOKS_MAX; lookCount++) {
    const since = from;
    // One is enough where nothing is left out; the first ones also cost what all of them do once.
    const count = Math.min(PLAN_LOOK_COUNT, 2 ** lookCount);
    const found = unlessBroken(trigger, [], () => firstOf(spec, around, since, count));
    if (found?.first !== undefined) return found.first;
    if (found === null || found.until === null) return null;
    from = found.until;
    yield;
  }
  return null;
}

/** When it is looked at next, once all up to `after` is decided. */
export function planOf(spec: TriggerSpec, around: Surroundings, after: number): Plan {
  for (const count of [1, PLAN_LOOK_COUNT]) {
    const { first, last, until } = firstOf(spec, around, after, count);
    if (first !== undefined) return { nextAt: first.at, nextNominal: first.nominal };
    if (last === undefined && until === null) return NEVER;
    // Nothing of it fires: it is looked at to say so.
    const nextAt = last?.to ?? after + LOOK_AGAIN_MS;
    if (until === null || count > 1) return { nextAt, nextNominal: null };
  }
  return NEVER;
}
