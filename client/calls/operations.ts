/** The calls about one command on many tasks: what it would do, and how far it is. */
import { setTimeout as delay } from 'node:timers/promises';
import type {
  BulkPreview,
  BulkRequest,
  OperationSummary,
  OperationView,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { allOf } from '../pages.ts';
import type { PatientOptions } from '../waiting.ts';

const POLL_MS_MIN = 100;
const POLL_MS_MAX = 2_000;
const POLL_GROWTH = 1.5;

/** What is done to which tasks. */
export type Bulk = Omit<BulkRequest, 'token'>;

export interface OperationWaitOptions extends PatientOptions {
  /** Called with each answer. */
  readonly onProgress?: ((operation: OperationView) => void) | undefined;
}

export interface OperationCalls {
  readonly operations: {
    /** To how many tasks it would be done, and to which. Changes nothing. */
    preview(bulk: Bulk, options?: CallOptions): Promise<BulkPreview>;
    /**
     * Begins what was previewed, within ten minutes, and resolves with its id. `bulk` must be that of the preview, but
     * for the reason. A repetition begins it once.
     */
    begin(bulk: Bulk, token: string, options?: CallOptions): Promise<string>;
    /** Newest first; those that are over are kept for a week. Read page by page while iterated. */
    list(
      options?: CallOptions & { readonly state?: OperationView['state'] },
    ): AsyncIterableIterator<OperationSummary>;
    get(operationId: string, options?: CallOptions): Promise<OperationView>;
    /** Ends it. What it has done stays done. */
    cancel(operationId: string, options?: CallOptions): Promise<OperationView>;
    pause(operationId: string, options?: CallOptions): Promise<OperationView>;
    /** Lets one that was paused go on. */
    resume(operationId: string, options?: CallOptions): Promise<OperationView>;
    /** Resolves once it is over, however: look at `state`. Waits on while the master is away. */
    wait(operationId: string, options?: OperationWaitOptions): Promise<OperationView>;
  };
}

export function operationCalls(api: ApiCaller): OperationCalls {
  const field = 'operation_id';
  const bulkPath = `${api.base}/tasks/bulk`;
  const pathOf = (id: string, command = '') =>
    `${api.base}/operation/${encodeURIComponent(id)}${command}`;
  const steer =
    (command: string) =>
    async (id: string, options: CallOptions = {}): Promise<OperationView> => {
      const call = { method: 'POST', path: pathOf(id, command), field } as const;
      return (await api.call({ ...call, signal: signalOf(options) })) as OperationView;
    };
  return {
    operations: {
      async preview(bulk, options = {}) {
        const call = { method: 'POST', path: bulkPath, field: 'token', body: bulk } as const;
        return (await api.call({ ...call, signal: signalOf(options) })) as BulkPreview;
      },
      async begin(bulk, token, options = {}) {
        const call = { method: 'POST', path: bulkPath, field, body: { ...bulk, token } } as const;
        const answer = await api.call({ ...call, signal: signalOf(options) });
        return (answer as { readonly operation_id: string }).operation_id;
      },
      list(options = {}) {
        const signal = signalOf(options, 'state');
        const { state } = options;
        return allOf(api, `${api.base}/operations`, 'operations', { signal }, { state });
      },
      async get(id, options = {}) {
        const call = { method: 'GET', path: pathOf(id), field } as const;
        return (await api.call({ ...call, signal: signalOf(options) })) as OperationView;
      },
      cancel: steer('/cancel'),
      pause: steer('/pause'),
      resume: steer('/resume'),
      async wait(id, options = {}) {
        const signal = signalOf(options, 'onProgress', 'onAway', 'onBack');
        let waitMs = POLL_MS_MIN;
        for (;;) {
          const call = { method: 'GET', path: pathOf(id), field, signal } as const;
          const operation = (await api.callPatiently(call, options)) as OperationView;
          options.onProgress?.(operation);
          if (operation.ended_at !== null) return operation;
          await delay(waitMs, undefined, { signal });
          waitMs = Math.min(waitMs * POLL_GROWTH, POLL_MS_MAX);
        }
      },
    },
  };
}
