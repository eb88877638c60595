/** Progress and checkpoints of one attempt, on their way to the session. */
import { type ExecutorMessage, jsonObject } from '@soda-scheduler/protocol';
import type { TaskContext } from '../task-context.ts';
import { type AttemptKey, type Limits, nameOf } from '../thread-messages.ts';
import { checkedJson } from './checked-json.ts';

const PROGRESS_INTERVAL_MS = 1_000;

/** Sends progress now and then, the newest only. Must be closed: it may hold a timer. */
export class ProgressReport implements Pick<TaskContext, 'progress' | 'checkpoint'> {
  readonly #attempt: AttemptKey;
  readonly #limits: Pick<Limits, 'checkpoint_bytes' | 'progress_state_bytes'>;
  readonly #send: (type: 'progress' | 'checkpoint', body: string) => void;
  #newest: string | null = null;
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    attempt: AttemptKey,
    limits: Pick<Limits, 'checkpoint_bytes' | 'progress_state_bytes'>,
    send: (type: 'progress' | 'checkpoint', body: string) => void,
  ) {
    this.#attempt = attempt;
    this.#limits = limits;
    this.#send = send;
  }

  progress(percent: number, state?: unknown): void {
    if (this.#isClosed) return;
    const text = this.#checked('progress state', state, this.#limits.progress_state_bytes);
    const inRange = Math.min(100, Math.max(0, percent));
    this.#newest = this.#body({ state: text }, inRange >= 0 ? inRange : undefined);
    const waitMs = this.#sentAt + PROGRESS_INTERVAL_MS - performance.now();
    if (waitMs <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), waitMs);
  }

  checkpoint(value: unknown): void {
    if (this.#isClosed) return;
    const text = this.#checked('checkpoint', value, this.#limits.checkpoint_bytes) ?? 'null';
    this.#send('checkpoint', this.#body({ checkpoint: text }));
  }

  /** The last report goes out; whatever comes later is ignored. */
  close(): void {
    this.#flush();
    this.#isClosed = true;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#newest === null) return;
    this.#send('progress', this.#newest);
    this.#newest = null;
    this.#sentAt = performance.now();
  }

  #checked(what: string, value: unknown, bytesMax: number): string | undefined {
    return checkedJson(`${what} of ${nameOf(this.#attempt)}`, value, bytesMax);
  }

  #body(
    texts: { readonly [Key in 'state' | 'checkpoint']?: string | undefined },
    percent?: number,
  ): string {
    const { taskId, attempt } = this.#attempt;
    const progress: ExecutorMessage = { type: 'progress', task_id: taskId, attempt, percent };
    return jsonObject(progress, texts);
  }
}
