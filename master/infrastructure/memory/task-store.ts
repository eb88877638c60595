/**
 * The tasks of one namespace in memory, with the same contract as the SQL store, for the simulation and for tests: it outlives the master
 * that uses it, and sorts on every page. It also refuses a new task whose id is in history, which the SQL store leaves to the domain.
 */
import type {
  Commit,
  Edges,
  EventPage,
  EventQuery,
  FailurePage,
  HeldWanted,
  LaneEnd,
  OverduePage,
  Position,
  StoredGate,
  StoredLane,
  ShownTask,
  StoredTask,
  TaskPage,
  TaskQuery,
  TaskStore,
  WaitingPage,
  WaitingQuery,
} from '../../application/ports.ts';
import { CommitConflict, DEFAULT_NAMESPACE_ID } from '../../application/ports.ts';
import { inNamespace, TermLost } from '../../application/ports.ts';
import type { Ended, RowWrite, WholeRows } from '../../domain/changes.ts';
import { copyOf, idOf, taskIn, WHOLE_TABLES } from '../../domain/changes.ts';
import { heldBytes } from '../../domain/state/held-bytes.ts';
import { NO_SETTINGS, type Settings } from '../../domain/state/state.ts';
import { creditOf, pauseMoved, pausesOfSome, sinceOf } from '../../domain/model/pause.ts';
import { matches } from '../../domain/model/task-filter.ts';
import type { Notification, Retention, Task, TerminalState } from '../../domain/model/task.ts';
import { isAtRest, waits } from '../../domain/model/task.ts';
import { MemoryAudit } from './audit.ts';
import { MemoryFeed } from './feed.ts';
import { MemoryJobs } from './jobs.ts';
import { MemoryLoad } from './load.ts';
import { MemoryLogs } from './logs.ts';
import { followClock } from './clock.ts';
import { dayOf, type Days, noDays, prepareDays } from './days.ts';
import { hasOpenRows, page, Rows } from './rows.ts';
import { copies, countOf, failureOf, foundBy, inOrder, isWaiting } from './search.ts';
import { isBooked, newestOf, pageOf, shownOf } from './search.ts';
import { MemoryUsage } from './usage.ts';

/** Nothing is kept from anybody who shares this process. */
export const SECRET = 'bWVtb3J5';

export class MemoryTaskStore extends MemoryLogs implements TaskStore {
  #term = 0;
  #owner = '';
  #aliveAt = 0;
  #lastSeq: number;
  /** Those of its row. */
  settings: Settings = NO_SETTINGS;
  readonly owedMs = () => Number.POSITIVE_INFINITY;
  readonly #rows = new Rows();
  readonly #live = this.#rows.of('task');
  readonly #history = this.#rows.of('history');
  /** By which its row is found, of every task, live or ended. */
  readonly #ids = new Map<string, number | string>();
  readonly #days: Days;
  readonly #audit: MemoryAudit;
  readonly feed = new MemoryFeed();
  readonly usage = new MemoryUsage();
  readonly load = new MemoryLoad();
  readonly jobs = new MemoryJobs(this.#rows);

  /** @param days for which history has a segment, of all namespaces. */
  constructor(namespaceId = DEFAULT_NAMESPACE_ID, days = noDays(), audit = new MemoryAudit()) {
    super();
    this.#lastSeq = inNamespace(namespaceId, 0);
    this.#days = days;
    this.#audit = audit;
  }

  async takeTerm(owner: string, now: number, held?: number): ReturnType<TaskStore['takeTerm']> {
    prepareDays(this.#days, now, [this.settings.retention]);
    if (held !== undefined && this.#owner !== owner) throw new TermLost(`term ${held} is over`);
    this.#term += 1;
    this.#owner = owner;
    const aliveAt = this.#aliveAt === 0 ? null : this.#aliveAt;
    this.#followClock(now);
    const { settings } = this;
    const numbers = { lastSeq: this.#lastSeq, lastEventSeq: this.feed.newest };
    return { term: this.#term, ...numbers, secrets: [SECRET], aliveAt, settings };
  }

  #followClock(now: number): void {
    const backMs = this.#aliveAt - now;
    if (backMs <= 0) return;
    this.settings = { ...this.settings, paused: pauseMoved(this.settings.paused, backMs) };
    followClock(this.#rows, this.#aliveAt, now);
    this.#aliveAt = now;
  }

  /** Every check comes before the first write, so that a refused commit leaves no trace. */
  async commit(commit: Commit): Promise<void> {
    if (commit.term !== this.#term) {
      throw new TermLost(`term ${commit.term} is over: the newest is ${this.#term}`);
    }
    const { writes, absences, settings, saysAlive, audit = [], events = [] } = commit;
    this.#checkIds(writes);
    for (const write of writes) this.#rows.check(write);
    this.feed.check(events);
    this.feed.write(events);
    if (settings !== undefined) this.settings = settings;
    this.#audit.write(audit.map(({ record }) => record));
    const rowCount = writes.length + absences.length + events.length;
    if (saysAlive || settings !== undefined || rowCount > 0) {
      this.#aliveAt = commit.now;
      this.#lastSeq = Math.max(this.#lastSeq, commit.lastSeq);
    }
    for (const credit of absences.map(creditOf)) {
      for (const task of this.#live.values()) task.startBy = credit(task);
    }
    this.followCommit(writes);
    for (const write of writes) {
      if (write.table === 'history' && write.op === 'remove') this.#forgetId(idOf(write.key));
      this.#rows.write(write);
      if (write.op !== 'insert') continue;
      const task = taskIn(write.row);
      if (task !== null) this.#ids.set(task.id, idOf(write.key));
      if (write.table === 'history') this.#days[write.key[2]].add(dayOf(write.key[1]));
    }
  }

  async readEvents(query: EventQuery): Promise<EventPage> {
    return this.feed.read(query);
  }

  async foldUsage(): Promise<void> {
    const deltas = this.#rows.of('usage');
    for (const delta of deltas.values()) this.usage.add(delta);
    deltas.clear();
  }

  async readUsage(...of: Parameters<TaskStore['readUsage']>) {
    return this.usage.read(...of);
  }

  async readLoad(...of: Parameters<TaskStore['readLoad']>) {
    return this.load.read(...of);
  }

  async readRecent(...of: Parameters<TaskStore['readRecent']>) {
    return this.load.recent(...of);
  }

  async loadWhole(): Promise<WholeRows> {
    const whole = WHOLE_TABLES.map((name) => [name, [...this.#rows.of(name).values()].map(copyOf)]);
    return Object.fromEntries(whole) as WholeRows;
  }

  async loadActive(): Promise<Task[]> {
    return copies(this.#where((task) => !isAtRest(task)));
  }

  async countLanes(): Promise<StoredLane[]> {
    const lanes = new Map<number, StoredLane>();
    for (const task of this.#where(isAtRest)) {
      const { lane, state } = task;
      const none = { lane, count: 0, heldCount: 0, suspendedCount: 0, dueAt: null };
      const { count, heldCount, suspendedCount, dueAt } = lanes.get(lane) ?? none;
      lanes.set(lane, {
        lane,
        count: count + (waits(task) ? 1 : 0),
        heldCount: heldCount + (state === 'held' ? 1 : 0),
        suspendedCount: suspendedCount + (state === 'suspended' ? 1 : 0),
        dueAt: state === 'waiting' ? Math.min(dueAt ?? task.dueAt, task.dueAt) : dueAt,
      });
    }
    return [...lanes.values()];
  }

  async countGates(): Promise<StoredGate[]> {
    const counts = new Map<number, number>();
    for (const { gate } of this.#live.values()) {
      if (gate !== null) counts.set(gate, (counts.get(gate) ?? 0) + 1);
    }
    return [...counts].map(([gate, count]) => ({ gate, count }));
  }

  async loadHeld(wanted: readonly HeldWanted[]): Promise<Task[][]> {
    const held = (gate: number) => this.#where((task) => task.gate === gate);
    return wanted.map(({ gate, limit }) => copies(page(held(gate), inOrder, null, limit)));
  }

  async loadBooked(...[wanted, limit]: Parameters<TaskStore['loadBooked']>): Promise<Task[][]> {
    return wanted.map((one) => copies(this.#where(isBooked(one)).slice(0, limit)));
  }

  async countHeldBefore(gate: number, { time, seq }: Position, max: number): Promise<number> {
    const isHeld = (t: Task) => t.gate === gate && (t.queueTime - time || t.seq - seq) < 0;
    return Math.min(max, this.#where(isHeld).length);
  }

  async findEdges(...[wanted, to, now]: Parameters<TaskStore['findEdges']>): Promise<Edges> {
    return wanted.map(({ lane, state }) => {
      const isIn = (task: Task) => task.lane === lane && task.state === state && task.dueAt <= now;
      const due = page(this.#where(isIn), inOrder, null, Number.MAX_SAFE_INTEGER).map(inOrder);
      return due.at(to === 'first' ? 0 : -1) ?? null;
    });
  }

  async loadLanes(lanes: readonly LaneEnd[], now: number, limit: number): Promise<Task[][]> {
    const due = this.#where((task) => isWaiting(task) && task.dueAt <= now);
    return lanes.map(({ lane, after }) => {
      const waiting = due.filter((task) => task.lane === lane);
      return copies(page(waiting, inOrder, after, limit));
    });
  }

  async loadDelayed(after: Position | null, limit: number): Promise<Task[]> {
    const waiting = this.#where(isWaiting);
    return copies(page(waiting, (task) => ({ time: task.dueAt, seq: task.seq }), after, limit));
  }

  async loadOverdue(
    now: number,
    startClock: number,
    limit: number,
    after: Position | null = null,
  ): Promise<OverduePage> {
    const isOver = (at: number | null, by: number): boolean => at !== null && at <= by;
    const [rows, types] = [this.#rows.of('pause'), this.#rows.of('type')];
    const since = sinceOf(pausesOfSome(rows.values(), types.values()));
    const overdue = this.#where((task) => {
      if (!isAtRest(task)) return false;
      if (isOver(task.deadlineAt, now)) return true;
      return isOver(task.startBy, Math.min(startClock, since(task)));
    });
    const placeOf = ({ startBy, deadlineAt, seq }: Task): Position => {
      return { time: startBy ?? deadlineAt ?? 0, seq };
    };
    const tasks = copies(page(overdue, placeOf, after, limit));
    const last = tasks.length < limit ? undefined : tasks.at(-1);
    return { tasks, next: last === undefined ? null : placeOf(last) };
  }

  async loadNotifications(after: Position | null, limit: number): Promise<Notification[]> {
    const pending: Notification[] = [];
    for (const { notification } of this.#history.values()) {
      if (notification?.state === 'pending') pending.push(notification);
    }
    const key = (item: Notification): Position => ({ time: item.nextTryAt, seq: item.taskSeq });
    return page(pending, key, after, limit).map((notification) => ({ ...notification }));
  }

  async findTasks(
    ids: readonly string[],
    bytesMax: number,
  ): Promise<ReadonlyMap<string, StoredTask | null>> {
    const found = new Map<string, StoredTask | null>();
    let bytes = 0;
    for (const id of ids) {
      const stored = await this.readTask(id);
      bytes += stored === null ? 0 : heldBytes(stored.task);
      if (bytes > bytesMax && found.size > 0) break;
      found.set(id, stored);
    }
    return found;
  }

  async readTask(id: string): Promise<StoredTask | null> {
    const found = this.#find(id);
    return found === undefined ? null : copyOf(found);
  }

  async showTask(id: string, attempt: 'all' | number): Promise<ShownTask | null> {
    const found = this.#find(id);
    return found === undefined ? null : shownOf(this.#rows, found, attempt);
  }

  async findIds(ids: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const id of ids) {
      const task = this.#find(id)?.task;
      if (task !== undefined) found.set(id, task.requestHash);
    }
    return found;
  }

  async listTasks(query: TaskQuery): Promise<TaskPage> {
    return newestOf(this.#rows, query, this.#all());
  }

  async listFailures(query: TaskQuery): Promise<FailurePage> {
    const { tasks, beforeSeq } = newestOf(this.#rows, { ...query, state: 'failed' }, this.#all());
    return { failures: tasks.map(failureOf), beforeSeq };
  }

  async listWaiting(query: WaitingQuery): Promise<WaitingPage> {
    const { lanes, after, limit } = query;
    const waiting = this.#where((task) => isWaiting(task) && lanes.includes(task.lane));
    const fitting = waiting.filter((task) => matches(query, task, null));
    const found = page(fitting, inOrder, after, limit + 1);
    const tasks = found.slice(0, limit).map((task) => ({
      task: { ...task, params: '', checkpoint: null },
      notification: null,
    }));
    const last = found.length > limit ? tasks.at(-1) : undefined;
    return { tasks, after: last === undefined ? null : inOrder(last.task) };
  }

  async countEnded(state: TerminalState, max: number): Promise<number> {
    const ended = [...this.#history.values()].filter(({ task }) => task.state === state);
    return Math.min(ended.length, max);
  }

  async searchTasks(...[search, ...page]: Parameters<TaskStore['searchTasks']>) {
    return pageOf(search, foundBy(search, this.#all()), ...page);
  }

  async readHistory(...[search, ...page]: Parameters<TaskStore['readHistory']>) {
    const { tasks, cursor } = pageOf(search, foundBy(search, this.#all()), ...page);
    return { tasks: tasks.map((one) => shownOf(this.#rows, one)), cursor };
  }

  async countTasks(...[search, limits]: Parameters<TaskStore['countTasks']>) {
    return countOf(foundBy(search, this.#all()), limits);
  }

  get hasWork(): boolean {
    const isPending = ({ notification }: Ended) => notification?.state === 'pending';
    const { size } = this.#live;
    return size > 0 || hasOpenRows(this.#rows) || [...this.#history.values()].some(isPending);
  }

  /** Nobody may write any more who did. */
  endTerm(): void {
    this.#term += 1;
    this.#owner = '';
  }

  /** Its namespace is deleted: whoever makes it again begins with no types, executors and the like. */
  forgetWhole(): void {
    for (const name of WHOLE_TABLES) this.#rows.of(name).clear();
  }

  /** What of that class has ended on that day, by acceptance. */
  endedOn(retention: Retention, day: number): ShownTask[] {
    return [...this.#history.values()]
      .filter(({ task }) => task.retention === retention && dayOf(task.finishedAt ?? 0) === day)
      .sort((a, b) => a.task.seq - b.task.seq)
      .map((ended) => shownOf(this.#rows, ended));
  }

  /** Forgets that. */
  drop(retention: Retention, day: number): void {
    const ended = this.endedOn(retention, day).map(({ task }) => task);
    for (const { id, seq, finishedAt } of ended) {
      this.#ids.delete(id);
      this.forgetLogs(seq);
      this.#history.delete(idOf([seq, finishedAt ?? 0, retention]));
    }
    const seqs = new Set(ended.map(({ seq }) => seq));
    const attempts = this.#rows.of('attempt');
    for (const [key, { taskSeq }] of attempts) if (seqs.has(taskSeq)) attempts.delete(key);
  }

  #checkIds(writes: readonly RowWrite[]): void {
    const leaving = new Set(
      writes.filter(({ op }) => op === 'remove').map((write) => idOf(write.key)),
    );
    const ids = new Set<string>();
    for (const write of writes) {
      const id = write.op === 'insert' ? taskIn(write.row)?.id : undefined;
      if (id === undefined) continue;
      const held = this.#ids.get(id);
      if (ids.has(id) || (held !== undefined && !leaving.has(held))) {
        throw new CommitConflict(`task ${id} is there already`);
      }
      ids.add(id);
    }
  }

  /** Of an end that is deleted; of a task that runs again its live row has the id. */
  #forgetId(key: number | string): void {
    const id = this.#history.get(key)?.task.id;
    if (id !== undefined && this.#ids.get(id) === key) this.#ids.delete(id);
  }

  #find(id: string): Ended | undefined {
    const key = this.#ids.get(id) ?? 0;
    const task = this.#live.get(key);
    return task === undefined ? this.#history.get(key) : { task, notification: null };
  }

  #where(matches: (task: Task) => boolean): Task[] {
    return [...this.#live.values()].filter(matches);
  }

  *#all(): Generator<Ended> {
    for (const task of this.#live.values()) yield { task, notification: null };
    yield* this.#history.values();
  }
}
