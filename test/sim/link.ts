/**
 * The real sessions of executors on simulated sockets, watched: what goes out must be durable,
 * and what comes in must be what was sent, in order and once.
 */
import { CloseCode } from '@soda-scheduler/protocol';
import { commandBody } from '../../master/access/executors/frames.ts';
import { type Connection, ExecutorSessions } from '../../master/access/executors/sessions.ts';
import type { TaskLogs } from '../../master/application/logs/task-logs.ts';
import type { MasterHandle } from '../../master/application/master-handle.ts';
import type { ExecutorLink } from '../../master/application/ports.ts';
import type { ExecutorCommand } from '../../master/domain/effects.ts';
import type { Event } from '../../master/domain/events.ts';
import { Contacts } from './checks/contacts.ts';
import type { Ledger } from './ledger.ts';
import type { Socket } from './network.ts';
import type { Process } from './world.ts';

const HEARTBEAT_MS = 5_000;

/** No executor of the simulation says or causes what ends in one of these. */
export const FAULT_CODES: readonly number[] = [
  CloseCode.badFrame,
  CloseCode.gap,
  CloseCode.overflow,
];

type Connected = Extract<Event, { readonly type: 'executorConnected' }>;
type AttemptFrame = Extract<Event, { readonly frameSeq: number }>;

export class SimLink implements ExecutorLink {
  readonly #process: Process;
  readonly #ledger: Ledger;
  readonly #sessions: ExecutorSessions;
  readonly #connections = new Set<Connection>();
  readonly contacts: Contacts;
  /** Bugs to be found: see `mutants.ts`. */
  acknowledgesAtOnce = false;
  forgetsWhoLives = false;
  #lastSession = 0;
  /** Sessions of executors that hear of bookings. */
  readonly #hearing = new Set<string>();
  /** Commands given to each session: the session is to number them like that. */
  readonly #sentCounts = new Map<string, number>();
  /** Results whose ack is not due before they are durable. */
  readonly #results = new Map<string, { taskId: string; attempt: number }>();

  constructor(process: Process, ledger: Ledger, leaseMs: number, logs: TaskLogs) {
    this.#process = process;
    this.#ledger = ledger;
    this.#sessions = new ExecutorSessions({
      namespace: 'default',
      // Never set, as in `main.ts`.
      clock: process.evenClock,
      heartbeatMs: HEARTBEAT_MS,
      leaseMs,
      createId: () => `${process.name}-s${++this.#lastSession}`,
      logs,
    });
    this.contacts = new Contacts({ process, ledger, leaseMs, keptMs: 2 * HEARTBEAT_MS });
  }

  attach(
    master: Pick<
      MasterHandle,
      'term' | 'post' | 'isFull' | 'attemptOf' | 'executorOf' | 'silentMs'
    >,
  ): void {
    const post = (event: Event, frameBytes = 0) => {
      this.contacts.heard(event, master.term);
      if ('frameSeq' in event) this.#delivered(event);
      if (event.type === 'executorConnected') this.#noteHearing(event);
      master.post(event, frameBytes);
    };
    this.#sessions.attach({
      get term() {
        return master.term;
      },
      get isFull() {
        return master.isFull;
      },
      post,
      attemptOf: (taskId) => master.attemptOf(taskId),
      executorOf: (executorId) => master.executorOf(executorId),
      silentMs: (executorId) => master.silentMs(executorId),
    });
  }

  open(socket: Socket): void {
    const connection = this.#sessions.open({
      send: (text) => socket.send(text),
      close: (code, reason) => {
        if (FAULT_CODES.includes(code)) {
          this.#process.world.violate('I8', `${this.#process.name} got a bad frame: ${reason}`);
        }
        socket.close(code);
      },
    });
    this.#connections.add(connection);
    socket.events = {
      onText: (text) => {
        if (this.forgetsWhoLives && connection.session === null) this.#forgetAllBut(connection);
        this.#sessions.receive(connection, text);
      },
      onClosed: (code) => {
        this.#connections.delete(connection);
        this.#sessions.closed(connection, code);
      },
    };
  }

  send(sessionId: string, command: ExecutorCommand, term: number): void {
    if (command.type === 'assign') {
      const { id, attempt } = command.task;
      this.#ledger.effect(`assign ${id}/${attempt}`, this.#ledger.wasOffered(id, attempt));
    }
    // To who does not ask to hear which booking has it no frame goes out.
    if (command.type === 'booking' && !this.#hearing.has(sessionId)) return;
    const seq = (this.#sentCounts.get(sessionId) ?? 0) + 1;
    this.#sentCounts.set(sessionId, seq);
    const frame = JSON.parse(commandBody(command, term)) as Named;
    this.#ledger.frames.sent(`${sessionId} out`, seq, nameOf(frame));
    this.#sessions.send(sessionId, command, term);
  }

  confirm(sessionId: string, frameSeq: number): void {
    const result = this.#results.get(`${sessionId} ${frameSeq}`);
    if (result !== undefined) {
      const { taskId, attempt } = result;
      const isDurable = !this.#ledger.isOpen(taskId, attempt);
      this.#ledger.effect(`ack of the result of ${taskId}/${attempt}`, isDurable);
      this.#results.delete(`${sessionId} ${frameSeq}`);
    }
    this.#sessions.confirm(sessionId, frameSeq);
  }

  close(sessionId: string, reason: 'superseded' | 'silent' | 'reattach'): void {
    this.contacts.closed(sessionId);
    this.#sessions.close(sessionId, reason);
  }

  freeze(executorId: string, incarnation: string, isFrozen: boolean): void {
    this.#process.world.log(`${executorId} ${incarnation} is ${isFrozen ? 'frozen' : 'thawed'}`);
    this.contacts.freeze(executorId, incarnation, isFrozen);
    this.#sessions.freeze(executorId, incarnation, isFrozen);
  }

  useSecrets(secrets: readonly string[]): void {
    this.#sessions.useSecrets(secrets);
  }

  reattachAll(): void {
    this.contacts.closed();
    this.#sessions.reattachAll();
  }

  #noteHearing({ executorId, incarnation, sessionId }: Connected): void {
    const { hearing } = this.#ledger.bookings;
    if (hearing.hears(executorId, incarnation)) this.#hearing.add(sessionId);
  }

  #forgetAllBut(arrived: Connection): void {
    const longAgo = this.#process.evenClock.now() - 2 * HEARTBEAT_MS;
    for (const connection of this.#connections) {
      if (connection !== arrived) connection.lastHeardAt = longAgo;
    }
  }

  #delivered({ type, sessionId, frameSeq, taskId, attempt }: AttemptFrame): void {
    const name = nameOf({ type: frameTypes[type], task_id: taskId, attempt });
    this.#ledger.frames.delivered(`${sessionId} in`, frameSeq, name);
    if (type === 'attemptEnded') this.#results.set(`${sessionId} ${frameSeq}`, { taskId, attempt });
    if (this.acknowledgesAtOnce) this.confirm(sessionId, frameSeq);
  }
}

const frameTypes: Record<AttemptFrame['type'], string> = {
  attemptAccepted: 'accept',
  attemptRejected: 'reject',
  progressReported: 'progress',
  eventTold: 'event',
  alertSaid: 'alert',
  attemptEnded: 'result',
};

export interface Named {
  readonly type: string;
  readonly task_id?: string;
  readonly attempt?: number;
  readonly task?: { readonly id: string; readonly attempt: number };
}

/** Tells a sequenced frame from others of its session. */
export function nameOf({ type, task_id, attempt, task }: Named): string {
  return `${type} ${task_id ?? task?.id ?? ''} ${attempt ?? task?.attempt ?? ''}`;
}
