/**
 * Keeps history in bounds: makes the segments of today and tomorrow, drops those past retention once they are in the
 * archive, where there is one.
 */
import { type Retention, RETENTIONS } from '../../domain/model/task.ts';
import { dayOf } from '../../domain/usage/day.ts';
import type { Archive, Clock, Log, Store } from '../ports.ts';
import { LOAD_HOUR_DAYS, LOAD_MINUTE_DAYS } from '../reports/load-query.ts';
import { Archiving } from './archiving.ts';
import type { Duties, Duty, Found } from './duties.ts';
import type { Part } from './lifecycle.ts';

const PERIOD_MS = 3_600_000;
/** What has failed is tried again after this, then after twice as long: soon after the store is back. */
const RETRY_MS = 60_000;
const RETRY_MS_MAX = 300_000;
/** After the start, which has other things to do: a master may be started anew more often than each hour. */
const FIRST_MS = 300_000;
const DAY_MS = 86_400_000;
/** Of a hundred rows of the audit each, in one run. */
const AUDIT_SLICES = 2_000;
/** The same of each feed: more than a master tells in an hour. */
const EVENT_SLICES = 20_000;
/** The same of usage, which goes day by day. */
const USAGE_SLICES = 1_000;

/** The same of minutes and hours of load: at most a hundred types have a row of each. */
const LOAD_SLICES = 1_000;

/** Returns how many have gone that are older than that. */
type Drop = (before: number, now: number) => Promise<number>;

const all = (count: number): Found => ({ foundCount: count, doneCount: count });

interface RetentionOptions {
  readonly store: Pick<
    Store,
    | 'prepareSegments'
    | 'dropSegments'
    | 'dropEvents'
    | 'dropOccurrences'
    | 'dropUsage'
    | 'dropLoad'
    | 'learnIds'
    | 'readClock'
    | 'audit'
  >;
  readonly clock: Clock;
  readonly log: Log;
  readonly duties: Duties;
  readonly days: Readonly<Record<Retention, number>>;
  /** 0: it is kept for good. */
  readonly auditDays: number;
  /** Of what feeds have told. */
  readonly eventDays: number;
  /** Null: what is dropped is gone. */
  readonly archive: Archive | null;
  /** Of usage, in the zone of reports. */
  readonly usageDays: number;
  readonly reportZone: string;
}

/** Runs every hour, a few minutes after the start, and soon again after a failure, which is logged. */
export function retention(options: RetentionOptions): Part {
  const { store, clock, log, duties, days, archive } = options;
  let stopped = false;
  const isOver = (): boolean => stopped;
  const making = duties.add('next_segments', PERIOD_MS);
  const archiving = archive && new Archiving(archive, { everyMs: PERIOD_MS, duties, log, isOver });
  const dropping = duties.add('retention', PERIOD_MS);
  const others = othersOf(options).map((other) => ({
    ...other,
    duty: duties.add(other.name, PERIOD_MS),
  }));
  const learning = duties.add('id_filters', PERIOD_MS);
  let callOff: () => void = () => undefined;
  /** After how many it runs again, once something has failed. */
  let retryMs = RETRY_MS;
  let hasFailed = false;

  const attempt = async (what: string, duty: Duty, work: () => Promise<number>): Promise<void> => {
    if (stopped) return;
    try {
      await duty.run(async () => all(await work()));
    } catch (error) {
      hasFailed = true;
      if (!stopped) log.error(`${what} failed`, { event: 'retention', error: String(error) });
    }
  };

  /** Of two clocks the one that drops less: a machine may have started with a time far ahead. */
  const earliestNow = async (): Promise<number> => Math.min(clock.now(), await store.readClock());

  const dropOld = async (days: number, sliceCountMax: number, drop: Drop): Promise<number> => {
    if (days === 0) return 0;
    const now = await earliestNow();
    return dropInSlices(() => drop(now - days * DAY_MS, now), sliceCountMax, isOver);
  };

  const drop = async (): Promise<number> => {
    const past = { store, log, days, now: await earliestNow() };
    return archiving === null ? dropPast(past, null) : archiving.during((to) => dropPast(past, to));
  };

  const learn = (now: number): Promise<void> =>
    attempt('learning which ids history has', learning, () => store.learnIds(now));

  const run = async (): Promise<void> => {
    const now = clock.now();
    hasFailed = false;
    await attempt('making the next segment of history', making, () => store.prepareSegments(now));
    // Also where there was no room for the new one: this makes some.
    await attempt('dropping history past retention', dropping, drop);
    for (const { what, duty, days, sliceCountMax, drop } of others) {
      await attempt(what, duty, () => dropOld(days, sliceCountMax, drop));
    }
    await learn(now);
    const waitMs = hasFailed ? retryMs : PERIOD_MS;
    retryMs = hasFailed ? Math.min(2 * retryMs, RETRY_MS_MAX) : RETRY_MS;
    if (!stopped) callOff = clock.wakeAt(now + waitMs, () => void run());
  };
  return {
    start: () => {
      const now = clock.now();
      callOff = clock.wakeAt(now + FIRST_MS, () => void run());
      // It takes long where there is much.
      void learn(now);
      // Nobody is to find out when the first day is due.
      archiving?.during(async () => 0).catch(() => undefined);
    },
    stop: () => {
      stopped = true;
      callOff();
    },
  };
}

/** What goes by its age alone, beside history. */
function othersOf({
  store,
  days: { normal },
  auditDays,
  eventDays,
  usageDays,
  reportZone,
}: RetentionOptions) {
  const other = (name: string, what: string, days: number, sliceCountMax: number, drop: Drop) => {
    return { name, what, days, sliceCountMax, drop };
  };
  return [
    other(
      'audit_retention',
      'dropping changes past retention from the audit',
      auditDays,
      AUDIT_SLICES,
      (...times) => store.audit.drop(...times),
    ),
    other(
      'event_retention',
      'dropping old events from the feeds',
      eventDays,
      EVENT_SLICES,
      (before) => store.dropEvents(before),
    ),
    other('occurrence_retention', 'dropping old times of jobs', normal, EVENT_SLICES, (before) =>
      store.dropOccurrences(before),
    ),
    other('usage_retention', 'dropping old days of usage', usageDays, USAGE_SLICES, (before) =>
      store.dropUsage(dayOf(reportZone, before)),
    ),
    other(
      'load_minutes_retention',
      'dropping old minutes of load',
      LOAD_MINUTE_DAYS,
      LOAD_SLICES,
      (before) => store.dropLoad(1, before),
    ),
    other(
      'load_hours_retention',
      'dropping old hours of load',
      LOAD_HOUR_DAYS,
      LOAD_SLICES,
      (before) => store.dropLoad(60, before),
    ),
  ];
}

/** A slice after another, each by itself: what is left then goes the next time. */
async function dropInSlices(
  drop: () => Promise<number>,
  sliceCountMax: number,
  isOver: () => boolean,
): Promise<number> {
  let count = 0;
  for (let slice = 0; slice < sliceCountMax && !isOver(); slice++) {
    const dropped = await drop();
    count += dropped;
    if (dropped === 0) break;
  }
  return count;
}

interface Past {
  readonly store: Pick<Store, 'dropSegments'>;
  readonly log: Log;
  readonly days: Readonly<Record<Retention, number>>;
  readonly now: number;
}

/**
 * Returns how many segments have gone. One class that cannot be dropped does not keep the others: rejects once all were
 * tried, with what failed first.
 */
async function dropPast({ store, log, days, now }: Past, archive: Archive | null): Promise<number> {
  let count = 0;
  const failures: unknown[] = [];
  for (const retention of RETENTIONS) {
    const before = now - days[retention] * DAY_MS;
    // The days themselves say for how many a master has served since: no clock is believed to have moved by years.
    await store.dropSegments(retention, before, days[retention], archive).then(
      (dropped) => void (count += dropped),
      (error: unknown) => void failures.push(error),
    );
  }
  const fields = { event: 'retention', segment_count: count };
  if (count > 0) log.info('history past retention was dropped', fields);
  if (failures.length > 0) throw failures[0];
  return count;
}
