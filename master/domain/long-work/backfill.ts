/**
 * Begins the next runs of a backfill. Records, tasks and how far it is are one commit, so that each time has one run,
 * whatever dies. Its tasks stand behind others of their type that wait, and the overlap policy of the job is not asked:
 * neither do its times wait for these runs.
 */
import { BACKFILL_BEHIND_SECONDS } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { run } from '../jobs/fire.ts';
import type { BackfillPage } from '../jobs/job-events.ts';
import type { NewTask } from '../model/new-task.ts';
import type { State } from '../state/state.ts';
import { putBackfill } from './backfilled.ts';
import { type BackfillWork, ended, withProblem } from './work.ts';
import { putWork } from './works.ts';

/** They were read while nothing was stepped. */
export function beginTimes(
  state: State,
  work: BackfillWork,
  page: BackfillPage,
  now: number,
  out: Output,
): void {
  state.works.lastId = work.id;
  if (page.gone !== null) {
    const problem = { taskId: null, kind: 'failed', message: page.gone } as const;
    const problems = withProblem(work.problems, problem);
    return putWork(state, ended({ ...work, problems }, 'canceled', now), now, out);
  }
  const { job: name, trigger } = work.request;
  const base = typeof page.base === 'string' ? page.base : behind(page.base);
  const ids = [...work.ids];
  let { problems } = work;
  let failed = 0;
  for (const { nominal, rerun, calendar, ...task } of page.times) {
    const { version } = page;
    const job = { name, version, trigger, nominal, backfill: { rerun, operationId: work.id } };
    const of = { reason: 'backfill', calendar, rerun };
    const refusal = run(state, { ...task, base }, job, of, now, out);
    if (refusal === null) {
      ids.push(task.taskId);
      continue;
    }
    failed += 1;
    problems = withProblem(problems, { taskId: task.taskId, kind: 'failed', message: refusal });
  }
  const counts = { ...work.counts, failed: work.counts.failed + failed };
  putBackfill(state, { ...work, ids, problems, counts, cursor: page.cursor }, now, out);
}

/** Of two that wait, one of live work comes first, unless this one has waited for that much longer. */
function behind(base: NewTask): NewTask {
  return { ...base, priority: base.priority - BACKFILL_BEHIND_SECONDS };
}
