/**
 * What the application needs of the outside. Infrastructure and access implement these; nothing
 * here names a library. Each port has an in-memory implementation, so that the whole master can
 * run in a simulation.
 */
import type { AlertStore } from './alerts/alert-store.ts';
import type { Answering } from './answering.ts';
import type { AuditStore } from './audit-store.ts';
import type { EventPage, EventQuery } from './event-query.ts';
import type { JobReads, JobUpkeep } from './jobs/job-store.ts';
import type { LogStore } from './logs/log-store.ts';
import type { LoadReads, LoadUpkeep } from './reports/load-query.ts';
import type { UsageReads, UsageUpkeep } from './reports/usage-query.ts';
import type { Audit, RowWrite, WholeRows } from '../domain/changes.ts';
import type { BookedWanted } from '../domain/booking/booking.ts';
import type { Absence, Pause } from '../domain/model/pause.ts';
import type { ExecutorCommand, Observation } from '../domain/effects.ts';
import type { FeedEvent } from '../domain/feed/feed-event.ts';
import type { AuditRecord } from '../domain/model/audit.ts';
import type { Position, QueueEnd } from '../domain/queue/window.ts';
import type { StoredGate, StoredLane } from '../domain/state/restore.ts';
import type { Settings } from '../domain/state/state.ts';
import type {
  EndedTask,
  Notification,
  Retention,
  Task,
  TerminalState,
} from '../domain/model/task.ts';
import type { TokenStore } from './token-store.ts';
import type {
  FailurePage,
  HistoryPage,
  SearchCount,
  SearchPage,
  ShownTask,
  StoredTask,
  TaskPage,
  TaskQuery,
  TaskSearch,
  WaitingPage,
  WaitingQuery,
} from './lists/task-query.ts';
import type { Archive } from './archive.ts';

export type * from './alerts/alert-store.ts';
export type { Archive, EndedDay, EndedPage, EndedSegment, Prepared } from './archive.ts';
export type { AuditCheck, AuditPage, AuditQuery, AuditStore } from './audit-store.ts';
export type { EventPage, EventQuery } from './event-query.ts';
export type * from './jobs/job-store.ts';
export type * from './logs/log-store.ts';
export type { Role, Scope, TokenRecord, TokenStore } from './token-store.ts';
export { DEFAULT_NAMESPACE_ID, inNamespace, NAMESPACE_COUNT_MAX } from './namespace.ts';
export type * from './lists/task-query.ts';

export interface Clock {
  /** Epoch milliseconds. Steps with `followWall` only: a wall clock that is set does not fire timeouts. */
  now(): number;
  /** Calls once at or after `at`, as it was when this was asked; returns how to call it off. */
  wakeAt(at: number, call: () => void): () => void;
  /** Calls once, after what is going on now: whatever arrived together is then dealt with together. */
  soon(call: () => void): void;
  /** How far the wall clock has gone from `now`: it was set, or the machine slept. */
  departureMs(): number;
  /** From here on `now` is what the wall clock says. */
  followWall(): void;
}

/** Of the file system that the embedded database is on. */
export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Null: the database is on a server, or the system does not say. */
export type Disk = () => Promise<DiskSpace | null>;

/** One transaction. Both lists may be empty. */
export interface Commit {
  /** The commit fails with `TermLost` unless this is still the newest term. */
  readonly term: number;
  readonly now: number;
  /** The highest `seq` that any task was ever given: none is given twice, whatever is deleted. */
  readonly lastSeq: number;
  /** Writes that this master is there also where nothing else is to be written. */
  readonly saysAlive: boolean;
  /** At most one for each row. Where a row counts its writes, it has the version that it is to have. */
  readonly writes: readonly RowWrite[];
  /** `startByAfter` for every live row, before any other write. They stay, as settings and types do, also where the rest is refused. */
  readonly absences: readonly Absence[];
  /** What `takeTerm` gives from now on; absent where they stay. */
  readonly settings?: Settings;
  /** What people have changed by it, to be kept as one link of a chain; absent where they have not. */
  readonly audit?: readonly Audit[];
  /** What the feed tells of it: their numbers follow those of the commit before. */
  readonly events?: readonly FeedEvent[];
}

export type { Position, StoredGate, StoredLane };

/** So many of those that a gate holds. */
export interface HeldWanted {
  readonly gate: number;
  readonly limit: number;
}

/** Up to where a lane is in memory; null: nothing of it is. */
export interface LaneEnd {
  readonly lane: number;
  readonly after: Position | null;
}

/** Tasks of a lane, those that are held by themselves. */
export interface EdgeWanted {
  readonly lane: number;
  readonly state: 'waiting' | 'held';
}
export type Edges = readonly (Position | null)[];

/** Tasks that are overdue. */
export interface OverduePage {
  readonly tasks: Task[];
  /** Up to where tasks were looked at; null: to the last. */
  readonly next: Position | null;
}

/** A namespace as its row says. */
export interface NamespaceRecord extends Settings {
  /** 0 is `default`; its numbers begin at `inNamespace(id, 1)`. */
  readonly id: number;
  /** `[a-z0-9-]{1,32}`, unique. */
  readonly name: string;
  readonly createdAt: number;
}

/** The database, which all namespaces share. */
export interface Store extends JobUpkeep, LoadUpkeep, UsageUpkeep {
  readonly tokens: TokenStore;
  readonly audit: AuditStore;
  readonly alerts: AlertStore;

  /**
   * Creates or migrates the schema and checks that commits are durable: once, what fails is tried
   * again by the next call. `secrets` are those of this installation, newest first; the first master
   * makes one. `namespaces`: all that were not deleted, by number.
   * @throws {StoreUnusable}
   */
  open(now: number): Promise<{
    readonly secrets: readonly string[];
    readonly namespaces: readonly NamespaceRecord[];
    readonly pauseOfAll: Pause | null;
  }>;
  /** What `open` answers from now on. */
  setPauseOfAll(pause: Pause | null, audit?: AuditRecord | null): Promise<void>;
  /** Numbers of the namespaces that have live tasks, pending callbacks, or jobs that fire or were run, ascending. */
  withWork(): Promise<number[]>;
  /**
   * One that is there is answered as it is. A name that was deleted gets its old row back: the number,
   * and what is left of its history.
   * @param audit is kept where it was made, or came back.
   * @throws {NamespaceLimit}
   */
  createNamespace(
    record: Omit<NamespaceRecord, 'id'>,
    audit?: AuditRecord | null,
  ): Promise<NamespaceRecord>;
  /**
   * False where it has live tasks, pending callbacks or jobs, or is `default`. The row stays, marked as
   * deleted, and its term is over: stop its engine before.
   */
  deleteNamespace(id: number, audit?: AuditRecord | null): Promise<boolean>;
  /** The tasks of one namespace. May be asked for again and again: whatever lasts is in here. */
  tasks(namespaceId: number): TaskStore;
  /** Epoch milliseconds by the clock of the database, to the second. */
  readClock(): Promise<number>;
  /** Makes segments of history for today and tomorrow, by UTC, where they will be needed; returns how many it has made. */
  prepareSegments(now: number): Promise<number>;
  /**
   * Drops every segment of that class which ended before `before`, but for those with a callback that is still tried; returns how
   * many. What it has begun when another owner begins a term goes on: one segment at most.
   * @param servedCount so many days, by UTC, on which a master has served must have followed it, up to that many days
   *   after `before`: a clock that is far ahead is nothing but a gap.
   * @param archive what is dropped is in there before. Rejects where it cannot be: that segment, and those after it, stay.
   * @throws {TermLost} another owner has begun a term of `default`.
   */
  dropSegments(
    retention: Retention,
    before: number,
    servedCount?: number,
    archive?: Archive | null,
  ): Promise<number>;
  /** Removes of what feeds have told before that instant some thousand of the oldest; returns how many. */
  dropEvents(before: number): Promise<number>;
  /**
   * Learns which ids the segments have whose day is over, so that few of them are asked for an id; until
   * then each is. Lets others go on meanwhile. Not before the first term: nobody else may write. Returns
   * of how many segments it has learnt them.
   */
  learnIds(now: number): Promise<number>;
  close(): Promise<void>;
}

/** The tasks of one namespace, and nothing of any other. */
export interface TaskStore extends LogStore, LoadReads, UsageReads, Answering {
  /**
   * Opens the store where nobody has, then begins a new term.
   * If `now` is before the newest commit, the wall clock was set back: what was due stays due,
   * retries and callbacks wait no longer than was planned, and pauses have lasted as long as they had.
   * `held` is the term this owner had until now; it has none at its start. `secrets`: as `Store.open`.
   * `aliveAt`: when the newest commit was made, or a little before; null where none was. `lastSeq`: of
   * the newest commit, or the number before the first of this namespace.
   * @throws {TermLost} another owner has begun a term since `held`.
   * @throws {StoreUnusable}
   */
  takeTerm(
    owner: string,
    now: number,
    held?: number,
  ): Promise<{
    readonly term: number;
    readonly lastSeq: number;
    /** Of the newest event of the feed; 0: there was none. */
    readonly lastEventSeq: number;
    readonly secrets: readonly string[];
    /** `now` of the newest commit that said so, of whichever master; null in a store of 2.0.0. */
    readonly aliveAt: number | null;
    /** Of the newest commit that said so. */
    readonly settings: Settings;
  }>;

  /**
   * All or nothing. Its rows must stay as they are until it has settled: they may be read at any time before.
   * Repeats deadlocks and serialization failures by itself.
   * @throws {TermLost} another master has begun a newer term; nothing was written.
   * @throws {CommitConflict} a row was not at the expected version; nothing was written.
   * @throws any other error: it is unknown whether the commit took place.
   */
  commit(commit: Commit): Promise<void>;

  /** Offered and running tasks, all of them: there are no more than executors. */
  loadActive(): Promise<Task[]>;
  /** All rows of the tables that memory holds whole, in any order. */
  loadWhole(): Promise<WholeRows>;
  /** How many tasks wait in each lane. */
  countLanes(): Promise<StoredLane[]>;
  /** Of each lane: waiting tasks that are due, beyond `after`, by (queueTime, seq); `limit` at most. */
  loadLanes(lanes: readonly LaneEnd[], now: number, limit: number): Promise<Task[][]>;
  /** How many tasks each gate holds. */
  countGates(): Promise<StoredGate[]>;
  /** Of each gate: those that it holds, by (queueTime, seq), `limit` at most; and how many come before a place, `max` at most. */
  loadHeld(wanted: readonly HeldWanted[]): Promise<Task[][]>;
  countHeldBefore(gate: number, place: Position, max: number): Promise<number>;
  /** Of each: the place of its first, or last, task that is due; beyond it where very many not due are. Null: none is. */
  findEdges(wanted: readonly EdgeWanted[], to: QueueEnd, now: number): Promise<Edges>;
  /** Waiting tasks with `dueAt` beyond `after`, by (dueAt, seq). */
  loadDelayed(after: Position | null, limit: number): Promise<Task[]>;
  /**
   * Waiting tasks, also held ones, whose deadline is not after `now`, or `startBy` not after `startClock`, by whichever
   * of both is sooner; of a type that is paused, `startBy` not after that began. Looks at so many tasks only.
   */
  loadOverdue(
    now: number,
    startClock: number,
    limit: number,
    after?: Position | null,
  ): Promise<OverduePage>;
  /** Of each booking tasks that no executor has, and that are due before then: `limit` at most of each. */
  loadBooked(wanted: readonly BookedWanted[], limit: number): Promise<Task[][]>;
  /** Pending notifications with `nextTryAt` beyond `after`, by (nextTryAt, seq). */
  loadNotifications(after: Position | null, limit: number): Promise<Notification[]>;

  /**
   * The tasks with these ids, all different; null: there is none. Ends before the tasks come to more
   * than `bytesMax`, about, though not before the first: ids it has not come to are not in the answer.
   */
  findTasks(
    ids: readonly string[],
    bytesMax: number,
  ): Promise<ReadonlyMap<string, StoredTask | null>>;

  /**
   * The next of them, whole, from `cursor` on, in an order that stays: each is come to once, whatever
   * becomes of it. Ends as `findTasks`.
   */
  searchTasks(
    search: TaskSearch,
    cursor: string | null,
    limit: number,
    bytesMax: number,
  ): Promise<SearchPage>;

  readonly jobs: JobReads;
  // What follows is asked for by others than the engine: it must not stand in its way.

  /** How many there are, by the first so many rows and as many of all others, and for so long. */
  countTasks(
    search: TaskSearch,
    limits: { readonly lookMax: number; readonly msMax: number; readonly sampleCount: number },
  ): Promise<SearchCount>;

  /** With all attempts that are kept, large details left out; or with one attempt, whole. */
  showTask(id: string, attempt: 'all' | number): Promise<ShownTask | null>;
  /** One task, without attempts. */
  readTask(id: string): Promise<StoredTask | null>;
  /** The request hashes of those ids that are live or retained. */
  findIds(ids: readonly string[]): Promise<Map<string, string>>;
  /**
   * Checkpoint, params and result may be left out (empty or null), and errors cut. Asked again
   * with the `beforeSeq` that it answered, it comes to the end.
   */
  listTasks(query: TaskQuery): Promise<TaskPage>;
  /** The same of tasks that have failed, and of each of them only why. */
  listFailures(query: TaskQuery): Promise<FailurePage>;
  /** The same of tasks that wait, held ones left out, in their order. */
  listWaiting(query: WaitingQuery): Promise<WaitingPage>;
  /** What the feed has told, by number, and how far back it goes. */
  readEvents(query: EventQuery): Promise<EventPage>;
  /** How many ended tasks there are in that state, `max` at most. */
  countEnded(state: TerminalState, max: number): Promise<number>;
  /** As `searchTasks`, of ended tasks, with their attempts. */
  readHistory(
    search: TaskSearch,
    cursor: string | null,
    limit: number,
    bytesMax: number,
  ): Promise<HistoryPage>;
}

/** Another master has taken over: this one must not write again. */
export class TermLost extends Error {
  override readonly name = 'TermLost';
}

/** Memory and rows disagree: the state must be rebuilt from rows. */
export class CommitConflict extends Error {
  override readonly name = 'CommitConflict';
}

/** The store cannot be used as it is: not a passing fault. Says what to change. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
}

/** No further namespace can be made in this store. */
export class NamespaceLimit extends Error {
  override readonly name = 'NamespaceLimit';
}

/** No other try would help: the master has to end. */
export function isFinal(error: unknown): error is TermLost | StoreUnusable {
  return error instanceof TermLost || error instanceof StoreUnusable;
}

/** The way to executors. Implemented by `access/executors/sessions.ts`. */
export interface ExecutorLink {
  send(sessionId: string, command: ExecutorCommand, term: number): void;
  /** The frame is safely handled: it may be acknowledged. */
  confirm(sessionId: string, frameSeq: number): void;
  close(sessionId: string, reason: 'superseded' | 'silent' | 'reattach'): void;
  /** Nothing that this process says is answered until it is thawed, so that its lease runs out. */
  freeze(executorId: string, incarnation: string, isFrozen: boolean): void;
  /** What proofs of attempts are made with, base64url, newest first. Never to be logged. */
  useSecrets(secrets: readonly string[]): void;
  /** The state was rebuilt: every session ends, and executors come back saying what they run. */
  reattachAll(): void;
}

/**
 * Posts callbacks. Answers by an event, never by throwing: each that was delivered here is tried
 * some time, or put off.
 */
export interface Notifier {
  /**
   * `task` is null when it must be read from history first. `term`: of the state that hands it over;
   * the outcome carries it. A callback that is in flight already is not sent twice: its outcome
   * answers for the newest hand-over. Nor is one that was delivered, unless its tries began anew.
   */
  deliver(notification: Notification, task: EndedTask | null, term: number): void;
  /**
   * The state was rebuilt: drops whatever waits here for its turn, and will be given what is
   * pending again. What is in flight goes on.
   */
  forgetAll(): void;
}

export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** Sees what happened, after it is durable: for logs and metrics. */
export interface Observer {
  observe(observation: Observation): void;
  /** One turn of the engine: events taken, and how long its commit took (0: nothing to write). */
  turned(eventCount: number, commitMs: number): void;
}
