/**
 * Every frame of an executor session, as one schema per direction. `docs/protocol.md` is the specification; this file
 * mirrors it. Unknown fields are dropped, so that either side may be one version ahead.
 *
 * `hello` and `welcome` open a connection. `heartbeat` and `ack` carry no `seq`: they are about this moment, and sending
 * an old one again would be wrong; nor does `log`, which may be lost. Every other frame is sequenced.
 */
import { z } from 'zod';
import {
  EVENT_NAME_PATTERN,
  EXECUTOR_ID_PATTERN,
  EXECUTOR_VERSION_PATTERN,
  INCARNATION_PATTERN,
  LABEL_PATTERN,
  SESSION_LIMITS,
  TASK_ID_PATTERN,
  TASK_TYPE_PATTERN,
} from './limits.ts';
import { alertSeverities, logLevels, logStreams } from './words.ts';

const seq = z.int().min(1);
const ack = z.int().min(0);
const attempt = z.int().min(1);
const incarnation = z.string().regex(INCARNATION_PATTERN);
const taskId = z.string().regex(TASK_ID_PATTERN);
const labels = z.array(z.string().regex(LABEL_PATTERN)).max(SESSION_LIMITS.labelCountMax);
/** Of an attempt, as `assign` gave it: the executor hands it back and never looks into it. */
const mac = z.string().min(1).max(64);
/** How long the handler has run, by the executor's monotonic clock. */
const ranMs = z.int().min(0);
/** What a side understands beyond 2.0.0. A side sends what is new only to one that names it. */
const features = z.array(z.string().min(1).max(32)).max(16);
/** Whether the executor can work now. While it cannot, it is offered nothing; what it runs goes on. */
const ready = z.object({
  ok: z.boolean(),
  reason: z.string().max(256).optional(),
  /** Free in its directory for scratch files; absent: it does not say. */
  disk_bytes: z.int().min(0).optional(),
});

/** Any JSON value. Frames are bounded in bytes before they are parsed. */
const json = z.unknown();

const runningAttempt = z.object({
  task_id: taskId,
  attempt,
  /** `finished`: the handler has ended and its result is not acknowledged yet. */
  state: z.enum(['running', 'finished']),
  mac: mac.optional(),
  ran_ms: ranMs.optional(),
});

export const helloFrame = z.object({
  type: z.literal('hello'),
  executor_id: z.string().regex(EXECUTOR_ID_PATTERN),
  /** New for every process, so that a restart under the same id is noticed at once. */
  incarnation,
  types: z.array(z.string().regex(TASK_TYPE_PATTERN)).min(1).max(64),
  labels: labels.default([]),
  reserve: labels.default([]),
  slots: z.literal(1).default(1),
  /** The session to resume, where there was one. */
  session: z.string().max(64).optional(),
  /** Highest sequence number received from the master in that session. */
  received: ack.default(0),
  running: z.array(runningAttempt).max(16).default([]),
  sdk: z.string().max(64).default('unknown'),
  /** Of the program that this executor is; empty where it does not say. */
  version: z.union([z.literal(''), z.string().regex(EXECUTOR_VERSION_PATTERN)]).default(''),
  host: z.string().max(255).default(''),
  pid: z.int().min(0).default(0),
  features: features.default([]),
  /** Of the host, and of the space its process ids are from. Empty where it is not known. */
  boot_id: z.string().max(64).default(''),
  /** A shorter lease is wanted. `welcome` says what counts. */
  lease_ms: z.int().min(1).optional(),
  /** Incarnations of this executor id that have ended for certain: seen by it on its own host. */
  died: z.array(incarnation).max(16).default([]),
  /** Attempts that this process has ended by itself because it had lost its lease. */
  fenced: z
    .array(z.object({ task_id: taskId, attempt }))
    .max(16)
    .default([]),
  /** False: the id was made up for this process and means nothing after it. */
  lasting_id: z.boolean().default(true),
  /** Without it the executor is ready. */
  ready: ready.optional(),
  /** To which it believes that it is bound. */
  booking: z.string().min(1).max(64).optional(),
});

export const taskError = z.object({
  message: z.string().max(8192),
  name: z.string().max(128).optional(),
  /** False: no further attempt, whatever the retry policy says. */
  retryable: z.boolean().default(true),
  /** Seconds to wait before the next attempt instead of what the retry policy says. */
  retry_after: z.number().min(0).max(31_536_000).optional(),
  /** With `retryable: false`: what the task fails for, if not for the attempt itself. */
  reason: z.literal('input_unavailable').optional().catch(undefined),
  details: json.optional(),
});

/**
 * The handler begins once this is acknowledged, and not before: an answer that came too late is
 * refused, and an executor that dies of the task at once has been known to run it.
 */
const acceptFrame = z.object({
  type: z.literal('accept'),
  seq,
  ack,
  task_id: taskId,
  attempt,
  mac: mac.optional(),
});

const rejectFrame = z.object({
  type: z.literal('reject'),
  seq,
  ack,
  task_id: taskId,
  attempt,
  /** 405: not a type of this executor; 406: it is busy or drains; 400: it does not want this one. */
  code: z.int().min(400).max(599),
  message: z.string().max(1024).default(''),
  mac: mac.optional(),
});

/** Of the work of an attempt, such as one of the files that it makes. Done at 100. */
const progressPart = z.object({
  name: z.string().min(1).max(SESSION_LIMITS.progressPartNameLengthMax),
  percent: z.number().min(0).max(100),
});

const progressFrame = z.object({
  type: z.literal('progress'),
  seq,
  ack,
  task_id: taskId,
  attempt,
  percent: z.number().min(0).max(100).optional(),
  state: json.optional(),
  /** Handed to the next attempt. Replaces the last one. */
  checkpoint: json.optional(),
  // Only to a master that names the feature `parts`. What is wrong with them is no reason to refuse the rest.
  parts: z.array(progressPart).max(SESSION_LIMITS.progressPartCountMax).optional().catch(undefined),
  /** As the executor counts it: of media, multiples of real time. */
  speed: z.number().min(0).optional().catch(undefined),
  /** How long it will still take. */
  eta_seconds: z.number().min(0).optional().catch(undefined),
  mac: mac.optional(),
});

/** Something that happens in an attempt, in its own words. Only to a master that names the feature `event`. */
const eventFrame = z.object({
  type: z.literal('event'),
  seq,
  ack,
  task_id: taskId,
  attempt,
  name: z.string().regex(EVENT_NAME_PATTERN),
  /** A JSON object. */
  data: json.optional(),
  /** Its number in the attempt, by which a master that has restarted knows it again. */
  n: z.int().min(1).optional(),
  mac: mac.optional(),
});

/** Something that people have to know. Only to a master that names the feature `alert`. */
const alertFrame = z.object({
  type: z.literal('alert'),
  seq,
  ack,
  task_id: taskId,
  attempt,
  severity: z.enum(alertSeverities),
  message: z.string().min(1).max(SESSION_LIMITS.alertMessageLengthMax),
  /** A JSON object. */
  fields: json.optional(),
  mac: mac.optional(),
});

const resultFrame = z.object({
  type: z.literal('result'),
  seq,
  ack,
  task_id: taskId,
  attempt,
  /**
   * `canceled`: ended because it was told to; `returned`: given back unfinished, at no cost;
   * `timed_out`: the executor ended it by its own clock, for `reason`. Only to a master whose
   * `welcome` names the feature `timeouts`.
   */
  outcome: z.enum(['succeeded', 'failed', 'canceled', 'returned', 'timed_out']),
  reason: z.enum(['execution_timeout', 'stalled']).optional(),
  result: json.optional(),
  error: taskError.optional(),
  mac: mac.optional(),
  ran_ms: ranMs.optional(),
  /** Lines of its log, those that were dropped too: whatever is missing of its end is known by that. */
  log_lines: z.int().min(0).max(SESSION_LIMITS.logFirstLineMax).optional(),
});

const executorHeartbeat = z.object({
  type: z.literal('heartbeat'),
  /** Echoed by the master, so that the executor can tell from when its lease counts. */
  n: z.int().min(0),
  ack,
  state: z.enum(['idle', 'busy', 'draining']),
  running: z.array(runningAttempt).max(16),
  loop_lag_ms: z.number().min(0).optional(),
  rss_bytes: z.number().min(0).optional(),
  /** Of all processors of its host, how much was busy since the heartbeat before. */
  cpu_percent: z.number().min(0).max(100).optional(),
  /** Without it the executor is as it said last. */
  ready: ready.optional(),
});

const ackFrame = z.object({ type: z.literal('ack'), ack });

/**
 * Lines of the log of an attempt. It has no `seq`: it is never sent again, and never acknowledged. Only to a master
 * whose `welcome` names the feature `log`.
 */
const logFrame = z.object({
  type: z.literal('log'),
  task_id: taskId,
  attempt,
  mac,
  /** Number of its first line in the attempt, from 1: those that were dropped count too. */
  n: z.int().min(1).max(SESSION_LIMITS.logFirstLineMax),
  /** `logLines`, which are read only where there is room for them; null: not even that was. */
  lines: z.union([z.array(json), z.null()]),
  /** So many were dropped between the frame before and this one. */
  dropped: z.int().min(0).default(0),
});

/** Of a `log` frame: one after another. */
export const logLines = z.array(
  z.object({
    /** Epoch milliseconds, by the clock of the executor. */
    at: z.int().min(0).max(8_640_000_000_000_000),
    level: z.enum(logLevels),
    stream: z.enum(logStreams).default('log'),
    text: z.string(),
    fields: z.record(z.string(), json).optional(),
  }),
);

/** What an executor may send after `hello`. */
export const executorFrame = z.discriminatedUnion('type', [
  acceptFrame,
  rejectFrame,
  progressFrame,
  eventFrame,
  alertFrame,
  resultFrame,
  executorHeartbeat,
  ackFrame,
  logFrame,
]);

/** What every sequenced frame of an executor says, whatever else may be wrong with it. */
export const subjectFrame = z.object({
  type: z.enum(['accept', 'reject', 'progress', 'event', 'alert', 'result']),
  seq,
  task_id: taskId,
  attempt,
});

const welcomeFrame = z.object({
  type: z.literal('welcome'),
  session: z.string(),
  resumed: z.boolean(),
  /** Highest sequence number received from the executor in this session. */
  received: ack,
  /** Grows with every master start or take-over. An executor refuses a lower one than it has seen. */
  term: z.int().min(0),
  heartbeat_ms: z.int().min(1),
  lease_ms: z.int().min(1),
  limits: z.object({
    frame_bytes: z.int(),
    result_bytes: z.int(),
    checkpoint_bytes: z.int(),
    progress_state_bytes: z.int(),
    unacked_frames: z.int(),
    unacked_bytes: z.int(),
  }),
  features: features.default([]),
});

const assignedTask = z.object({
  id: taskId,
  type: z.string(),
  params: json,
  attempt,
  term: z.int(),
  labels: z.array(z.string()),
  user: z.object({
    group: z.string(),
    project: z.string().optional(),
    env: z.string().optional(),
    user: z.string().optional(),
  }),
  submitted_at: z.number(),
  /** What an earlier attempt saved, absent where none did. */
  checkpoint: json.optional(),
  execution_timeout_ms: z.number().optional(),
  stall_timeout_ms: z.number().optional(),
  deadline_at: z.number().optional(),
  /** W3C; of the trace that its submit was part of, absent where there was none. */
  traceparent: z.string().optional(),
  mac: mac.optional(),
});

const assignFrame = z.object({ type: z.literal('assign'), seq, ack, task: assignedTask });

/** Why a running attempt is told to end. */
export const cancelReason = z.enum([
  'canceled',
  // Only to an executor whose `hello` names the feature `suspended`.
  'suspended',
  // Only to one whose `hello` names `booking_end`.
  'booking_end',
  'execution_timeout',
  'stalled',
  'deadline',
  'drain',
  'stale_attempt',
]);

const cancelFrame = z.object({
  type: z.literal('cancel'),
  seq,
  ack,
  task_id: taskId,
  attempt,
  reason: cancelReason,
  /** After this the attempt is fenced: whatever it reports is refused. */
  grace_ms: z.int().min(0),
});

/** `draining`: no new task will come until `false` follows. A running task goes on. */
const drainFrame = z.object({ type: z.literal('drain'), seq, ack, draining: z.boolean() });

/** Which booking has it from now on; null: none any more. Only to an executor whose `hello` names the feature `booking`. */
const bookingFrame = z.object({
  type: z.literal('booking'),
  seq,
  ack,
  booking: z
    .object({
      id: z.string(),
      type: z.string(),
      from_at: z.number(),
      to_at: z.number(),
      /** That wait for it and are known: it may be given one of them. */
      tasks: z.array(z.object({ id: taskId, params: json })),
    })
    .nullable(),
});

const masterHeartbeat = z.object({ type: z.literal('heartbeat'), n: z.int().min(0), ack });

/** What a master may send. */
export const masterFrame = z.discriminatedUnion('type', [
  welcomeFrame,
  assignFrame,
  cancelFrame,
  drainFrame,
  bookingFrame,
  masterHeartbeat,
  ackFrame,
]);

export { decodeFrame } from './json/decode-frame.ts';
export type HelloFrame = z.infer<typeof helloFrame>;
/** As an executor may say it: what has a default may be left out. */
export type SentHello = z.input<typeof helloFrame>;
export type WelcomeFrame = z.infer<typeof welcomeFrame>;
export type ExecutorFrame = z.infer<typeof executorFrame>;
export type MasterFrame = z.infer<typeof masterFrame>;
/** What a master sends again until it is acknowledged. */
export type NumberedFrame = Extract<MasterFrame, { seq: number }>;
export type AssignedTask = z.infer<typeof assignedTask>;
export type RunningAttempt = z.infer<typeof runningAttempt>;
export type Readiness = z.infer<typeof ready>;
export type TaskError = z.infer<typeof taskError>;
export type CancelReason = z.infer<typeof cancelReason>;
export type ResultFrame = z.infer<typeof resultFrame>;
export type ProgressFrame = z.infer<typeof progressFrame>;
export type EventFrame = z.infer<typeof eventFrame>;
export type LogFrame = z.infer<typeof logFrame>;
export type SentLogLine = z.input<typeof logLines>[number];
export type AlertFrame = z.infer<typeof alertFrame>;

/** A sequenced frame before the session has numbered it. */
export type Unsequenced<F> = F extends { seq: number } ? Omit<F, 'seq' | 'ack'> : never;
export type ExecutorMessage = Unsequenced<ExecutorFrame>;
export type MasterMessage = Unsequenced<MasterFrame>;
