/** Ends of the runs of a backfill, counted by the very commit that ends each: so many may run at a time. */
import type { Output } from '../effects.ts';
import { shortOf } from '../feed/tell.ts';
import type { Backfilled } from '../model/task-job.ts';
import type { Task } from '../model/task.ts';
import type { State } from '../state/state.ts';
import { ALL_BEGUN, type BackfillWork, ended, withProblem } from './work.ts';
import { askForWork, putWork } from './works.ts';

/** Of one that somebody has had run again the first end alone counts. */
export function backfilled(
  state: State,
  { id, state: how, error, failureReason }: Task,
  { operationId }: Backfilled,
  now: number,
  out: Output,
): void {
  const work = state.works.byId.get(operationId);
  if (work?.kind !== 'backfill' || !work.ids.includes(id)) return;
  const isDone = how === 'succeeded';
  const why = error === null ? (failureReason ?? how) : `${how}: ${shortOf(error.message)}`;
  const { counts } = work;
  const after: BackfillWork = {
    ...work,
    ids: work.ids.filter((one) => one !== id),
    counts: {
      ...counts,
      done: counts.done + (isDone ? 1 : 0),
      failed: counts.failed + (isDone ? 0 : 1),
    },
    problems: isDone
      ? work.problems
      : withProblem(work.problems, { taskId: id, kind: 'failed', message: why }),
  };
  putBackfill(state, after, now, out);
  askForWork(state, out);
}

/** It is over once all of its runs are. */
export function putBackfill(state: State, work: BackfillWork, now: number, out: Output): void {
  const isOver = work.cursor === ALL_BEGUN && work.ids.length === 0;
  putWork(state, isOver ? ended(work, 'done', now) : work, now, out);
}
