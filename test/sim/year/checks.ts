/**
 * What has become of the nominal times of triggers, by rows alone, against the independent calendar.
 *
 * Y1: each nominal time has exactly one record, which is that of its run once it has one, and a record stands for as many times as there are. None is of a time
 * before its trigger was set as it is. No trigger is decided up to a time that has not come: what it is changed to may have
 * times until then, and a time that has run ahead of its own has no other record.
 *
 * Y2: what runs does so on a day that is not left out, or stands for the first of the days off before or behind that day,
 * which has no time of its own; what is left out is so by the calendars, and days off are made up for.
 *
 * Y3: nothing runs in a black-out, nor before its time; nor later than a second, where nothing has kept the master from it.
 */
import type { Commit } from '../../../master/application/ports.ts';
import type { CalendarSpec } from '../../../master/domain/schedule/calendar.ts';
import type { Blackout, TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';
import { ALL_JOBS, type Occurrence, type Trigger } from '../../../master/domain/model/job.ts';
import { dateIn, dayAfter, instantIn, isLeftOut, shownIn, timesBetween } from './wall.ts';

const SOON_MS = 1_000;
const BEFORE_ALL = 0;
/** Days off in a row that are looked through. */
const BLOCK_DAY_COUNT_MAX = 60;
/** Changes that are remembered. */
const CHANGE_COUNT_MAX = 100;

/** What decides of days: black-outs by job, and calendars by name. */
interface Days {
  readonly blackouts: Map<string, readonly Blackout[]>;
  readonly calendars: Map<string, CalendarSpec>;
}

interface Known {
  readonly row: Trigger;
  readonly spec: TriggerSpec;
}

export class YearChecks {
  readonly #triggers = new Map<string, Known>();
  #days: Days = { blackouts: new Map(), calendars: new Map() };
  /** As they were before each change, the oldest first. */
  readonly #daysBefore: (Days & { readonly until: number })[] = [];
  readonly #records = new Map<string, Occurrence[]>();
  readonly #fail: (what: string) => void;
  /** Since when nothing has kept the master from what was due. */
  calmSince = 0;
  /** How often what decides of times was changed: jobs, triggers, calendars, black-outs. */
  groundCount = 0;
  decidedCount = 0;
  /** Times that were decided ahead of theirs when their trigger was changed. */
  aheadCount = 0;
  #newestAt = 0;
  /** How often the calendars had a say, by what became of it. */
  readonly seen = new Map<string, number>();

  /** @param fail is called with what is wrong. */
  constructor(fail: (what: string) => void) {
    this.#fail = fail;
  }

  triggerOf(job: string, name: string): Known | undefined {
    return this.#triggers.get(`${job}/${name}`);
  }

  /** Whether that time of a trigger would run, as its calendars and black-outs are, however long it is as it is. */
  mayRun(job: string, name: string, nominal: number): boolean {
    const of = this.triggerOf(job, name);
    if (of === undefined || of.row.skips.includes(nominal)) return false;
    const { spec, row } = of;
    const date = dateIn(spec.zone, nominal);
    if (!this.#isOff(spec, date)) return !this.#isDark(job, nominal);
    const target = spec.shift === 'skip' ? null : this.#targetOf(spec, date);
    const since = { ...row, changedAt: BEFORE_ALL };
    if (target === null || !this.#isFirst(spec, since, date, nominal, target)) return false;
    return !this.#isDark(job, movedTo(spec, date, nominal, target));
  }

  committed({ writes, now }: Commit): void {
    this.#newestAt = Math.max(this.#newestAt, now);
    for (const { op, table, key, ...rest } of writes) {
      if (table === 'occurrence' && op === 'put') {
        this.#recorded((rest as { readonly row: Occurrence }).row);
      }
    }
    const isChange = writes.some(({ table, op }) => {
      // How far a round of triggers is changes nothing of what they go by.
      return (table === 'calendar' && op !== 'set') || (table === 'job' && op === 'put');
    });
    if (isChange) {
      const { blackouts, calendars } = this.#days;
      const before = { blackouts: new Map(blackouts), calendars: new Map(calendars) };
      this.#daysBefore.push({ ...before, until: now });
      if (this.#daysBefore.length > CHANGE_COUNT_MAX) this.#daysBefore.shift();
      this.groundCount += 1;
    }
    for (const write of writes) {
      if (write.table === 'trigger') {
        const row = write.op === 'remove' ? null : write.row;
        this.#decided(write.key.join('/'), row);
      } else if (write.table === 'job' && write.op === 'put') {
        this.#days.blackouts.set(write.key, blackoutsIn(write.row.spec));
      } else if (write.table === 'calendar' && write.op === 'put') {
        const { blackouts, calendars } = this.#days;
        if (write.key === ALL_JOBS) blackouts.set(ALL_JOBS, blackoutsIn(write.row.text));
        else calendars.set(write.key, JSON.parse(write.row.text) as CalendarSpec);
      } else if (write.table === 'calendar' && write.op === 'remove') {
        this.#days.calendars.delete(write.key);
      }
    }
  }

  #recorded(row: Occurrence): void {
    const key = `${row.job}/${row.trigger}`;
    const of = this.#triggers.get(key);
    if (of === undefined || row.rerun !== 0) return;
    const records = this.#records.get(key) ?? [];
    this.#records.set(key, records);
    const at = records.findIndex(({ nominal }) => nominal === row.nominal);
    const before = at < 0 ? undefined : records[at];
    if (before === undefined) this.#isAlone(key, records, row);
    else if (before.taskId !== null) {
      this.#fail(`Y1 ${key} has ${said(row)} in place of ${said(before)}`);
    }
    if (at < 0) records.push(row);
    else records[at] = row;
    if (before !== undefined && before.until === row.until) return;
    const from = Math.max(before?.until ?? row.nominal - 1, of.row.decidedUntil);
    if (row.nominal <= of.row.changedAt && before === undefined) {
      this.#fail(`Y1 ${key} has a record of ${iso(row.nominal)}, before it was set`);
    }
    const times = timesBetween(of.spec, of.row.anchorAt, from, row.until);
    if (times === null) return;
    const count = row.count - (before?.count ?? 0);
    if (times.length !== count) {
      this.#fail(`Y1 ${key}: ${said(row)} is of ${count} times, and there are ${times.length}`);
    }
    for (const nominal of times) this.#judge(key, of, row, nominal);
  }

  #isAlone(key: string, records: readonly Occurrence[], row: Occurrence): void {
    for (let at = records.length - 1; at >= 0; at--) {
      const other = records[at] as Occurrence;
      if (other.nominal <= row.until && row.nominal <= other.until) {
        this.#fail(`Y1 ${key} has two records of a time: ${said(other)}, ${said(row)}`);
      }
    }
  }

  /** Up to then it has all its records. */
  #decided(key: string, row: Trigger | null): void {
    const before = this.#triggers.get(key);
    if (row === null) {
      this.#triggers.delete(key);
      this.#records.delete(key);
      return;
    }
    const isSame = before?.row.spec === row.spec;
    const spec = isSame ? before.spec : (JSON.parse(row.spec) as TriggerSpec);
    this.#triggers.set(key, { row, spec });
    if (before?.row.skips.length !== row.skips.length) this.groundCount += 1;
    if (!isSame && before !== undefined) this.aheadCount += row.decidedAhead.length;
    // Several ends of one instant have times that follow one another.
    if (row.kind !== 'on' && row.decidedUntil > this.#newestAt) {
      this.#fail(`Y1 ${key} is decided until ${iso(row.decidedUntil)}, which has not come`);
    }
    if (before === undefined || before.row.nextAt === null) return;
    const { decidedUntil: from, anchorAt } = before.row;
    const until = isSame ? row.decidedUntil : Math.max(row.changedAt, from);
    const records = (this.#records.get(key) ?? []).filter((one) => one.until > from);
    for (const at of timesBetween(before.spec, anchorAt, from, until) ?? []) {
      this.decidedCount += 1;
      if (records.some(({ nominal, until: to }) => nominal <= at && at <= to)) continue;
      this.#fail(`Y1 ${key} has no record of ${iso(at)}, decided until ${iso(until)}`);
    }
  }

  /** One time of a record, by the calendars as they are; what was left out, also by those that held when it came. */
  #judge(key: string, known: Known, row: Occurrence, nominal: number): void {
    const wrong: string[] = [];
    this.#judgeNow(known, row, nominal, (what) => wrong.push(what));
    if (wrong.length === 0) return;
    const then = this.#daysBefore.find(({ until }) => nominal <= until);
    if (then !== undefined && (row.state === 'skipped' || row.state === 'merged')) {
      const now = this.#days;
      const wrongThen: string[] = [];
      this.#days = then;
      this.#judgeNow(known, row, nominal, (what) => wrongThen.push(what));
      this.#days = now;
      if (wrongThen.length === 0) return;
    }
    this.#fail(`${wrong[0]}: ${key} on ${dateIn(known.spec.zone, nominal)}, ${said(row)}`);
  }

  #judgeNow(
    { spec, row: trigger }: Known,
    row: Occurrence,
    nominal: number,
    fail: (what: string) => void,
  ): void {
    const { state, reason, calendar, noticedAt } = row;
    const date = dateIn(spec.zone, nominal);
    const isOff = this.#isOff(spec, date);
    const begins = state === 'ran' || state === 'pending';
    if (!isOff) {
      if (calendar !== null) return fail('Y2 left out on a day that is not');
      if (begins) this.#checkTime(fail, trigger, row, nominal);
      return;
    }
    const target = spec.shift === 'skip' ? null : this.#targetOf(spec, date);
    this.#note(`${spec.shift} ${state}`);
    if (begins) {
      if (target === null || !this.#isFirst(spec, trigger, date, nominal, target)) {
        return fail('Y2 runs on a day that is left out');
      }
      const at = movedTo(spec, date, nominal, target);
      if (reason?.includes(`moved to ${target}`) !== true && reason !== 'overlap') {
        return fail(`Y2 not moved to ${target}`);
      }
      return this.#checkTime(fail, trigger, row, at);
    }
    if (state !== 'skipped' && state !== 'merged') return;
    const isDark = reason?.startsWith('black-out') === true;
    if (calendar === null && !isDark && !isByHand(reason)) fail('Y2 not by its calendar');
    if (target === null || isDark || isByHand(reason) || noticedAt < nominal) return;
    const isMadeUp = !this.#isFirst(spec, trigger, date, nominal, target);
    const isOfPolicy = reason === 'misfire' || reason === 'overlap' || reason === 'overflow';
    const isPast = reason?.endsWith('which had passed when this was set') === true;
    const isEdited = reason?.endsWith('and was changed before') === true;
    if (state === 'skipped' && !isPast && !isEdited && !isOfPolicy) fail('Y2 not moved');
    if (state === 'merged' && !isMadeUp && !isOfPolicy) {
      fail('Y2 a day off is not made up for');
    }
  }

  #checkTime(
    fail: (what: string) => void,
    { changedAt }: Trigger,
    { job, noticedAt, state, reason }: Occurrence,
    at: number,
  ): void {
    if (noticedAt < at) fail('Y3 before its time');
    if (this.#isDark(job, at)) fail('Y3 in a black-out');
    if (state === 'ran' && reason === 'overlap') return;
    const isCalm = at > Math.max(this.calmSince, changedAt) + SOON_MS;
    if (isCalm && noticedAt > at + SOON_MS) fail(`Y3 late, of ${iso(at)} at ${iso(noticedAt)}`);
  }

  #isDark(job: string, at: number): boolean {
    const blackouts = [ALL_JOBS, job].flatMap((name) => this.#days.blackouts.get(name) ?? []);
    return blackouts.some(({ from, to }) => from <= at && at < to);
  }

  #isOff(spec: TriggerSpec, date: string): boolean {
    return isLeftOut(spec, this.#days.calendars, date);
  }

  /** The day that makes up for it; null: none near. */
  #targetOf(spec: TriggerSpec, date: string): string | null {
    const days = spec.shift === 'next' ? 1 : -1;
    let target = dayAfter(date, days);
    for (let count = 0; this.#isOff(spec, target); count++) {
      if (count > BLOCK_DAY_COUNT_MAX) return null;
      target = dayAfter(target, days);
    }
    return target;
  }

  /** None of the days off before it has a time of this version, nor has the day that makes up for it. */
  #isFirst(
    spec: TriggerSpec,
    { job, anchorAt, changedAt, skips }: Trigger,
    date: string,
    nominal: number,
    target: string,
  ): boolean {
    const { zone, shift } = spec;
    const startOf = (day: string) => instantIn(zone, Date.parse(day));
    let first = date;
    while (this.#isOff(spec, dayAfter(first, -1))) first = dayAfter(first, -1);
    const since = Math.max(changedAt, startOf(first) - 1);
    const before = timesBetween(spec, anchorAt, since, nominal - 1) ?? [];
    const end = startOf(dayAfter(target, 1)) - 1;
    const own = timesBetween(spec, anchorAt, startOf(target) - 1, end) ?? [];
    // What is moved back waits for these: one that is not run makes up for nothing.
    const mayRun = (at: number) => shift === 'previous' || !skips.includes(at);
    const isOwn = (at: number) => mayRun(at) && (shift === 'previous' || !this.#isDark(job, at));
    return !before.some(mayRun) && !own.some(isOwn);
  }

  #note(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }
}

/** At its time of the day that makes up for it. */
function movedTo({ zone }: TriggerSpec, date: string, nominal: number, target: string): number {
  const time = shownIn(zone, nominal) - Date.parse(date);
  return instantIn(zone, Date.parse(target) + time);
}

const isByHand = (reason: string | null): boolean => reason === 'skipped by hand';

function blackoutsIn(text: string): readonly Blackout[] {
  return (JSON.parse(text) as { blackouts?: readonly Blackout[] }).blackouts ?? [];
}

const iso = (at: number): string => new Date(at).toISOString().slice(0, 16);

function said({ nominal, until, count, state, reason, calendar, noticedAt }: Occurrence): string {
  const why = `${reason ?? ''}${calendar === null ? '' : ` (${calendar})`}`;
  return `${iso(nominal)}..${iso(until)} x${count} ${state} ${why} at ${iso(noticedAt)}`;
}
