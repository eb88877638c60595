/**
 * What really happened: the rows as every commit left them, what executors ran, and what was
 * promised to whom. Each new fact is checked against those before it. The numbers are those of
 * `master/domain/state/invariants.ts`; `docs/testing.md` lists them all.
 */
import type { Commit } from '../../master/application/ports.ts';
import type { RowWrite } from '../../master/domain/changes.ts';
import { creditOf } from '../../master/domain/model/pause.ts';
import type { SharedLimit } from '../../master/domain/model/shared-limit.ts';
import type { TaskType } from '../../master/domain/model/task-type.ts';
import type { AttemptRecord, Notification, Task } from '../../master/domain/model/task.ts';
import { isAtRest, isTerminal, mayFollow } from '../../master/domain/model/task.ts';
import type { Policy } from '../../master/domain/state/policy.ts';
import type { Settings } from '../../master/domain/state/state.ts';
import { Children } from './actors/children.ts';
import type { Faults } from './faults.ts';
import { FrameChecks } from './network.ts';
import { AuditChecks } from './checks/audit.ts';
import { checkBudget } from './checks/budget.ts';
import { BookingChecks } from './checks/bookings/rows.ts';
import { CallbackChecks } from './checks/callbacks.ts';
import { OfferChecks, type SelfPortrait } from './checks/offers.ts';
import { OperationChecks } from './checks/operations.ts';
import { OccurrenceChecks } from './checks/jobs/occurrences.ts';
import { FeedChecks } from './checks/feed.ts';
import { UsageChecks } from './checks/observing/usage.ts';
import { checkPlaces } from './checks/places.ts';
import { SuspendedChecks } from './checks/suspended.ts';
import type { World } from './world.ts';

export class Ledger {
  readonly live = new Map<number, Task>();
  /** Numbers of the lanes that have a row. */
  readonly lanes = new Set<number>();
  readonly history = new Map<number, Task>();
  readonly callbacks: CallbackChecks;
  readonly attempts = new Map<number, Map<number, AttemptRecord>>();
  /** Names of attempts that are over and were not reported. */
  readonly leftovers = new Set<string>();
  readonly #seqById = new Map<string, number>();
  /** Ids of tasks of which nothing is left. */
  readonly #deleted = new Set<string>();
  readonly operations: OperationChecks;
  readonly audit: AuditChecks;
  readonly suspended: SuspendedChecks;
  readonly feed: FeedChecks;
  readonly occurrences: OccurrenceChecks;
  readonly usage: UsageChecks;
  readonly bookings: BookingChecks;
  #offered: Task[] = [];
  readonly frames: FrameChecks;
  readonly children: Children;
  readonly #offerChecks: OfferChecks;
  readonly #writtenAt = new Map<number, number>();
  readonly #lastEnded = new Map<number, number>();
  readonly #results = new Map<string, string>();
  readonly #ends = new Set<string>();
  readonly #endedAt = new Map<string, number>();
  #term = 0;
  #commitCount = 0;
  #aliveAt = 0;
  readonly #aliveBefore = new Map<number, number>();
  readonly #world: World;
  readonly #faults: Faults;

  constructor(world: World, faults: Faults, policy: Policy) {
    this.#world = world;
    this.#faults = faults;
    this.frames = new FrameChecks(world);
    this.children = new Children(world, faults, this);
    this.bookings = new BookingChecks(world, faults);
    this.#offerChecks = new OfferChecks(world, policy, this.bookings);
    this.callbacks = new CallbackChecks(world);
    this.suspended = new SuspendedChecks(world);
    this.feed = new FeedChecks(world);
    this.occurrences = new OccurrenceChecks(world);
    this.usage = new UsageChecks(world);
    this.operations = new OperationChecks(world, this.suspended);
    this.audit = new AuditChecks(world);
  }

  get term(): number {
    return this.#term;
  }

  get commitCount(): number {
    return this.#commitCount;
  }

  rowOf(taskId: string): Task | undefined {
    const seq = this.#seqById.get(taskId);
    return seq === undefined ? undefined : (this.live.get(seq) ?? this.history.get(seq));
  }

  /** It was accepted, whatever has become of it. */
  wasAccepted(taskId: string): boolean {
    return this.rowOf(taskId) !== undefined || this.#deleted.has(taskId);
  }

  /** As the rows have them. */
  get settings(): Settings {
    return this.#offerChecks.settings;
  }

  typeOf(name: string): TaskType | undefined {
    return this.#offerChecks.types.typeOf(name);
  }

  /** Whether there is a place for a task that is held. */
  hasPlace(task: Task, now: number): boolean {
    return this.#offerChecks.types.hasPlace(task, this.live.values(), now);
  }

  limitOf(name: string): SharedLimit | undefined {
    return this.#offerChecks.limits.limitOf(name);
  }

  /** Names of attempts that have a row of what they have taken. */
  get holdings(): ReadonlySet<string> {
    return this.#offerChecks.limits.rows;
  }

  /** A process begins that says this of itself. */
  executorBegan(kind: SelfPortrait): void {
    this.#offerChecks.know(kind);
  }

  /** From here on commits of earlier terms must be refused. */
  termBegan(term: number, rows: readonly Task[]): void {
    this.#term = term;
    // What was due by a clock that was set back is due by the new time.
    for (const { seq, dueAt, startBy } of rows) {
      const row = this.live.get(seq);
      if (row !== undefined) Object.assign(row, { dueAt, startBy });
    }
    this.#aliveBefore.set(term, this.#aliveAt);
  }

  /** When the master before that of this term last wrote that it was there. */
  aliveBefore(term: number): number {
    return this.#aliveBefore.get(term) ?? 0;
  }

  /** Offers committed since the last call, as their rows were written. */
  takeOffered(): Task[] {
    return this.#offered.splice(0);
  }

  /** When the row was last written, so that it has its place since. */
  visibleSince(task: Task): number {
    return this.#writtenAt.get(task.seq) ?? this.#world.now;
  }

  /** The store has made this durable, whatever the master will hear of it. */
  committed(commit: Commit): void {
    this.#commitCount++;
    const { writes, absences, settings, saysAlive, events = [] } = commit;
    const rowCount = writes.length + absences.length + events.length;
    if (saysAlive || settings !== undefined || rowCount > 0) this.#aliveAt = commit.now;
    if (commit.term !== this.#term) {
      this.#world.violate('I6', `a commit of term ${commit.term} in term ${this.#term}`);
    }
    this.feed.committed(commit);
    this.occurrences.committed(commit);
    this.usage.committed(commit, this);
    this.audit.committed(commit, this);
    this.operations.committed(commit, this);
    checkPlaces(this.#world, this.#faults, commit, this.live);
    for (const credit of absences.map(creditOf)) {
      for (const row of this.live.values()) row.startBy = credit(row);
    }
    this.#offerChecks.begin(commit);
    this.#offerChecks.types.begin(commit, ([taskId, attempt]) => {
      return this.isOpen(taskId, attempt) ? (this.rowOf(taskId) ?? null) : null;
    });
    // How attempts ended is asked of by what is checked of their tasks.
    for (const write of writes) {
      if (write.table === 'attempt') this.#attemptWritten(write);
      if (write.table === 'leftover') this.#leftoverWritten(write);
    }
    const again = this.#leftHistory(writes);
    for (const { op, table, key } of writes) {
      if (table === 'lane' && op === 'remove') this.lanes.delete(key);
      else if (table === 'lane') this.lanes.add(key);
    }
    for (const write of writes) if (write.table === 'task') this.#taskWritten(write, again);
    for (const write of writes) if (write.table === 'history') this.#historyWritten(write);
    this.#checkOneTaskEach();
    this.#offerChecks.end([...this.live.values()]);
  }

  #leftoverWritten({ op, key }: RowWrite<'leftover'>): void {
    if (op === 'remove') this.leftovers.delete(key.join('/'));
    else this.leftovers.add(key.join('/'));
  }

  #attemptWritten(write: RowWrite<'attempt'>): void {
    const [taskSeq, attempt] = write.key;
    if (write.op === 'insert') return this.#attemptEnded(write.row);
    const record = this.attempts.get(taskSeq)?.get(attempt);
    if (write.op !== 'set' || record === undefined) return;
    this.attempts.get(taskSeq)?.set(attempt, { ...record, ...write.row });
  }

  /** The row of a task that ends stays until its end is looked at. */
  #taskWritten(write: RowWrite<'task'>, again: ReadonlySet<number>): void {
    if (write.op === 'set') this.#updated(write.row);
    if (write.op !== 'insert') return;
    if (!again.has(write.key)) this.#began(write.row);
    this.#write(write.row, this.live.get(write.key));
  }

  #historyWritten(write: RowWrite<'history'>): void {
    if (write.op === 'set' && write.row.notification !== null)
      this.callbacks.noted(write.row.notification);
    if (write.op !== 'insert') return;
    const { task, notification } = write.row;
    if (!this.live.has(task.seq)) this.#began(task);
    this.#finished(task, notification);
  }

  #attemptEnded(record: AttemptRecord): void {
    const { taskSeq, attempt, outcome } = record;
    const attempts = this.attempts.get(taskSeq) ?? new Map<number, AttemptRecord>();
    this.attempts.set(taskSeq, attempts.set(attempt, record));
    const { id } = this.live.get(taskSeq) ?? { id: '' };
    if (outcome === 'rejected') this.#offerChecks.types.rejected(id, attempt);
    this.#endedInOrder(taskSeq, attempt);
    const isUnexplained = outcome.startsWith('lost') || outcome === 'assign_timeout';
    if (isUnexplained && !this.#faults.mayLoseExecutors) {
      this.#world.violate('I15', `attempt ${attempt} of #${taskSeq} is ${outcome} for no reason`);
    }
  }

  #endedInOrder(taskSeq: number, attempt: number): void {
    const last = this.#lastEnded.get(taskSeq) ?? 0;
    if (attempt !== last + 1) {
      this.#world.violate('I4', `attempt ${attempt} of #${taskSeq} ended after attempt ${last}`);
    }
    this.#lastEnded.set(taskSeq, attempt);
  }

  #began(task: Task): void {
    if (this.#seqById.has(task.id)) this.#world.violate('I3', `${task.id} was accepted twice`);
    if (this.live.has(task.seq) || this.history.has(task.seq)) {
      this.#world.violate('I3', `#${task.seq} was given to two tasks`);
    }
    this.#seqById.set(task.id, task.seq);
  }

  /** Those that run again wait, until their row says more, and their limits begin anew; of others nothing is left. */
  #leftHistory(writes: readonly RowWrite[]): ReadonlySet<number> {
    const again = new Set<number>();
    for (const { op, table, key } of writes) {
      if (op !== 'remove' || table !== 'history') continue;
      const [seq] = key;
      const ended = this.history.get(seq);
      if (ended === undefined) this.#world.violate('I3', `#${seq} leaves history before its end`);
      else if (
        writes.some((one) => one.op === 'insert' && one.table === 'task' && one.key === seq)
      ) {
        this.live.set(seq, { ...ended, state: 'waiting', startBy: null });
        again.add(seq);
      } else {
        this.#seqById.delete(ended.id);
        this.#deleted.add(ended.id);
        for (let n = 1; n <= ended.attempt; n++) this.#endedAt.delete(`${ended.id}/${n}`);
        this.#world.log(`row ${ended.id} deleted`);
      }
      this.history.delete(seq);
      this.callbacks.rows.delete(seq);
    }
    return again;
  }

  #updated(task: Task): void {
    const before = this.live.get(task.seq);
    if (before === undefined) {
      return this.#world.violate('I3', `${task.id} changed after its end to ${task.state}`);
    }
    this.#write(task, before);
  }

  #write(task: Task, before: Task | undefined): void {
    this.#checkTransition(task, before);
    this.suspended.check(task, before, this.#writtenAt.get(task.seq) ?? 0);
    this.#offerChecks.written(task, before);
    this.live.set(task.seq, task);
    this.#writtenAt.set(task.seq, this.#world.now);
    if (isAtRest(task)) this.#endedAt.set(`${task.id}/${task.attempt}`, this.#world.now);
    if (task.state === 'offered' && before?.attempt !== task.attempt)
      this.#wasOffered(task, before);
    this.#world.log(`row ${task.id} ${task.state} ${task.attempt} ${task.executorId ?? ''}`);
  }

  #wasOffered(task: Task, before: Task | undefined): void {
    this.#offered.push(task);
    this.#offerChecks.check(task, before);
  }

  #checkTransition(task: Task, before: Task | undefined): void {
    const was = before ?? { state: 'waiting', version: 0, attempt: 0 };
    const from = `${was.state}/${was.attempt}`;
    const to = `${task.state}/${task.attempt}`;
    if (task.version !== was.version + 1) {
      this.#world.violate('I4', `${task.id} went from version ${was.version} to ${task.version}`);
    }
    if (task.attempt < was.attempt) {
      this.#world.violate('I4', `${task.id} went from ${from} to ${to}`);
    } else if (task.attempt === was.attempt) {
      if (task.state !== was.state && !mayFollow(was.state, task.state)) {
        this.#world.violate('I4', `${task.id} went from ${from} to ${to}`);
      }
    }
    // Every attempt but an open newest one has ended, and said how.
    const open = task.state === 'offered' || task.state === 'running' ? 1 : 0;
    const isSuccess = task.state === 'succeeded';
    const ended = this.#lastEnded.get(task.seq) ?? 0;
    if (!isSuccess && ended !== task.attempt - open) {
      this.#world.violate('I5', `${task.id} became ${to} when attempt ${ended} had ended`);
    }
  }

  #finished(task: Task, notification: Notification | null): void {
    const before = this.live.get(task.seq);
    if (this.history.has(task.seq)) this.#world.violate('I3', `${task.id} ended twice`);
    if (!isTerminal(task.state)) this.#world.violate('I3', `${task.id} ended as ${task.state}`);
    if (task.state === 'succeeded') this.#checkSuccess(task);
    if (task.failureReason === 'crash_budget') {
      checkBudget(this.#world, task, [...(this.attempts.get(task.seq)?.values() ?? [])]);
    }
    this.#offerChecks.checkEnd(task, before);
    this.#checkTransition(task, before);
    if ((task.notifyUrl === null) !== (notification === null)) {
      this.#world.violate('I9', `${task.id} ended without its notification`);
    }
    this.#endedAt.set(`${task.id}/${task.attempt}`, this.#world.now);
    this.live.delete(task.seq);
    this.history.set(task.seq, task);
    this.#ends.add(`${task.seq}/${task.finishedAt}`);
    if (notification !== null) this.callbacks.rows.set(task.seq, notification);
    const why = task.failureReason ?? '';
    this.#world.log(`row ${task.id} ${task.state} ${task.attempt} ${why}`);
  }

  #checkSuccess(task: Task): void {
    this.#endedInOrder(task.seq, task.attempt);
    const told = this.#results.get(`${task.id}/${task.attempt}`);
    if (told === undefined || told !== task.result) {
      const what = `${task.id}/${task.attempt} succeeded with ${task.result}`;
      this.#world.violate('I11', `${what}, its executor said ${told ?? 'nothing'}`);
    }
  }

  #checkOneTaskEach(): void {
    const taskOf = new Map<string, string>();
    for (const task of this.live.values()) {
      if (isAtRest(task) || task.executorId === null) continue;
      const process = `${task.executorId} ${task.incarnation}`;
      const other = taskOf.get(process);
      if (other !== undefined) {
        this.#world.violate('I7', `${process} has ${other} and ${task.id}`);
      }
      taskOf.set(process, task.id);
    }
  }

  /** A master lets something out: it must be durable by then. */
  effect(what: string, isDurable: boolean): void {
    if (!isDurable) this.#world.violate('P1', `${what} before its commit`);
  }

  wasOffered(taskId: string, attempt: number): boolean {
    return attempt <= (this.rowOf(taskId)?.attempt ?? 0);
  }

  /** Whether this end of the task was committed; it may run again since. */
  hasEnded(taskSeq: number, finishedAt: number): boolean {
    return this.#ends.has(`${taskSeq}/${finishedAt}`);
  }

  /** When it was closed in the rows, however it ended. */
  endedAt(taskId: string, attempt: number): number | undefined {
    return this.#endedAt.get(`${taskId}/${attempt}`);
  }

  /** How the attempt ended, as far as that was committed. */
  outcomeOf(taskId: string, attempt: number): string | undefined {
    return this.attempts.get(this.#seqById.get(taskId) ?? 0)?.get(attempt)?.outcome;
  }

  isOpen(taskId: string, attempt: number): boolean {
    const row = this.rowOf(taskId);
    return (row?.state === 'offered' || row?.state === 'running') && row.attempt === attempt;
  }

  succeeded(taskId: string, attempt: number, result: string): void {
    this.#results.set(`${taskId}/${attempt}`, result);
  }
}
