/** What a backfill would do, told before it does it; and the row that it begins with. */
import {
  BACKFILL_COUNT_MAX,
  BACKFILL_LOOK_COUNT,
  BACKFILL_LOOKS_MAX,
  PREVIEW_MS_MAX,
} from '../../domain/bounds.ts';
import type { Backfill, NewWork } from '../../domain/long-work/work.ts';
import type { Sight } from '../../domain/model/task-filter.ts';
import type { TaskState } from '../../domain/model/task.ts';
import type { Clock, TaskStore } from '../ports.ts';
import { Unavailable } from '../master-handle.ts';
import { type BackfillReads, findTimes, type Planned } from './backfill-times.ts';
import type { BegunBackfill, PreviewedBackfill } from './jobs-handle.ts';

/**
 * Page by page, and what else is due runs in between. After some seconds it reads nothing more, and counts what may be run.
 * A text: why the times of the trigger cannot be told.
 *
 * @param gone Nobody waits for it any more. @throws {Unavailable} then.
 */
export async function previewBackfill(
  planned: Planned,
  asked: Pick<Backfill, 'from' | 'until' | 'which'>,
  store: TaskStore,
  clock: Pick<Clock, 'now' | 'soon'>,
  gone: AbortSignal,
): Promise<PreviewedBackfill | string> {
  const since = clock.now();
  let isExact = true;
  /** From then on whether times have to be run is found when it is their turn. */
  const isInTime = (): boolean => {
    if (clock.now() - since > PREVIEW_MS_MAX) isExact = false;
    return isExact;
  };
  let lookedCount = 0;
  const preview = { count: 0, first: null as number | null, last: null as number | null };
  let coveredCount = 0;
  let leftOutCount = 0;
  const states = async (ids: readonly string[]) => {
    const found = new Map<string, TaskState | null>();
    for (const id of ids) {
      if (gone.aborted) throw new Unavailable('nobody waits for it any more');
      const stored = isInTime() ? await store.readTask(id) : null;
      found.set(id, isExact ? (stored?.task.state ?? null) : 'failed');
    }
    return found;
  };
  const records: BackfillReads['records'] = async (...of) => {
    return isInTime() ? store.jobs.listRecords(...of) : [];
  };
  const reads = { records, states };
  let after = asked.from - 1;
  let cutAt: number | null = null;
  for (let lookCount = 0; ; lookCount++) {
    if (gone.aborted) throw new Unavailable('nobody waits for it any more');
    const found = await findTimes(planned, asked, after, BACKFILL_LOOK_COUNT, reads);
    if (typeof found === 'string') return found;
    lookedCount += found.lookedCount;
    coveredCount += found.coveredCount;
    leftOutCount += found.leftOutCount;
    preview.count += found.times.length;
    preview.first ??= found.times[0]?.nominal ?? null;
    preview.last = found.times.at(-1)?.nominal ?? preview.last;
    if (found.reached === null) break;
    after = found.reached;
    if (lookedCount >= BACKFILL_COUNT_MAX || lookCount >= BACKFILL_LOOKS_MAX) {
      cutAt = after;
      break;
    }
    await new Promise<void>((resolve) => clock.soon(resolve));
  }
  return { ...preview, isExact, coveredCount, leftOutCount, cutAt, until: asked.until };
}

export function backfillWork(
  id: string,
  { by, count, isExact, ...request }: BegunBackfill,
  within: Sight,
): NewWork {
  return {
    id,
    kind: 'backfill',
    request: { action: 'backfill', ...request, within },
    ids: [],
    cursor: null,
    state: 'running',
    counts: { total: count, done: 0, asked: 0, skipped: 0, failed: 0 },
    isExact,
    problems: [],
    by,
    endedAt: null,
  };
}
