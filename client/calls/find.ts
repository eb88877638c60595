/** The calls that tell of many tasks at once. */
import type {
  CountQuery,
  ErrorList,
  ErrorQuery,
  HistoryPage,
  HistoryQuery,
  TaskCount,
  TaskView,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { exactJson, rememberEach } from '../exact-json.ts';
import { eachOf } from '../pages.ts';
import { type ViewCalls, viewCalls } from './views.ts';

export interface FindCalls extends ViewCalls {
  /** Live tasks by state, from counters; of an ended state, which takes no other filter, 10,000 at most. */
  count(query?: CountQuery, options?: CallOptions): Promise<TaskCount>;
  /**
   * The errors of failed tasks, alike ones as one, of the newest 2,000 of these tasks at most: `next_cursor` as
   * `cursor` goes on with the next.
   */
  errors(query?: ErrorQuery, options?: CallOptions): Promise<ErrorList>;
  /**
   * Ended tasks as `get` has them, those of the oldest day first; read page by page while it is iterated. Tasks that end
   * meanwhile may be among them: name a `to` in the past.
   */
  history(query?: HistoryQuery, options?: CallOptions): AsyncIterableIterator<TaskView>;
  /** One page, which may be short, or empty, before the end: `next_cursor` of the last is null. */
  historyPage(query?: HistoryQuery, options?: CallOptions): Promise<HistoryPage>;
}

export function findCalls(api: ApiCaller): FindCalls {
  const call = async (path: string, field: string, query: object, options: CallOptions) =>
    api.call({ method: 'GET', path: api.base + path, field, query, signal: signalOf(options) });
  const historyPage = async (query: HistoryQuery = {}, options: CallOptions = {}) => {
    const page = (await call('/history', 'tasks', query, options)) as HistoryPage;
    rememberEach(page.tasks, exactJson(page, 'tasks'));
    return page;
  };
  return {
    historyPage,
    history: (query = {}, options = {}) =>
      eachOf(
        (cursor) => historyPage({ ...query, cursor }, options),
        ({ tasks }) => tasks,
        query.cursor,
      ),
    ...viewCalls(api),
    async count(query = {}, options = {}) {
      return (await call('/tasks/count', 'count', query, options)) as TaskCount;
    },
    async errors(query = {}, options = {}) {
      return (await call('/tasks/errors', 'errors', query, options)) as ErrorList;
    },
  };
}
