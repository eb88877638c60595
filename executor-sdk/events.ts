/** What an executor tells of itself, and how that reads where its program does not say otherwise. */
import { writeSync } from 'node:fs';
import { visibleJson, visibleText } from '@soda-scheduler/protocol';
import { headlineOf, isBug, stackOf } from './failure.ts';

const STDERR = 2;

/** How much it matters, if nothing else says so. */
const LEVELS = {
  connected: 'info',
  disconnected: 'warn',
  unreachable: 'warn',
  ca_file_broken: 'warn',
  task_started: 'info',
  task_ended: 'info',
  task_aborted: 'info',
  handler_failed: 'warn',
  can_accept_failed: 'error',
  bound: 'info',
  released: 'info',
  prepare_failed: 'warn',
  ready: 'info',
  not_ready: 'warn',
  listener_failed: 'error',
  frame_refused: 'warn',
  result_dropped: 'warn',
  draining: 'info',
  stopped: 'info',
  killed: 'error',
} as const;

/** Something an operator of executors may want to know. `message` says it in one line. */
export interface ExecutorEvent {
  /**
   * `handler_failed`: the handler threw, or what it returned cannot be sent. `can_accept_failed`,
   * `prepare_failed`, `listener_failed`: `canAccept`, `prepare` or `onEvent` threw. `bound`, `released`: a booking has it,
   * or no more. `frame_refused`: the master would not take,
   * or did not take, something that was reported. `ca_file_broken`: what `SODA_CA_FILE` names cannot be
   * used; what it held before is. `killed`: printed only, since the process ends.
   */
  readonly type: keyof typeof LEVELS;
  /** `error` of a handler: the program is wrong (`TypeError` and such), not what it was given. */
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly taskId?: string;
  readonly attempt?: number;
  /** Of the trace that its submit was part of, where there was one. */
  readonly traceId?: string;
  /** Where it was thrown, and its causes: some lines, up to 4 KiB. */
  readonly stack?: string;
}

/** An event as its origin knows it. */
export type EventDraft = Omit<ExecutorEvent, 'level'> & Partial<Pick<ExecutorEvent, 'level'>>;

export function eventOf(draft: EventDraft): ExecutorEvent {
  return { level: LEVELS[draft.type], ...draft };
}

/** What this error looks like in an event. `what` did it. */
export function thrownIn(what: string, thrown: unknown): Pick<EventDraft, 'message' | 'stack'> {
  const stack = stackOf(thrown);
  const how = isBug(thrown) ? ', which is a bug in the program' : '';
  const message = `${what}${how}: ${headlineOf(thrown)}`;
  return stack === undefined ? { message } : { message, stack };
}

export type LogFormat = 'json' | 'text';

/** @throws {TypeError} naming the variable. */
export function logFormat(env: NodeJS.ProcessEnv): LogFormat {
  const format = env['SODA_LOG'] ?? 'text';
  if (format === 'json' || format === 'text') return format;
  throw new TypeError(`SODA_LOG: expected json or text, not "${format}"`);
}

export interface LineContext {
  readonly format: LogFormat;
  readonly executorId: string;
  readonly at: Date;
}

/**
 * The event as it is printed, line breaks included: as JSON one line, with the fields that the log
 * of the master has. As text, tasks that go well say nothing: then it is empty.
 */
export function printed(event: ExecutorEvent, { format, executorId, at }: LineContext): string {
  const { type, level, message, taskId, attempt, traceId, stack } = event;
  if (format === 'json') {
    const fields = {
      ts: at.toISOString(),
      level,
      msg: message,
      event: type,
      executor_id: executorId,
      ...(taskId !== undefined && { task_id: taskId, attempt }),
      ...(traceId !== undefined && { trace_id: traceId }),
      ...(stack !== undefined && { stack }),
    };
    return `${visibleJson(JSON.stringify(fields))}\n`;
  }
  if (taskId !== undefined && level === 'info') return '';
  // What was thrown may hold what a terminal obeys, or look like a line of its own.
  const lines = stack === undefined ? [] : stack.split('\n').map((line) => `    ${line}`);
  const head = `${at.toISOString()} soda executor: ${message.replaceAll(/\s+/g, ' ')}`;
  return `${visibleText([head, ...lines].join('\n'))}\n`;
}

/**
 * Writes it to standard error, at once: another thread may be blocked, or the process about to end. What
 * cannot be written is lost; a full disk or a reader that is gone must not end the process, and its task.
 */
export function print(event: ExecutorEvent, context: LineContext): void {
  try {
    writeSync(STDERR, printed(event, context));
  } catch {
    // There is nowhere to say so.
  }
}
