/** Reads the next slice of a backfill. Whoever calls steps nothing else meanwhile. */
import { TURN_READ_BYTES_MAX } from '../../domain/bounds.ts';
import type { BackfillPage } from '../../domain/jobs/job-events.ts';
import { ALL_BEGUN, type BackfillWork } from '../../domain/long-work/work.ts';
import { ANY_JOB, isAsked } from '../../domain/model/job-query.ts';
import type { TaskState } from '../../domain/model/task.ts';
import type { State } from '../../domain/state/state.ts';
import type { TaskStore } from '../ports.ts';
import { findTimes, refusalOf } from './backfill-times.ts';
import { jobsByTaskId, withFreeId } from './free-ids.ts';
import type { JobSources } from './read-due.ts';

export async function readBackfill(
  { store, templates, faults }: Pick<JobSources, 'store' | 'templates' | 'faults'>,
  state: State,
  { id: workId, request, ids, cursor, createdAt }: BackfillWork,
): Promise<BackfillPage> {
  const { job: name, trigger: of, within, from, maxRunning } = request;
  const { jobs } = await store.jobs.loadJobs([name], TURN_READ_BYTES_MAX);
  const [job] = jobs;
  const own = job === undefined ? [] : await store.jobs.loadTriggers([name]);
  const trigger = own.find((one) => one.name === of);
  const gone = (why: string): BackfillPage => {
    return { workId, version: 0, base: '', times: [], cursor: cursor ?? '', gone: why };
  };
  // There may be another job of that name by now.
  if (job === undefined || job.createdAt > createdAt) return gone('the job was deleted');
  if (!isAsked(job, { ...ANY_JOB, within })) {
    return gone('the job is outside the scope of who asked now');
  }
  if (trigger === undefined) return gone(`the job has no trigger ${of} any more`);
  const refusal = refusalOf(trigger);
  if (refusal !== null) return gone(`trigger ${of} is another now: ${refusal}`);
  const { calendars } = state.jobs;
  const after = cursor === null ? from - 1 : Number(cursor);
  const reads = {
    records: store.jobs.loadRecords.bind(store.jobs),
    states: (asked: readonly string[]) => statesOf(store, state, asked),
  };
  const free = maxRunning - ids.length;
  const found = await findTimes({ job, trigger, calendars, faults }, request, after, free, reads);
  if (typeof found === 'string') return gone(found);
  const named = found.times.map((time) => {
    return { ...time, taskId: templates.taskIdOf(name, of, time.nominal, time.rerun) };
  });
  const byTaskId = await jobsByTaskId(
    store,
    named.map(({ taskId }) => taskId),
  );
  const times = named.map((time) => withFreeId(time, name, byTaskId, templates));
  const typeOf = (type: string) => state.types.get(type) ?? null;
  const base = times.length === 0 ? '' : templates.taskOf(job, typeOf, null);
  const { version } = job;
  const reached = found.reached === null ? ALL_BEGUN : String(found.reached);
  return { workId, version, base, times, cursor: reached, gone: null };
}

/** What is in memory is not read. */
async function statesOf(
  store: TaskStore,
  { tasks }: State,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TaskState | null>> {
  const states = new Map<string, TaskState | null>();
  const absent: string[] = [];
  for (const id of new Set(ids)) {
    const known = tasks.get(id);
    if (known === undefined) absent.push(id);
    else states.set(id, known.state);
  }
  const found = absent.length === 0 ? [] : await store.findTasks(absent, TURN_READ_BYTES_MAX);
  for (const [id, stored] of found) states.set(id, stored?.task.state ?? null);
  return states;
}
