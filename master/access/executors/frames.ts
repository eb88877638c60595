/**
 * Translates between the frames of an executor session and the words of the domain. Pure. What
 * only executors and clients read (params, result, progress state, checkpoint) crosses as JSON
 * text, taken from the frame as it is written and checked here: a result that cannot be kept ends its
 * attempt with a message instead of ending the connection, which would only bring the same frame back.
 */
import {
  BrokenJson,
  RefusedJson,
  SESSION_LIMITS,
  jsonAt,
  jsonObject,
  refusalOf,
  scanValue,
  withoutLong,
} from '@soda-scheduler/protocol';
import { decodeFrame, executorFrame, subjectFrame } from '@soda-scheduler/protocol/schemas';
import type {
  AlertFrame,
  EventFrame,
  ExecutorFrame,
  HelloFrame,
  MasterMessage,
  ProgressFrame,
  ResultFrame,
  RunningAttempt,
} from '@soda-scheduler/protocol';
import { FRAME_MEMBER_COUNT_MAX, FRAME_VALUE_LENGTH_MAX } from '../../domain/bounds.ts';
import type { AnnouncedBooking, ExecutorCommand } from '../../domain/effects.ts';
import type { AttemptResult, Event, ExecutorHello, ReportedAttempt } from '../../domain/events.ts';
import { READY, type Readiness } from '../../domain/model/executor.ts';
import type { Task } from '../../domain/model/task.ts';
import { detached } from '../detached.ts';
import type { Proof } from './attempt-macs.ts';

type SequencedFrame = Extract<ExecutorFrame, { seq: number }>;
type HeartbeatFrame = Extract<ExecutorFrame, { type: 'heartbeat' }>;
type AssignedFields = Extract<MasterMessage, { type: 'assign' }>['task'];

/** Where a frame came from. */
interface Sender {
  readonly executorId: string;
  readonly sessionId: string;
}

const unproven = (about: Parameters<Proof>[0], proof: Proof) =>
  proof(about) ? null : ({ isUnproven: true } as const);

const SHORT = { lengthMax: FRAME_VALUE_LENGTH_MAX, membersMax: FRAME_MEMBER_COUNT_MAX };

/** Long values are not looked into: a duplicate costs no more than its length, whatever is in it. */
export function readFrame(text: string): ReturnType<typeof decodeFrame<typeof executorFrame>> {
  const short = withoutLong(text, { ...SHORT, opened: 'error' });
  if (short !== null) return decodeFrame(executorFrame, short);
  return { problem: `frame: expected at most ${FRAME_MEMBER_COUNT_MAX} fields` };
}

/** What a sequenced frame is about, where nothing more of it can be read. */
export function subjectOf(
  text: string,
): { readonly seq: number; readonly taskId: string; readonly attempt: number } | null {
  const short = withoutLong(text, SHORT);
  const decoded = short === null ? null : decodeFrame(subjectFrame, short);
  if (decoded === null || 'problem' in decoded) return null;
  const { seq, task_id: taskId, attempt } = decoded.frame;
  return { seq, taskId, attempt };
}

export function connectedEvent(
  hello: HelloFrame,
  session: Sender & Pick<ExecutorHello, 'incarnation' | 'usesMac' | 'leaseMs'>,
  proof: Proof,
): Event {
  const { types, labels, reserve, host, pid, sdk, version } = hello;
  const executor: ExecutorHello = {
    executorId: hello.executor_id,
    incarnation: session.incarnation,
    sessionId: session.sessionId,
    types,
    labels,
    reserve,
    running: hello.running.map((running) => reportedAttempt(running, proof)),
    host,
    pid,
    sdk,
    version,
    // The default id of 2.0.0, which does not say so.
    lasting: hello.lasting_id && hello.executor_id !== `${host}-${pid}`,
    bootId: hello.boot_id,
    usesMac: session.usesMac,
    leaseMs: session.leaseMs,
    died: hello.died,
    fenced: hello.fenced.map(({ task_id: taskId, attempt }) => ({ taskId, attempt })),
    ready: READY,
    ...readinessIn(hello),
    booking: hello.booking ?? null,
  };
  return { type: 'executorConnected', ...executor };
}

/** The same session on another connection. */
export function resumedEvent(hello: HelloFrame, { executorId, sessionId }: Sender): Event {
  return { type: 'executorResumed', executorId, sessionId, ready: READY, ...readinessIn(hello) };
}

function readinessIn({ ready }: Pick<HelloFrame, 'ready'>): { readonly ready?: Readiness } {
  if (ready === undefined) return {};
  const { ok, reason = null, disk_bytes: diskBytes = null } = ready;
  return { ready: { ok, reason, diskBytes } };
}

export function heartbeatEvent(frame: HeartbeatFrame, sender: Sender, proof: Proof): Event {
  return {
    type: 'heartbeatReceived',
    executorId: sender.executorId,
    sessionId: sender.sessionId,
    draining: frame.state === 'draining',
    running: frame.running.map((running) => reportedAttempt(running, proof)),
    loopLagMs: frame.loop_lag_ms ?? null,
    rssBytes: frame.rss_bytes ?? null,
    cpuPercent: frame.cpu_percent ?? null,
    ...readinessIn(frame),
  };
}

/** `text`: what `frame` was decoded from. */
export function frameEvent(
  frame: SequencedFrame,
  text: string,
  sender: Sender,
  proof: Proof,
): Event {
  const from = {
    executorId: sender.executorId,
    sessionId: sender.sessionId,
    frameSeq: frame.seq,
    taskId: frame.task_id,
    attempt: frame.attempt,
    ...unproven(frame, proof),
  };
  // What is copied stands last: V8 adds what follows it one by one, which takes a microsecond each.
  switch (frame.type) {
    case 'accept':
      return { type: 'attemptAccepted', ...from };
    case 'reject':
      return { type: 'attemptRejected', code: frame.code, message: frame.message, ...from };
    case 'progress': {
      const { percent, state, checkpoint, detail } = progressOf(frame, text);
      return { type: 'progressReported', percent, state, checkpoint, detail, ...from };
    }
    case 'event': {
      const { name, n = null } = frame;
      return { type: 'eventTold', name, n, data: toldData(frame, text), ...from };
    }
    case 'alert': {
      const { severity, message } = frame;
      return { type: 'alertSaid', severity, message, fields: saidFields(frame, text), ...from };
    }
    case 'result': {
      const { log_lines: logLineCount = null } = frame;
      return { type: 'attemptEnded', ...resultOf(frame, text), logLineCount, ...from };
    }
  }
}

/** The body of the frame, to be numbered by `encodeFrame`. */
export function commandBody(command: ExecutorCommand, term: number, mac?: string): string {
  switch (command.type) {
    case 'assign':
      return `{"type":"assign","task":${assignedTask(command.task, term, mac)}}`;
    case 'cancel':
      return JSON.stringify({
        type: 'cancel',
        task_id: command.taskId,
        attempt: command.attempt,
        // To executors it is as a drain: they give the task back.
        reason: command.reason === 'preempted' ? 'drain' : command.reason,
        grace_ms: command.graceMs,
      } satisfies MasterMessage);
    case 'drain':
      return JSON.stringify({ type: 'drain', draining: command.draining } satisfies MasterMessage);
    case 'booking':
      return bookingMessage(command.booking);
  }
}

/** Of many executors that are told of the same: the text is long, and made and held once. */
const bookingTexts = new WeakMap<AnnouncedBooking, string>();

function bookingMessage(booking: AnnouncedBooking | null): string {
  if (booking === null) return '{"type":"booking","booking":null}';
  const known = bookingTexts.get(booking);
  if (known !== undefined) return known;
  const text = `{"type":"booking","booking":${bookingText(booking)}}`;
  bookingTexts.set(booking, text);
  return text;
}

/** Params are spliced in as they are. */
function bookingText(booking: AnnouncedBooking): string {
  const { id, type, from, to } = booking;
  const tasks = booking.tasks.map((task) => jsonObject({ id: task.id }, { params: task.params }));
  const fields = { id, type, from_at: from, to_at: to };
  return jsonObject(fields, { tasks: `[${tasks.join(',')}]` });
}

/** Params and checkpoint are spliced in as they are: they may be large, and are JSON already. */
function assignedTask(task: Task, term: number, mac: string | undefined): string {
  const fields = {
    id: task.id,
    type: task.type,
    attempt: task.attempt,
    term,
    labels: [...task.labels],
    user: {
      group: task.user.group,
      project: task.user.project ?? undefined,
      env: task.user.env ?? undefined,
      user: task.user.user ?? undefined,
    },
    submitted_at: task.submittedAt,
    execution_timeout_ms: task.executionTimeoutMs ?? undefined,
    stall_timeout_ms: task.stallTimeoutMs ?? undefined,
    deadline_at: task.deadlineAt ?? undefined,
    traceparent: task.traceparent ?? undefined,
    mac,
  } satisfies Omit<AssignedFields, 'params' | 'checkpoint'>;
  return jsonObject(fields, { params: task.params, checkpoint: task.checkpoint ?? undefined });
}

function reportedAttempt(running: RunningAttempt, proof: Proof): ReportedAttempt {
  const { task_id: taskId, attempt, state } = running;
  const { ran_ms: ranMs } = running;
  return {
    taskId,
    attempt,
    state,
    ...(ranMs !== undefined && { ranMs }),
    ...unproven(running, proof),
  };
}

/** What cannot be kept is left out: progress is a courtesy, and must not end an attempt. */
function progressOf(frame: ProgressFrame, text: string) {
  const { percent, state, checkpoint } = frame;
  const { progressStateBytesMax, checkpointBytesMax } = SESSION_LIMITS;
  const kept = (value: unknown, name: string, bytesMax: number) =>
    value === undefined ? undefined : keptAt(text, name, bytesMax);
  return {
    percent: percent ?? null,
    state: kept(state, 'state', progressStateBytesMax),
    checkpoint: kept(checkpoint, 'checkpoint', checkpointBytesMax),
    detail: detailOf(frame),
  };
}

/** Numbers that the master understands: they need not be as they were written. */
function detailOf({ parts: given, speed, eta_seconds }: ProgressFrame): string | undefined {
  const bytes = given === undefined ? 0 : Buffer.byteLength(JSON.stringify(given));
  const parts = bytes > SESSION_LIMITS.progressPartsBytesMax ? undefined : given;
  const isNone = parts === undefined && speed === undefined && eta_seconds === undefined;
  return isNone ? undefined : JSON.stringify({ parts, speed, eta_seconds });
}

/** Left out where they cannot be kept, and where they are no object. */
function saidFields({ fields }: AlertFrame, text: string): string | undefined {
  if (fields === undefined) return undefined;
  const kept = keptAt(text, 'fields', SESSION_LIMITS.alertFieldsBytesMax);
  return kept?.startsWith('{') ? kept : undefined;
}

/** Left out where it cannot be kept, and where it is no object: the feed has nothing else. */
function toldData({ data }: EventFrame, text: string): string | undefined {
  if (data === undefined) return undefined;
  const kept = keptAt(text, 'data', SESSION_LIMITS.eventDataBytesMax);
  return kept?.startsWith('{') ? kept : undefined;
}

function keptAt(text: string, name: string, bytesMax: number): string | undefined {
  const slice = valueAt(text, [name], bytesMax);
  return 'text' in slice ? slice.text : undefined;
}

function resultOf(frame: ResultFrame, text: string): Omit<AttemptResult, 'logLineCount'> {
  const { error, task_id: taskId, attempt } = frame;
  const whose = `of attempt ${attempt} of ${taskId}`;
  const { resultBytesMax: bytesMax } = SESSION_LIMITS;
  const result = frame.result === undefined ? absent : valueAt(text, ['result'], bytesMax);
  if ('problem' in result) return refusedResult(`The result ${whose} ${result.problem}`);
  const details =
    error?.details === undefined ? absent : valueAt(text, ['error', 'details'], bytesMax);
  if ('problem' in details)
    return refusedResult(`The details of the error ${whose} ${details.problem}`);

  const message = unexplained(frame);
  const missing = message === null ? null : { message };
  return {
    outcome: frame.outcome,
    result: result.text ?? null,
    error:
      error === undefined
        ? missing
        : {
            message: error.message,
            ...(error.name !== undefined && { name: error.name }),
            ...(details.text !== undefined && { details: details.text }),
          },
    retryable: error?.retryable ?? true,
    ...(error?.reason === 'input_unavailable' && { isInputUnavailable: true }),
    retryAfterMs: error?.retry_after === undefined ? null : Math.round(error.retry_after * 1000),
  };
}

/** What is kept of an end for which the executor gave no error. */
function unexplained({ outcome, reason }: ResultFrame): string | null {
  if (outcome === 'failed') return 'The executor gave no reason.';
  if (outcome !== 'timed_out') return null;
  if (reason === 'stalled') return 'It reported no progress for its stall timeout.';
  return 'It ran for its execution timeout.';
}

/** The work was done, but what it reports cannot be stored; another attempt would end the same. */
function refusedResult(message: string): Omit<AttemptResult, 'logLineCount'> {
  return {
    outcome: 'failed',
    result: null,
    error: { name: 'ResultRefused', message },
    retryable: false,
    retryAfterMs: null,
  };
}

type Value = { readonly text: string | undefined } | { readonly problem: string };
const absent = { text: undefined } as const;

/** A value of the frame, as it is written. */
function valueAt(frameText: string, path: readonly string[], bytesMax: number): Value {
  const slice = jsonAt(frameText, path);
  if (slice === undefined) return absent;
  const bytes = Buffer.byteLength(slice);
  if (bytes > bytesMax) {
    return { problem: `is too large: ${bytes} bytes of JSON, and ${bytesMax} are allowed.` };
  }
  try {
    scanValue(slice);
  } catch (error) {
    // It was not read with its frame.
    if (error instanceof BrokenJson) return { problem: 'is not JSON.' };
    if (!(error instanceof RefusedJson)) throw error;
    return { problem: `is refused: ${refusalOf(error).slice(0, 512)}.` };
  }
  return { text: detached(slice) };
}
