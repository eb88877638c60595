/**
 * Ends of runs, and what follows from them: how often a trigger has failed, when one that counts from an end fires
 * next, what waits for ends of another job, and which nominal time may be run now. Its commit says that they were
 * looked at; a crash before it has them looked at once more.
 */
import { RECENT_COUNT_MAX } from '../bounds.ts';
import type { Output } from '../effects.ts';
import {
  isIdle,
  isUsedUp,
  type Job,
  type JobEnd,
  RECENT_LETTERS,
  type Trigger,
} from '../model/job.ts';
import { armedAfter } from '../schedule/times.ts';
import type { State } from '../state/state.ts';
import { activityOf, putActivity } from './activity.ts';
import { fire, pausedFor, putTrigger, run } from './fire.ts';
import type { DueTrigger, JobHappening, SettledJob } from './job-events.ts';
import { recordOne } from './record.ts';

/** Asks for the rows of jobs that are to be looked at. */
export function askForSettled(state: State, out: Output): void {
  const { jobs, loading, accepting } = state;
  if (jobs.unsettled.size === 0 || loading.has('settled') || !accepting) return;
  loading.add('settled');
  out.loads.push({ type: 'settled' });
}

/** They were read while nothing was stepped. */
export function settledLoaded(
  state: State,
  { jobs }: Extract<JobHappening, { type: 'settledLoaded' }>,
  now: number,
  out: Output,
): void {
  state.loading.delete('settled');
  for (const one of jobs) settle(state, one, now, out);
}

function settle(state: State, one: SettledJob, now: number, out: Output): void {
  const { name, job, endCount } = one;
  const { lostEnds, ends: all } = activityOf(state, name);
  const ends = all.slice(0, endCount);
  if (job !== null && ends.length > 0) setEnds(job, ends.filter(isOwnOf(job)), out);
  for (const listener of one.listeners)
    fireListener(state, listener, [...lostEnds, ...ends], now, out);
  // Another of its triggers may have changed it by now.
  const activity = activityOf(state, name);
  putActivity(state, { ...activity, ends: activity.ends.slice(endCount), lostEnds: [] }, out);
  const hasDropped = runPending(state, one, now, out);
  if (job !== null) countEnds(state, { ...one, job }, ends, hasDropped, now, out);
  // What is left of its ends comes behind those of other jobs.
  const { unsettled } = state.jobs;
  if (unsettled.delete(name)) unsettled.add(name);
}

/** It was a run of this type and group: what was before is not told of with it. */
const isOwnOf =
  ({ ownedAt }: Job) =>
  ({ nominal }: JobEnd): boolean =>
    nominal >= ownedAt;

/** How its newest runs have ended. */
function setEnds(job: Job, ends: readonly JobEnd[], out: Output): void {
  const letters = ends.map(({ state }) => RECENT_LETTERS[state]).reverse();
  const last = ends.at(-1);
  const row = {
    lastStartedAt: last?.startedAt ?? job.lastStartedAt,
    lastEndedAt: last?.at ?? job.lastEndedAt,
    recent: [...letters, ...job.recent].slice(0, RECENT_COUNT_MAX).join(''),
  };
  out.changes.push({ op: 'set', table: 'job', key: job.name, expect: 'any', row, large: false });
}

/** @param hasDropped What waited was not run after all: what counts from an end counts from now. */
function countEnds(
  state: State,
  { name, job, triggers, pauseAfter }: SettledJob & { readonly job: Job },
  ends: readonly JobEnd[],
  hasDropped: boolean,
  now: number,
  out: Output,
): void {
  const isOver = isIdle(activityOf(state, name));
  const endedAt = hasDropped ? now : (ends.at(-1)?.at ?? now);
  const isOwn = isOwnOf(job);
  for (const { trigger, spec } of triggers) {
    const own = ends.filter((end) => end.trigger === trigger.name && isOwn(end));
    let after = counted(state, trigger, own, pauseAfter, now, out);
    const mayFire = job.isEnabled && spec.isEnabled && after.paused === null;
    const nextAt = isOver && mayFire ? armedAfter(spec, endedAt) : null;
    if (nextAt !== null && !isUsedUp(after, spec.maxRuns)) {
      const isPast = spec.endAt !== null && nextAt >= spec.endAt;
      if (!isPast) after = { ...after, armedAt: nextAt, nextAt, nextNominal: nextAt };
    }
    if (after !== trigger) putTrigger(state, after, out);
  }
}

/** Runs that were canceled say nothing of whether it works. */
function counted(
  state: State,
  trigger: Trigger,
  ends: readonly JobEnd[],
  pauseAfter: number | null,
  now: number,
  out: Output,
): Trigger {
  let after = trigger;
  for (const end of ends) {
    if (end.state === 'canceled') continue;
    const failureCount = end.state === 'succeeded' ? 0 : after.failureCount + 1;
    if (failureCount !== after.failureCount) after = { ...after, failureCount };
    if (pauseAfter === null || failureCount < pauseAfter || after.paused !== null) continue;
    const reason = `${failureCount} runs in a row have not succeeded: ${end.error ?? end.state}`;
    after = pausedFor(state, after, reason, now, out);
  }
  return after;
}

/** A trigger of another job, for each end that it waits for; those that were lost are one. */
function fireListener(
  state: State,
  listener: DueTrigger,
  ends: readonly Pick<JobEnd, 'state'>[],
  now: number,
  out: Output,
): void {
  const { trigger, spec, due } = listener;
  const { timing } = spec;
  const heard = ends.filter((end) => timing.kind === 'on' && end.state === timing.state);
  if (heard.length === 0 || due.length === 0) return;
  fire(state, { ...listener, trigger, due: due.slice(0, heard.length) }, now, out);
}

/** The first of those that wait, where nothing runs any more; what else waits waits for that. True: it is not run. */
function runPending(
  state: State,
  { name, job, pending }: SettledJob,
  now: number,
  out: Output,
): boolean {
  const activity = activityOf(state, name);
  const [first, ...rest] = activity.pending;
  if (first === undefined || activity.liveCount > 0) return false;
  const { trigger, nominal, rerun } = first;
  putActivity(state, { ...activity, pending: rest }, out);
  if (job === null || pending === null) {
    const said = { state: 'skipped', reason: 'deleted', calendar: null, rerun } as const;
    recordOne({ job: name, name: trigger }, nominal, said, now, out);
    return true;
  }
  const of = { reason: 'overlap', calendar: null, rerun };
  const due = { name, version: job.version, trigger, nominal, backfill: null };
  return run(state, pending, due, of, now, out) !== null;
}
