/** What becomes of an offer or of a handler, as the body of a frame. Pure. */
import { type ExecutorMessage, jsonObject, type TaskError } from '@soda-scheduler/protocol';
import { InputUnavailableError, NonRetryableError, RetryableError } from './errors.ts';
import type { AbortReason } from './errors.ts';
import { partsOf, stackOf } from './failure.ts';
import { checkedJson } from './reports/checked-json.ts';
import { type AttemptKey, nameOf } from './thread-messages.ts';

type ResultMessage = Extract<ExecutorMessage, { type: 'result' }>;
type AttemptFields = Pick<ResultMessage, 'type' | 'task_id' | 'attempt'>;

export type HandlerEnd = { readonly value: unknown } | { readonly error: unknown };

export interface Outcome {
  readonly outcome: ResultMessage['outcome'];
  readonly body: string;
  /** Why what the handler returned cannot be sent. */
  readonly problem?: string;
}

/** Why an offered task is not taken; see the codes of `reject` in `docs/protocol.md`. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
}

export function rejectBody({ taskId, attempt }: AttemptKey, { code, message }: Refusal): string {
  const reject: ExecutorMessage = { type: 'reject', task_id: taskId, attempt, code, message };
  return JSON.stringify(reject);
}

export interface OutcomeContext {
  /** Why the attempt was told to end, null if it was not. */
  readonly aborted: AbortReason | null;
  /** The master knows the outcome `timed_out`. */
  readonly reportsTimeouts: boolean;
  /** Of a result and of the details of an error, as JSON. */
  readonly bytesMax: number;
}

export function outcomeOf(
  { taskId, attempt }: AttemptKey,
  end: HandlerEnd,
  { aborted, reportsTimeouts, bytesMax }: OutcomeContext,
): Outcome {
  const finish = (
    fields: Omit<ResultMessage, keyof AttemptFields>,
    texts: { readonly [Key in 'result' | 'error']?: string | undefined } = {},
  ): Outcome => {
    const message: ResultMessage = { type: 'result', task_id: taskId, attempt, ...fields };
    return { outcome: fields.outcome, body: jsonObject(message, texts) };
  };
  if ('value' in end) {
    const result = checkedText(`result of ${nameOf({ taskId, attempt })}`, end.value, bytesMax);
    if ('text' in result) return finish({ outcome: 'succeeded' }, { result: result.text });
    const error = { name: 'ResultRefused', message: result.problem, retryable: false };
    return { ...finish({ outcome: 'failed', error }), problem: result.problem };
  }
  if (aborted === 'drain') return finish({ outcome: 'returned' });
  if (reportsTimeouts && (aborted === 'execution_timeout' || aborted === 'stalled')) {
    return finish({ outcome: 'timed_out', reason: aborted });
  }
  if (aborted !== null) return finish({ outcome: 'canceled' });
  return finish({ outcome: 'failed' }, { error: errorText(end.error, bytesMax) });
}

function errorText(thrown: unknown, detailsBytesMax: number): string {
  const { name, message } = partsOf(thrown);
  const fields: TaskError = {
    message: message.slice(0, 8192),
    name: name.slice(0, 128),
    retryable: !(thrown instanceof NonRetryableError),
    ...(thrown instanceof InputUnavailableError && { reason: 'input_unavailable' }),
    ...(thrown instanceof RetryableError &&
      Number.isFinite(thrown.retryAfterMs) && {
        retry_after: Math.min(31_536_000, Math.max(0, Number(thrown.retryAfterMs) / 1000)),
      }),
  };
  return jsonObject(fields, { details: detailsText(thrown, detailsBytesMax) });
}

/** What the handler said itself; else where the error came from. */
function detailsText(thrown: unknown, bytesMax: number): string | undefined {
  const own =
    thrown instanceof RetryableError || thrown instanceof NonRetryableError
      ? ownDetails(thrown.details, bytesMax)
      : undefined;
  if (own !== undefined) return own;
  const stack = stackOf(thrown);
  if (stack === undefined) return undefined;
  const text = JSON.stringify({ stack });
  return Buffer.byteLength(text) > bytesMax ? undefined : text;
}

/** Details that cannot be sent must not hide the error they belong to. */
function ownDetails(value: unknown, bytesMax: number): string | undefined {
  const details = checkedText('details of the error', value, bytesMax);
  return 'text' in details ? details.text : JSON.stringify({ omitted: details.problem });
}

function checkedText(
  what: string,
  value: unknown,
  bytesMax: number,
): { readonly text: string | undefined } | { readonly problem: string } {
  try {
    return { text: checkedJson(what, value, bytesMax) };
  } catch (error) {
    return { problem: (error as Error).message.slice(0, 1024) };
  }
}
