/** One session as the master keeps it, and one connection. Decides nothing about a task. */
import { CloseCode, SESSION_LIMITS, Session } from '@soda-scheduler/protocol';
import type { HelloFrame, MasterFrame } from '@soda-scheduler/protocol';
import type { Clock } from '../../application/ports.ts';
import { FRAME_BYTES_MAX, FRAME_COUNT_MAX } from '../../domain/bounds.ts';
import type { Tally } from '../../domain/bounds.ts';
import type { ExecutorCommand } from '../../domain/effects.ts';
import type { Proofs } from './attempt-macs.ts';
import { fullAllowance, type LogAllowance, type LogTaker } from './log-intake.ts';

/** What a master of this version understands beyond 2.0.0. `event` and `log` only where they are kept. */
const FEATURES = ['mac', 'fenced', 'timeouts', 'alert', 'parts'];
/** What tasks of bookings may take of what may be unacknowledged, of one session and of all. */
const ANNOUNCED_SHARE_MAX = 0.25;
/** A process may not wish for a lease that one lost packet would end. */
const LEASE_MS_MIN = 6_000;

export interface SessionsOptions {
  /** Whose executors they are. */
  readonly namespace: string;
  readonly clock: Clock;
  /** How often an executor shall send a heartbeat. */
  readonly heartbeatMs: number;
  /** An executor that was not heard of for so long has lost its tasks. */
  readonly leaseMs: number;
  /** Executors that cannot prove that an attempt is theirs, those of 2.0.0, are refused. */
  readonly requiresMac?: boolean;
  /** Unique among all sessions of all masters. */
  readonly createId: () => string;
  /** Bytes; `SENT_BYTES_MAX` unless a test says otherwise. */
  readonly sentBytesMax?: number;
  /** What unacknowledged frames hold, here and in other namespaces. */
  readonly sent?: Tally;
  /** Where lines of logs go; absent: nowhere, and no executor sends any. */
  readonly logs?: LogTaker;
  /** False: nothing is kept of what executors tell of as events, and none sends any. Default: true. */
  readonly keepsEvents?: boolean;
}

/** What carries the frames of one connection. What it was given after `close` is void. */
export interface FrameSocket {
  send(text: string): void;
  close(code: CloseCode, reason: string): void;
}

export interface Connection {
  readonly socket: FrameSocket;
  /** Of which it may say that it runs them; null: of any. */
  readonly types: readonly string[] | null;
  openedAt: number;
  lastHeardAt: number;
  /** Since the last sweep. */
  heartbeatCount: number;
  frameCount: number;
  frameBytes: number;
  /** Null until a `hello`, also one that is refused then. */
  executorId: string | null;
  /** Null until a valid `hello`. */
  session: ExecutorSession | null;
}

export interface ExecutorSession {
  readonly sessionId: string;
  readonly executorId: string;
  readonly incarnation: string;
  readonly bootId: string;
  /** Everything it says about an attempt has to bring the proof that came with the offer. */
  readonly usesMac: boolean;
  /** What it says that it knows. */
  readonly knows: ReadonlySet<string>;
  /** Of what it says, and for what it is offered. */
  readonly proofs: Proofs;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  /** Holds the bodies of frames, as text. */
  readonly frames: Session<string>;
  /** What it was told that the master understands. */
  readonly features: readonly string[];
  /** What it may still say in logs. */
  readonly logAllowance: LogAllowance;
  /** Frames that tell it to end an attempt, and that it has not acknowledged. */
  cancels: { readonly seq: number; readonly taskId: string; readonly attempt: number }[];
  connection: Connection | null;
  disconnectedAt: number;
  /** On the connection it had before. */
  lastHeardAt: number;
  /** Of its unacknowledged frames, as they are part of the sum. */
  countedBytes: number;
}

/** Why a session is over whose connection is closed, for whoever reads the log of the executor. */
export const CLOSE_REASONS = {
  superseded: 'another process has taken over this executor id',
  idInUse: 'another process of this executor id has proven that it is at work',
  silent: 'nothing was heard for a lease',
  reattach: 'a newer connection of this process has replaced this one',
} as const;

export function openConnection(
  socket: FrameSocket,
  types: readonly string[] | null,
  now: number,
): Connection {
  return {
    socket,
    types,
    openedAt: now,
    lastHeardAt: now,
    heartbeatCount: 0,
    frameCount: 0,
    frameBytes: 0,
    executorId: null,
    session: null,
  };
}

/** Why a connection is to be closed that is given this frame; null: it is not. */
export function floodOf(connection: Connection, text: string): string | null {
  connection.frameCount += 1;
  connection.frameBytes += text.length;
  if (connection.frameCount > FRAME_COUNT_MAX) return 'too many frames in a second';
  return connection.frameBytes > FRAME_BYTES_MAX ? 'too many bytes of frames in a second' : null;
}

/** What an executor may wish for is a shorter lease than the one that is set. */
function leaseFor(hello: HelloFrame, leaseMs: number): number {
  return Math.min(leaseMs, Math.max(hello.lease_ms ?? leaseMs, LEASE_MS_MIN));
}

function featuresOf({ logs, keepsEvents = true }: SessionsOptions): readonly string[] {
  const event = keepsEvents ? ['event'] : [];
  return [...FEATURES, ...event, ...(logs?.isTaken === true ? ['log'] : [])];
}

export function newSession(
  hello: HelloFrame,
  connection: Connection,
  proofs: Proofs,
  options: SessionsOptions,
): ExecutorSession {
  const leaseMs = leaseFor(hello, options.leaseMs);
  return {
    sessionId: options.createId(),
    executorId: hello.executor_id,
    incarnation: hello.incarnation,
    bootId: hello.boot_id,
    usesMac: hello.features.includes('mac'),
    knows: new Set(hello.features),
    proofs,
    heartbeatMs: Math.floor((options.heartbeatMs * leaseMs) / options.leaseMs),
    leaseMs,
    frames: new Session(),
    features: featuresOf(options),
    logAllowance: fullAllowance(options.clock.now()),
    cancels: [],
    connection,
    disconnectedAt: 0,
    lastHeardAt: connection.lastHeardAt,
    countedBytes: 0,
  };
}

export function welcomeFrame(
  session: ExecutorSession,
  resumed: boolean,
  term: number,
): MasterFrame {
  return {
    type: 'welcome',
    session: session.sessionId,
    resumed,
    received: session.frames.received,
    term,
    heartbeat_ms: session.heartbeatMs,
    lease_ms: session.leaseMs,
    limits: {
      frame_bytes: SESSION_LIMITS.frameBytesMax,
      result_bytes: SESSION_LIMITS.resultBytesMax,
      checkpoint_bytes: SESSION_LIMITS.checkpointBytesMax,
      progress_state_bytes: SESSION_LIMITS.progressStateBytesMax,
      unacked_frames: SESSION_LIMITS.unackedFramesMax,
      unacked_bytes: SESSION_LIMITS.unackedBytesMax,
    },
    features: [...session.features],
  };
}

/**
 * In words that it knows: to others a task that is suspended, or whose booking is over, is canceled, which ends the
 * attempt alike. Null: there are none, and it need not know.
 */
export function wordedFor(
  { knows }: Pick<ExecutorSession, 'knows'>,
  command: ExecutorCommand,
): ExecutorCommand | null {
  if (command.type === 'booking') return knows.has('booking') ? command : null;
  if (command.type !== 'cancel') return command;
  const { reason } = command;
  if ((reason !== 'suspended' && reason !== 'booking_end') || knows.has(reason)) return command;
  return { ...command, reason: 'canceled' };
}

/**
 * Where it would take too much of what may be unacknowledged, which would cost the session: the same without the tasks
 * of its booking. Null: it is no such command, or there is room for it.
 */
export function withoutTasks(
  { frames }: Pick<ExecutorSession, 'frames'>,
  command: ExecutorCommand,
  bytes: number,
  shareOfAll: number,
): ExecutorCommand | null {
  if (command.type !== 'booking' || command.booking === null) return null;
  if (command.booking.tasks.length === 0) return null;
  const share = (frames.unackedBytes + bytes) / SESSION_LIMITS.unackedBytesMax;
  if (Math.max(share, shareOfAll) <= ANNOUNCED_SHARE_MAX) return null;
  return { ...command, booking: { ...command.booking, tasks: [] } };
}

/** The orders to end an attempt that this ack covers; each is given once. */
export function takeHeard(session: ExecutorSession, ack: number): ExecutorSession['cancels'] {
  if (session.cancels.length === 0) return [];
  const heard = session.cancels.filter(({ seq }) => seq <= ack);
  if (heard.length > 0) session.cancels = session.cancels.filter(({ seq }) => seq > ack);
  return heard;
}

/** Who of the processes under an executor id: as `freeze` names it. */
export function processKey(executorId: string, incarnation: string): string {
  return `${executorId} ${incarnation}`;
}

export function write(socket: FrameSocket, frame: MasterFrame): void {
  socket.send(JSON.stringify(frame));
}
