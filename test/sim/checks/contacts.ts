/**
 * Which processes one master has heard of, and when. Two promises to them are held against that:
 * nobody gets the id of one that lives (I17), and nothing ends what it runs before it has been
 * silent for a lease, but its own word (L2). Nor is it offered anything once it has said that it is not
 * ready, or what needs more disk than it has said that it has (I22).
 */
import type { Commit } from '../../../master/application/ports.ts';
import type { Event, ReportedAttempt } from '../../../master/domain/events.ts';
import type { Readiness } from '../../../master/domain/model/executor.ts';
import type { AttemptRecord, Task } from '../../../master/domain/model/task.ts';
import type { Ledger } from '../ledger.ts';
import type { Process, World } from '../world.ts';

/** The one under way, seven of what it has asked for, which step nothing that has come, and the next. */
const STEPPED_TURN_COUNT = 9;

interface Contact {
  readonly sessionId: string;
  readonly incarnation: string;
  heardAt: number;
  /** What it runs, by its own word. */
  running: readonly ReportedAttempt[];
  /** Nothing that it says renews its lease. */
  isFrozen: boolean;
  /** Turns that have ended since it said that it is not ready; null: it is. */
  unreadyTurns: number | null;
  /** Free disk by what it said, the newest last, and the turns that have ended since. */
  disks: { readonly bytes: number; turns: number }[];
}

export class Contacts {
  /** Of the master. */
  readonly #process: Process;
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #leaseMs: number;
  /** So long after it was heard of, a process keeps its id. */
  readonly #keptMs: number;
  /** By executor id and incarnation. */
  readonly #contacts = new Map<string, Contact>();
  readonly #bySession = new Map<string, Contact>();
  /** Who has each executor id; nobody where its session was ended on purpose. */
  readonly #owners = new Map<string, Contact>();

  constructor(options: { process: Process; ledger: Ledger; leaseMs: number; keptMs: number }) {
    this.#process = options.process;
    this.#world = options.process.world;
    this.#ledger = options.ledger;
    this.#leaseMs = options.leaseMs;
    this.#keptMs = options.keptMs;
  }

  /** An executor has said something that its master, in this term, is about to step. */
  heard(event: Event, term: number): void {
    if (event.type === 'executorConnected') return this.#begun(event, term);
    if (!('sessionId' in event) || event.type === 'cancelAcknowledged') return;
    const contact = this.#bySession.get(event.sessionId);
    if (contact === undefined) return;
    if ('ready' in event && event.ready !== undefined) {
      contact.unreadyTurns = unreadyTurnsOf(event.ready, contact);
      contact.disks.push({ bytes: event.ready.diskBytes ?? 0, turns: 0 });
    }
    if (event.type === 'executorDisconnected') {
      if (event.left) this.#left(event.executorId, contact);
      return;
    }
    contact.heardAt = this.#world.now;
    if (event.type === 'heartbeatReceived') contact.running = event.running;
    else if (event.type === 'attemptAccepted') {
      const { taskId, attempt } = event;
      contact.running = [...contact.running, { taskId, attempt, state: 'running' }];
    }
  }

  freeze(executorId: string, incarnation: string, isFrozen: boolean): void {
    const contact = this.#contacts.get(`${executorId} ${incarnation}`);
    if (contact !== undefined) contact.isFrozen = isFrozen;
  }

  /** The master has ended the session: its id is free. Without one: all of them. */
  closed(sessionId?: string): void {
    for (const [id, owner] of this.#owners) {
      if (sessionId === undefined || owner.sessionId === sessionId) this.#owners.delete(id);
    }
  }

  /** About to be committed; what is said meanwhile comes too late. */
  check({ term, writes }: Commit): void {
    // What a master that was deposed has decided is refused.
    if (term !== this.#ledger.term) return;
    for (const write of writes) {
      if (write.table === 'task' && write.op !== 'remove') this.#offered(write.row);
      if (write.table !== 'attempt' || write.op !== 'insert') continue;
      if (write.row.outcome.startsWith('lost')) this.#lost(write.row);
    }
  }

  /** What was said before so many turns have ended was stepped by the last of them. */
  turned(): void {
    for (const contact of this.#contacts.values()) {
      if (contact.unreadyTurns !== null) contact.unreadyTurns++;
      for (const disk of contact.disks) disk.turns++;
      // What holds is the last of those that were stepped, and perhaps what was said since.
      const stepped = contact.disks.findLastIndex(({ turns }) => turns >= STEPPED_TURN_COUNT);
      if (stepped > 0) contact.disks.splice(0, stepped);
    }
  }

  #offered({ id, seq, state, attempt, executorId, incarnation, diskBytes }: Task): void {
    if (state !== 'offered' || this.#ledger.live.get(seq)?.attempt === attempt) return;
    const contact = this.#contacts.get(`${executorId} ${incarnation}`);
    if (contact === undefined) return;
    const { unreadyTurns, disks } = contact;
    const most = Math.max(...disks.map(({ bytes }) => bytes));
    if (diskBytes !== null && most < diskBytes) {
      const what = `${id}, which needs ${diskBytes} bytes of disk, is offered to ${executorId}`;
      this.#world.violate('I22', `${what}, which has ${most}`);
    }
    if (unreadyTurns === null || unreadyTurns < STEPPED_TURN_COUNT) return;
    this.#world.violate('I22', `${id} is offered to ${executorId}, which is not ready`);
  }

  #lost({ executorId, incarnation, taskSeq, attempt, outcome, endedAt }: AttemptRecord): void {
    const contact = this.#contacts.get(`${executorId} ${incarnation}`);
    if (contact === undefined || contact.isFrozen) return;
    const silentMs = this.#process.worldTimeOf(endedAt) - contact.heardAt;
    const taskId = this.#ledger.live.get(taskSeq)?.id;
    const isSaid = contact.running.some((one) => one.taskId === taskId && one.attempt === attempt);
    if (silentMs >= this.#leaseMs || !isSaid) return;
    const what = `${taskId}/${attempt} is ${outcome}, its executor was heard of ${silentMs} ms ago`;
    this.#world.violate('L2', what);
  }

  #begun(event: Extract<Event, { type: 'executorConnected' }>, term: number): void {
    const { executorId, incarnation, sessionId, running, ready } = event;
    const { now } = this.#world;
    const owner = this.#owners.get(executorId);
    const silentMs = now - (owner?.heardAt ?? Number.NEGATIVE_INFINITY);
    const isTaken = owner?.incarnation !== incarnation && silentMs < this.#keptMs;
    // What one that was deposed knows of attempts is out of date.
    const isNewest = term === this.#ledger.term;
    if (isTaken && isNewest && !this.#isAtWork(executorId, incarnation)) {
      const what = `${incarnation} gets the id ${executorId} of ${owner?.incarnation}`;
      this.#world.violate('I17', `${what}, which was heard of ${silentMs} ms ago`);
    }
    // Nothing is offered to one that comes before that is stepped.
    const isKnown = this.#contacts.has(`${executorId} ${incarnation}`);
    const unreadyTurns = ready.ok ? null : isKnown ? 0 : STEPPED_TURN_COUNT;
    const contact = {
      sessionId,
      incarnation,
      heardAt: now,
      running,
      unreadyTurns,
      disks: [{ bytes: ready.diskBytes ?? 0, turns: 0 }],
      isFrozen: false,
    };
    this.#contacts.set(`${executorId} ${incarnation}`, contact);
    this.#bySession.set(sessionId, contact);
    this.#owners.set(executorId, contact);
  }

  #left(executorId: string, contact: Contact): void {
    contact.running = [];
    if (this.#owners.get(executorId) === contact) this.#owners.delete(executorId);
  }

  #isAtWork(executorId: string, incarnation: string): boolean {
    for (const row of this.#ledger.live.values()) {
      const isOpen = row.state === 'offered' || row.state === 'running';
      if (isOpen && row.executorId === executorId && row.incarnation === incarnation) return true;
    }
    return false;
  }
}

function unreadyTurnsOf(ready: Readiness, { unreadyTurns }: Contact): number | null {
  return ready.ok ? null : (unreadyTurns ?? 0);
}
