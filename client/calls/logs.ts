/** What tasks have logged, as it comes. */
import type {
  FoundLogLine,
  LogLine,
  LogPage,
  LogSearchPage,
  LogSearchQuery,
  TaskLogQuery,
} from '@soda-scheduler/protocol';
import { eachOf } from '../pages.ts';
import { type AbsenceOptions, type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';

/** Less than a try of a call may take. */
const WAIT_SECONDS = 10;

export type LogQuery = Omit<TaskLogQuery, 'wait' | 'follow'>;

export interface LogOptions extends CallOptions, AbsenceOptions {
  /**
   * True: it goes on with what comes, over all attempts that follow, until the task has ended and all of it is there,
   * whatever becomes of the master. Default: it ends with the newest line that there is now.
   */
  readonly follow?: boolean | undefined;
  /** Called where lines are missing before the next one: how many were dropped. */
  readonly onDropped?: ((count: number) => void) | undefined;
}

export interface LogCalls {
  /**
   * The lines of a task in their order: of its newest attempt that has any, or of `attempt`. `limit` is the size of a
   * page. A line comes at most once; of one that was dropped the number is missing.
   */
  logs(taskId: string, query?: LogQuery, options?: LogOptions): AsyncIterableIterator<LogLine>;
  /**
   * The lines of many tasks: of an executor or a type, between two instants. By task, the newest first. What is rare takes
   * many pages, most of them empty, before it comes: the signal ends the search.
   */
  searchLogs(query: LogSearchQuery, options?: CallOptions): AsyncIterableIterator<FoundLogLine>;
}

export function logCalls(api: ApiCaller): LogCalls {
  return {
    logs: (taskId, query = {}, options = {}) => linesOf(api, taskId, query, options),
    searchLogs: (query, options = {}) =>
      eachOf(
        async (cursor) => {
          const asked = { ...query, ...(cursor !== undefined && { cursor }) };
          const path = `${api.base}/logs`;
          const call = { method: 'GET', path, field: 'lines', query: asked } as const;
          return (await api.call({ ...call, signal: signalOf(options) })) as LogSearchPage;
        },
        ({ lines }) => lines,
        query.cursor,
      ),
  };
}

async function* linesOf(
  api: ApiCaller,
  taskId: string,
  { after: from, ...filters }: LogQuery,
  options: LogOptions,
): AsyncIterableIterator<LogLine> {
  const signal = signalOf(options, 'follow', 'onDropped', 'onAway', 'onBack');
  const { follow = false, onDropped } = options;
  const path = `${api.base}/task/${encodeURIComponent(taskId)}/logs`;
  for (let after = from; ; ) {
    const query = { ...filters, after, ...(follow && { wait: WAIT_SECONDS }) };
    const call = { method: 'GET', path, field: 'lines', query, signal } as const;
    const answer = follow ? api.callPatiently(call, options) : api.call(call);
    const { lines, next, dropped, ended } = (await answer) as LogPage;
    if (dropped > 0) onDropped?.(dropped);
    yield* lines;
    if (ended || (!follow && next === after)) return;
    after = next;
  }
}
