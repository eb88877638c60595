/** What the access layer asks, put to the engine and the store. Holds no state of its own. */
import { type Backlog, backlogOf, NO_BACKLOG } from '../domain/views/backlog.ts';
import { AHEAD_COUNT_MAX, type Fill } from '../domain/bounds.ts';
import type { CommandOutcome, SubmitOutcome } from '../domain/effects.ts';
import type {
  Command,
  Event,
  LimitChange,
  NewSettings,
  Only,
  PauseChange,
  TaskChange,
  TypeChange,
  ViewChange,
} from '../domain/events.ts';
import type { Booking, BookingChange } from '../domain/booking/booking.ts';
import { withInstead } from '../domain/booking/refusal.ts';
import type { Author } from '../domain/model/audit.ts';
import type { PauseScope, ScopedPause } from '../domain/model/pause.ts';
import type { Executor, ExecutorRecord, Override } from '../domain/model/executor.ts';
import {
  goneExecutors,
  type SeenExecutor,
  seenExecutor,
  seenExecutors,
} from '../domain/views/executors.ts';
import { type Outlook, outlookOf } from '../domain/views/outlook.ts';
import { type Why, whyOf } from '../domain/why/why.ts';
import type { SavedView } from '../domain/model/saved-view.ts';
import type { TaskType } from '../domain/model/task-type.ts';
import type { Settings, State } from '../domain/state/state.ts';
import { pauseOf, pausesAfter } from '../domain/views/pauses.ts';
import { type SeenBooking, seenBooking } from '../domain/views/bookings.ts';
import { limitsAfter, type SeenLimit, seenLimit } from '../domain/views/limits.ts';
import { countLive, type LiveCounts } from '../domain/views/live.ts';
import {
  type SeenType,
  type SeenTypeInDetail,
  seenType,
  typesAfter,
} from '../domain/views/types.ts';
import { type Health, healthOf } from '../domain/health/health.ts';
import { Outcomes } from '../domain/health/outcomes.ts';
import { ALL, type Sight } from '../domain/model/task-filter.ts';
import type { Task } from '../domain/model/task.ts';
import { positionOf } from '../domain/queue/agenda.ts';
import type { QueueEnd } from '../domain/queue/window.ts';
import type { Engine } from './engine/engine.ts';
import { fillsIn } from './engine/fills.ts';
import { Feed } from './feed.ts';
import { Jobs } from './jobs/jobs.ts';
import { Lists } from './lists/lists.ts';
import { Logs } from './logs/logs.ts';
import type { MasterOptions } from './master-options.ts';
import {
  ANY_TASK,
  type CountQuery,
  type HeldAttempt,
  type MasterHandle,
  type MasterStatus,
  starting,
  type Submission,
  unanswered,
  Unavailable,
} from './master-handle.ts';
import { Operations } from './operations/operations.ts';
import { Reports } from './reports/reports.ts';
import { Submissions } from './submissions.ts';
import type { ShownTask, StoredTask, TaskStore } from './ports.ts';
import { inPieces, TooMany, type Turnstiles, turnstiles, whileAsked } from './turnstile.ts';

/** A task or some ids; and a page, which may have to look at many rows. */
const READ_MS_MAX = 4_000;
const LIST_MS_MAX = 10_000;

export class Master implements MasterHandle {
  readonly #options: MasterOptions & Required<Pick<MasterOptions, 'turnstiles' | 'submissions'>>;
  readonly #engine: Engine;
  readonly #store: TaskStore;
  readonly namespace: string;
  readonly feed: Feed;
  readonly lists: Lists;
  readonly logs: Logs;
  readonly reports: Reports;

  constructor(options: MasterOptions) {
    const { engine, store, turnstiles: lines = turnstiles() } = options;
    const findIds = (ids: readonly string[]) => this.#read(() => store.findIds(ids));
    const submissions = options.submissions ?? new Submissions(engine, findIds);
    this.#options = { ...options, turnstiles: lines, submissions };
    this.#engine = engine;
    this.#store = store;
    this.namespace = options.namespace;
    this.feed = new Feed(options, (work) => this.#inTurn('eventPages', work));
    this.logs = new Logs(options, (work) => this.#inTurn('eventPages', work));
    const inTurn = <T>(work: () => Promise<T>) => this.#inTurn('lists', work);
    this.lists = new Lists(store, () => this.#known(), inTurn);
    this.reports = new Reports(options, (work) => this.#inTurn('reports', work));
  }

  by(author: Author | null, asker?: string): Master {
    return new Master({ ...this.#options, author, asker });
  }

  onlyOn(only: Only): Master {
    return new Master({ ...this.#options, only });
  }

  get status(): MasterStatus {
    return this.#engine.status;
  }

  get isFull(): boolean {
    return this.#engine.mailbox.isFull;
  }

  get term(): number {
    return this.#engine.term;
  }

  submit(tasks: readonly Submission[]): Promise<readonly SubmitOutcome[]> {
    return this.#options.submissions.submit(tasks);
  }

  cancel(taskId: string, reason: string | null = null): Promise<CommandOutcome> {
    return this.#command({ type: 'cancelRequested', taskId, reason });
  }

  retry(taskId: string): Promise<CommandOutcome> {
    return this.#command({ type: 'retryRequested', taskId });
  }

  change(taskId: string, change: TaskChange, seen = ANY_TASK): Promise<CommandOutcome> {
    return this.#command({ type: 'changeRequested', taskId, change, seen });
  }

  suspend(taskId: string, reason: string | null = null): Promise<CommandOutcome> {
    const by = this.#options.author?.actor ?? null;
    return this.#command({ type: 'suspendRequested', taskId, reason, by });
  }

  resume(taskId: string): Promise<CommandOutcome> {
    return this.#command({ type: 'taskResumeRequested', taskId });
  }

  move(taskId: string, to: QueueEnd): Promise<CommandOutcome> {
    return this.#command({ type: 'moveRequested', taskId, to });
  }

  delete(taskId: string): Promise<CommandOutcome> {
    return this.#command({ type: 'deleteRequested', taskId });
  }

  redeliver(taskId: string): Promise<CommandOutcome> {
    return this.#command({ type: 'redeliverRequested', taskId });
  }

  drainExecutor(
    executorId: string,
    timeoutMs: number | null,
    reason: string | null,
    by: string | null,
  ): Promise<CommandOutcome> {
    return this.#command({ type: 'drainRequested', executorId, timeoutMs, reason, by });
  }

  resumeExecutor(executorId: string): Promise<CommandOutcome> {
    return this.#command({ type: 'resumeRequested', executorId });
  }

  removeExecutor(executorId: string): Promise<CommandOutcome> {
    return this.#command({ type: 'removeRequested', executorId });
  }

  changeSettings(settings: NewSettings): Promise<CommandOutcome> {
    return this.#command({ type: 'settingsChanged', ...settings });
  }

  settings(): Settings {
    return this.#known().settings;
  }

  changeType(change: TypeChange): Promise<CommandOutcome> {
    return this.#command(change);
  }

  typeOf(name: string): TaskType | null {
    return this.#known().types.get(name) ?? null;
  }

  seenType(name: string): Promise<SeenTypeInDetail | null> {
    return this.#look((state) => seenType(state, name, this.#options.clock.now()));
  }

  typesAfter(
    name: string,
    count: number,
    among: readonly string[] | null = null,
  ): Promise<readonly SeenType[]> {
    return this.#look((state) => typesAfter(state, name, count, among));
  }

  #look<T>(at: (state: State) => T): Promise<T> {
    return this.#engine.storeWatch.whileItAnswers(this.#engine.look(at));
  }

  changePause(change: PauseChange): Promise<CommandOutcome> {
    return this.#command(change);
  }

  pauseOf(scope: PauseScope, value: string): ScopedPause | null {
    return pauseOf(this.#known(), scope, value);
  }

  pausesAfter(place: string, count: number, sight?: Sight): readonly ScopedPause[] {
    return pausesAfter(this.#known(), place, count, sight);
  }

  async changeBooking(change: BookingChange): Promise<CommandOutcome> {
    const { clock, turnstiles: lines, asker } = this.#options;
    const outcome = await this.#command(change);
    const { state } = this.#engine;
    if (!('refusal' in outcome) || state === null) return outcome;
    const look = () => inPieces(withInstead(state, outcome, clock.now()), clock);
    const { storeWatch } = this.#engine;
    const looked = whileAsked((gone) =>
      storeWatch.whileItAnswers(lines.lists.during(look, gone, asker), READ_MS_MAX),
    );
    return looked.catch((error: unknown) => {
      // It is refused, whether there is time to look for another or not.
      if (error instanceof Unavailable) return outcome;
      throw error;
    });
  }

  booking(id: string): SeenBooking | null {
    return seenBooking(this.#known(), id);
  }

  bookings(): readonly Booking[] {
    return [...this.#known().bookings.byId.values()];
  }

  changeLimit(change: LimitChange): Promise<CommandOutcome> {
    return this.#command(change);
  }

  seenLimit(name: string): SeenLimit | null {
    return seenLimit(this.#known(), name);
  }

  limitsAfter(name: string, count: number): readonly SeenLimit[] {
    return limitsAfter(this.#known(), name, count);
  }

  changeView(change: ViewChange): Promise<CommandOutcome> {
    return this.#command(change);
  }

  views(): readonly SavedView[] {
    return [...this.#known().views.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @throws {Unavailable} nothing is. */
  #known(): State {
    const { state } = this.#engine;
    if (state === null) throw starting();
    return state;
  }

  relabelExecutor(
    executorId: string,
    override: Partial<Override>,
    by: string | null,
  ): Promise<CommandOutcome> {
    return this.#command({ type: 'relabelRequested', executorId, override, by });
  }

  async #command(command: Command): Promise<CommandOutcome> {
    const { author, only } = this.#options;
    const by = { ...(author && { author }), ...(only && { only }) };
    const answer = this.#engine.request((request) => ({ request, ...by, ...command }));
    return (await this.#engine.storeWatch.whileItAnswers(answer)) as CommandOutcome;
  }

  async find(taskId: string, attempt: 'all' | number): Promise<ShownTask | null> {
    const stored = await this.#read(() => this.#store.showTask(taskId, attempt));
    const live = this.#engine.state?.tasks.get(taskId);
    // Memory is ahead of the row by what is written lazily: that it runs, and how far it is.
    if (stored === null || live === undefined) return stored;
    // A version is told once it is durable; who names it is refused if there is a later one by then.
    const { version } = stored.task;
    return { ...stored, task: live.version === version ? live : { ...live, version } };
  }

  countLive(query: CountQuery): LiveCounts {
    return countLive(this.#known(), query);
  }

  #inTurn<T>(line: keyof Turnstiles, work: (gone: AbortSignal) => Promise<T>): Promise<T> {
    const { turnstiles: lines, asker } = this.#options;
    return this.#read((gone) => lines[line].during(work, gone, asker), LIST_MS_MAX);
  }

  jobs(sight: Sight = ALL): Jobs {
    const { store, clock } = this.#options;
    const known = () => this.#known();
    const read = <T>(work: (gone: AbortSignal) => Promise<T>) => this.#inTurn('lists', work);
    const preview = <T>(work: (gone: AbortSignal) => Promise<T>) => this.#inTurn('previews', work);
    const command = (asked: Command) => this.#command(asked);
    return new Jobs({ store, clock, known, read, preview, command }, sight);
  }

  operations(sight: Sight = { groups: null, types: null }): Operations {
    const { store, clock } = this.#options;
    const look = <T>(at: (state: State) => T) => this.#look(at);
    const search = <T>(work: () => Promise<T>) => this.#inTurn('lists', work);
    const command = (asked: Command) => this.#command(asked);
    return new Operations({ store, clock, look, search, command }, sight);
  }

  #read<T>(work: (gone: AbortSignal) => Promise<T>, withinMs = READ_MS_MAX): Promise<T> {
    // Before the first term nobody knows which tables there are: a task would seem not to be there.
    if (this.#engine.state === null) return Promise.reject(starting());
    const { storeWatch } = this.#engine;
    const asked = whileAsked((gone) => storeWatch.whileItAnswers(work(gone), withinMs));
    return asked.catch((error: unknown) => {
      if (error instanceof TooMany) throw error;
      throw unanswered(error instanceof Unavailable ? undefined : error);
    });
  }

  outlook(task: Task, isNaming = true): Outlook {
    return outlookOf(this.#engine.state, task, this.#options.clock.now(), isNaming);
  }

  async why(asked: StoredTask, isNaming = true): Promise<Why> {
    const { gate } = asked.task;
    const place = positionOf(asked.task);
    const count = () => this.#store.countHeldBefore(gate ?? 0, place, AHEAD_COUNT_MAX);
    const heldBefore = gate === null ? 0 : await this.#read(count);
    return whyOf(this.#known(), { ...asked, heldBefore }, this.#options.clock.now(), isNaming);
  }

  executors(): readonly Executor[] {
    const { state } = this.#engine;
    return state === null ? [] : [...state.executors.values(), ...state.elders.values()];
  }

  seenExecutors(after?: string): readonly SeenExecutor[] {
    return seenExecutors(this.#known(), after);
  }

  seenExecutor(executorId: string): SeenExecutor | null {
    return seenExecutor(this.#known(), executorId);
  }

  goneExecutors(): readonly ExecutorRecord[] {
    // Whoever waits for an executor to run nothing must not take an empty list for that.
    return goneExecutors(this.#known());
  }

  async backlog(): Promise<Backlog> {
    const { clock } = this.#options;
    const { state } = this.#engine;
    return state === null ? NO_BACKLOG : inPieces(backlogOf(state, clock.now()), clock);
  }

  health(sight = ALL): Promise<Health | null> {
    const { clock, outcomes = new Outcomes(clock.now()), turnstiles: lines, asker } = this.#options;
    const look = async () => {
      const { state } = this.#engine;
      return state && inPieces(healthOf(state, outcomes, clock.now(), sight), clock);
    };
    return lines.health.during(look, undefined, asker);
  }

  fills(): readonly Fill[] {
    return fillsIn(this.#engine, this.#options.turnstiles);
  }

  executorOf(executorId: string): Executor | null {
    return this.#engine.state?.executors.get(executorId) ?? null;
  }

  silentMs(executorId: string): number {
    const { state } = this.#engine;
    const newest = state?.executors.get(executorId);
    // By the time of the state: the clock may have been set since.
    return state && newest ? state.lastTickAt - newest.lastSeenAt : Number.POSITIVE_INFINITY;
  }

  attemptOf(taskId: string): HeldAttempt | null {
    return this.#engine.state?.tasks.get(taskId) ?? null;
  }

  post(event: Event, frameBytes = 0): void {
    this.#engine.post(event, frameBytes);
  }
}
