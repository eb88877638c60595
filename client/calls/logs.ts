/** What tasks have logged, as it comes. */
import type {
  FoundLogLine,
  LogLine,
  LogPage,
  LogSearchQuery,
  TaskLogQuery,
} from '@soda-scheduler/protocol';
import { type AbsenceOptions, type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { allOf, pagesAfter } from '../pages.ts';

export type LogQuery = Omit<TaskLogQuery, 'wait' | 'follow'>;

export interface LogOptions extends CallOptions, AbsenceOptions {
  /**
   * True: it goes on with what comes, over all attempts that follow, until the task has ended and all of it is there,
   * whatever becomes of the master. Default: it ends with the newest line that there is now.
   */
  readonly follow?: boolean | undefined;
  /** Called where lines are missing, before the next one or at the end of an attempt: how many were dropped. */
  readonly onDropped?: ((count: number, isAtEnd: boolean) => void) | undefined;
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
    searchLogs: (query, options) => allOf(api, `${api.base}/logs`, 'lines', options, query),
  };
}

async function* linesOf(
  api: ApiCaller,
  taskId: string,
  { after, ...filters }: LogQuery,
  options: LogOptions,
): AsyncIterableIterator<LogLine> {
  const signal = signalOf(options, 'follow', 'onDropped', 'onAway', 'onBack');
  const { follow = false, onDropped, onAway, onBack } = options;
  const path = `${api.base}/task/${encodeURIComponent(taskId)}/logs`;
  const asked = { path, field: 'lines', filters, after, follow, signal, onAway, onBack };
  for await (const page of pagesAfter<LogPage>(api, asked)) {
    const { lines, dropped, lost_at_end: lost, at_end: isAtEnd = false, ended } = page;
    if (dropped > 0) onDropped?.(dropped, lost > 0);
    yield* lines;
    // What comes meanwhile is not asked for: of a task that says much there would be no end.
    if (ended || (isAtEnd && !follow)) return;
  }
}
