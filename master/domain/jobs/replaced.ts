/**
 * Runs of a job that a later time takes the place of: all of them are told to end, those in memory at once, and those that
 * wait in the store a page after the other.
 */
import type { Output } from '../effects.ts';
import type { Event } from '../events.ts';
import type { JobActivity } from '../model/job.ts';
import { isTerminal, type Task } from '../model/task.ts';
import type { State } from '../state/state.ts';
import { cancelRequested } from '../steps/cancel.ts';
import { activityOf } from './activity.ts';

/** Those in memory are told to end; what waits only in the store is asked for first. */
export function replaceRuns(state: State, activity: JobActivity, now: number, out: Output): void {
  const { job, liveIds, liveCount } = activity;
  const { lastSeq: seqMax } = state;
  const ids = new Set([...liveIds, ...state.tasks.idsOfJob(job)]);
  for (const id of ids) {
    const task = state.tasks.get(id);
    if (task !== undefined) cancelRequested(state, task, now, out);
    else out.loads.push({ type: 'task', event: { type: 'runReplaced', taskId: id, seqMax } });
  }
  if (liveCount > ids.size) askForRuns(job, seqMax, out);
}

/** More of them live than are known by heart: they are looked for among all tasks. */
function askForRuns(job: string, seqMax: number, out: Output): void {
  out.loads.push({ type: 'runs', job, seqMax, cursor: null });
}

/** A master that began before has not told all of them: what waits only in the store it had yet to read. */
export function recallReplaced(state: State, out: Output): void {
  for (const { job, pending, liveCount, liveIds } of state.jobs.activities.values()) {
    const seqMax = Math.max(0, ...pending.map(({ endsSeqMax = 0 }) => endsSeqMax));
    if (liveCount === 0 || seqMax === 0) continue;
    for (const taskId of liveIds) {
      out.loads.push({ type: 'task', event: { type: 'runReplaced', taskId, seqMax } });
    }
    if (liveCount > liveIds.length) askForRuns(job, seqMax, out);
  }
}

/** What a later time of the job takes the place of. */
export function runReplaced(
  state: State,
  { taskId, seqMax, task: stored }: Extract<Event, { type: 'runReplaced' }>,
  now: number,
  out: Output,
): void {
  const task = state.tasks.get(taskId) ?? stored ?? null;
  if (task !== null && task.seq <= seqMax) replaceRun(state, task, now, out);
}

/** A page of tasks of the job was read, while nothing was stepped. */
export function runsFound(
  state: State,
  { job, seqMax, tasks, cursor }: Extract<Event, { type: 'runsFound' }>,
  now: number,
  out: Output,
): void {
  for (const stored of tasks) {
    // A backfill has its own.
    if (stored.job?.backfill !== null) continue;
    replaceRun(state, state.tasks.get(stored.id) ?? stored, now, out);
  }
  const isOver = cursor === null || activityOf(state, job).liveCount === 0;
  if (!isOver) out.loads.push({ type: 'runs', job, seqMax, cursor });
}

function replaceRun(state: State, task: Task, now: number, out: Output): void {
  if (!isTerminal(task.state)) cancelRequested(state, task, now, out);
}
