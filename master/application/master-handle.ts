/** What the access layer may ask of the running master. Implemented by `master.ts`. */
import type { Backlog } from '../domain/backlog.ts';
import type { CommandOutcome, SubmitOutcome } from '../domain/effects.ts';
import type { Event, NewTask } from '../domain/events.ts';
import type { Executor } from '../domain/executor.ts';
import type { StoredTask, TaskQuery } from './ports.ts';
import type { Task } from '../domain/task.ts';
import type { WaitingReason } from '../domain/explain.ts';

/**
 * `starting`: no term yet. `ready`: takes work. `recovering`: the store does not answer, or the
 * state is being rebuilt from it. `draining`: told to stop. `stopped`: over, as
 * told or because it was deposed.
 */
export type MasterStatus = 'starting' | 'ready' | 'recovering' | 'draining' | 'stopped';

/** A task as submitted, validated; whether its id is free is found out later. */
export type Submission = Omit<NewTask, 'taken'>;

/** The master cannot answer now; whether the request took effect is unknown. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly retryAfterSeconds: number;

  /** @param options.cause What failed, for the log. */
  constructor(message: string, retryAfterSeconds = 1, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface MasterHandle {
  readonly status: MasterStatus;
  /** 0 before the first has begun. */
  readonly term: number;

  /** One outcome per task, in order, after the commit. @throws {Unavailable} */
  submit(tasks: readonly Submission[]): Promise<readonly SubmitOutcome[]>;
  /** Resolves once the wish is durable, not once the attempt has ended. @throws {Unavailable} */
  cancel(taskId: string): Promise<CommandOutcome>;
  /** Runs a terminal task again, under the same id, with fresh attempts. @throws {Unavailable} */
  retry(taskId: string): Promise<CommandOutcome>;
  /** Changes a waiting task. @throws {Unavailable} */
  change(taskId: string, priority: number | null, runAt: number | null): Promise<CommandOutcome>;
  /** Sends the callback of a terminal task again. @throws {Unavailable} */
  redeliver(taskId: string): Promise<CommandOutcome>;
  /** Gives it no new task; what still runs after `timeoutMs` is taken back. @throws {Unavailable} */
  drainExecutor(executorId: string, timeoutMs: number | null): Promise<CommandOutcome>;
  /** Gives a drained executor tasks again. @throws {Unavailable} */
  resumeExecutor(executorId: string): Promise<CommandOutcome>;

  /** From memory where the task is live and known there, else from the store. @throws {Unavailable} */
  find(taskId: string): Promise<StoredTask | null>;
  /** @throws {Unavailable} */
  /** Newest first, as stored. @throws {Unavailable} */
  list(query: TaskQuery): Promise<readonly Task[]>;
  /** Why a waiting task does not run yet. */
  explain(task: Task): WaitingReason;
  executors(): readonly Executor[];
  /** What waits and runs, from counters: cheap whatever the backlog. */
  backlog(): Backlog;

  /** For the executor gateway. */
  post(event: Event): void;
}
