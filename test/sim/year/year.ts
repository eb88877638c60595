/**
 * A year of jobs in a second: triggers of all kinds in zones with and without summer time, by calendars that are changed as
 * they are made known, with black-outs and days skipped by hand, edits, masters that are killed or away for days, and
 * clocks that are set. The same seed gives the same year.
 */
import { backfillWork } from '../../../master/application/jobs/backfill.ts';
import type { Commit } from '../../../master/application/ports.ts';
import type { Event } from '../../../master/domain/events.ts';
import type { DefinedTrigger } from '../../../master/domain/jobs/job-events.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import type { CalendarSpec } from '../../../master/domain/schedule/calendar.ts';
import type {
  DaysOf,
  Misfire,
  Overlap,
  Timing,
  TriggerSpec,
} from '../../../master/domain/schedule/trigger-spec.ts';
import { Random } from '../random.ts';
import { BackfillChecks } from './backfills.ts';
import { YearChecks } from './checks.ts';
import { YearMaster, type YearSabotage } from './master.ts';
import { dayAfter, timesBetween } from './wall.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const BEGIN = Date.UTC(2026, 0, 1);
const END = BEGIN + 365 * DAY_MS;
const ZONES = [
  ...['UTC', 'Asia/Shanghai', 'Europe/Berlin', 'America/New_York'],
  ...['Australia/Lord_Howe', 'America/St_Johns', 'Pacific/Apia'],
] as const;
const EXPRESSIONS = [
  ...['30 9 * * *', '30 2 * * *', '30 1 * * *', '0 0 * * *', '15 2,14 * * *'],
  ...['0 8 * * 1,2,3,4,5', '0 3 1 * *', '0 */6 * * *'],
] as const;
const JOBS = ['a', 'b', 'c'] as const;
const CALENDARS = ['china', 'plant'] as const;

export interface YearOutcome {
  readonly violation: string | null;
  readonly trace: readonly string[];
  readonly decidedCount: number;
  /** Times that had run ahead of theirs when their trigger was changed. */
  readonly aheadCount: number;
  readonly backfilledCount: number;
  readonly killCount: number;
  readonly seen: ReadonlyMap<string, number>;
}

export async function simulateYear(seed: number, sabotage?: YearSabotage): Promise<YearOutcome> {
  const year = new Year(seed, sabotage);
  await year.run();
  return year.outcome();
}

type Told = Event extends infer E
  ? E extends { readonly request: number }
    ? Omit<E, 'request'>
    : never
  : never;

class Year {
  readonly #random: Random;
  readonly #trace: string[] = [];
  readonly #checks = new YearChecks((what) => this.#violate(what));
  readonly #backfills = new BackfillChecks(this.#checks, (what) => this.#violate(what));
  readonly #master: YearMaster;
  /** Live runs, and when each ends. */
  readonly #ends = new Map<string, number>();
  readonly #specs = new Map<string, readonly TriggerSpec[]>();
  #now = BEGIN;
  /** While nobody is there. */
  #awayUntil = BEGIN;
  #violation: string | null = null;
  #killCount = 0;
  #backfillCount = 0;

  constructor(seed: number, sabotage: YearSabotage | undefined) {
    this.#random = new Random(seed);
    this.#master = new YearMaster(
      new Random(seed ^ 0x51ab),
      (one) => this.#committed(one),
      sabotage,
    );
  }

  outcome(): YearOutcome {
    const { decidedCount, aheadCount } = this.#checks;
    const { runCount: backfilledCount } = this.#backfills;
    const seen = new Map([...this.#checks.seen, ...this.#backfills.seen]);
    const counts = { decidedCount, aheadCount, backfilledCount, killCount: this.#killCount, seen };
    return { violation: this.#violation, trace: this.#trace, ...counts };
  }

  async run(): Promise<void> {
    await this.#begin();
    for (const name of CALENDARS) await this.#tell(this.#calendar(name));
    for (const name of JOBS) await this.#tell(this.#job(name));
    while (this.#now < END && this.#violation === null) {
      this.#master.killChance = this.#backfills.open.length > 0 ? 0.02 : 0.004;
      await this.#pass(this.#random.between(HOUR_MS, 6 * DAY_MS));
      if (this.#violation === null) await this.#act();
    }
  }

  async #begin(): Promise<void> {
    this.#log('a master begins');
    this.#checks.calmSince = this.#now;
    await this.#master.begin(this.#now);
  }

  /** Stops at whatever is due on the way. */
  async #pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    while (this.#violation === null) {
      if (!this.#master.isAlive && this.#awayUntil <= this.#now) await this.#begin();
      const next = this.#master.isAlive
        ? Math.min(this.#master.nextAt, ...this.#ends.values())
        : this.#awayUntil;
      if (next > until) break;
      this.#now = Math.max(this.#now, next);
      if (!this.#master.isAlive) continue;
      await this.#whatIsDue();
      if (!this.#master.isAlive) this.#died();
    }
    this.#now = Math.max(this.#now, until);
  }

  async #whatIsDue(): Promise<void> {
    const [ended] = [...this.#ends].find(([, at]) => at <= this.#now) ?? [];
    if (ended === undefined) {
      // What was due at an instant and is so again would hold time for ever.
      if (this.#master.nextAt <= this.#now) await this.#master.tick(this.#now);
      if (this.#master.nextAt <= this.#now) this.#now += 1;
      return;
    }
    await this.#tell({ type: 'cancelRequested', taskId: ended });
  }

  #died(): void {
    this.#killCount += 1;
    const isLong = this.#random.chance(0.2);
    this.#awayUntil = this.#now + this.#random.between(0, isLong ? 12 * DAY_MS : 2 * HOUR_MS);
    this.#log(`the master is killed, and away until ${iso(this.#awayUntil)}`);
  }

  async #tell(event: Told): Promise<void> {
    this.#log(JSON.stringify(event));
    this.#checks.calmSince = this.#now;
    await this.#master.tell((request) => ({ request, ...event }), this.#now);
  }

  async #act(): Promise<void> {
    const random = this.#random;
    const draw = random.between(0, 27);
    const name = random.pick(JOBS);
    if (draw < 5) return this.#tell(this.#job(name));
    // As it was, or with as many times, whether it was disabled or not.
    if (draw > 21) return this.#backfill(name);
    if (draw > 19) return this.#tell(this.#jobOf(name, this.#specs.get(name) ?? []));
    if (draw < 10) return this.#tell(this.#calendar(random.pick(CALENDARS)));
    if (draw < 12) {
      const blackouts = this.#blackouts();
      return this.#tell({ ...SET, name: '', text: JSON.stringify({ blackouts }) });
    }
    if (draw < 14) {
      return this.#tell({ type: 'jobEnabled', name, isEnabled: random.chance(0.7), within: ALL });
    }
    if (draw < 16) return this.#skip(name);
    if (draw < 18) {
      this.#master.kill();
      return this.#died();
    }
    // The clock is set, and the master goes on as one that begins.
    this.#now += random.between(-3 * HOUR_MS, random.chance(0.5) ? 5 * DAY_MS : 3 * HOUR_MS);
    this.#log('the clock is set');
    this.#master.kill();
    return this.#begin();
  }

  async #skip(name: string): Promise<void> {
    const trigger = this.#checks.triggerOf(name, 't0');
    const [nominal] =
      (trigger &&
        timesBetween(trigger.spec, trigger.row.anchorAt, this.#now, this.#now + 40 * DAY_MS)) ??
      [];
    if (nominal === undefined) return;
    const isSkipped = this.#random.chance(0.8);
    await this.#tell({
      type: 'occurrenceSkipped',
      name,
      trigger: 't0',
      nominal,
      isSkipped,
      within: ALL,
    });
  }

  /** Begins one, and takes one of those that have begun in hand. */
  async #backfill(job: string): Promise<void> {
    const random = this.#random;
    await this.#beginBackfill(job);
    await this.#pass(random.between(1, 3 * HOUR_MS));
    const open = random.pick(this.#backfills.open);
    if (open === undefined) return;
    const to = random.pick(['canceled', 'paused', 'running', 'running'] as const);
    await this.#tell({ type: 'workSteered', workId: open.id, to });
  }

  #beginBackfill(job: string): Promise<void> {
    const random = this.#random;
    const { row } = this.#checks.triggerOf(job, 't0') ?? {};
    if (row === undefined) return Promise.resolve();
    const until = Math.min(this.#now, row.nextAt === null ? this.#now : row.decidedUntil + 1);
    const asked = {
      ...{ job, trigger: 't0', from: until - random.between(1, 40) * DAY_MS, until, reason: null },
      which: random.pick(['missing', 'missing_failed', 'all'] as const),
      ...{ maxRunning: random.between(1, 3), by: null, count: 0, isExact: false },
    };
    const work = backfillWork(`backfill-${++this.#backfillCount}`, asked, ALL);
    return this.#tell({ type: 'workRequested', work });
  }

  #calendar(name: string): Told {
    const random = this.#random;
    const days: CalendarSpec['days'][number][] = [];
    let date = iso(BEGIN).slice(0, 10);
    while (date < iso(END + 30 * DAY_MS)) {
      date = dayAfter(date, random.between(3, 40));
      const isWork = random.chance(0.4);
      const label = random.pick(['feast', 'stocktaking', 'bridge']);
      for (let count = random.between(1, isWork ? 1 : 9); count > 0; count--) {
        days.push({ date, kind: isWork ? 'work' : 'off', label });
        date = dayAfter(date, 1);
      }
    }
    const weekend = random.pick([[6, 0], [0], [5, 6], []] as const);
    return { ...SET, name, text: JSON.stringify({ days, weekend }) };
  }

  #blackouts() {
    const from = this.#now + this.#random.between(0, 5 * DAY_MS);
    const to = from + this.#random.between(HOUR_MS, 4 * DAY_MS);
    return this.#random.chance(0.6) ? [{ from, to, reason: 'release' }] : [];
  }

  #job(name: string): Told {
    const random = this.#random;
    const overlap = random.pick<Overlap>([
      { kind: 'allow' },
      { kind: 'allow' },
      { kind: 'queue_one' },
      { kind: 'skip' },
    ]);
    const specs = [this.#spec('t0', this.#timing(), overlap)];
    if (random.chance(0.4)) specs.push(this.#spec('t1', this.#timing(), overlap));
    if (name === 'b')
      specs.push(this.#spec('after', { kind: 'delay', delayMs: 9 * HOUR_MS }, overlap));
    if (name === 'c')
      specs.push(this.#spec('heard', { kind: 'on', job: 'a', state: 'canceled' }, overlap));
    return this.#jobOf(name, specs);
  }

  #jobOf(name: string, before: readonly TriggerSpec[]): Told {
    const misfire = this.#random.pick<Misfire | null>([null, 'skip', 'once']) ?? null;
    const specs = before.map((spec) => (misfire === null ? spec : { ...spec, misfire }));
    this.#specs.set(name, specs);
    const triggers = specs.map((spec): DefinedTrigger => {
      const { kind } = spec.timing;
      const isCalendared = kind !== 'delay' && kind !== 'on';
      return { name: spec.name, kind, isCalendared, source: kind === 'on' ? 'a' : null, spec };
    });
    const definition = {
      spec: JSON.stringify({ blackouts: this.#blackouts(), triggers: specs }),
      template: '{"task":{"type":"echo"},"user":{"group":"g"}}',
      ...{ type: 'echo', group: 'g', tags: [], description: null, isEnabled: true },
    };
    return {
      type: 'jobSet',
      name,
      definition,
      triggers,
      expect: null,
      isTrial: false,
      by: null,
      within: ALL,
    };
  }

  #timing(): Timing {
    const random = this.#random;
    const draw = random.between(0, 9);
    if (draw < 7) return { kind: 'cron', expression: random.pick(EXPRESSIONS) };
    if (draw < 9) return { kind: 'every', everyMs: random.pick([7, 24, 36]) * HOUR_MS };
    return {
      kind: 'rotate',
      days: random.between(1, 5),
      time: random.pick(['02:30', '08:00']),
    };
  }

  #spec(name: string, timing: Timing, overlap: Overlap): TriggerSpec {
    const random = this.#random;
    const calendar = random.pick(CALENDARS);
    const days = random.pick<DaysOf | null>([
      null,
      { calendar, days: 'work', label: null },
      { calendar, days: 'off', label: null },
      { calendar, days: null, label: 'feast' },
    ]);
    // Of the days off those that have a label, or all of them: not nearly all days.
    const isOnly = days?.days === 'work';
    return {
      name,
      timing,
      zone: random.pick(ZONES),
      startAt: null,
      endAt: null,
      maxRuns: null,
      jitterMs: 0,
      misfire: random.pick<Misfire>(['skip', 'once', 'once', 'all']),
      graceMs: random.pick([0, MINUTE_MS, DAY_MS]),
      overlap,
      isEnabled: true,
      onlyOn: isOnly ? days : null,
      except: isOnly ? null : days,
      shift: random.pick<TriggerSpec['shift']>(['skip', 'next', 'next', 'previous']),
    };
  }

  #committed(commit: Commit): void {
    for (const write of commit.writes) {
      if (write.table === 'task' && write.op === 'insert') {
        const lasts = this.#random.between(
          MINUTE_MS,
          this.#random.chance(0.1) ? 3 * DAY_MS : HOUR_MS,
        );
        this.#ends.set(write.row.id, this.#now + lasts);
      } else if (write.table === 'history' && write.op === 'insert') {
        this.#ends.delete(write.row.task.id);
      } else if (write.table === 'occurrence')
        this.#log(JSON.stringify('row' in write ? write.row : write));
    }
    this.#checks.committed(commit);
    this.#backfills.committed(commit);
  }

  #log(what: string): void {
    this.#trace.push(`${iso(this.#now)} ${what}`);
  }

  #violate(what: string): void {
    this.#violation ??= what;
  }
}

const SET = { type: 'calendarSet', expect: null, isForced: true, isUsed: false, by: null } as const;

const iso = (at: number): string => new Date(at).toISOString().slice(0, 16);
