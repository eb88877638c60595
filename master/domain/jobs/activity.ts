/**
 * Which runs of a job live, which nominal times wait for them, and which ends nobody has looked at yet: written by the
 * very commit in which a task of the job is accepted or ends, so that no crash loses one. Runs of a backfill are none of
 * these: it counts its own.
 */
import { ENDS_MAX, LIVE_IDS_MAX } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { shortOf } from '../feed/tell.ts';
import { backfilled } from '../long-work/backfilled.ts';
import {
  idleActivity,
  isIdle,
  type JobActivity,
  type JobEnd,
  type LostEnds,
  type PendingTime,
} from '../model/job.ts';
import { isTerminal, type Task } from '../model/task.ts';
import type { State } from '../state/state.ts';

export function activityOf({ jobs }: Pick<State, 'jobs'>, name: string): JobActivity {
  return jobs.activities.get(name) ?? idleActivity(name);
}

/** It is so from here on. */
export function putActivity({ jobs }: State, row: JobActivity, out: Output): void {
  const { job: key } = row;
  if (isIdle(row)) {
    jobs.unsettled.delete(key);
    if (!jobs.activities.delete(key)) return;
    out.changes.push({ op: 'remove', table: 'jobActivity', key, expect: 'any' });
    return;
  }
  jobs.activities.set(key, row);
  out.changes.push({ op: 'put', table: 'jobActivity', key, row });
  if (isUnsettled(row)) jobs.unsettled.add(key);
  else jobs.unsettled.delete(key);
}

/** A run has ended that nobody has looked at, or nothing runs that the next one would wait for. */
export function isUnsettled({ ends, pending, liveCount }: JobActivity): boolean {
  return ends.length > 0 || (pending.length > 0 && liveCount === 0);
}

/** A task of a job was accepted, or runs again after its end. */
export function runBegan(state: State, { id, job }: Task, out: Output): void {
  if (job === null || job.backfill !== null) return;
  const before = activityOf(state, job.name);
  const liveIds = [...before.liveIds, id].slice(-LIVE_IDS_MAX);
  putActivity(state, { ...before, liveCount: before.liveCount + 1, liveIds }, out);
}

/** A task of a job has ended, in whichever way. */
export function runEnded(state: State, task: Task, now: number, out: Output): void {
  const { id: taskId, job, state: how, startedAt, error } = task;
  if (job === null || !isTerminal(how)) return;
  const { backfill, ...of } = job;
  if (backfill !== null) return backfilled(state, task, backfill, now, out);
  const before = activityOf(state, job.name);
  const message = how === 'succeeded' || error === null ? null : shortOf(error.message);
  const end = { ...of, taskId, state: how, startedAt, at: now, error: message };
  const ends = [...before.ends, end];
  putActivity(
    state,
    {
      ...before,
      liveCount: Math.max(0, before.liveCount - 1),
      liveIds: before.liveIds.filter((id) => id !== taskId),
      ends: ends.slice(-ENDS_MAX),
      lostEnds: ends.slice(0, -ENDS_MAX).reduce(withLost, before.lostEnds),
    },
    out,
  );
}

function withLost(lost: readonly LostEnds[], { state, at }: JobEnd): readonly LostEnds[] {
  const known = lost.find((one) => one.state === state);
  if (known === undefined) return [...lost, { state, count: 1, from: at, to: at }];
  const more = { ...known, count: known.count + 1, to: Math.max(known.to, at) };
  return lost.map((one) => (one === known ? more : one));
}

/** Nominal times of one trigger that wait. */
export function waitingOf({ pending }: JobActivity, trigger: string): readonly PendingTime[] {
  return pending.filter((one) => one.trigger === trigger);
}
