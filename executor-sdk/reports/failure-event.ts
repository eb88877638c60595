/** What an executor tells of a handler that has failed. */
import { traceIdOf } from '@soda-scheduler/protocol';
import type { AbortReason } from '../errors.ts';
import { type EventDraft, thrownIn } from '../events.ts';
import { isBug } from '../failure.ts';
import type { HandlerEnd } from '../outcome.ts';
import type { Task } from '../task-context.ts';
import type { AttemptKey } from '../thread-messages.ts';

/** That a handler has failed, or that what it returned cannot be sent (`problem`); null: there is nothing to tell. */
export function failureIn(
  task: Pick<Task, 'type' | 'id' | 'traceparent'>,
  key: AttemptKey,
  end: HandlerEnd,
  { aborted, problem }: { aborted: AbortReason | null; problem: string | undefined },
): EventDraft | null {
  const { type, id } = task;
  const attempt = `attempt ${key.attempt} of ${type} ${id}`;
  const about = { type: 'handler_failed', ...key, ...traceOf(task) } as const;
  if (problem !== undefined) {
    return { ...about, level: 'error', message: `${type} ${id} failed: ${problem}` };
  }
  // To throw is how a handler ends when it is told to; but not what is wrong with the program.
  if (!('error' in end) || (aborted !== null && !isBug(end.error))) return null;
  const what = aborted === null ? 'failed' : `was told to end (${aborted}) and failed`;
  const level = isBug(end.error) ? 'error' : 'warn';
  return { ...about, level, ...thrownIn(`${attempt} ${what}`, end.error) };
}

export function traceOf({ traceparent }: Pick<Task, 'traceparent'>): { readonly traceId?: string } {
  return traceparent === null ? {} : { traceId: traceIdOf(traceparent) };
}
