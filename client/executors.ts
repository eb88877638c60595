/** The calls about the executors of a namespace. */
import type {
  ExecutorChange,
  ExecutorCommandResponse,
  ExecutorList,
  ExecutorView,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from './api-call.ts';
import { type PatientOptions, waitForDrain } from './waiting.ts';

export interface ExecutorCalls {
  executors(options?: CallOptions): Promise<ExecutorView[]>;
  /**
   * The executor gets no new task; what still runs after `timeout` seconds is taken back. `lasting`:
   * it stays so until it is resumed, and not only until its process ends; a
   * master of 2.0.0 does not say.
   */
  drainExecutor(
    executorId: string,
    options?: CallOptions & { timeout?: number },
  ): Promise<{ lasting?: boolean }>;
  /** Resolves once the executor runs nothing, or is not known any more. Waits as `wait` does. */
  waitForDrain(executorId: string, options?: PatientOptions): Promise<void>;
  resumeExecutor(executorId: string, options?: CallOptions): Promise<void>;
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
      const signal = signalOf(options);
      const path = `${api.base}/executors`;
      const answer = await api.call({ method: 'GET', path, field: 'executors', signal });
      return (answer as ExecutorList).executors;
    },
    async drainExecutor(executorId, options = {}) {
      const signal = signalOf(options, 'timeout');
      const { timeout } = options;
      const path = pathOf(executorId, '/drain');
      return lastingOf(await api.call({ method: 'POST', path, field, body: { timeout }, signal }));
    },
    async waitForDrain(executorId, options = {}) {
      signalOf(options, 'onAway', 'onBack');
      await waitForDrain(api, executorId, options);
    },
    async resumeExecutor(executorId, options = {}) {
      const signal = signalOf(options);
      await api.call({ method: 'POST', path: pathOf(executorId, '/resume'), field, signal });
    },
    async changeExecutor(executorId, change, options = {}) {
      const signal = signalOf(options);
      const path = pathOf(executorId);
      return lastingOf(await api.call({ method: 'PATCH', path, field, body: change, signal }));
    },
  };
}

function lastingOf(answer: unknown): { lasting?: boolean } {
  const { lasting } = answer as ExecutorCommandResponse;
  return lasting === undefined ? {} : { lasting };
}
