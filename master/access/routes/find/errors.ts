/** Groups failed tasks by their errors, from lists of them: a scope and the bounds of lists hold by themselves. */
import type { TaskFilter } from '../../../domain/model/task-filter.ts';
import type { Task } from '../../../domain/model/task.ts';
import { alike } from '../../../domain/views/alike.ts';
import type { ScopedMaster } from '../../scoped-master.ts';

/** Tasks on a page, and pages that one request looks at. */
const PAGE_COUNT = 200;
const PAGES_MAX = 4;
/** Errors told apart by one request: its last page brings the last ones. */
const ERRORS_MAX = 100;
/** Of these tasks so many are named. */
const SAMPLE_COUNT = 3;

interface ErrorGroup {
  readonly error: string;
  count: number;
  readonly sample: string[];
}

export interface FoundErrors {
  /** The most frequent first. */
  readonly errors: readonly ErrorGroup[];
  readonly lookedCount: number;
  /** Where the next ones are; null: these are all. */
  readonly beforeSeq: number | null;
}

export async function findErrors(
  master: ScopedMaster,
  filter: TaskFilter,
  from: number | null,
): Promise<FoundErrors> {
  const groups = new Map<string, ErrorGroup>();
  let lookedCount = 0;
  let beforeSeq = from;
  for (let page = 1; page <= PAGES_MAX && groups.size < ERRORS_MAX; page++) {
    const query = { ...filter, state: 'failed', beforeSeq, limit: PAGE_COUNT } as const;
    const found = await master.list(query);
    for (const { task } of found.tasks) note(groups, task);
    lookedCount += found.tasks.length;
    ({ beforeSeq } = found);
    // Where they are rare a page has looked at all that one request may.
    if (beforeSeq === null || found.tasks.length < PAGE_COUNT) break;
  }
  const errors = [...groups.values()].sort((a, b) => b.count - a.count);
  return { errors, lookedCount, beforeSeq };
}

/** One without an error, such as a task that was not started in time, has failed for its reason. */
function note(groups: Map<string, ErrorGroup>, { id, error, failureReason }: Task): void {
  const name = error === null ? (failureReason ?? '') : alike(error.message);
  const group = groups.get(name) ?? { error: name, count: 0, sample: [] };
  groups.set(name, group);
  group.count++;
  if (group.sample.length < SAMPLE_COUNT) group.sample.push(id);
}
