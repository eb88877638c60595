/**
 * Waiting for what ends at its own time: asks again and again, and outlasts absences of the master.
 * Everything else a client does gives up after some tries.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutorList, TaskView } from '@soda-scheduler/protocol';
import type { AbsenceOptions, ApiCaller, Call } from './api-call.ts';

const POLL_MS_MIN = 100;
const POLL_MS_MAX = 5_000;
const POLL_GROWTH = 1.5;

export interface PatientOptions extends AbsenceOptions {
  /** Ends the waiting, which rejects with the reason or an AbortError. */
  readonly signal?: AbortSignal | undefined;
}

export interface WaitOptions extends PatientOptions {
  /**
   * Called with the task at first and whenever its state, attempt or progress has changed: `progress` has `parts`, `speed` and
   * `eta_seconds` where its executor says so, and in `estimate` when the attempt ends if it goes on as it has.
   */
  readonly onProgress?: ((task: TaskView) => void) | undefined;
}

export function waitForTask(
  api: ApiCaller,
  taskId: string,
  { onProgress, ...options }: WaitOptions,
): Promise<TaskView> {
  const path = `${api.base}/task/${encodeURIComponent(taskId)}`;
  const ask = patient(api, { path, field: 'task_id' }, options) as () => Promise<TaskView>;
  let seen = '';
  return polled(ask, options, (task) => {
    // Whoever waits has a clock of his own: an estimate that moves on is no news.
    const { estimate: _, ...progress } = task.progress ?? {};
    const now = JSON.stringify([task.state, task.attempt, progress]);
    const isNew = now !== seen;
    seen = now;
    if (isNew) onProgress?.(task);
    if (task.finished_at !== null) return 'over';
    return isNew ? 'changed' : 'same';
  });
}

export async function waitForDrain(
  api: ApiCaller,
  executorId: string,
  options: PatientOptions,
): Promise<void> {
  const question = { path: `${api.base}/executors`, field: 'executors' };
  const ask = patient(api, question, options) as () => Promise<ExecutorList>;
  await polled(ask, options, ({ executors }) => {
    // Of one id there may be several processes: one that took it over, and others that still work.
    const isBusy = executors.some(
      ({ executor_id, task_id }) => executor_id === executorId && task_id !== null,
    );
    return isBusy ? 'same' : 'over';
  });
}

/** The same question, which outlasts absences of the master. */
function patient(
  api: ApiCaller,
  question: Pick<Call, 'path' | 'field'>,
  options: PatientOptions,
): () => Promise<unknown> {
  const { signal } = options;
  return () => api.callPatiently({ method: 'GET', ...question, signal }, options);
}

/** The first answer that is `over`. After one that is `changed` the next question comes soon. */
export async function polled<T>(
  ask: () => Promise<T>,
  { signal }: PatientOptions,
  judge: (answer: T) => 'over' | 'changed' | 'same',
): Promise<T> {
  let waitMs = POLL_MS_MIN;
  for (;;) {
    const answer = await ask();
    const judgement = judge(answer);
    if (judgement === 'over') return answer;
    waitMs = judgement === 'same' ? Math.min(waitMs * POLL_GROWTH, POLL_MS_MAX) : POLL_MS_MIN;
    await delay(waitMs, undefined, { signal });
  }
}
