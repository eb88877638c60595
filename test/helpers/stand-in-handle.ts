/**
 * A master without an engine: it keeps what was submitted and answers as told. For tests of the
 * access layer, which must not depend on how tasks are scheduled.
 */
import { runAtOnce } from '../../master/access/body/pieces.ts';
import { readSubmission } from '../../master/access/routes/submission.ts';
import type { ListQuery, ListsHandle } from '../../master/application/lists/lists.ts';
import type {
  MasterHandle,
  MasterStatus,
  Submission,
} from '../../master/application/master-handle.ts';
import type { NamespaceRecord, ShownTask, TaskPage } from '../../master/application/ports.ts';
import type { JobsHandle } from '../../master/application/jobs/jobs-handle.ts';
import type { OperationsHandle } from '../../master/application/operations/operations-handle.ts';
import {
  type NamespaceChange,
  NamespaceInUse,
  type NamespacesHandle,
  UnknownNamespace,
} from '../../master/application/process/namespaces-handle.ts';
import type { Fill } from '../../master/domain/bounds.ts';
import type { CommandOutcome, SubmitOutcome } from '../../master/domain/effects.ts';
import type {
  NewSettings,
  LimitChange,
  PauseChange,
  Seen,
  TaskChange,
  TypeChange,
  ViewChange,
} from '../../master/domain/events.ts';
import type { BookingChange } from '../../master/domain/booking/booking.ts';
import type { Executor, ExecutorRecord, Override } from '../../master/domain/model/executor.ts';
import type { TaskType } from '../../master/domain/model/task-type.ts';
import type { Health } from '../../master/domain/health/health.ts';
import { NO_SETTINGS, type Settings } from '../../master/domain/state/state.ts';
import { isAtRest, type Task } from '../../master/domain/model/task.ts';
import type { EndEstimate } from '../../master/domain/state/paces.ts';
import type { SeenExecutor } from '../../master/domain/views/executors.ts';
import type { SeenType, SeenTypeInDetail } from '../../master/domain/views/types.ts';
import type { News } from '../../master/application/engine/news.ts';
import type { MemoryFeed } from '../../master/infrastructure/memory/feed.ts';
import { standInFeed, standInLogs, type TakenLogs } from './feed/stand-ins.ts';
import { standInJobs } from './jobs/stand-in-jobs.ts';
import { ManualClock } from './manual-clock.ts';
import { hasRan, NOW, sampleTask } from './task.ts';
import { standInReports } from './usage/stand-in-reports.ts';

const UNSEEN = { waitingCount: 0, heldCount: 0, runningCount: 0, executorCount: 0 };
const defaults = { paused: null, retention: 'normal', maxWaiting: null, maxRunning: null } as const;

export class StandInHandle implements MasterHandle {
  readonly namespace = 'default';
  status: MasterStatus = 'ready';
  readonly term = 1;
  readonly isFull = false;
  readonly stored = new Map<string, ShownTask>();
  /** When any task that runs is going to end. */
  end: EndEstimate | null = null;
  readonly submissions: Submission[] = [];
  /** Every call but submits and reads, as `name argument argument`. */
  readonly commands: string[] = [];
  readonly queries: ListQuery[] = [];
  readonly types = new Map<string, TaskType>();
  readonly fleet: Executor[] = [];
  readonly gone: ExecutorRecord[] = [];
  readonly clock = new ManualClock();
  readonly #feed = standInFeed(this.clock);
  readonly news: News = this.#feed.news;
  readonly told: MemoryFeed = this.#feed.told;
  readonly feed: MasterHandle['feed'] = this.#feed.feed;
  readonly #logs = standInLogs(this.clock);
  readonly taken: TakenLogs = this.#logs.taken;
  readonly logs: MasterHandle['logs'] = this.#logs.logs;
  readonly reports: MasterHandle['reports'] = standInReports(this.clock);
  commandOutcome: CommandOutcome = { kind: 'done' };
  /** Takes the place of acceptance: may throw. */
  submitOverride: ((submission: Submission) => SubmitOutcome) | null = null;

  async submit(submissions: readonly Submission[]): Promise<readonly SubmitOutcome[]> {
    return submissions.map((submission) => {
      this.submissions.push(submission);
      if (this.submitOverride !== null) return this.submitOverride(submission);
      const { id: taskId } = submission;
      const holder = this.stored.get(taskId);
      if (holder === undefined) {
        this.keep(waitingTask(submission, this.stored.size + 1));
        return { taskId, kind: 'accepted' };
      }
      return { taskId, kind: 'taken', holderHash: holder.task.requestHash };
    });
  }

  keep(task: Task, rest: Partial<ShownTask> = {}): void {
    this.stored.set(task.id, { task, notification: null, attempts: [], ...rest });
  }

  executorOf(): null {
    return null;
  }

  silentMs(): number {
    return Number.POSITIVE_INFINITY;
  }

  attemptOf(taskId: string) {
    return this.stored.get(taskId)?.task ?? null;
  }

  by(): this {
    return this;
  }

  onlyOn(): this {
    return this;
  }

  cancel(taskId: string) {
    return this.#command('cancel', taskId);
  }
  retry(taskId: string) {
    return this.#command('retry', taskId);
  }
  change(taskId: string, change: TaskChange, seen?: Seen) {
    return this.#command('change', taskId, JSON.stringify(change), seen?.version ?? null);
  }
  suspend(taskId: string) {
    return this.#command('suspend', taskId);
  }

  move(taskId: string, to: 'first' | 'last') {
    return this.#command(to, taskId);
  }
  resume(taskId: string) {
    return this.#command('resume', taskId);
  }
  delete(taskId: string) {
    return this.#command('delete', taskId);
  }
  redeliver(taskId: string) {
    return this.#command('redeliver', taskId);
  }
  drainExecutor(executorId: string, timeoutMs: number | null, reason: string | null) {
    return this.#command('drain', executorId, timeoutMs, ...(reason === null ? [] : [reason]));
  }
  removeExecutor(executorId: string) {
    return this.#command('remove', executorId);
  }
  resumeExecutor(executorId: string) {
    return this.#command('resume', executorId);
  }
  changeSettings(settings: NewSettings) {
    return this.#command('settings', JSON.stringify(settings));
  }
  settings(): Settings {
    return NO_SETTINGS;
  }
  changeType(change: TypeChange) {
    return this.#command(change.type, JSON.stringify(change));
  }
  typeOf(name: string): TaskType | null {
    return this.types.get(name) ?? null;
  }
  async seenType(name: string): Promise<SeenTypeInDetail | null> {
    const taskType = this.types.get(name);
    return taskType === undefined ? null : { taskType, ...UNSEEN, constraint: null };
  }
  async typesAfter(): Promise<readonly SeenType[]> {
    return [...this.types.values()].map((taskType) => ({ taskType, ...UNSEEN }));
  }
  changePause(change: PauseChange) {
    return this.#command(change.type, JSON.stringify(change));
  }
  readonly pauseOf = () => null;
  pausesAfter(): [] {
    return [];
  }
  /** There are none. */
  jobs(): JobsHandle {
    return standInJobs((...what) => this.#command(...what));
  }
  /** There are none. */
  operations(): OperationsHandle {
    return {
      secrets: async () => ['c2VjcmV0'],
      preview: async () => ({ seqMax: 0, endedBefore: 0, count: 0, isExact: true, sample: [] }),
      begin: (workId) => this.#command('begin', workId),
      all: async () => [],
      of: async () => null,
      steer: (workId, to) => this.#command('steer', workId, to),
    };
  }
  changeBooking = (change: BookingChange) => this.#command(change.type, JSON.stringify(change));
  readonly booking = () => null;
  readonly bookings = () => [];
  changeLimit(change: LimitChange) {
    return this.#command(change.type, JSON.stringify(change));
  }
  seenLimit(): null {
    return null;
  }
  limitsAfter(): [] {
    return [];
  }
  changeView(change: ViewChange) {
    return this.#command(change.type, JSON.stringify(change));
  }
  views(): [] {
    return [];
  }
  relabelExecutor(executorId: string, override: Partial<Override>, _by: string | null) {
    return this.#command('relabel', executorId, JSON.stringify(override));
  }

  async find(taskId: string): Promise<ShownTask | null> {
    return this.stored.get(taskId) ?? null;
  }

  async #newest(query: ListQuery): Promise<TaskPage> {
    this.queries.push(query);
    const found = [...this.stored.values()]
      .filter(({ task }) => query.beforeSeq === null || task.seq < query.beforeSeq)
      .filter((one) => query.ran === undefined || hasRan(query.ran, one))
      .sort((a, b) => b.task.seq - a.task.seq);
    const tasks = found.slice(0, query.limit);
    const last = tasks.at(-1)?.task.seq ?? null;
    return { tasks, beforeSeq: found.length > tasks.length ? last : null };
  }

  countLive() {
    return { waiting: this.stored.size, held: 0, suspended: 0, offered: 0, running: 0 };
  }

  readonly lists: ListsHandle = {
    newest: (query) => this.#newest(query),
    failures: async () => ({ failures: [], beforeSeq: null }),
    inOrder: async () => ({ tasks: [], after: null }),
    countEnded: async () => 0,
    history: async () => ({ tasks: [...this.stored.values()], cursor: null }),
  };

  outlook(task: Task) {
    const message = 'No executor runs this type.';
    return {
      waiting: isAtRest(task) ? ({ reason: 'no_executor', message, ahead: 0 } as const) : null,
      end: this.end,
    };
  }

  async why() {
    const message = 'No executor runs this type.';
    const nowhere = { facts: {}, behind: [], ahead: null, estimate: null, change: null };
    return { reason: 'no_executor', message, ...nowhere } as const;
  }

  executors(): readonly Executor[] {
    return this.fleet;
  }

  seenExecutors(): readonly SeenExecutor[] {
    return this.fleet.map((executor) => {
      const { occupation } = executor;
      const now = { state: 'running', since: executor.offeredAt } as const;
      const current = occupation && { ...occupation, ...now };
      return { executor, record: null, isSuperseded: false, current, booked: null };
    });
  }

  seenExecutor(executorId: string): SeenExecutor | null {
    return this.seenExecutors().find(({ executor }) => executor.id === executorId) ?? null;
  }

  goneExecutors(): readonly ExecutorRecord[] {
    return this.gone;
  }

  async backlog() {
    const none = { types: [], groups: [], kept: [], limits: [] };
    return { ...none, cachedCount: this.stored.size, pendingCallbackCount: 0 };
  }

  fills() {
    return [{ bound: 'task_count', used: this.stored.size, limit: 10 }];
  }

  flow: Health | null = null;
  async health() {
    return this.flow;
  }

  post(): void {
    throw new Error('The access layer posts no events.');
  }

  async #command(...words: readonly (string | number | null)[]): Promise<CommandOutcome> {
    this.commands.push(words.join(' '));
    return this.commandOutcome;
  }
}

/** Some namespaces without engines: all of them have one master. */
export class StandInNamespaces implements NamespacesHandle {
  readonly #master: MasterHandle;
  readonly #records = new Map<string, NamespaceRecord>();

  constructor(master: MasterHandle) {
    this.#master = master;
    this.#add('default', {});
  }

  get status() {
    return this.#master.status;
  }

  storeTrouble: NamespacesHandle['storeTrouble'] = null;

  get leaders() {
    return [{ master: this.#master }];
  }

  async use<T>(name: string, work: (leader: { readonly master: MasterHandle }) => T | Promise<T>) {
    if (!this.#records.has(name)) throw new UnknownNamespace(name);
    const { master } = this.leaders[0]!;
    return work({
      master: name === 'default' ? master : Object.create(master, { namespace: { value: name } }),
    });
  }

  fills(): readonly Fill[] {
    return this.#master.fills();
  }

  list() {
    const byName = [...this.#records.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const counts = { waiting: 0, running: 0, held: 0 };
    return byName.map((record) => ({ record, counts, pausedCount: 0 }));
  }

  pauseOfAll: NamespacesHandle['pauseOfAll'] = null;

  async pauseAll(pause: Parameters<NamespacesHandle['pauseAll']>[0]): Promise<void> {
    this.pauseOfAll = pause && { at: NOW, ...pause };
  }

  async get(name: string) {
    const found = this.list().find(({ record }) => record.name === name);
    if (found === undefined) throw new UnknownNamespace(name);
    return found;
  }

  async put(name: string, change: NamespaceChange) {
    const isNew = !this.#records.has(name);
    this.#add(name, change);
    return { view: await this.get(name), isNew };
  }

  async delete(name: string): Promise<void> {
    if (name === 'default') throw new NamespaceInUse(name, 'it is always there');
    if (!this.#records.delete(name)) throw new UnknownNamespace(name);
  }

  #add(name: string, { paused, ...rest }: NamespaceChange): void {
    const known = this.#records.get(name) ?? {
      id: this.#records.size,
      name,
      createdAt: NOW,
      ...defaults,
    };
    const pause = paused === undefined ? known.paused : paused && { at: NOW, ...paused };
    this.#records.set(name, { ...known, ...rest, paused: pause });
  }
}

/** Of a body without an idempotency key. */
export function submissionOf(body: unknown): Submission {
  const bytes = Buffer.from(JSON.stringify(body));
  return runAtOnce(
    readSubmission(
      bytes,
      { start: 0, end: bytes.length },
      null,
      () => null,
      () => null,
    ),
  );
}

export function waitingTask(submission: Submission, seq: number): Task {
  const { runAt, assignTimeoutMs, startTimeoutAction, ...fields } = submission;
  return sampleTask({
    ...fields,
    seq,
    assignTimeoutMs: assignTimeoutMs ?? 5_000,
    startTimeoutAction: startTimeoutAction ?? 'fail',
    orderTime: NOW - fields.priority * 1_000,
    dueAt: runAt ?? NOW,
  });
}
