/**
 * The log: one JSON object a line on standard output, with `ts`, `level`, `msg` and snake_case
 * fields. Text that users chose is cut, and cannot break a line or reach a terminal's controls.
 */
import { traceIdOf, visibleJson } from '@soda-scheduler/protocol';
import { createLogger, format, transports } from 'winston';
import type { Log, Observer } from '../../application/ports.ts';
import { type Fill, LOG_BYTES_MAX, LOG_TEXT_LENGTH_MAX } from '../../domain/bounds.ts';
import type { Observation } from '../../domain/effects.ts';
import type { AttemptRecord, Task } from '../../domain/model/task.ts';
import { LossyLines } from './lossy-lines.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
type Fields = Record<string, unknown>;

/** The log of this process. */
export interface ProcessLog extends Log {
  fills(): readonly Fill[];
}

/** @param to Where the lines go; for tests. Those that it does not take are lost. */
export function createLog(level: LogLevel, to: NodeJS.WritableStream = process.stdout): ProcessLog {
  const lines = new LossyLines(to, {
    began: (code) => {
      process.stderr.write(`soda: the log cannot be written (${code}); the master goes on\n`);
    },
    ended: (lost_count) => log.warn('lines of the log were lost', { event: 'log', lost_count }),
  });
  const logger = createLogger({
    level,
    levels: { error: 0, warn: 1, info: 2, debug: 3 },
    format: format.printf((entry) =>
      lineOf(entry.level, String(entry.message), entry['fields'] as Fields | undefined),
    ),
    transports: [new transports.Stream({ stream: lines, eol: '\n' })],
  });
  const writer = (severity: LogLevel): Log[LogLevel] => {
    // Asked once: winston goes through all its transports for the answer.
    if (!logger.isLevelEnabled(severity)) return () => undefined;
    // Nested, because winston would append a field named `message` to the message.
    return (message, fields) => void logger.log({ level: severity, message, fields });
  };
  const log: ProcessLog = {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
    fills: () => [{ bound: 'log_bytes', used: lines.pendingBytes, limit: LOG_BYTES_MAX }],
  };
  return log;
}

/** Says the same of every line. */
export function logWith(log: Log, about: Fields): Log {
  const writer =
    (severity: LogLevel): Log[LogLevel] =>
    (message, fields) =>
      log[severity](message, { ...about, ...fields });
  return {
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
  };
}

function lineOf(level: string, message: string, fields: Fields | undefined): string {
  const head = { ts: new Date().toISOString(), level, msg: message };
  // Twice: first for the place in the line, last so that no field replaces it.
  const line = JSON.stringify({ ...head, ...fields, ...head }, (_key, value: unknown) => {
    if (typeof value === 'string') return cut(value);
    return value instanceof Error ? errorFields(value) : value;
  });
  return visibleJson(line);
}

function errorFields(error: Error): Fields {
  return { name: error.name, message: error.message, stack: error.stack, cause: error.cause };
}

function cut(text: string): string {
  return text.length <= LOG_TEXT_LENGTH_MAX ? text : `${text.slice(0, LOG_TEXT_LENGTH_MAX)}…`;
}

/** What an executor can cause as often as it likes. */
const ANYBODYS: ReadonlySet<Observation['event']> = new Set([
  'stale_attempt',
  'alert_left_out',
  'executor_joined',
  'executor_left',
  'executor_readiness',
]);

/** What happens to every task, if all goes well: lines of `debug`. */
function isEveryday(seen: Observation): boolean {
  if (seen.event === 'notification_tried') return seen.outcome === 'delivered';
  return EVERYDAY.has(seen.event);
}

const EVERYDAY: ReadonlySet<Observation['event']> = new Set([
  'task_accepted',
  'task_started',
  'task_finished',
]);

/**
 * What an operator wants to read without asking is `info` and above; the rest is `debug`.
 * @param level Of the log: what it leaves out of every task is not put together first.
 * @param spare For what executors can cause as often as they like.
 */
export function createLogObserver(log: Log, level: LogLevel, spare = log): Observer {
  const isVerbose = level === 'debug';
  return {
    observe: (observation) => {
      if (!isVerbose && isEveryday(observation)) return;
      const isAnybodys = ANYBODYS.has(observation.event);
      logObservation(isAnybodys ? spare : log, observation);
    },
    turned: () => undefined,
  };
}

function logReadiness(
  log: Log,
  { executorId: executor_id, readiness }: Extract<Observation, { event: 'executor_readiness' }>,
): void {
  if (readiness.ok) log.info('executor ready again', { executor_id });
  else log.warn('executor not ready', { executor_id, reason: readiness.reason });
}

function logEndOfWork(log: Log, { work }: Extract<Observation, { event: 'work_ended' }>): void {
  const { id: operation_id, state, counts, by, createdAt, endedAt } = work;
  const { action, reason } = work.request;
  const took_ms = (endedAt ?? createdAt) - createdAt;
  const fields = {
    event: 'operation',
    operation_id,
    action,
    state,
    ...counts,
    by,
    reason,
    took_ms,
  };
  log.info('an operation on many tasks has ended', fields);
}

function logObservation(log: Log, observation: Observation): void {
  switch (observation.event) {
    case 'attempt_ended': {
      const level = attemptLevels[observation.attempt.outcome];
      log[level]('attempt ended', attemptFields(observation.task, observation.attempt));
      break;
    }
    case 'alert_said':
      log.debug('an attempt says that something is wrong', taskFields(observation.task));
      break;
    case 'alert_left_out':
      log.warn('alerts come too fast: one is left out', taskFields(observation.task));
      break;
    case 'executor_joined':
      log.info('executor joined', joinFields(observation));
      break;
    case 'executor_left':
      log.info('executor left', { executor_id: observation.executorId });
      break;
    case 'executor_lost':
      log.warn('executor lost', lossFields(observation));
      break;
    case 'executor_readiness':
      return logReadiness(log, observation);
    case 'stale_attempt':
      log.warn('stale attempt refused', staleFields(observation));
      break;
    case 'notification_tried': {
      const { notification, outcome } = observation;
      log[outcome === 'delivered' ? 'debug' : 'warn']('callback tried', {
        task_id: notification.taskId,
        outcome,
        state: notification.state,
        tries: notification.tries,
        status: notification.lastStatus,
        error: notification.lastError,
      });
      break;
    }
    case 'notification_ended': {
      const { state, taskId, tries, lastError } = observation.notification;
      if (state !== 'gave_up') break;
      log.warn('callback given up', { task_id: taskId, tries, error: lastError });
      break;
    }
    // How often they come is told by the duties of the process; what is wrong has lines of its own.
    case 'overdue_swept':
    case 'restored':
    case 'trigger_decided':
      break;
    case 'fire_refused':
    case 'trigger_paused':
      return logJob(log, observation);
    case 'work_ended':
      return logEndOfWork(log, observation);
    case 'task_accepted':
      log.debug('task accepted', taskFields(observation.task));
      break;
    case 'start_overdue':
      log.warn('task not started in time', overdueFields(observation.task));
      break;
    case 'task_started':
      log.debug('task started', startFields(observation));
      break;
    case 'task_finished':
      log.debug('task finished', endFields(observation.task));
      break;
  }
}

const lossFields = ({
  executorId: executor_id,
  reason,
}: Extract<Observation, { event: 'executor_lost' }>): Fields => ({ executor_id, reason });

type OfJob = Extract<Observation, { event: 'fire_refused' | 'trigger_paused' }>;

function logJob(log: Log, seen: OfJob): void {
  const { job, trigger, reason } = seen;
  const fields = { event: 'job', job, trigger, reason };
  if (seen.event === 'trigger_paused') log.warn('a trigger was paused', fields);
  else {
    const nominal_at = new Date(seen.nominal).toISOString();
    log.warn('a run of a job was refused', { ...fields, nominal_at });
  }
}

const staleFields = ({
  taskId: task_id,
  attempt,
  executorId: executor_id,
}: Extract<Observation, { event: 'stale_attempt' }>): Fields => ({ task_id, attempt, executor_id });

const startFields = ({
  task,
  waitedMs: waited_ms,
}: Extract<Observation, { event: 'task_started' }>): Fields => ({ ...taskFields(task), waited_ms });

const joinFields = ({
  executorId: executor_id,
  types,
}: Extract<Observation, { event: 'executor_joined' }>): Fields => ({ executor_id, types });

const attemptLevels: Readonly<Record<AttemptRecord['outcome'], LogLevel>> = {
  succeeded: 'debug',
  canceled: 'info',
  rejected: 'info',
  returned: 'info',
  failed: 'warn',
  timed_out: 'warn',
  lost: 'warn',
  lost_contact: 'warn',
  assign_timeout: 'warn',
};

function taskFields(task: Task): Fields {
  return {
    task_id: task.id,
    type: task.type,
    attempt: task.attempt,
    executor_id: task.executorId,
    ...traceFields(task),
  };
}

function traceFields({ traceparent, job }: Task): Fields {
  return {
    ...(traceparent !== null && { trace_id: traceIdOf(traceparent) }),
    ...(job !== null && { job: job.name }),
  };
}

function endFields(task: Task): Fields {
  return { ...taskFields(task), state: task.state, failure_reason: task.failureReason };
}

function overdueFields(task: Task): Fields {
  return {
    event: 'start_overdue',
    ...taskFields(task),
    due_at: new Date(task.dueAt).toISOString(),
    start_timeout_ms: task.startTimeoutMs,
  };
}

function attemptFields(task: Task, attempt: AttemptRecord): Fields {
  return {
    task_id: task.id,
    type: task.type,
    attempt: attempt.attempt,
    executor_id: attempt.executorId,
    ...traceFields(task),
    outcome: attempt.outcome,
    next_state: task.state,
    error: attempt.error?.message,
  };
}
