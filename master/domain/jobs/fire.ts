/**
 * Triggers that are due: what becomes of each of their nominal times, and the runs that they make. Record, task and
 * the next time of the trigger are one commit, so that whatever dies, each time has exactly one record.
 */
import type { TaskJob } from '../model/task-job.ts';
import { AHEAD_MAX, LATE_PER_SECOND_MAX, MADE_UP_COUNT_MAX } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { tell } from '../feed/tell.ts';
import { BY_HAND, isUsedUp, type PendingTime, type Trigger } from '../model/job.ts';
import { decideOverlap } from '../schedule/overlap.ts';
import { armedAfter } from '../schedule/times.ts';
import type { State } from '../state/state.ts';
import { accept } from '../steps/submit.ts';
import { activityOf, putActivity, waitingOf } from './activity.ts';
import type { DueTime, DueTrigger, JobHappening, RunTask } from './job-events.ts';
import { openRunBefore, putOccurrence, recordNext, recordOne } from './record.ts';
import { replaceRuns } from './replaced.ts';

const NEVER = { nextAt: null, nextNominal: null };

type Draft = { -readonly [F in keyof Trigger]: Trigger[F] };

/** Where one is due. */
export function askForTriggers(
  { jobs, loading, accepting }: State,
  now: number,
  out: Output,
): void {
  if (jobs.nextTriggerAt > now || loading.has('triggers') || !accepting) return;
  loading.add('triggers');
  out.loads.push({ type: 'triggers' });
}

/** They were read while nothing was stepped. */
export function triggersLoaded(
  state: State,
  { due, missed = [], broken = [], nextAt }: Extract<JobHappening, { type: 'triggersLoaded' }>,
  now: number,
  out: Output,
): void {
  if (nextAt !== undefined) {
    state.loading.delete('triggers');
    state.jobs.nextTriggerAt = nextAt ?? Number.POSITIVE_INFINITY;
  }
  for (const one of due) fire(state, one, now, out);
  for (const { trigger, nextNominal } of missed) {
    putOff(state, trigger, { nextAt: nextNominal, nextNominal }, now, out);
  }
  for (const { trigger, reason } of broken) {
    putTrigger(state, pausedFor(state, trigger, reason, now, out), out);
  }
}

/** It fires no more until somebody says so; what watches jobs is told why. */
export function pausedFor(
  state: State,
  trigger: Trigger,
  reason: string,
  now: number,
  out: Output,
): Trigger {
  const { job, name } = trigger;
  tell(state, out, 'job.trigger_paused', now, {}, { job, trigger: name, reason });
  out.observed.push({ event: 'trigger_paused', job, trigger: name, reason });
  return { ...trigger, paused: { at: now, reason }, ...NEVER };
}

/** Written as it is to be; memory knows when the first of all is due. */
export function putTrigger(state: State, row: Trigger, out: Output): void {
  const key = [row.job, row.name] as const;
  out.changes.push({ op: 'put', table: 'trigger', key, row });
  expectTrigger(state, row);
}

function setTrigger(state: State, row: Trigger, out: Output): void {
  const key = [row.job, row.name] as const;
  const set = { op: 'set', table: 'trigger', key, expect: 'any', row, large: false } as const;
  out.changes.push(set);
  expectTrigger(state, row);
}

function expectTrigger({ jobs }: State, { nextAt }: Trigger): void {
  if (nextAt !== null && nextAt < jobs.nextTriggerAt) jobs.nextTriggerAt = nextAt;
}

/** Decides what of the trigger is due, in order, up to the first that has to wait for its turn. */
export function fire(state: State, asked: DueTrigger, now: number, out: Output): void {
  const one = withinAll(state, asked);
  const { trigger, spec, isMore } = one;
  // Of what comes behind those that are not decided yet nothing is known.
  const { nextAt, nextNominal } = isMore ? NEVER : one;
  const due = inTurn(state, one, now);
  if (due === null) return putOff(state, trigger, { nextAt, nextNominal }, now, out);
  const draft: Draft = { ...trigger };
  // Looked at before it is due, it waits on.
  const isDelayOver = spec.timing.kind === 'delay' && due.length > 0;
  if (isDelayOver) Object.assign(draft, { armedAt: null, ...NEVER });
  let hasTurn = true;
  for (const time of due) {
    if (isUsedUp(draft, spec.maxRuns)) break;
    if (isBehind(state, one, time)) {
      if (!hasTurn && !mayRunLate(state, now)) {
        return putOff(state, draft, { nextAt, nextNominal }, now, out);
      }
      hasTurn = false;
    }
    if (isMadeUp(state, one, time)) state.jobs.madeUpCount += 1;
    draft.openRun = openRunBefore(draft, time.nominal);
    decideOne(state, one, draft, time, now, out);
    markDecided(draft, time, now);
  }
  setTrigger(state, { ...draft, ...nextOf(one, draft, now) }, out);
}

/** A time that was moved to a day before its own is no mark: what the trigger is changed to may have times until then. */
function markDecided(draft: Draft, { to }: DueTime, now: number): void {
  const isAhead = to > now && draft.kind !== 'on' && draft.decidedAhead.length < AHEAD_MAX;
  const until = Math.max(draft.decidedUntil, isAhead ? now : to);
  const isLeft = (nominal: number): boolean => nominal > until;
  const ahead = isAhead ? [...draft.decidedAhead, to].sort((a, b) => a - b) : draft.decidedAhead;
  draft.decidedUntil = until;
  draft.decidedAhead = ahead.filter(isLeft);
  draft.skips = draft.skips.filter(isLeft);
}

/** Of an absence so many times are made up for, of all triggers: beyond these, the newest of its own are kept. */
function withinAll(state: State, one: DueTrigger): DueTrigger {
  const madeUp = one.due.filter((time) => isMadeUp(state, one, time));
  const overCount = state.jobs.madeUpCount + madeUp.length - MADE_UP_COUNT_MAX;
  if (madeUp.length === 0 || overCount <= 0) return one;
  const over = new Set(madeUp.slice(0, overCount));
  const said = { state: 'skipped', reason: 'overflow' } as const;
  return { ...one, due: one.due.map((time) => (over.has(time) ? { ...time, ...said } : time)) };
}

/** `all` runs it, which was due while there was no master. */
function isMadeUp({ jobs }: State, { spec }: DueTrigger, { state, isLate, at }: DueTime): boolean {
  return spec.misfire === 'all' && state === 'run' && isLate && at < jobs.hereSince;
}

/** It is to be run, and is late, or was due while there was no master. */
function isBehind(
  { jobs }: State,
  { isAwaited = false }: DueTrigger,
  { state, isLate, at }: DueTime,
): boolean {
  return state === 'run' && !isAwaited && (isLate || at < jobs.hereSince);
}

function mayRunLate({ jobs }: State, now: number): boolean {
  return jobs.lateAllowances.take(jobs, now);
}

/**
 * What may be decided, where the first of those that are behind has its turn; null: it has not. Then nothing is said
 * of any: what is in time by then may stand for all of them.
 */
function inTurn(state: State, one: DueTrigger, now: number): readonly DueTime[] | null {
  const { trigger, spec, due } = one;
  const { misfire, maxRuns } = spec;
  const hasBehind = due.some((time) => isBehind(state, one, time));
  if (!hasBehind || isUsedUp(trigger, maxRuns) || mayRunLate(state, now)) return due;
  const isInTime = due.some((time) => time.state === 'run' && !isBehind(state, one, time));
  if (!isInTime || misfire === 'all') return null;
  const said = { state: misfire === 'skip' ? 'skipped' : 'merged', reason: 'misfire' } as const;
  return due.map((time) => (isBehind(state, one, time) ? { ...time, ...said } : time));
}

function nextOf(
  { spec, due, isMore, nextAt, nextNominal }: DueTrigger,
  draft: Draft,
  now: number,
): Pick<Trigger, 'nextAt' | 'nextNominal'> {
  if (isUsedUp(draft, spec.maxRuns)) return NEVER;
  if (isMore) return { nextAt: now, nextNominal: null };
  if (spec.timing.kind === 'delay' && due.length > 0) return draft;
  return { nextAt, nextNominal };
}

/** It has its turn behind all others that are late, or comes with its next time that is not, if that is sooner. */
function putOff(
  state: State,
  trigger: Trigger,
  next: Pick<Trigger, 'nextAt' | 'nextNominal'>,
  now: number,
  out: Output,
): void {
  const { jobs } = state;
  jobs.lateAt = Math.max(jobs.lateAt, now) + 1_000 / LATE_PER_SECOND_MAX;
  const turn = { nextAt: Math.ceil(jobs.lateAt), nextNominal: null };
  const isSooner = next.nextAt !== null && next.nextAt > now && next.nextAt < turn.nextAt;
  setTrigger(state, { ...trigger, ...(isSooner ? next : turn) }, out);
}

function decideOne(
  state: State,
  one: DueTrigger,
  draft: Draft,
  time: DueTime,
  now: number,
  out: Output,
): void {
  const { trigger, spec } = one;
  const { nominal, state: asked, reason, calendar } = time;
  if (asked !== 'run') {
    draft.openRun = recordNext(draft, time, { state: asked, reason, calendar }, now, out);
    observe(trigger, asked, 0, out);
    return rearm(one, draft, now);
  }
  const activity = activityOf(state, trigger.job);
  const { pending } = activity;
  const waiting = waitingOf(activity, trigger.name);
  const fate = decideOverlap(spec.overlap, activity.liveCount, waiting.length, pending.length);
  switch (fate.kind) {
    case 'run': {
      draft.openRun = null;
      const begun = { name: trigger.job, version: one.version, trigger: trigger.name };
      const job = { ...begun, nominal, backfill: null };
      const of = { reason, calendar, rerun: 0 };
      const refusal = run(state, { ...time, base: one.base }, job, of, now, out);
      if (refusal !== null) return rearm(one, draft, now);
      draft.firedCount += 1;
      draft.lastFiredAt = now;
      observe(trigger, 'ran', now - time.at, out);
      return;
    }
    case 'wait': {
      draft.openRun = null;
      draft.lastFiredAt = now;
      // What it takes the place of has not been run, and is none of `max_runs`.
      const replaced = fate.replaces ? waiting : [];
      draft.firedCount += 1 - replaced.filter(({ rerun }) => rerun === 0).length;
      for (const one of replaced) recordReplaced(trigger, one, out);
      const kept = fate.replaces ? pending.filter((one) => !waiting.includes(one)) : pending;
      recordOne(draft, nominal, { state: 'pending', reason: 'overlap', calendar }, now, out);
      const ends = fate.cancels ? { endsSeqMax: state.lastSeq } : {};
      const row = { trigger: trigger.name, nominal, rerun: 0, noticedAt: now, ...ends };
      putActivity(state, { ...activity, pending: [...kept, row] }, out);
      if (fate.cancels) replaceRuns(state, activity, now, out);
      observe(trigger, 'pending', now - time.at, out);
      return;
    }
    default: {
      const said = { state: fate.kind, reason: fate.reason, calendar };
      draft.openRun = recordNext(draft, time, said, now, out);
      observe(trigger, fate.kind, 0, out);
      return rearm(one, draft, now);
    }
  }
}

function recordReplaced(
  { job }: Trigger,
  { noticedAt, endsSeqMax: _, ...of }: PendingTime,
  out: Output,
): void {
  const said = { state: 'replaced', reason: 'overlap', calendar: null, taskId: null } as const;
  putOccurrence({ job, ...of, until: of.nominal, ...said, count: 1, noticedAt }, out);
}

/** One that counts from the end of a run has none to count from. */
function rearm({ spec }: DueTrigger, draft: Draft, now: number): void {
  const armedAt = armedAfter(spec, now);
  if (armedAt !== null) Object.assign(draft, { armedAt, nextAt: armedAt, nextNominal: armedAt });
}

/** A run of a job, and its record. A text: why it was refused, which the record says too. */
export function run(
  state: State,
  asked: RunTask,
  job: TaskJob,
  of: { readonly reason: string | null; readonly calendar: string | null; readonly rerun: number },
  now: number,
  out: Output,
): string | null {
  const { name, trigger, nominal } = job;
  const by = { job: name, name: trigger };
  const reason = refusalOf(state, asked, job, now, out);
  if (reason === null) {
    const { taskId } = asked;
    recordOne(by, nominal, { ...of, state: 'ran', taskId }, now, out);
    return null;
  }
  recordOne(by, nominal, { ...of, state: 'refused', reason }, now, out);
  tell(
    state,
    out,
    'job.fire_refused',
    now,
    {},
    { job: name, trigger, nominal_at: nominal, reason },
  );
  // Whoever runs it by hand is told so.
  if (trigger !== BY_HAND) {
    const refused = { job: name, trigger, nominal, reason };
    out.observed.push({ event: 'fire_refused', ...refused });
  }
  return reason;
}

/** Null: its task was accepted. */
function refusalOf(
  state: State,
  { base, taskId, isTaken }: RunTask,
  job: TaskJob,
  now: number,
  out: Output,
): string | null {
  if (typeof base === 'string') return base;
  const task = { ...base, id: taskId, job };
  const outcome = accept(state, task, isTaken ? '' : undefined, now, out);
  switch (outcome.kind) {
    case 'accepted':
      return null;
    case 'taken':
      return `there is a task ${taskId} already`;
    case 'misfit':
      if (outcome.wrong !== undefined) return `${outcome.wrong.field}: ${outcome.wrong.message}`;
      return outcome.missingLimit === undefined
        ? 'its params do not fit its type'
        : `there is no limit ${outcome.missingLimit}`;
    case 'overdue':
      return 'its deadline has passed';
    default:
      return outcome.message;
  }
}

function observe(
  { job, name: trigger }: Trigger,
  outcome: 'ran' | 'pending' | 'skipped' | 'merged',
  lateMs: number,
  out: Output,
): void {
  out.observed.push({ event: 'trigger_decided', job, trigger, outcome, lateMs });
}
