/**
 * The master's end of executor sessions: upgrades, authorises, numbers and acknowledges frames,
 * and turns them into events for the engine. It answers `hello` and heartbeats by itself, so that
 * executors keep their lease while the store is down. It never decides anything about a task.
 *
 * A session outlives its socket by one lease, then it is forgotten. All of them live in this
 * process only: after a restart every executor begins a new one and says what it runs.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
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
import { WebSocketServer } from 'ws';
import type { RawData, WebSocket } from 'ws';
import type { MasterHandle } from '../application/master-handle.ts';
import type { Clock, ExecutorLink, Log } from '../application/ports.ts';
import type { ExecutorCommand } from '../domain/effects.ts';
import { commandBody, connectedEvent, frameEvent, heartbeatEvent } from './executor-frames.ts';
import { refusalOf, refuseUpgrade } from './executor-upgrade.ts';
import type { Authorize } from './executor-upgrade.ts';

/** How long a peer may take to answer a close frame before its socket is destroyed. */
const CLOSE_TIMEOUT_MS = 2_000;
/** Deadlines are looked at this often; they may be noticed so much late. */
const SWEEP_MS = 1_000;

export interface GatewayOptions {
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly log: Log;
  /** How often an executor shall send a heartbeat. */
  readonly heartbeatMs: number;
  /** An executor that was not heard of for so long has lost its tasks. */
  readonly leaseMs: number;
}

interface Connection {
  readonly socket: WebSocket;
  readonly openedAt: number;
  lastHeardAt: number;
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
}

type Master = Pick<MasterHandle, 'status' | 'term' | 'post'>;

export class ExecutorGateway implements ExecutorLink {
  readonly #options: GatewayOptions;
  readonly #sockets: WebSocketServer;
  #master: Master = { status: 'starting', term: 0, post: () => undefined };
  readonly #connections = new Set<Connection>();
  readonly #sessions = new Map<string, ExecutorSession>();
  readonly #sessionByExecutor = new Map<string, ExecutorSession>();
  /** Sessions whose peer may have to be told of a newer ack at the end of this turn of the loop. */
  readonly #ackQueue = new Set<ExecutorSession>();
  #callOffSweep: (() => void) | null = null;
  #isShutDown = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    const limits = {
      noServer: true,
      maxPayload: SESSION_LIMITS.frameBytesMax,
      maxFragments: 64,
      maxBufferedChunks: 4096,
      perMessageDeflate: false,
      clientTracking: false,
      closeTimeout: CLOSE_TIMEOUT_MS,
    };
    this.#sockets = new WebSocketServer(limits);
  }

  /** Executors whose socket is open, for metrics. */
  get connectedCount(): number {
    return this.#connections.size;
  }

  /** Sessions, those that wait for their executor to come back included. */
  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Begins to take upgrades, and to post what executors say to `master`. Once only. */
  attach(server: Server, master: Master): void {
    this.#master = master;
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const status = this.#isShutDown ? 'stopped' : master.status;
      const refusal = refusalOf(request, this.#options.authorize, status);
      if (refusal !== null) return refuseUpgrade(socket, refusal);
      this.#sockets.handleUpgrade(request, socket, head, (ws) => this.#open(ws));
    });
    this.#scheduleSweep();
  }

  send(sessionId: string, command: ExecutorCommand, term: number): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    const body = commandBody(command, term);
    const frame = session.frames.send(body, Buffer.byteLength(body));
    if (frame === null) {
      // A command was lost, so that the session may not go on; a new one begins by telling all.
      this.#forget(session, CloseCode.overflow, 'the send window is full');
    } else if (session.connection !== null) {
      this.#write(session.connection, encodeFrame(frame.seq, session.frames.announceAck(), body));
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

  /** Sends every executor away and takes no new one; resolves when no socket is left. */
  async shutdown(): Promise<void> {
    this.#isShutDown = true;
    this.#callOffSweep?.();
    const closed = [...this.#connections].map(
      ({ socket }) => new Promise((resolve) => socket.once('close', resolve)),
    );
    this.reattachAll();
    for (const connection of this.#connections) {
      this.#disconnect(connection, CloseCode.reattach, 'the master is stopping');
    }
    await Promise.all(closed);
  }

  #open(socket: WebSocket): void {
    const now = this.#options.clock.now();
    const connection: Connection = { socket, openedAt: now, lastHeardAt: now, session: null };
    this.#connections.add(connection);
    socket.on('message', (data, isBinary) => {
      // What arrives behind our close frame is void.
      if (socket.readyState === socket.OPEN) this.#receive(connection, data, isBinary);
    });
    socket.on('error', (error) => {
      this.#options.log.warn('executor socket failed', {
        executor_id: connection.session?.executorId,
        error: error.message,
      });
    });
    socket.on('close', (code) => this.#closed(connection, code));
  }

  #receive(connection: Connection, data: RawData, isBinary: boolean): void {
    connection.lastHeardAt = this.#options.clock.now();
    if (isBinary) return this.#badFrame(connection, 'binary frame');
    // With the default `binaryType` a message is one Buffer.
    const text = (data as Buffer).toString();
    if (connection.session === null) {
      const decoded = decodeFrame(helloFrame, text);
      if ('problem' in decoded) return this.#badFrame(connection, `hello: ${decoded.problem}`);
      return this.#begin(connection, decoded.frame);
    }
    const decoded = decodeFrame(executorFrame, text);
    if ('problem' in decoded) return this.#badFrame(connection, decoded.problem);
    this.#take(connection, connection.session, decoded.frame);
  }

  #take(connection: Connection, session: ExecutorSession, frame: ExecutorFrame): void {
    if (frame.type === 'ack' || frame.type === 'heartbeat') {
      if (!session.frames.acknowledged(frame.ack)) {
        return this.#badFrame(connection, 'ack: beyond what was sent');
      }
      if (frame.type === 'heartbeat') {
        const ack = session.frames.announceAck();
        this.#write(connection, encode({ type: 'heartbeat', n: frame.n, ack }));
        this.#master.post(heartbeatEvent(frame, session));
      }
      return;
    }
    switch (session.frames.receive(frame.seq, frame.ack)) {
      case 'deliver':
        return this.#master.post(frameEvent(frame, session));
      case 'duplicate':
        return;
      case 'gap':
        return this.#disconnect(
          connection,
          CloseCode.gap,
          `expected ${session.frames.received + 1}`,
        );
      case 'overflow':
        return this.#disconnect(connection, CloseCode.overflow, 'too many frames without an ack');
      case 'invalid':
        return this.#badFrame(connection, 'ack: beyond what was sent');
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
      this.#welcome(connection, session, false, this.#master.term);
      return this.#master.post(connectedEvent(hello, session.sessionId));
    }
    const { connection: replaced, sessionId, executorId, frames } = known;
    known.connection = connection;
    connection.session = known;
    // The old socket is half dead, or its close is still on the way: the session has moved on.
    if (replaced !== null) this.#disconnect(replaced, CloseCode.superseded, 'resumed elsewhere');
    this.#welcome(connection, known, true, this.#master.term);
    for (const { seq, message } of resend) {
      this.#write(connection, encodeFrame(seq, frames.announceAck(), message));
    }
    this.#queueAck(known);
    this.#master.post({ type: 'executorResumed', executorId, sessionId });
  }

  #createSession(hello: HelloFrame, connection: Connection): ExecutorSession {
    const session: ExecutorSession = {
      sessionId: randomUUID(),
      executorId: hello.executor_id,
      incarnation: hello.incarnation,
      frames: new Session(),
      connection,
      disconnectedAt: 0,
    };
    connection.session = session;
    this.#sessions.set(session.sessionId, session);
    this.#sessionByExecutor.set(session.executorId, session);
    return session;
  }

  #welcome(connection: Connection, session: ExecutorSession, resumed: boolean, term: number): void {
    const welcome: MasterFrame = {
      type: 'welcome',
      session: session.sessionId,
      resumed,
      received: session.frames.received,
      term,
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
    };
    this.#write(connection, encode(welcome));
  }

  #write(connection: Connection, text: string): void {
    if (connection.socket.readyState !== connection.socket.OPEN) return;
    if (connection.socket.bufferedAmount > SESSION_LIMITS.unackedBytesMax) {
      return this.#disconnect(connection, CloseCode.overflow, 'the receiver is too slow');
    }
    connection.socket.send(text);
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
      this.#write(connection, encode({ type: 'ack', ack: frames.announceAck() }));
    }
    this.#ackQueue.clear();
  }

  #badFrame(connection: Connection, problem: string): void {
    this.#options.log.warn('bad frame from an executor', {
      executor_id: connection.session?.executorId,
      problem,
    });
    this.#disconnect(connection, CloseCode.badFrame, problem);
  }

  /** Nothing is read or written any more; `#closed` follows, after `CLOSE_TIMEOUT_MS` at most. */
  #disconnect(connection: Connection, code: CloseCode, reason: string): void {
    connection.socket.close(code, closeReason(reason));
  }

  #closed(connection: Connection, code: number): void {
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

  /** The session cannot be resumed. Its socket, where there is one, is closed. */
  #forget(session: ExecutorSession, code: CloseCode, reason: string): void {
    this.#sessions.delete(session.sessionId);
    this.#ackQueue.delete(session);
    if (this.#sessionByExecutor.get(session.executorId) === session) {
      this.#sessionByExecutor.delete(session.executorId);
    }
    if (session.connection !== null) this.#disconnect(session.connection, code, reason);
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
    for (const connection of this.#connections) {
      if (connection.session === null) {
        if (now - connection.openedAt >= SESSION_LIMITS.handshakeTimeoutMs) {
          this.#disconnect(connection, CloseCode.handshakeTimeout, 'no hello in time');
        }
      } else if (now - connection.lastHeardAt >= this.#options.leaseMs) {
        this.#disconnect(connection, CloseCode.silent, 'nothing heard for a lease');
      }
    }
    for (const session of this.#sessions.values()) {
      const forgotten = now - session.disconnectedAt >= this.#options.leaseMs;
      if (session.connection === null && forgotten) this.#forget(session, CloseCode.silent, '');
    }
  }
}

function encode(frame: MasterFrame): string {
  return JSON.stringify(frame);
}

/** A close reason holds 123 bytes of UTF-8. */
function closeReason(reason: string): string {
  return Buffer.byteLength(reason) <= 123
    ? reason
    : reason.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 123);
}
