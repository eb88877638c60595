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
  const ids = new Set([...liveIds, ...state.tasks.idsOfJob(job)]);
  for (const id of ids) {
    const task = state.tasks.get(id);
    if (task !== undefined) cancelRequested(state, task, now, out);
    else out.loads.push({ type: 'task', event: { type: 'runReplaced', taskId: id } });
  }
  if (liveCount > ids.size) askForRuns(state, job, out);
}

/** More of them live than are known by heart: they are looked for among all tasks. */
function askForRuns({ lastSeq: seqMax }: State, job: string, out: Output): void {
  out.loads.push({ type: 'runs', job, seqMax, cursor: null });
}

/** A master that began before has not told all of them: what waits only in the store it had yet to read. */
export function recallReplaced(state: State, out: Output): void {
  for (const { job, pending, liveCount, liveIds } of state.jobs.activities.values()) {
    if (liveCount === 0 || !pending.some(({ endsOthers }) => endsOthers)) continue;
    for (const taskId of liveIds) {
      out.loads.push({ type: 'task', event: { type: 'runReplaced', taskId } });
    }
    if (liveCount > liveIds.length) askForRuns(state, job, out);
  }
}

/** What a later time of the job takes the place of. */
export function runReplaced(
  state: State,
  { taskId, task: stored }: Extract<Event, { type: 'runReplaced' }>,
  now: number,
  out: Output,
): void {
  replaceRun(state, state.tasks.get(taskId) ?? stored ?? null, now, out);
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

function replaceRun(state: State, task: Task | null, now: number, out: Output): void {
  if (task !== null && !isTerminal(task.state)) cancelRequested(state, task, now, out);
}
