/** The calls that tell of many tasks at once. */
import type { CountQuery, ErrorList, ErrorQuery, TaskCount } from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { type ViewCalls, viewCalls } from './views.ts';

export interface FindCalls extends ViewCalls {
  /** Live tasks by state, from counters; of an ended state, which takes no other filter, 10,000 at most. */
  count(query?: CountQuery, options?: CallOptions): Promise<TaskCount>;
  /**
   * The errors of failed tasks, alike ones as one, of the newest 2,000 of these tasks at most: `next_cursor` as
   * `cursor` goes on with the next.
   */
  errors(query?: ErrorQuery, options?: CallOptions): Promise<ErrorList>;
}

export function findCalls(api: ApiCaller): FindCalls {
  const call = async (path: string, field: string, query: object, options: CallOptions) =>
    api.call({ method: 'GET', path: api.base + path, field, query, signal: signalOf(options) });
  return {
    ...viewCalls(api),
    async count(query = {}, options = {}) {
      return (await call('/tasks/count', 'count', query, options)) as TaskCount;
    },
    async errors(query = {}, options = {}) {
      return (await call('/tasks/errors', 'errors', query, options)) as ErrorList;
    },
  };
}
