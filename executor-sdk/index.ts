/**
 * Run tasks of Soda Scheduler.
 *
 * ```ts
 * import { createExecutor } from '@soda-scheduler/executor-sdk';
 *
 * await createExecutor({ url: 'http://127.0.0.1:18890' })
 *   .handle('resize', async (task, ctx) => {
 *     ctx.progress(50);
 *     return { width: 640 };
 *   })
 *   .start();
 * ```
 *
 * Tasks run at least once: an attempt whose executor is lost is followed by another. What a
 * handler does must bear repetition; `ctx.token` and `ctx.lastCheckpoint` help with that.
 */
import { Executor } from './executor.ts';
import type { ExecutorOptions } from './executor-options.ts';

/**
 * One executor runs one task at a time; start several processes for more.
 * @throws {TypeError} an option is wrong, or there is no such option.
 */
export function createExecutor(options: ExecutorOptions): Executor {
  return new Executor(options);
}

export { rawJson } from '@soda-scheduler/protocol';
export type { RawJson } from '@soda-scheduler/protocol';
export {
  ExecutorRefused,
  InputUnavailableError,
  NonRetryableError,
  RetryableError,
  TaskAborted,
} from './errors.ts';
export { childEnd, endChild } from './children/child-end.ts';
export type { ChildEnd } from './children/child-end.ts';
export { ChildGroups } from './children/child-groups.ts';
export type { ChildOptions } from './children/child-groups.ts';
export type { AbortReason, HandlerErrorOptions } from './errors.ts';
export type { ExecutorEvent } from './events.ts';
export type { Executor, HandlerOptions } from './executor.ts';
export type { ExecutorOptions } from './executor-options.ts';
export type { Booking, Prepare } from './preparation.ts';
export type { LogLevel, TaskLog } from './log/task-log.ts';
export type { AlertSeverity, Handler, Progress, Task, TaskContext } from './task-context.ts';
