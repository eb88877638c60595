/**
 * The store of tasks in memory, with the same contract as the SQL store: for the simulation and
 * for tests. It outlives the master that uses it, as a database does. Not for production: it
 * keeps nothing when the process ends, and it sorts on every page. It also refuses a new task
 * whose id is in history, which the SQL store leaves to the domain to find out.
 */
import type {
  Commit,
  Position,
  StoredLane,
  ShownTask,
  StoredTask,
  TaskPage,
  TaskQuery,
  TaskStore,
} from '../../application/ports.ts';
import { ATTEMPT_COUNT_MAX, CommitConflict, TermLost } from '../../application/ports.ts';
import type { ExecutorRecord } from '../../domain/executor.ts';
import type { AttemptRecord, Notification, Task } from '../../domain/task.ts';
import { kindOfLane, startByAfter } from '../../domain/task.ts';

/** Nothing is kept from anybody who shares this process. */
const SECRET = 'bWVtb3J5';
const DAY_MS = 86_400_000;
/** A retry that waits no longer than this was to follow at once. */
const SOON_MS = 1_000;

/** A live task has no notification yet. */
interface Stored {
  readonly task: Task;
  readonly notification: Notification | null;
}

const dayOf = (instant: number): number => Math.floor(instant / DAY_MS);

export class MemoryStore implements TaskStore {
  #term = 0;
  #owner = '';
  #aliveAt = 0;
  #lastSeq = 0;
  readonly #live = new Map<number, Task>();
  readonly #executors = new Map<string, ExecutorRecord>();
  /** The `seq` of every id, live or in history. */
  readonly #seqs = new Map<string, number>();
  /** By the UTC day the task ended, then by `seq`. */
  readonly #segments = new Map<number, Map<number, Stored>>();
  /** By the `seq` of the task, then by attempt. */
  readonly #attempts = new Map<number, Map<number, AttemptRecord>>();

  async takeTerm(owner: string, now: number, held?: number): ReturnType<TaskStore['takeTerm']> {
    await this.prepareSegments(now);
    if (held !== undefined && this.#owner !== owner) throw new TermLost(`term ${held} is over`);
    this.#term += 1;
    this.#owner = owner;
    const aliveAt = this.#aliveAt === 0 ? null : this.#aliveAt;
    this.#followClock(now);
    return { term: this.#term, lastSeq: this.#lastSeq, secrets: [SECRET], aliveAt };
  }

  #followClock(now: number): void {
    const backMs = this.#aliveAt - now;
    if (backMs <= 0) return;
    const follows = (at: number): number => Math.max(now, at - backMs);
    for (const [seq, task] of this.#live) {
      const { dueAt, orderTime, lastOutcome } = task;
      const isRetry =
        (dueAt === orderTime || dueAt <= this.#aliveAt + SOON_MS) &&
        (lastOutcome === 'failed' || lastOutcome === 'timed_out');
      const isFollowing = dueAt > now && (dueAt <= this.#aliveAt || isRetry);
      const startBy =
        task.startBy !== null && dueAt <= this.#aliveAt ? task.startBy - backMs : task.startBy;
      this.#live.set(seq, { ...task, startBy, dueAt: isFollowing ? follows(dueAt) : dueAt });
    }
    for (const segment of this.#segments.values()) {
      for (const [seq, { task, notification }] of segment) {
        if (notification?.state !== 'pending' || notification.nextTryAt <= now) continue;
        const nextTryAt = follows(notification.nextTryAt);
        segment.set(seq, { task, notification: { ...notification, nextTryAt } });
      }
    }
    this.#aliveAt = now;
  }

  /** Every check comes before the first write, so that a refused commit leaves no trace. */
  async commit(commit: Commit): Promise<void> {
    if (commit.term !== this.#term) {
      throw new TermLost(`term ${commit.term} is over: the newest is ${this.#term}`);
    }
    this.#check(commit);
    if (commit.saysAlive || writes(commit)) {
      this.#aliveAt = commit.now;
      this.#lastSeq = Math.max(this.#lastSeq, commit.lastSeq);
    }
    for (const { from, until } of commit.absences) {
      for (const task of this.#live.values()) task.startBy = startByAfter(task, from, until);
    }
    for (const { task, finishedAt } of commit.reopens) {
      this.#segments.get(dayOf(finishedAt))?.delete(task.seq);
      this.#live.set(task.seq, { ...task });
    }
    for (const task of commit.inserts) {
      this.#live.set(task.seq, { ...task });
      this.#seqs.set(task.id, task.seq);
    }
    for (const task of commit.updates) {
      const checkpoint = this.#live.get(task.seq)?.checkpoint ?? null;
      this.#live.set(task.seq, { ...task, checkpoint });
    }
    for (const { seq, checkpoint } of commit.checkpoints) {
      const task = this.#live.get(seq);
      if (task !== undefined) task.checkpoint = checkpoint;
    }
    for (const { task, notification } of commit.finishes) {
      this.#live.delete(task.seq);
      this.#seqs.set(task.id, task.seq);
      this.#segment(dayOf(task.finishedAt ?? 0)).set(task.seq, {
        task: { ...task },
        notification: notification && { ...notification },
      });
    }
    for (const attempt of commit.attempts) {
      const attempts = this.#attempts.get(attempt.taskSeq) ?? new Map<number, AttemptRecord>();
      this.#attempts.set(attempt.taskSeq, attempts.set(attempt.attempt, { ...attempt }));
      attempts.delete(attempt.attempt - ATTEMPT_COUNT_MAX);
    }
    for (const { taskSeq, attempt, outcome } of commit.verdicts) {
      const record = this.#attempts.get(taskSeq)?.get(attempt);
      if (record !== undefined) this.#attempts.get(taskSeq)?.set(attempt, { ...record, outcome });
    }
    for (const notification of commit.notifications) this.#note(notification);
    for (const { executorId, record } of commit.executors) {
      if (record === null) this.#executors.delete(executorId);
      else this.#executors.set(executorId, record);
    }
  }

  async loadExecutors(): Promise<ExecutorRecord[]> {
    return [...this.#executors.values()];
  }

  async loadActive(): Promise<Task[]> {
    return copies(this.#where((task) => task.state !== 'waiting'));
  }

  async countLanes(): Promise<StoredLane[]> {
    const lanes = new Map<string, StoredLane>();
    for (const { lane } of this.#where(isWaiting)) {
      const count = (lanes.get(lane)?.count ?? 0) + 1;
      lanes.set(lane, { lane, ...kindOfLane(lane), count });
    }
    return [...lanes.values()];
  }

  async loadLane(
    lane: string,
    after: Position | null,
    now: number,
    limit: number,
  ): Promise<Task[]> {
    const due = this.#where((task) => isWaiting(task) && task.lane === lane && task.dueAt <= now);
    return copies(page(due, (task) => ({ time: task.orderTime, seq: task.seq }), after, limit));
  }

  async loadDelayed(after: Position | null, limit: number): Promise<Task[]> {
    const waiting = this.#where(isWaiting);
    return copies(page(waiting, (task) => ({ time: task.dueAt, seq: task.seq }), after, limit));
  }

  async loadOverdue(now: number, limit: number): Promise<Task[]> {
    const overdue = this.#where(
      (task) => isWaiting(task) && (task.startBy ?? task.deadlineAt ?? now + 1) <= now,
    );
    return copies(overdue.slice(0, limit));
  }

  async loadNotifications(after: Position | null, limit: number): Promise<Notification[]> {
    const pending: Notification[] = [];
    for (const { notification } of this.#history()) {
      if (notification?.state === 'pending') pending.push(notification);
    }
    const key = (item: Notification): Position => ({ time: item.nextTryAt, seq: item.taskSeq });
    return page(pending, key, after, limit).map((notification) => ({ ...notification }));
  }

  async findTask(id: string): Promise<StoredTask | null> {
    const found = this.#find(this.#seqs.get(id) ?? 0);
    if (found === undefined) return null;
    const { task, notification } = found;
    return { task: { ...task }, notification: notification && { ...notification } };
  }

  readTask(id: string): Promise<StoredTask | null> {
    return this.findTask(id);
  }

  async showTask(id: string, attempt: 'all' | number): Promise<ShownTask | null> {
    const stored = await this.readTask(id);
    if (stored === null) return null;
    const attempts = [...(this.#attempts.get(stored.task.seq)?.values() ?? [])]
      .filter((record) => attempt === 'all' || record.attempt === attempt)
      .sort((a, b) => a.attempt - b.attempt)
      .map((record) => ({ ...record, detailsBytes: 0 }));
    return { ...stored, attempts };
  }

  async findIds(ids: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const id of ids) {
      const task = this.#find(this.#seqs.get(id) ?? 0)?.task;
      if (task !== undefined) found.set(id, task.requestHash);
    }
    return found;
  }

  async listTasks(query: TaskQuery): Promise<TaskPage> {
    const { state, type, group, label, notification, beforeSeq, limit, lookCount } = query;
    const older = [...this.#all()]
      .filter(({ task }) => beforeSeq === null || task.seq < beforeSeq)
      .sort((a, b) => b.task.seq - a.task.seq);
    const looked = older.slice(0, lookCount);
    const matching = looked.filter(
      ({ task, notification: stored }) =>
        (notification === null || stored?.state === notification) &&
        (state === null || task.state === state) &&
        (type === null || task.type === type) &&
        (group === null || task.user.group === group) &&
        (label === null || task.labels.includes(label)),
    );
    const tasks = matching.slice(0, limit).map(({ task, notification: stored }) => ({
      task: { ...task, params: '', checkpoint: null, result: null },
      notification: stored && { ...stored },
    }));
    const last = (matching.length > limit ? tasks : looked).at(-1);
    const isLast = matching.length <= limit && looked.length === older.length;
    return { tasks, beforeSeq: isLast ? null : (last?.task.seq ?? null) };
  }

  async prepareSegments(now: number): Promise<void> {
    this.#segment(dayOf(now));
    this.#segment(dayOf(now) + 1);
  }

  async dropSegments(before: number): Promise<number> {
    const ended = [...this.#segments.keys()].filter((day) => (day + 1) * DAY_MS <= before);
    for (const day of ended) {
      for (const { task } of this.#segment(day).values()) {
        this.#attempts.delete(task.seq);
        this.#seqs.delete(task.id);
      }
      this.#segments.delete(day);
    }
    return ended.length;
  }

  async close(): Promise<void> {}

  #check(commit: Commit): void {
    for (const { task, finishedAt } of commit.reopens) {
      const stored = this.#segments.get(dayOf(finishedAt))?.get(task.seq)?.task;
      expectVersion(stored, task);
    }
    const reopened = new Set(commit.reopens.map(({ task }) => task.seq));
    const began = [
      ...commit.inserts,
      ...commit.finishes.filter(({ stored }) => !stored).map(({ task }) => task),
    ];
    const ids = new Set<string>();
    for (const { id, seq } of began) {
      if (this.#seqs.has(id) || ids.has(id) || this.#find(seq) !== undefined) {
        throw new CommitConflict(`task ${id} is there already`);
      }
      ids.add(id);
    }
    const ended = commit.finishes.filter(({ stored }) => stored).map(({ task }) => task);
    for (const task of [...commit.updates, ...ended]) {
      if (!reopened.has(task.seq)) expectVersion(this.#live.get(task.seq), task);
    }
    for (const { taskSeq, attempt } of commit.attempts) {
      if (this.#attempts.get(taskSeq)?.has(attempt)) {
        throw new CommitConflict(`attempt ${attempt} of task ${taskSeq} is there already`);
      }
    }
  }

  /** The history row may have gone (retention, reopen): then there is nothing left to note. */
  #note(notification: Notification): void {
    const segment = this.#segments.get(dayOf(notification.finishedAt));
    const finished = segment?.get(notification.taskSeq);
    if (finished?.task.finishedAt !== notification.finishedAt) return;
    segment?.set(notification.taskSeq, { ...finished, notification: { ...notification } });
  }

  #segment(day: number): Map<number, Stored> {
    const segment = this.#segments.get(day) ?? new Map<number, Stored>();
    this.#segments.set(day, segment);
    return segment;
  }

  #find(seq: number): Stored | undefined {
    const task = this.#live.get(seq);
    if (task !== undefined) return { task, notification: null };
    for (const segment of this.#segments.values()) {
      const finished = segment.get(seq);
      if (finished !== undefined) return finished;
    }
    return undefined;
  }

  #where(matches: (task: Task) => boolean): Task[] {
    return [...this.#live.values()].filter(matches);
  }

  *#history(): Generator<Stored> {
    for (const segment of this.#segments.values()) yield* segment.values();
  }

  *#all(): Generator<Stored> {
    for (const task of this.#live.values()) yield { task, notification: null };
    yield* this.#history();
  }
}

const isWaiting = (task: Task): boolean => task.state === 'waiting';

const copies = (tasks: readonly Task[]): Task[] => tasks.map((task) => ({ ...task }));

function expectVersion(stored: Task | undefined, task: Task): void {
  if (stored?.version !== task.version - 1) {
    throw new CommitConflict(
      `task ${task.id} is at version ${stored?.version ?? 'none'} instead of ${task.version - 1}`,
    );
  }
}

function page<T>(
  list: readonly T[],
  key: (item: T) => Position,
  after: Position | null,
  limit: number,
): T[] {
  const compare = (a: Position, b: Position): number => a.time - b.time || a.seq - b.seq;
  return list
    .filter((item) => after === null || compare(key(item), after) > 0)
    .sort((a, b) => compare(key(a), key(b)))
    .slice(0, limit);
}

function writes(commit: Commit): boolean {
  return Object.values(commit).some((list) => Array.isArray(list) && list.length > 0);
}
