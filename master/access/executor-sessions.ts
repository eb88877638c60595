/**
 * The master's end of executor sessions, whatever carries their frames: begins, resumes and
 * forgets them, numbers and acknowledges frames, and turns them into events for the engine. It
 * answers `hello` and heartbeats by itself, so that executors keep their lease while the store is
 * down. It never decides anything about a task, and knows no socket library.
 *
 * A session outlives its connection by one lease, then it is forgotten. All of them live in this
 * process only: after a restart every executor begins a new one and says what it runs.
 */
import {
  CloseCode,
  SESSION_LIMITS,
  Session,
  decodeFrame,
  encodeFrame,
  executorFrame,
  helloFrame,
} from '@soda-scheduler/protocol';
import type { ExecutorFrame, HelloFrame, MasterFrame } from '@soda-scheduler/protocol';
import type { MasterHandle } from '../application/master-handle.ts';
import type { Clock, ExecutorLink, Log } from '../application/ports.ts';
import { SENT_BYTES_MAX } from '../domain/bounds.ts';
import type { ExecutorCommand } from '../domain/effects.ts';
import { commandBody, connectedEvent, frameEvent, heartbeatEvent } from './executor-frames.ts';

/** Deadlines are looked at this often; they may be noticed so much late. */
const SWEEP_MS = 1_000;
/** Of one connection between two sweeps: they need no ack, so that nothing else bounds them. */
const HEARTBEAT_COUNT_MAX = 256;

export interface SessionsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** How often an executor shall send a heartbeat. */
  readonly heartbeatMs: number;
  /** An executor that was not heard of for so long has lost its tasks. */
  readonly leaseMs: number;
  /** Unique among all sessions of all masters. */
  readonly createId: () => string;
  /** Bytes; `SENT_BYTES_MAX` unless a test says otherwise. */
  readonly sentBytesMax?: number;
}

/** What carries the frames of one connection. What it was given after `close` is void. */
export interface FrameSocket {
  send(text: string): void;
  close(code: CloseCode, reason: string): void;
}

export interface Connection {
  readonly socket: FrameSocket;
  readonly openedAt: number;
  lastHeardAt: number;
  /** Since the last sweep. */
  heartbeatCount: number;
  /** Null until a valid `hello`. */
  session: ExecutorSession | null;
}

interface ExecutorSession {
  readonly sessionId: string;
  readonly executorId: string;
  readonly incarnation: string;
  /** Holds the bodies of frames, as text. */
  readonly frames: Session<string>;
  connection: Connection | null;
  disconnectedAt: number;
  /** Of its unacknowledged frames, as they are part of the sum. */
  countedBytes: number;
}

type Master = Pick<MasterHandle, 'term' | 'post' | 'isFull'>;

export class ExecutorSessions implements ExecutorLink {
  readonly #options: SessionsOptions;
  #master: Master = { term: 0, post: () => undefined, isFull: false };
  readonly #connections = new Set<Connection>();
  readonly #sessions = new Map<string, ExecutorSession>();
  readonly #sessionByExecutor = new Map<string, ExecutorSession>();
  /** Sessions whose peer may have to be told of a newer ack at the end of this turn of the loop. */
  readonly #ackQueue = new Set<ExecutorSession>();
  #sentBytes = 0;
  #callOffSweep: (() => void) | null = null;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Of frames that no executor has acknowledged yet. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  /** Those that wait for their executor to come back included. */
  get count(): number {
    return this.#sessions.size;
  }

  /** Begins to post what executors say to `master`. Once only, before the first connection. */
  attach(master: Master): void {
    this.#master = master;
    this.#scheduleSweep();
  }

  /** A new connection. Its owner tells what it receives, and once, when nothing more can come. */
  open(socket: FrameSocket): Connection {
    const now = this.#options.clock.now();
    const connection: Connection = {
      socket,
      openedAt: now,
      lastHeardAt: now,
      heartbeatCount: 0,
      session: null,
    };
    this.#connections.add(connection);
    return connection;
  }

  receive(connection: Connection, text: string): void {
    connection.lastHeardAt = this.#options.clock.now();
    if (connection.session === null) {
      const decoded = decodeFrame(helloFrame, text);
      if ('problem' in decoded) return this.badFrame(connection, `hello: ${decoded.problem}`);
      return this.#begin(connection, decoded.frame);
    }
    const decoded = decodeFrame(executorFrame, text);
    if ('problem' in decoded) return this.badFrame(connection, decoded.problem);
    this.#take(connection, connection.session, decoded.frame, Buffer.byteLength(text));
    this.#recount(connection.session);
  }

  /** Also for what only the owner of the connection can see is wrong with a frame. */
  badFrame({ socket, session }: Connection, problem: string): void {
    this.#options.log.warn('bad frame from an executor', {
      executor_id: session?.executorId,
      problem,
    });
    socket.close(CloseCode.badFrame, problem);
  }

  closed(connection: Connection, code: number): void {
    this.#connections.delete(connection);
    const { session } = connection;
    if (session === null || session.connection !== connection) return;
    session.connection = null;
    session.disconnectedAt = this.#options.clock.now();
    const { executorId, sessionId } = session;
    const left = code === CloseCode.leaving;
    if (left) this.#forget(session, CloseCode.leaving, '');
    this.#master.post({ type: 'executorDisconnected', executorId, sessionId, left });
  }

  send(sessionId: string, command: ExecutorCommand, term: number): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    const body = commandBody(command, term);
    const bytes = Buffer.byteLength(body);
    const { sentBytesMax = SENT_BYTES_MAX } = this.#options;
    const isTooMuch = this.#sentBytes + bytes > sentBytesMax;
    const frame = isTooMuch ? null : session.frames.send(body, bytes);
    this.#recount(session);
    if (frame === null) {
      // A command was lost, so that the session may not go on; a new one begins by telling all.
      this.#forget(session, CloseCode.overflow, 'the send window is full');
    } else {
      session.connection?.socket.send(encodeFrame(frame.seq, session.frames.announceAck(), body));
    }
  }

  confirm(sessionId: string, frameSeq: number): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    session.frames.confirm(frameSeq);
    this.#queueAck(session);
  }

  close(sessionId: string, reason: 'superseded' | 'silent'): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) this.#forget(session, CloseCode[reason], reason);
  }

  reattachAll(): void {
    for (const session of [...this.#sessions.values()]) {
      this.#forget(session, CloseCode.reattach, 'the master has rebuilt its state');
    }
  }

  /** Sends every executor away; nothing is to be opened any more. */
  shutdown(): void {
    this.#callOffSweep?.();
    this.reattachAll();
    for (const { socket } of this.#connections) {
      socket.close(CloseCode.reattach, 'the master is stopping');
    }
  }

  #take(
    connection: Connection,
    session: ExecutorSession,
    frame: ExecutorFrame,
    bytes: number,
  ): void {
    const { socket } = connection;
    if (frame.type === 'ack' || frame.type === 'heartbeat') {
      if (!session.frames.acknowledged(frame.ack)) {
        return this.badFrame(connection, 'ack: beyond what was sent');
      }
      if (frame.type === 'heartbeat') {
        if (++connection.heartbeatCount > HEARTBEAT_COUNT_MAX) {
          return socket.close(CloseCode.overflow, 'too many heartbeats');
        }
        write(socket, { type: 'heartbeat', n: frame.n, ack: session.frames.announceAck() });
        this.#master.post(heartbeatEvent(frame, session));
      }
      return;
    }
    if (this.#master.isFull) {
      // Not taken, so that it comes again: the session goes on.
      return socket.close(CloseCode.overflow, 'the master is behind: send it again');
    }
    switch (session.frames.receive(frame.seq, frame.ack, bytes)) {
      case 'deliver':
        return this.#master.post(frameEvent(frame, session), bytes);
      case 'duplicate':
        return;
      case 'gap':
        return socket.close(CloseCode.gap, `expected ${session.frames.received + 1}`);
      case 'overflow':
        return socket.close(CloseCode.overflow, 'too much without an ack');
      case 'invalid':
        return this.badFrame(connection, 'ack: beyond what was sent');
    }
  }

  #begin(connection: Connection, hello: HelloFrame): void {
    const known = this.#sessionByExecutor.get(hello.executor_id);
    const resend =
      known !== undefined &&
      known.sessionId === hello.session &&
      known.incarnation === hello.incarnation
        ? known.frames.resume(hello.received)
        : null;
    if (known === undefined || resend === null) {
      if (known !== undefined) {
        this.#forget(known, CloseCode.superseded, 'the same executor id has connected again');
      }
      const session = this.#createSession(hello, connection);
      this.#welcome(connection, session, false);
      return this.#master.post(connectedEvent(hello, session.sessionId));
    }
    const { connection: replaced, sessionId, executorId, frames } = known;
    known.connection = connection;
    connection.session = known;
    // The old socket is half dead, or its close is still on the way: the session has moved on.
    replaced?.socket.close(CloseCode.superseded, 'resumed elsewhere');
    this.#welcome(connection, known, true);
    for (const { seq, message } of resend) {
      connection.socket.send(encodeFrame(seq, frames.announceAck(), message));
    }
    this.#queueAck(known);
    this.#master.post({ type: 'executorResumed', executorId, sessionId });
  }

  #createSession(hello: HelloFrame, connection: Connection): ExecutorSession {
    const session: ExecutorSession = {
      sessionId: this.#options.createId(),
      executorId: hello.executor_id,
      incarnation: hello.incarnation,
      frames: new Session(),
      connection,
      disconnectedAt: 0,
      countedBytes: 0,
    };
    connection.session = session;
    this.#sessions.set(session.sessionId, session);
    this.#sessionByExecutor.set(session.executorId, session);
    return session;
  }

  #welcome({ socket }: Connection, session: ExecutorSession, resumed: boolean): void {
    write(socket, {
      type: 'welcome',
      session: session.sessionId,
      resumed,
      received: session.frames.received,
      term: this.#master.term,
      heartbeat_ms: this.#options.heartbeatMs,
      lease_ms: this.#options.leaseMs,
      limits: {
        frame_bytes: SESSION_LIMITS.frameBytesMax,
        result_bytes: SESSION_LIMITS.resultBytesMax,
        checkpoint_bytes: SESSION_LIMITS.checkpointBytesMax,
        progress_state_bytes: SESSION_LIMITS.progressStateBytesMax,
        unacked_frames: SESSION_LIMITS.unackedFramesMax,
        unacked_bytes: SESSION_LIMITS.unackedBytesMax,
      },
      features: [],
    });
  }

  #queueAck(session: ExecutorSession): void {
    if (!session.frames.ackDue) return;
    if (this.#ackQueue.size === 0) this.#options.clock.soon(() => this.#flushAcks());
    this.#ackQueue.add(session);
  }

  /** Acks that found no frame to ride on during this turn of the loop. */
  #flushAcks(): void {
    for (const { connection, frames } of this.#ackQueue) {
      if (connection === null || !frames.ackDue) continue;
      write(connection.socket, { type: 'ack', ack: frames.announceAck() });
    }
    this.#ackQueue.clear();
  }

  /** The session cannot be resumed. Its connection, where there is one, is closed. */
  #forget(session: ExecutorSession, code: CloseCode, reason: string): void {
    this.#sessions.delete(session.sessionId);
    this.#ackQueue.delete(session);
    this.#sentBytes -= session.countedBytes;
    session.countedBytes = 0;
    if (this.#sessionByExecutor.get(session.executorId) === session) {
      this.#sessionByExecutor.delete(session.executorId);
    }
    session.connection?.socket.close(code, reason);
  }

  #recount(session: ExecutorSession): void {
    // One that was forgotten holds nothing any more.
    if (this.#sessions.get(session.sessionId) !== session) return;
    this.#sentBytes += session.frames.unackedBytes - session.countedBytes;
    session.countedBytes = session.frames.unackedBytes;
  }

  #scheduleSweep(): void {
    const { clock } = this.#options;
    this.#callOffSweep = clock.wakeAt(clock.now() + SWEEP_MS, () => {
      this.#sweep(clock.now());
      this.#scheduleSweep();
    });
  }

  /** One timer for all sessions. */
  #sweep(now: number): void {
    const { leaseMs } = this.#options;
    for (const connection of this.#connections) {
      const { socket, session, openedAt, lastHeardAt } = connection;
      connection.heartbeatCount = 0;
      if (session === null) {
        if (now - openedAt >= SESSION_LIMITS.handshakeTimeoutMs) {
          socket.close(CloseCode.handshakeTimeout, 'no hello in time');
        }
      } else if (now - lastHeardAt >= leaseMs) {
        socket.close(CloseCode.silent, 'nothing heard for a lease');
      }
    }
    for (const session of this.#sessions.values()) {
      const isOver = now - session.disconnectedAt >= leaseMs;
      if (session.connection === null && isOver) this.#forget(session, CloseCode.silent, '');
    }
  }
}

function write(socket: FrameSocket, frame: MasterFrame): void {
  socket.send(JSON.stringify(frame));
}
