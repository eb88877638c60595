/** Runs a handler without a master: for the unit tests of those who write handlers. */
import {
  DEFAULT_NAMESPACE,
  type LogLine,
  RawJson,
  SESSION_LIMITS,
  jsonText,
} from '@soda-scheduler/protocol';
import { ChildGroups } from './children/child-groups.ts';
import { TaskAborted } from './errors.ts';
import { AttemptLog } from './log/task-log.ts';
import { checkedJson } from './reports/checked-json.ts';
import { checkedAlert } from './reports/alert-report.ts';
import { checkedEvent } from './reports/event-report.ts';
import { fencingToken } from './task-context.ts';
import { checkedProgress } from './reports/progress-report.ts';
import type { AlertSeverity, Handler, Progress, Task } from './task-context.ts';

export interface HandlerRun<Params> extends Partial<Omit<Task<Params>, 'params' | 'paramsText'>> {
  /** What `rawJson` returns becomes `task.paramsText` as it is written. */
  readonly params: Params | RawJson;
  /** Becomes `ctx.lastCheckpoint`; the same holds. */
  readonly checkpoint?: unknown;
  /** Default 1. */
  readonly attempt?: number;
  /** Aborting it aborts `ctx.signal`, with `canceled` unless its reason is a `TaskAborted`. */
  readonly signal?: AbortSignal;
}

export interface HandlerReport {
  /** As it would be stored: what JSON leaves of what the handler returned. */
  readonly result?: unknown;
  /** The same as JSON. */
  readonly resultText?: string;
  /** What the handler threw. */
  readonly error?: unknown;
  /** Every call, not only those that would have been sent. */
  readonly progress: readonly Reported[];
  readonly checkpoints: readonly unknown[];
  readonly events: readonly { readonly name: string; readonly data?: unknown }[];
  /** What it has logged, captured lines of children included. */
  readonly log: readonly LoggedLine[];
  readonly alerts: readonly {
    readonly severity: AlertSeverity;
    readonly message: string;
    readonly fields?: unknown;
  }[];
}

/** A report without a percentage, and without parts that say it, has NaN there. */
type Reported = Progress & { readonly percent: number };

type LoggedLine = Pick<LogLine, 'level' | 'stream' | 'text' | 'fields'>;

/** What a test says nothing of is as of a task that asks for nothing. */
function testTask<Params>(
  params: Params | RawJson,
  fields: Partial<Omit<Task<Params>, 'params' | 'paramsText'>>,
): Task<Params> {
  return {
    namespace: DEFAULT_NAMESPACE,
    id: 'test',
    type: 'test',
    labels: [],
    user: { group: 'test' },
    submittedAt: 0,
    deadlineAt: null,
    executionTimeoutMs: null,
    traceparent: null,
    ...fields,
    params: read(params) as Params,
    paramsText: jsonText(params) ?? 'null',
  };
}

/** Resolves when the handler has ended, however it did. Sizes are checked as in earnest. */
export async function runHandler<Params>(
  handler: Handler<Params>,
  run: HandlerRun<Params>,
): Promise<HandlerReport> {
  const { params, checkpoint, attempt = 1, signal, ...fields } = run;
  const { abort, letGo } = abortedWith(signal);
  const groups = new ChildGroups(abort.signal);
  const progress: Reported[] = [];
  const checkpoints: unknown[] = [];
  const events: { name: string; data?: unknown }[] = [];
  const alerts: { severity: AlertSeverity; message: string; fields?: unknown }[] = [];
  const log: LoggedLine[] = [];
  const logger = new AttemptLog((lines) => log.push(...lines.map(lineIn)));
  const report = () => {
    logger.close();
    return { progress, checkpoints, events, alerts, log };
  };
  const task = testTask(params, fields);
  try {
    const value = await handler(task, {
      signal: abort.signal,
      attempt,
      token: fencingToken(task.namespace, 1, attempt),
      lastCheckpoint: read(checkpoint),
      lastCheckpointText: jsonText(checkpoint),
      progress(given: number | Progress, beside?: unknown) {
        const { progressStateBytesMax: bytesMax } = SESSION_LIMITS;
        const { percent } = checkedProgress('the attempt', given, beside, bytesMax);
        const { state, ...rest } = typeof given === 'number' ? { state: beside } : given;
        const known = { ...rest, percent: percent ?? Number.NaN };
        progress.push(state === undefined ? known : { ...known, state: read(state) });
      },
      checkpoint(saved) {
        checkedJson('checkpoint', saved, SESSION_LIMITS.checkpointBytesMax);
        checkpoints.push(read(saved));
      },
      event(name, data) {
        checkedEvent('the attempt', name, data);
        events.push(data === undefined ? { name } : { name, data: read(data) });
      },
      log: logger,
      alert(severity, message, fields) {
        const { text } = checkedAlert('the attempt', severity, message, fields);
        const said = { severity, message: text };
        alerts.push(fields === undefined ? said : { ...said, fields: read(fields) });
      },
      spawn: (command, args, options) => groups.spawn(command, args, options),
    });
    const text = checkedJson('result', value, SESSION_LIMITS.resultBytesMax);
    const result = text === undefined ? {} : { result: JSON.parse(text), resultText: text };
    return { ...result, ...report() };
  } catch (error) {
    return { error, ...report() };
  } finally {
    groups.close();
    letGo();
  }
}

/** Aborts when that does, until it lets go. */
function abortedWith(signal: AbortSignal | undefined) {
  const abort = new AbortController();
  const forward = (): void => {
    const reason: unknown = signal?.reason;
    abort.abort(reason instanceof TaskAborted ? reason : new TaskAborted('canceled'));
  };
  if (signal?.aborted) forward();
  signal?.addEventListener('abort', forward, { once: true });
  return { abort, letGo: () => signal?.removeEventListener('abort', forward) };
}

/** Whenever it was said. */
function lineIn(text: string): LoggedLine {
  const { at: _, ...line } = JSON.parse(text) as LoggedLine & { readonly at: number };
  return line;
}

/** As the other side reads it. */
function read(value: unknown): unknown {
  return value instanceof RawJson ? JSON.parse(value.text) : value;
}
