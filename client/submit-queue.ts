/**
 * Gathers concurrent submits into batches: a lone submit goes at once; those that come while a
 * request is under way go together with the next one. There is no timer, so nothing waits for
 * company. Every task has an id before it is sent, so an unknown outcome may be tried again.
 */
import {
  beginSpan,
  type BatchResponse,
  type BatchResult,
  type CopyRequest,
  HTTP_LIMITS,
  jsonObject,
  jsonText,
  type SubmitResponse,
  type TaskInfo,
  type UserInfo,
} from '@soda-scheduler/protocol';
import { v7 as uuidv7 } from 'uuid';
import type { ApiCaller } from './api-call.ts';
import { SodaError } from './soda-error.ts';

interface Submit {
  readonly taskId: string;
  readonly json: string;
  readonly bytes: number;
  readonly resolve: (accepted: SubmitResponse) => void;
  readonly reject: (error: unknown) => void;
}

const ENVELOPE_BYTES = Buffer.byteLength('{"tasks":[]}');

export class SubmitQueue {
  readonly #api: ApiCaller;
  #waiting: Submit[] = [];
  #sending = false;

  constructor(api: ApiCaller) {
    this.#api = api;
  }

  submit(task: TaskInfo, user?: UserInfo, signal?: AbortSignal): Promise<SubmitResponse> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const taskId = task.id ?? uuidv7();
      const { params, ...fields } = task;
      const taskText = jsonObject({ ...fields, id: taskId }, { params: jsonText(params) });
      const { namespace } = this.#api;
      const of = { operation: 'send', namespace, type: task.type, taskId, parent: null } as const;
      const span = beginSpan(of);
      const traceparent = span.traceparent ?? undefined;
      const json = jsonObject({ user, traceparent }, { task: taskText });
      const submit: Submit = {
        taskId,
        json,
        bytes: Buffer.byteLength(json) + 1,
        resolve: (accepted) => {
          signal?.removeEventListener('abort', abandon);
          span.end();
          resolve(accepted);
        },
        reject: (error) => {
          signal?.removeEventListener('abort', abandon);
          span.end(error);
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      };
      const abandon = () => {
        this.#waiting = this.#waiting.filter((other) => other !== submit);
        submit.reject(signal?.reason);
      };
      signal?.addEventListener('abort', abandon);
      this.#waiting.push(submit);
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    // Calls made in one go, such as by Promise.all, travel together from the start.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#sendBatch(this.#takeBatch());
    this.#sending = false;
  }

  #takeBatch(): Submit[] {
    let count = 0;
    let bytes = ENVELOPE_BYTES;
    for (const submit of this.#waiting) {
      bytes += submit.bytes;
      if (count === HTTP_LIMITS.batchCountMax) break;
      if (bytes > HTTP_LIMITS.batchBytesMax && count > 0) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** Settles every submit of the batch. Those the master put off are sent again, without the rest. */
  async #sendBatch(batch: Submit[]): Promise<void> {
    let left = batch;
    try {
      await this.#api.repeat(async (signal) => {
        const results = await this.#results(left, signal);
        const transient: [Submit, SodaError][] = [];
        for (const [index, submit] of left.entries()) {
          const result = results[index];
          const error = result && errorOf(result);
          if (error?.isTransient) transient.push([submit, error]);
          else if (error) submit.reject(error);
          else submit.resolve({ task_id: submit.taskId, code: 202 });
        }
        left = transient.map(([submit]) => submit);
        const [first] = transient;
        if (first) throw first[1];
      });
    } catch (error) {
      for (const submit of left) submit.reject(error);
    }
  }

  /** One result for each, in order. @throws {SodaError} if none of them has a result. */
  async #results(
    batch: readonly Submit[],
    signal: AbortSignal | undefined,
  ): Promise<readonly BatchResult[]> {
    const [only, ...others] = batch;
    if (only === undefined) return [];
    if (others.length === 0) return [await this.#result(only, signal)];
    const body = `{"tasks":[${batch.map(({ json }) => json).join(',')}]}`;
    const path = `${this.#api.base}/task/submit-batch`;
    const { results } = (await this.#api.tryOnce({
      method: 'POST',
      path,
      field: 'results',
      body,
      signal,
    })) as BatchResponse;
    if (results.length === batch.length) return results;
    throw new SodaError('the answer does not fit the batch', { status: 502 });
  }

  async #result({ taskId, json }: Submit, signal: AbortSignal | undefined): Promise<BatchResult> {
    try {
      const path = `${this.#api.base}/task/submit`;
      await this.#api.tryOnce({ method: 'POST', path, field: 'task_id', body: json, signal });
      return { task_id: taskId, code: 202 };
    } catch (error) {
      if (!isSameRequest(error)) throw error;
      return { task_id: taskId, code: 409, same_request: true };
    }
  }
}

/** It has an id before it is sent, as a submit has. */
export async function copyTask(
  api: ApiCaller,
  path: string,
  { id = uuidv7(), task }: CopyRequest,
  signal: AbortSignal | undefined,
): Promise<SubmitResponse> {
  const { params, ...fields } = task ?? {};
  const body = jsonObject({ id }, { task: jsonObject(fields, { params: jsonText(params) }) });
  try {
    await api.call({ method: 'POST', path: api.base + path, field: 'task_id', body, signal });
  } catch (error) {
    if (!isSameRequest(error)) throw error;
  }
  return { task_id: id, code: 202 };
}

/** It was accepted by an earlier try, whose answer was lost. */
function isSameRequest(error: unknown): boolean {
  const told = error instanceof SodaError && error.status === 409 ? error.problem : null;
  return (
    told !== null && told !== undefined && 'same_request' in told && told.same_request === true
  );
}

/** Null where the task is in: accepted now, or by an earlier try whose answer was lost. */
function errorOf({ code, message, same_request }: BatchResult): SodaError | null {
  if (code === 202 || (code === 409 && same_request === true)) return null;
  return new SodaError(message ?? `refused with code ${code}`, { status: 200, code });
}
