/** Reads the next slice of long work. Whoever calls steps nothing else meanwhile. */
import { TURN_READ_BYTES_MAX, WORK_SLICE_COUNT_MAX } from '../../domain/bounds.ts';
import type { FoundTask, WorkPage } from '../../domain/events.ts';
import type { BackfillPage } from '../../domain/jobs/job-events.ts';
import { ANY_TASK } from '../../domain/model/task-filter.ts';
import type { State } from '../../domain/state/state.ts';
import {
  type Bulk,
  type BulkWork,
  idsAfter,
  isBackwards,
  isMove,
  nextIds,
  statesFor,
} from '../../domain/long-work/work.ts';
import { nextWork } from '../../domain/long-work/works.ts';
import { readEdges } from './read-edges.ts';
import { readBackfill } from '../jobs/read-backfill.ts';
import type { JobSources } from '../jobs/read-due.ts';
import type { TaskSearch, TaskStore } from '../ports.ts';

/** Of the work whose turn it is; null: there is none any more. */
export async function readWork(
  sources: Pick<JobSources, 'store' | 'templates' | 'faults'>,
  state: State,
  now: number,
): Promise<WorkPage | BackfillPage | null> {
  const work = nextWork(state);
  if (work === null) return null;
  if (work.kind === 'backfill') return readBackfill(sources, state, work);
  const { store } = sources;
  const page =
    work.ids === null ? await readFound(store, work) : await readNamed(store, state, work);
  const { action } = work.request;
  if (!isMove(action)) return page;
  const types = page.tasks.flatMap(({ taskId, task }) => {
    const type = (state.tasks.get(taskId) ?? task)?.type;
    return type === undefined ? [] : [type];
  });
  return { ...page, edges: await readEdges(store, state, action, types, now) };
}

/** What a filter finds, as the preview has frozen it. */
export function searchOf(
  bulk: Pick<Bulk, 'action' | 'filter' | 'within' | 'seqMax' | 'endedBefore'>,
): TaskSearch {
  const { seqMax, endedBefore, within } = bulk;
  const filter = { ...ANY_TASK, ...bulk.filter, within };
  return {
    filter,
    states: statesFor(bulk),
    seqMax,
    endedBefore,
    isBackwards: isBackwards(bulk.action),
  };
}

async function readFound(store: TaskStore, work: BulkWork): Promise<WorkPage> {
  const found = await store.searchTasks(
    searchOf(work.request),
    work.cursor,
    WORK_SLICE_COUNT_MAX,
    TURN_READ_BYTES_MAX,
  );
  const { cursor } = found;
  const tasks = found.tasks.map((stored) => ({ taskId: stored.task.id, ...stored }));
  return { workId: work.id, tasks, ids: null, cursor, isLast: cursor === null };
}

/** What is in memory is not read; what is too much comes with the next slice. */
async function readNamed(store: TaskStore, state: State, work: BulkWork): Promise<WorkPage> {
  const wanted = nextIds(work);
  const absent = wanted.filter((id) => !state.tasks.has(id));
  const found =
    absent.length === 0 ? new Map() : await store.findTasks(absent, TURN_READ_BYTES_MAX);
  const tasks: FoundTask[] = [];
  for (const taskId of wanted) {
    const stored = found.get(taskId);
    if (stored === undefined && !state.tasks.has(taskId)) break;
    const { task = null, notification = null } = stored ?? {};
    tasks.push({ taskId, task, notification });
  }
  const ids = idsAfter(work, tasks.length);
  return { workId: work.id, tasks, ids, cursor: null, isLast: ids.length === 0 };
}
