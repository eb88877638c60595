/**
 * The master's end of sessions on simulated sockets. It follows the rules of
 * `master/access/executor-gateway.ts`, which is bound to ws, with the same `Session`, the same
 * schemas and the same translation of frames.
 */
import {
  CloseCode,
  decodeFrame,
  encodeFrame,
  executorFrame,
  type ExecutorFrame,
  type HelloFrame,
  helloFrame,
  type MasterFrame,
  Session,
} from '@soda-scheduler/protocol';
import {
  commandBody,
  connectedEvent,
  frameEvent,
  heartbeatEvent,
} from '../../master/access/executor-frames.ts';
import type { MasterHandle } from '../../master/application/master-handle.ts';
import type { ExecutorLink } from '../../master/application/ports.ts';
import type { ExecutorCommand } from '../../master/domain/effects.ts';
import type { Ledger } from './ledger.ts';
import type { Socket } from './network.ts';
import type { Process } from './world.ts';

const SWEEP_MS = 1_000;
const HEARTBEAT_MS = 5_000;

interface Connection {
  readonly socket: Socket;
  lastHeardAt: number;
  session: MasterSession | null;
}

interface MasterSession {
  readonly sessionId: string;
  readonly executorId: string;
  readonly incarnation: string;
  readonly frames: Session<string>;
  /** Results whose ack is not due before they are durable. */
  readonly results: Map<number, { taskId: string; attempt: number }>;
  connection: Connection | null;
  disconnectedAt: number;
}

export class SimLink implements ExecutorLink {
  readonly #process: Process;
  readonly #ledger: Ledger;
  readonly #leaseMs: number;
  #master: Pick<MasterHandle, 'term' | 'post'> | null = null;
  /** A bug to be found: see `mutants.ts`. */
  acknowledgesAtOnce = false;
  #lastSession = 0;
  readonly #connections = new Set<Connection>();
  readonly #sessions = new Map<string, MasterSession>();
  readonly #sessionByExecutor = new Map<string, MasterSession>();

  constructor(process: Process, ledger: Ledger, leaseMs: number) {
    this.#process = process;
    this.#ledger = ledger;
    this.#leaseMs = leaseMs;
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  attach(master: Pick<MasterHandle, 'term' | 'post'>): void {
    this.#master = master;
    this.#process.after(SWEEP_MS, () => this.#sweep());
  }

  open(socket: Socket): void {
    const connection: Connection = { socket, lastHeardAt: this.#process.now(), session: null };
    this.#connections.add(connection);
    socket.events = {
      onText: (text) => this.#receive(connection, text),
      onClosed: (code) => this.#closed(connection, code),
    };
  }

  send(sessionId: string, command: ExecutorCommand, term: number): void {
    if (command.type === 'assign') {
      const { id, attempt } = command.task;
      this.#ledger.effect(`assign ${id}/${attempt}`, this.#ledger.wasOffered(id, attempt));
    }
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    const body = commandBody(command, term);
    const frame = session.frames.send(body, body.length);
    if (frame === null) return this.#forget(session, CloseCode.overflow);
    this.#ledger.frameSent(`${sessionId} out`, frame.seq, nameOf(JSON.parse(body) as Named));
    session.connection?.socket.send(encodeFrame(frame.seq, session.frames.announceAck(), body));
  }

  confirm(sessionId: string, frameSeq: number): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    const result = session.results.get(frameSeq);
    if (result !== undefined) {
      const { taskId, attempt } = result;
      const isDurable = !this.#ledger.isOpen(taskId, attempt);
      this.#ledger.effect(`ack of the result of ${taskId}/${attempt}`, isDurable);
      session.results.delete(frameSeq);
    }
    session.frames.confirm(frameSeq);
    // At the end of this turn of the loop: acks that found no frame to ride on.
    this.#process.after(0, () => this.#sendAck(session));
  }

  close(sessionId: string, reason: 'superseded' | 'silent'): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) this.#forget(session, CloseCode[reason]);
  }

  reattachAll(): void {
    for (const session of [...this.#sessions.values()]) this.#forget(session, CloseCode.reattach);
  }

  #receive(connection: Connection, text: string): void {
    connection.lastHeardAt = this.#process.now();
    if (connection.session === null) {
      const decoded = decodeFrame(helloFrame, text);
      if ('problem' in decoded) return this.#bad(connection, decoded.problem);
      return this.#begin(connection, decoded.frame);
    }
    const decoded = decodeFrame(executorFrame, text);
    if ('problem' in decoded) return this.#bad(connection, decoded.problem);
    this.#take(connection, connection.session, decoded.frame);
  }

  #take(connection: Connection, session: MasterSession, frame: ExecutorFrame): void {
    if (frame.type === 'ack' || frame.type === 'heartbeat') {
      if (!session.frames.acknowledged(frame.ack)) return this.#bad(connection, 'ack');
      if (frame.type === 'heartbeat') {
        const ack = session.frames.announceAck();
        write(connection.socket, { type: 'heartbeat', n: frame.n, ack });
        this.#master?.post(heartbeatEvent(frame, session));
      }
      return;
    }
    const receipt = session.frames.receive(frame.seq, frame.ack);
    if (receipt === 'duplicate') return;
    if (receipt !== 'deliver') return this.#bad(connection, receipt);
    this.#ledger.frameDelivered(`${session.sessionId} in`, frame.seq, nameOf(frame));
    if (frame.type === 'result') {
      session.results.set(frame.seq, { taskId: frame.task_id, attempt: frame.attempt });
    }
    if (this.acknowledgesAtOnce) this.confirm(session.sessionId, frame.seq);
    this.#master?.post(frameEvent(frame, session));
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
      if (known !== undefined) this.#forget(known, CloseCode.superseded);
      const session = this.#createSession(hello, connection);
      this.#welcome(connection, session, false);
      this.#master?.post(connectedEvent(hello, session.sessionId));
      return;
    }
    const { connection: replaced, sessionId, executorId, frames } = known;
    known.connection = connection;
    connection.session = known;
    replaced?.socket.close(CloseCode.superseded);
    this.#welcome(connection, known, true);
    for (const { seq, message } of resend) {
      connection.socket.send(encodeFrame(seq, frames.announceAck(), message));
    }
    this.#sendAck(known);
    this.#master?.post({ type: 'executorResumed', executorId, sessionId });
  }

  #createSession(hello: HelloFrame, connection: Connection): MasterSession {
    const session: MasterSession = {
      sessionId: `${this.#process.name}-s${++this.#lastSession}`,
      executorId: hello.executor_id,
      incarnation: hello.incarnation,
      frames: new Session(),
      results: new Map(),
      connection,
      disconnectedAt: 0,
    };
    connection.session = session;
    this.#sessions.set(session.sessionId, session);
    this.#sessionByExecutor.set(session.executorId, session);
    return session;
  }

  #welcome({ socket }: Connection, session: MasterSession, resumed: boolean): void {
    write(socket, {
      type: 'welcome',
      session: session.sessionId,
      resumed,
      received: session.frames.received,
      term: this.#master?.term ?? 0,
      heartbeat_ms: HEARTBEAT_MS,
      lease_ms: this.#leaseMs,
      limits: {
        frame_bytes: 1,
        result_bytes: 1,
        checkpoint_bytes: 1,
        progress_state_bytes: 1,
        unacked_frames: 1,
        unacked_bytes: 1,
      },
    });
  }

  #sendAck({ connection, frames }: MasterSession): void {
    if (connection === null || !frames.ackDue) return;
    write(connection.socket, { type: 'ack', ack: frames.announceAck() });
  }

  #bad(connection: Connection, problem: string): void {
    this.#process.world.violate('I8', `${this.#process.name} got a bad frame: ${problem}`);
    connection.socket.close(CloseCode.badFrame);
  }

  #closed(connection: Connection, code: number): void {
    this.#connections.delete(connection);
    const { session } = connection;
    if (session === null || session.connection !== connection) return;
    session.connection = null;
    session.disconnectedAt = this.#process.now();
    const { executorId, sessionId } = session;
    const left = code === CloseCode.leaving;
    if (left) this.#forget(session, CloseCode.leaving);
    this.#master?.post({ type: 'executorDisconnected', executorId, sessionId, left });
  }

  #forget(session: MasterSession, code: CloseCode): void {
    this.#sessions.delete(session.sessionId);
    if (this.#sessionByExecutor.get(session.executorId) === session) {
      this.#sessionByExecutor.delete(session.executorId);
    }
    session.connection?.socket.close(code);
  }

  /** One timer for all sessions. */
  #sweep(): void {
    const now = this.#process.now();
    for (const { socket, lastHeardAt } of this.#connections) {
      if (now - lastHeardAt >= this.#leaseMs) socket.close(CloseCode.silent);
    }
    for (const session of this.#sessions.values()) {
      const isOver = now - session.disconnectedAt >= this.#leaseMs;
      if (session.connection === null && isOver) this.#forget(session, CloseCode.silent);
    }
    this.#process.after(SWEEP_MS, () => this.#sweep());
  }
}

interface Named {
  readonly type: string;
  readonly task_id?: string;
  readonly attempt?: number;
  readonly task?: { readonly id: string; readonly attempt: number };
}

/** Tells a sequenced frame from others of its session. */
export function nameOf({ type, task_id, attempt, task }: Named): string {
  return `${type} ${task_id ?? task?.id ?? ''} ${attempt ?? task?.attempt ?? ''}`;
}

function write(socket: Socket, frame: MasterFrame): void {
  socket.send(JSON.stringify(frame));
}
