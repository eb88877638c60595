/** The calls about the executors of a namespace. */
import type {
  ExecutorChange,
  ExecutorCommandResponse,
  ExecutorQuery,
  ExecutorTasksQuery,
  ExecutorView,
  TaskList,
  TaskSummary,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { eachOf } from '../pages.ts';
import { type PatientOptions, waitForDrain } from '../waiting.ts';
import { executorsOf } from './pages-of-executors.ts';
import { drainSelected, type RollingOptions } from './rolling-drain.ts';
import type { DrainProgress } from './rollout.ts';

/** Which executors; what is left out leaves none out. */
export type ExecutorFilter = Omit<ExecutorQuery, 'limit' | 'cursor'>;

export interface DrainOptions {
  /** Seconds after which what it still runs is taken back. Default: never. */
  readonly timeout?: number | undefined;
  /** Why, for whoever looks. */
  readonly reason?: string | undefined;
}

export interface ExecutorCalls {
  /** By id; those that are drained or changed and not here too. */
  executors(options?: CallOptions & ExecutorFilter): Promise<ExecutorView[]>;
  executor(executorId: string, options?: CallOptions): Promise<ExecutorView>;
  /**
   * Tasks of which it has the newest attempt, or had the last one, newest first; also of one that is long gone.
   * Reads page by page while it is iterated. No index leads there: among many tasks most pages are empty.
   */
  executorTasks(
    executorId: string,
    options?: CallOptions & Pick<ExecutorTasksQuery, 'state'>,
  ): AsyncIterableIterator<TaskSummary>;
  /**
   * The executor gets no new task; what still runs after `timeout` seconds is taken back. `lasting`:
   * it stays so until it is resumed, and not only until its process ends; a
   * master of 2.0.0 does not say.
   */
  drainExecutor(
    executorId: string,
    options?: CallOptions & DrainOptions,
  ): Promise<{ lasting?: boolean }>;
  /** Resolves once the executor runs nothing, or is not known any more. Waits as `wait` does. */
  waitForDrain(executorId: string, options?: PatientOptions): Promise<void>;
  /**
   * Drains all executors of a selector (`version=1.4,label!=gpu`), `maxUnavailable` at a time, and resolves
   * when none of them has anything left to do; with `until: 'replaced'` when others have taken their
   * places. Called again after it was interrupted, it goes on. Waits as `wait` does.
   */
  drainExecutors(selector: string, options?: RollingOptions): Promise<DrainProgress>;
  resumeExecutor(executorId: string, options?: CallOptions): Promise<void>;
  /** Forgets one that is gone, with its drain and its labels. Refused (409) while it is here, or may still run something. */
  removeExecutor(executorId: string, options?: CallOptions): Promise<void>;
  /**
   * Sets the labels of an executor, or those that it is reserved for, in place of its own; null: its
   * own count again. At once, and as lasting as a drain; what it runs goes on.
   */
  changeExecutor(
    executorId: string,
    change: ExecutorChange,
    options?: CallOptions,
  ): Promise<{ lasting?: boolean }>;
}

export function executorCalls(api: ApiCaller): ExecutorCalls {
  const field = 'executor_id';
  const pathOf = (id: string, command = '') =>
    `${api.base}/executor/${encodeURIComponent(id)}${command}`;
  return {
    async executors(options = {}) {
      const signal = signalOf(options, ...FILTERS);
      const { signal: _, ...filter } = options;
      return executorsOf(filter, (call) => api.call({ ...call, signal }), api);
    },
    async executor(executorId, options = {}) {
      const signal = signalOf(options);
      const path = pathOf(executorId);
      return (await api.call({ method: 'GET', path, field, signal })) as ExecutorView;
    },
    executorTasks(executorId, options = {}) {
      const signal = signalOf(options, 'state');
      const { state } = options;
      const path = pathOf(executorId, '/tasks');
      const page = { method: 'GET', path, field: 'tasks', signal } as const;
      return eachOf(
        async (cursor) => (await api.call({ ...page, query: { state, cursor } })) as TaskList,
        ({ tasks }) => tasks,
      );
    },
    async drainExecutor(executorId, options = {}) {
      const signal = signalOf(options, 'timeout', 'reason');
      const { timeout, reason } = options;
      const path = pathOf(executorId, '/drain');
      const body = { timeout, reason };
      return lastingOf(await api.call({ method: 'POST', path, field, body, signal }));
    },
    async waitForDrain(executorId, options = {}) {
      signalOf(options, 'onAway', 'onBack');
      await waitForDrain(api, executorId, options);
    },
    async drainExecutors(selector, options = {}) {
      return drainSelected(api, selector, options);
    },
    async resumeExecutor(executorId, options = {}) {
      const signal = signalOf(options);
      await api.call({ method: 'POST', path: pathOf(executorId, '/resume'), field, signal });
    },
    async removeExecutor(executorId, options = {}) {
      const signal = signalOf(options);
      await api.call({ method: 'DELETE', path: pathOf(executorId), field, signal });
    },
    async changeExecutor(executorId, change, options = {}) {
      const signal = signalOf(options);
      const path = pathOf(executorId);
      return lastingOf(await api.call({ method: 'PATCH', path, field, body: change, signal }));
    },
  };
}

/** Each of them, so that the compiler notices one that is missing. */
const EACH_FILTER: Record<keyof ExecutorFilter, true> = {
  id: true,
  type: true,
  label: true,
  host: true,
  version: true,
  state: true,
  selector: true,
};
const FILTERS = Object.keys(EACH_FILTER);

function lastingOf(answer: unknown): { lasting?: boolean } {
  const { lasting } = answer as ExecutorCommandResponse;
  return lasting === undefined ? {} : { lasting };
}
