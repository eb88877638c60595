/**
 * The master's end of the executor sessions of one namespace, whatever carries their frames: begins, resumes and
 * forgets them, numbers and acknowledges frames, and turns them into events for the engine. It answers `hello` and
 * heartbeats by itself, so that executors keep their lease while the store is down. It never decides anything about
 * a task, and knows no socket library.
 *
 * A session outlives its connection by one lease, then it is forgotten. All of them live in this process only: after
 * a restart every executor begins a new one and says what it runs.
 */
import { CloseCode, encodeFrame } from '@soda-scheduler/protocol';
import { decodeFrame, helloFrame } from '@soda-scheduler/protocol/schemas';
import type { ExecutorFrame, HelloFrame } from '@soda-scheduler/protocol';
import type { MasterHandle } from '../../application/master-handle.ts';
import type { ExecutorLink } from '../../application/ports.ts';
import { type Fill, HEARTBEAT_COUNT_MAX, SENT_BYTES_MAX, type Tally } from '../../domain/bounds.ts';
import type { ExecutorCommand } from '../../domain/effects.ts';
import {
  commandBody,
  connectedEvent,
  resumedEvent,
  frameEvent,
  heartbeatEvent,
  readFrame,
  subjectOf,
} from './frames.ts';
import { AckQueue } from './ack-queue.ts';
import { admit } from './admission.ts';
import { AttemptMacs, type Proofs } from './attempt-macs.ts';
import { LogIntake } from './log-intake.ts';
import {
  CLOSE_REASONS,
  type Connection,
  type ExecutorSession,
  type FrameSocket,
  type SessionsOptions,
  takeHeard,
  newSession,
  openConnection,
  processKey,
  floodOf,
  welcomeFrame,
  withoutTasks,
  wordedFor,
  write,
} from './session.ts';
import { forgive, silenceOf, sweeps } from './sweep.ts';

export type { Connection, FrameSocket, SessionsOptions } from './session.ts';

type Master = Pick<
  MasterHandle,
  'term' | 'post' | 'isFull' | 'attemptOf' | 'executorOf' | 'silentMs'
>;

export class ExecutorSessions implements ExecutorLink {
  readonly #options: SessionsOptions;
  #master: Master = {
    term: 0,
    post: () => undefined,
    isFull: false,
    attemptOf: () => null,
    executorOf: () => null,
    silentMs: () => Number.POSITIVE_INFINITY,
  };
  readonly #connections = new Set<Connection>();
  readonly #sessions = new Map<string, ExecutorSession>();
  readonly #sessionByExecutor = new Map<string, ExecutorSession>();
  /** Processes that are not answered: nothing may renew the lease they count themselves. */
  readonly #frozen = new Set<string>();
  readonly #macs: AttemptMacs;
  readonly #logs: LogIntake | null;
  readonly #acks = new AckQueue();
  readonly #sent: Tally;
  #callOffSweep: (() => void) | null = null;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#macs = new AttemptMacs(options.namespace);
    const { logs, clock, sent = { bytes: 0 } } = options;
    const attemptOf = (taskId: string) => this.#master.attemptOf(taskId);
    this.#logs = logs ? new LogIntake({ logs, clock, macs: this.#macs, attemptOf }) : null;
    this.#sent = sent;
  }

  get namespace(): string {
    return this.#options.namespace;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  fills(): Fill[] {
    const { sentBytesMax = SENT_BYTES_MAX, logs } = this.#options;
    const sent = { bound: 'sent_frame_bytes', used: this.#sent.bytes, limit: sentBytesMax };
    return [sent, ...(logs?.fills() ?? [])];
  }

  /** Those that wait for their executor to come back included. */
  get count(): number {
    return this.#sessions.size;
  }

  /** Begins to post what executors say to `master`. Once only, before the first connection. */
  attach(master: Master): void {
    this.#master = master;
    this.#callOffSweep = sweeps(this.#options.clock, (now, hiddenMs) => this.#sweep(now, hiddenMs));
  }

  /**
   * A new connection. Its owner tells what it receives, and once, when nothing more can come.
   * @param types that it may run; null: any.
   */
  open(socket: FrameSocket, types: readonly string[] | null = null): Connection {
    const connection = openConnection(socket, types, this.#options.clock.now());
    this.#connections.add(connection);
    return connection;
  }

  receive(connection: Connection, text: string): void {
    connection.lastHeardAt = this.#options.clock.now();
    const flood = floodOf(connection, text);
    if (flood !== null) return connection.socket.close(CloseCode.overflow, flood);
    if (connection.session === null) {
      const decoded = decodeFrame(helloFrame, text);
      if ('problem' in decoded) return this.badFrame(connection, `hello: ${decoded.problem}`);
      return this.#begin(connection, decoded.frame);
    }
    const decoded = readFrame(text);
    if ('problem' in decoded) return this.#refuse(connection, text, decoded.problem);
    this.#take(connection, connection.session, decoded.frame, text);
    this.#recount(connection.session);
  }

  /** Also for what only the owner of the connection can see is wrong with a frame. */
  badFrame({ socket }: Connection, problem: string): void {
    socket.close(CloseCode.badFrame, problem);
  }

  /** A frame that the owner of the connection could not even read; it closes the connection. */
  tooLarge({ session }: Connection): void {
    if (session !== null) this.#dropFor(session, null, 'frame: too large');
  }

  closed(connection: Connection, code: number): void {
    this.#connections.delete(connection);
    const { session } = connection;
    if (session === null || session.connection !== connection) return;
    session.connection = null;
    session.lastHeardAt = connection.lastHeardAt;
    session.disconnectedAt = this.#options.clock.now();
    const { executorId, sessionId } = session;
    const left = code === CloseCode.leaving;
    if (left) this.#forget(session, CloseCode.leaving, '');
    this.#master.post({ type: 'executorDisconnected', executorId, sessionId, left });
  }

  send(sessionId: string, command: ExecutorCommand, term: number): void {
    const session = this.#sessions.get(sessionId);
    const worded = session && wordedFor(session, command);
    if (session === undefined || worded === null || worded === undefined) return;
    const task = command.type === 'assign' ? command.task : null;
    if (task !== null) this.#logs?.offered(task);
    const mac = task === null ? undefined : session.proofs.macOf(task.seq, task.attempt);
    const body = commandBody(worded, term, mac);
    const bytes = Buffer.byteLength(body);
    const { sentBytesMax = SENT_BYTES_MAX } = this.#options;
    const bare = withoutTasks(session, command, bytes, (this.#sent.bytes + bytes) / sentBytesMax);
    if (bare !== null) return this.send(sessionId, bare, term);
    const isTooMuch = this.#sent.bytes + bytes > sentBytesMax;
    const frame = isTooMuch ? null : session.frames.send(body, bytes);
    this.#recount(session);
    if (frame === null) {
      // A command was lost, so that the session may not go on; a new one begins by telling all.
      this.#forget(session, CloseCode.overflow, 'the send window is full');
    } else {
      if (command.type === 'cancel' && command.reason !== 'stale_attempt') {
        const { taskId, attempt } = command;
        session.cancels.push({ seq: frame.seq, taskId, attempt });
      }
      session.connection?.socket.send(encodeFrame(frame.seq, session.frames.announceAck(), body));
    }
  }

  confirm(sessionId: string, frameSeq: number): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    session.frames.confirm(frameSeq);
    this.#acks.add(session);
  }

  close(sessionId: string, reason: 'superseded' | 'silent' | 'reattach'): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) this.#forget(session, CloseCode[reason], CLOSE_REASONS[reason]);
  }

  freeze(executorId: string, incarnation: string, isFrozen: boolean): void {
    const key = processKey(executorId, incarnation);
    if (isFrozen) this.#frozen.add(key);
    else this.#frozen.delete(key);
  }

  useSecrets(secrets: readonly string[]): void {
    this.#macs.use(secrets);
  }

  reattachAll(reason = 'the master has rebuilt its state'): void {
    this.#frozen.clear();
    for (const session of [...this.#sessions.values()]) {
      this.#forget(session, CloseCode.reattach, reason);
    }
  }

  /** Sends every executor away; nothing is to be opened any more. */
  shutdown(): void {
    const reason = 'the master stops';
    this.#callOffSweep?.();
    this.reattachAll(reason);
    for (const { socket } of this.#connections) socket.close(CloseCode.reattach, reason);
  }

  #take(
    connection: Connection,
    session: ExecutorSession,
    frame: ExecutorFrame,
    text: string,
  ): void {
    const { socket } = connection;
    if (frame.type === 'log') {
      const problem = this.#logs?.take(session, frame, text) ?? null;
      return problem === null ? undefined : this.badFrame(connection, problem);
    }
    if (frame.type === 'ack' || frame.type === 'heartbeat') {
      if (!session.frames.acknowledged(frame.ack)) {
        return this.badFrame(connection, 'ack: beyond what was sent');
      }
      this.#noteCancels(session, frame.ack);
      if (frame.type === 'heartbeat') {
        if (++connection.heartbeatCount > HEARTBEAT_COUNT_MAX) {
          return socket.close(CloseCode.overflow, 'too many heartbeats');
        }
        if (this.#frozen.has(processKey(session.executorId, session.incarnation))) return;
        write(socket, { type: 'heartbeat', n: frame.n, ack: session.frames.announceAck() });
        this.#master.post(heartbeatEvent(frame, session, session.proofs.holds));
      }
      return;
    }
    if (this.#master.isFull) {
      // Not taken, so that it comes again: the session goes on.
      return socket.close(CloseCode.overflow, 'the master is behind: send it again');
    }
    const bytes = Buffer.byteLength(text);
    const receipt = session.frames.receive(frame.seq, frame.ack, bytes);
    if (receipt !== 'invalid') this.#noteCancels(session, frame.ack);
    switch (receipt) {
      case 'deliver':
        return this.#master.post(frameEvent(frame, text, session, session.proofs.holds), bytes);
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

  /**
   * One that is sequenced would be sent again after every reconnect, and be refused again: its
   * session ends, and so does the attempt that it is about.
   */
  #refuse(connection: Connection, text: string, problem: string): void {
    const { session } = connection;
    const about = subjectOf(text);
    if (session === null || about === null || about.seq !== session.frames.received + 1) {
      return this.badFrame(connection, problem);
    }
    const { taskId, attempt } = about;
    this.#dropFor(session, { taskId, attempt }, problem);
  }

  #dropFor(
    session: ExecutorSession,
    about: { readonly taskId: string; readonly attempt: number } | null,
    problem: string,
  ): void {
    const { executorId, sessionId } = session;
    const reason = about === null ? problem : `${about.taskId}: ${problem}`;
    this.#forget(session, CloseCode.frameRefused, reason);
    this.#master.post({ type: 'frameRefused', executorId, sessionId, about, problem });
  }

  /** That it has heard of these is where a grace begins. */
  #noteCancels(session: ExecutorSession, ack: number): void {
    const { executorId, sessionId } = session;
    for (const { taskId, attempt } of takeHeard(session, ack)) {
      this.#master.post({ type: 'cancelAcknowledged', executorId, sessionId, taskId, attempt });
    }
  }

  #begin(connection: Connection, hello: HelloFrame): void {
    connection.executorId = hello.executor_id;
    // Its lease is to run out, by its own count too: this connection ends for want of an answer.
    if (this.#frozen.has(processKey(hello.executor_id, hello.incarnation))) return;
    const strange = hello.types.find((type) => connection.types?.includes(type) === false);
    if (strange !== undefined) {
      const reason = `its token is not for type ${strange}`;
      return connection.socket.close(CloseCode.unauthorized, reason);
    }
    if (this.#options.requiresMac && !hello.features.includes('mac')) {
      return this.badFrame(connection, 'features: this master requires mac');
    }
    const known = this.#sessionByExecutor.get(hello.executor_id);
    const usesMac = hello.features.includes('mac');
    const { executor_id: executorId, incarnation } = hello;
    const proofs = this.#macs.proofsOf({ executorId, incarnation, usesMac }, (taskId) =>
      this.#master.attemptOf(taskId),
    );
    const { clock, heartbeatMs } = this.#options;
    const arrival = { hello, proof: proofs.holds, now: clock.now(), heartbeatMs };
    const admission = admit(known, arrival, this.#master);
    if (known !== undefined && admission.type === 'resume') {
      return this.#resume(connection, known, hello, admission.resend);
    }
    if (admission.type === 'refuse') {
      return connection.socket.close(admission.code, admission.reason);
    }
    if (known !== undefined && admission.type === 'begin') {
      this.#forget(known, CloseCode[admission.replaced], CLOSE_REASONS[admission.replaced]);
    }
    const session = this.#createSession(hello, connection, proofs);
    this.#logs?.greeted(hello);
    write(connection.socket, welcomeFrame(session, false, this.#master.term));
    this.#master.post(connectedEvent(hello, session, proofs.holds));
  }

  #resume(
    connection: Connection,
    session: ExecutorSession,
    hello: HelloFrame,
    resend: readonly { readonly seq: number; readonly message: string }[],
  ): void {
    const replaced = session.connection;
    session.connection = connection;
    connection.session = session;
    // The old socket is half dead, or its close is still on the way: the session has moved on.
    replaced?.socket.close(CloseCode.reattach, CLOSE_REASONS.reattach);
    write(connection.socket, welcomeFrame(session, true, this.#master.term));
    for (const { seq, message } of resend) {
      connection.socket.send(encodeFrame(seq, session.frames.announceAck(), message));
    }
    this.#acks.add(session);
    this.#master.post(resumedEvent(hello, session));
    this.#noteCancels(session, hello.received);
  }

  #createSession(hello: HelloFrame, connection: Connection, proofs: Proofs): ExecutorSession {
    const session = newSession(hello, connection, proofs, this.#options);
    connection.session = session;
    this.#sessions.set(session.sessionId, session);
    this.#sessionByExecutor.set(session.executorId, session);
    return session;
  }

  /** The session cannot be resumed. Its connection, where there is one, is closed. */
  #forget(session: ExecutorSession, code: CloseCode, reason: string): void {
    this.#sessions.delete(session.sessionId);
    this.#acks.delete(session);
    this.#sent.bytes -= session.countedBytes;
    session.countedBytes = 0;
    if (this.#sessionByExecutor.get(session.executorId) === session) {
      this.#sessionByExecutor.delete(session.executorId);
    }
    session.connection?.socket.close(code, reason);
  }

  #recount(session: ExecutorSession): void {
    // One that was forgotten holds nothing any more.
    if (this.#sessions.get(session.sessionId) !== session) return;
    this.#sent.bytes += session.frames.unackedBytes - session.countedBytes;
    session.countedBytes = session.frames.unackedBytes;
  }

  /** One timer for all sessions. */
  #sweep(now: number, hiddenMs: number): void {
    if (hiddenMs > 0) forgive(this.#connections, this.#sessions.values(), now, hiddenMs);
    for (const connection of this.#connections) {
      Object.assign(connection, { heartbeatCount: 0, frameCount: 0, frameBytes: 0 });
      const fault = silenceOf(connection, now);
      if (fault !== null) connection.socket.close(fault.code, fault.reason);
    }
    for (const session of this.#sessions.values()) {
      const isOver = now - session.disconnectedAt >= session.leaseMs;
      if (session.connection === null && isOver) this.#forget(session, CloseCode.silent, '');
    }
  }
}
