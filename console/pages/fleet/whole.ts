/** What is counted of executors is counted of all of them, though a page of the list shows some. */
import type { ExecutorList, ExecutorView } from '@soda-scheduler/protocol';
import { useAnswer } from '../../frame/resource.ts';
import type { Filters } from '../../parts/filters.tsx';

/** Rows of a page. */
export const PAGE_ROWS = 200;
/** So seldom all are asked for, where they are more than that. */
const ALL_MS = 30_000;

/**
 * @param page the first one, or another; null: there is none yet, or it is not for whoever looks.
 * @returns null as long as they are not known.
 */
export function useWhole(
  page: ExecutorList | null,
  isFirst = true,
  filters: Filters = {},
): readonly ExecutorView[] | null {
  const isAll = isFirst && page?.next_cursor === null;
  const request = page === null || isAll ? null : { path: '/executors', query: filters };
  const all = useAnswer<ExecutorList>(request, ALL_MS);
  return isAll ? page.executors : (all.data?.executors ?? null);
}
