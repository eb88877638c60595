/**
 * Which nominal times of a trigger a backfill runs: of those that its calendars and black-outs let run as they are now,
 * the ones that its records ask for. The preview counts by it, and each slice begins by it. Writes nothing.
 */
import { BACKFILL_LOOK_COUNT, BACKFILL_RECORD_COUNT, RERUN_MAX } from '../../domain/bounds.ts';
import type { BrokenTrigger } from '../../domain/jobs/job-events.ts';
import type { Backfill } from '../../domain/long-work/work.ts';
import type { Job, Occurrence, Trigger } from '../../domain/model/job.ts';
import { isTerminal, type TaskState } from '../../domain/model/task.ts';
import { BY_PEOPLE, comingOf } from '../../domain/schedule/coming.ts';
import type { Blackout, TriggerSpec } from '../../domain/schedule/trigger-spec.ts';
import type { JobReads } from './job-store.ts';
import { type Calendars, surroundingsOf, unlessBroken } from './planning.ts';
import type { TriggerFaults } from './trigger-faults.ts';

export interface FoundTime {
  readonly nominal: number;
  readonly rerun: number;
  readonly calendar: string | null;
}

export interface FoundTimes {
  readonly times: readonly FoundTime[];
  /** Entries of the schedule that it has gone through; a run of times that are left out is one. */
  readonly lookedCount: number;
  /** Times that calendars, black-outs and people leave out. */
  readonly leftOutCount: number;
  /** Times that need no run: they have one, or one that is to come. */
  readonly coveredCount: number;
  /** The last nominal time that it has come to; null: there are no others. */
  readonly reached: number | null;
}

/** How rows are asked for. */
export interface BackfillReads {
  readonly records: JobReads['loadRecords'];
  /** The states of these tasks; null: there is no such task. Those that it has not come to are not in it; the first is. */
  readonly states: (ids: readonly string[]) => Promise<ReadonlyMap<string, TaskState | null>>;
}

/** The trigger with what decides of its times. */
export interface Planned {
  readonly job: Job;
  readonly trigger: Trigger;
  readonly calendars: Calendars;
  /** None: a fault of the master is thrown. */
  readonly faults?: TriggerFaults;
}

/** Up to where what becomes of times by themselves is decided: those after it are not for a backfill. */
export function decidedUntil({ nextAt, decidedUntil }: Trigger, now: number): number {
  return nextAt === null ? now : Math.min(now, decidedUntil);
}

/** Why it has no times that could be run again; null: it may have. */
export function refusalOf({ kind }: Pick<Trigger, 'kind'>): string | null {
  return kind === 'delay' || kind === 'on'
    ? `its times come from ends of runs (\`${kind}\`): there are none that could be missing`
    : null;
}

/** The next of them after that instant, `countMax` at most. Some milliseconds. A text: why its times cannot be told. */
export async function findTimes(
  { job, trigger, calendars, faults }: Planned,
  { which, until }: Pick<Backfill, 'which' | 'until'>,
  after: number,
  countMax: number,
  reads: BackfillReads,
): Promise<FoundTimes | string> {
  const spec = JSON.parse(trigger.spec) as TriggerSpec;
  const { blackouts = [] } = JSON.parse(job.spec) as { blackouts?: readonly Blackout[] };
  const around = {
    ...surroundingsOf(calendars, trigger, spec, blackouts),
    // It goes by what the trigger is, also for times before it was so.
    changedAt: Number.MIN_SAFE_INTEGER,
    decidedAhead: [],
    runsLeft: null,
  };
  const broken: BrokenTrigger[] = [];
  const page = unlessBroken(
    trigger,
    broken,
    () => {
      return comingOf(spec, around, after, BACKFILL_LOOK_COUNT, until - 1);
    },
    faults?.at('backfill'),
  );
  if (page === null) return broken.map(({ reason }) => reason).join();
  const [first] = page.coming;
  const last = page.coming.at(-1);
  const found = { times: [] as FoundTime[], lookedCount: 0, leftOutCount: 0, coveredCount: 0 };
  if (first === undefined || last === undefined) return { ...found, reached: page.until };
  const { records, endedBefore } = await readRecords(reads, trigger, first.nominal, last.to);
  const known = page.coming.map((one) => {
    return { one, own: one.at === null ? [] : recordsAt(records, one.nominal) };
  });
  const runs = known.flatMap(({ own }) => newestRun(own)?.taskId ?? []);
  const states = which === 'missing' ? new Map() : await reads.states(runs);
  let reached = after;
  for (const { one, own } of known) {
    if (found.times.length >= countMax) return { ...found, reached };
    if (one.at === null) found.leftOutCount += one.count;
    else if (one.to >= endedBefore) return { ...found, reached };
    else {
      const verdict = verdictOf(own, which, states);
      if (verdict === 'unknown') return { ...found, reached };
      if (verdict === 'left out') found.leftOutCount += 1;
      else if (verdict === 'covered') found.coveredCount += 1;
      else found.times.push({ nominal: one.nominal, calendar: one.calendar, ...verdict });
    }
    found.lookedCount += 1;
    reached = one.to;
  }
  return { ...found, reached: page.until === null ? null : reached };
}

/** Whole of each time before `endedBefore`: what is longer comes with the next page. */
async function readRecords(
  { records: read }: BackfillReads,
  { job, name: trigger }: Trigger,
  from: number,
  to: number,
): Promise<{ readonly records: readonly Occurrence[]; readonly endedBefore: number }> {
  const records = await read({ job, trigger }, from, to, BACKFILL_RECORD_COUNT);
  const isAll = records.length < BACKFILL_RECORD_COUNT;
  const endedBefore = isAll ? Number.POSITIVE_INFINITY : (records.at(-1)?.nominal ?? to);
  return { records, endedBefore };
}

/** In the order of their reruns. */
function recordsAt(records: readonly Occurrence[], at: number): readonly Occurrence[] {
  return records.filter(({ nominal, until }) => nominal <= at && at <= until);
}

function newestRun(records: readonly Occurrence[]): Occurrence | undefined {
  return records.findLast(({ state }) => state === 'ran');
}

type Verdict = { readonly rerun: number } | 'covered' | 'left out' | 'unknown';

function verdictOf(
  records: readonly Occurrence[],
  which: Backfill['which'],
  states: ReadonlyMap<string, TaskState | null>,
): Verdict {
  const rerun = 1 + Math.max(0, ...records.map((one) => one.rerun));
  if (records.some(({ reason }) => reason === BY_PEOPLE)) return 'left out';
  if (rerun > RERUN_MAX || records.some(({ state }) => state === 'pending')) return 'covered';
  const newest = newestRun(records);
  if (newest === undefined) return { rerun };
  if (which === 'missing' || newest.taskId === null) return 'covered';
  const state = states.get(newest.taskId);
  if (state === undefined) return 'unknown';
  // Of one whose task is not kept any more nobody knows how it ended.
  if (state === null) return which === 'all' ? { rerun } : 'covered';
  if (!isTerminal(state)) return 'covered';
  return which === 'all' || state !== 'succeeded' ? { rerun } : 'covered';
}
