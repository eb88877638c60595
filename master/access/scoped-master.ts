/**
 * A namespace as somebody may see and touch it. Every route is given one, so that none has to think of scopes:
 * what a scope leaves out is as if it were not there. Numbers are those of all, without names.
 */
import type { MasterHandle, Submission } from '../application/master-handle.ts';
import type { CountQuery } from '../application/master-handle.ts';
import type { Scope, ShownTask, StoredTask } from '../application/ports.ts';
import type { JobsHandle } from '../application/jobs/jobs-handle.ts';
import type { OperationsHandle } from '../application/operations/operations-handle.ts';
import type { CommandOutcome, SubmitOutcome } from '../domain/effects.ts';
import type { PauseChange, Seen, TaskChange, TypeChange } from '../domain/events.ts';
import type { Booking, BookingChange } from '../domain/booking/booking.ts';
import type { PauseScope, ScopedPause } from '../domain/model/pause.ts';
import type { SavedView } from '../domain/model/saved-view.ts';
import type { Task } from '../domain/model/task.ts';
import type { QueueEnd } from '../domain/queue/window.ts';
import type { SeenExecutor } from '../domain/views/executors.ts';
import type { SeenBooking } from '../domain/views/bookings.ts';
import type { SeenLimit } from '../domain/views/limits.ts';
import type { SeenType, SeenTypeInDetail } from '../domain/views/types.ts';
import type { Actor } from './auth.ts';
import { checkPause, outsideInWords } from './rights.ts';
import { includes, isPartial, narrowed } from './scope.ts';
import { scopedFeed } from './scoped-feed.ts';
import { narrow, scopedLists } from './scoped-lists.ts';
import { scopedJobs } from './scoped-jobs.ts';
import { scopedReports } from './scoped-reports.ts';

interface Forbidden {
  readonly kind: 'forbidden';
  readonly message: string;
}

/** What became of a task that was submitted. */
export type SubmitAnswer = SubmitOutcome | ({ readonly taskId: string } & Forbidden);
/** What became of a command on a task. */
export type CommandAnswer = CommandOutcome | Forbidden;

/** What routes may ask of a namespace. */
export type ScopedMaster = Pick<
  MasterHandle,
  | 'namespace'
  | 'cancel'
  | 'retry'
  | 'suspend'
  | 'resume'
  | 'move'
  | 'delete'
  | 'redeliver'
  | 'drainExecutor'
  | 'resumeExecutor'
  | 'removeExecutor'
  | 'relabelExecutor'
  | 'settings'
  | 'changeType'
  | 'typeOf'
  | 'seenType'
  | 'typesAfter'
  | 'changePause'
  | 'pauseOf'
  | 'pausesAfter'
  | 'booking'
  | 'bookings'
  | 'changeLimit'
  | 'seenLimit'
  | 'limitsAfter'
  | 'find'
  | 'countLive'
  | 'status'
  | 'lists'
  | 'views'
  | 'changeView'
  | 'outlook'
  | 'why'
  | 'feed'
  | 'health'
  | 'logs'
  | 'reports'
  | 'seenExecutors'
  | 'seenExecutor'
  | 'goneExecutors'
> & {
  /** As `MasterHandle.submit`; those that are not in the scope are refused, each by itself. */
  submit(tasks: readonly Submission[]): Promise<readonly SubmitAnswer[]>;
  changeBooking(change: BookingChange): Promise<CommandAnswer>;
  /** As `MasterHandle.change`; the group that it is to have must be in the scope too. */
  change(taskId: string, change: TaskChange, seen?: Seen): Promise<CommandAnswer>;
  operations(): OperationsHandle;
  jobs(): JobsHandle;
};

export function within(actor: Actor, master: MasterHandle): ScopedMaster {
  const { scope } = actor;
  return scope !== null && isPartial(scope) ? new PartOfMaster(actor, scope, master) : master;
}

const UNKNOWN: CommandOutcome = { kind: 'unknown', message: 'no such task is retained' };

/** Of whoever may not see all groups, or not all types. */
class PartOfMaster implements ScopedMaster {
  readonly #actor: Actor;
  readonly #scope: Scope;
  readonly #master: MasterHandle;
  readonly namespace: string;
  readonly logs: MasterHandle['logs'];
  readonly changeView = refuse;
  readonly changeLimit = refuse;
  readonly drainExecutor = refuse;
  readonly resumeExecutor = refuse;
  readonly removeExecutor = refuse;
  readonly relabelExecutor = refuse;

  constructor(actor: Actor, scope: Scope, master: MasterHandle) {
    this.#actor = actor;
    this.#scope = scope;
    this.#master = master;
    this.namespace = master.namespace;
    this.logs = master.logs;
  }

  async submit(tasks: readonly Submission[]): Promise<readonly SubmitAnswer[]> {
    const refusals = tasks.map((task) => this.#refusalOf(task));
    const allowed = tasks.filter((_, index) => refusals[index] === null);
    const outcomes = allowed.length === 0 ? [] : await this.#master.submit(allowed);
    const rest = outcomes.values();
    return tasks.map(({ id: taskId }, index) => {
      const message = refusals[index] ?? null;
      if (message !== null) return { taskId, kind: 'forbidden', message };
      const outcome = rest.next().value;
      if (outcome === undefined) throw new Error('The engine gave no outcome for a task.');
      return outcome;
    });
  }

  #refusalOf({
    type,
    user: { group },
  }: {
    readonly type: string;
    readonly user: { readonly group: string };
  }): string | null {
    if (!this.#includesType(type)) return outsideInWords(this.#actor, 'types', type);
    return this.#refusalOfGroup(group);
  }

  #refusalOfGroup(group: string): string | null {
    if (includes(this.#scope, 'groups', group)) return null;
    return outsideInWords(this.#actor, 'groups', group);
  }

  cancel(taskId: string, reason: string | null = null): Promise<CommandOutcome> {
    return this.#onTask(taskId, (master) => master.cancel(taskId, reason));
  }

  retry(taskId: string): Promise<CommandOutcome> {
    return this.#onTask(taskId, (master) => master.retry(taskId));
  }

  async change(taskId: string, change: TaskChange, seen?: Seen): Promise<CommandAnswer> {
    const { group } = change.user ?? {};
    const message = group === undefined ? null : this.#refusalOfGroup(group);
    if (message !== null) return { kind: 'forbidden', message };
    return this.#onTask(taskId, (master) => master.change(taskId, change, seen));
  }

  suspend(taskId: string, reason: string | null = null): Promise<CommandOutcome> {
    return this.#onTask(taskId, (master) => master.suspend(taskId, reason));
  }

  resume(taskId: string): Promise<CommandOutcome> {
    return this.#onTask(taskId, (master) => master.resume(taskId));
  }

  move(taskId: string, to: QueueEnd): Promise<CommandOutcome> {
    return this.#onTask(taskId, (master) => master.move(taskId, to));
  }

  delete(taskId: string): Promise<CommandOutcome> {
    return this.#onTask(taskId, (master) => master.delete(taskId));
  }

  redeliver(taskId: string): Promise<CommandOutcome> {
    return this.#onTask(taskId, (master) => master.redeliver(taskId));
  }

  /** One that is not seen is unknown, in the same words as one that is not there. */
  async #onTask(
    taskId: string,
    run: (master: MasterHandle) => Promise<CommandOutcome>,
  ): Promise<CommandOutcome> {
    const shown = await this.find(taskId, 'all');
    if (shown === null) return UNKNOWN;
    const { seq, user } = shown.task;
    return run(this.#master.onlyOn({ seq, group: user.group }));
  }

  async find(taskId: string, attempt: 'all' | number): Promise<ShownTask | null> {
    const shown = await this.#master.find(taskId, attempt);
    return shown !== null && this.#sees(shown.task) ? shown : null;
  }

  get lists() {
    return scopedLists(this.#actor, this.#scope, this.#master.lists);
  }

  get status() {
    return this.#master.status;
  }

  countLive(query: CountQuery) {
    const within = narrow(this.#scope, query) ?? { types: [], groups: [] };
    return this.#master.countLive({ ...query, within });
  }

  operations(): OperationsHandle {
    const { groups, types } = this.#scope;
    return this.#master.operations({ groups, types });
  }

  jobs(): JobsHandle {
    const { groups, types } = this.#scope;
    return scopedJobs(this.#actor, this.#scope, this.#master.jobs({ groups, types }));
  }

  health() {
    return this.#master.health(this.#scope);
  }

  get feed() {
    return scopedFeed(this.#scope, this.#master.feed);
  }

  get reports() {
    return scopedReports(this.#scope, this.#master.reports);
  }

  outlook(task: Task) {
    return this.#master.outlook(task, this.#scope.groups === null);
  }

  why(asked: StoredTask) {
    return this.#master.why(asked, this.#scope.groups === null);
  }

  settings() {
    return this.#master.settings();
  }

  typeOf(name: string) {
    return this.#includesType(name) ? this.#master.typeOf(name) : null;
  }

  async seenType(name: string): Promise<SeenTypeInDetail | null> {
    const seen = this.#includesType(name) ? await this.#master.seenType(name) : null;
    // The first of its tasks may be of another group.
    const constraint = this.#scope.groups === null && seen !== null ? seen.constraint : null;
    return seen && { ...this.#shownType(seen), constraint };
  }

  async typesAfter(
    name: string,
    count: number,
    among: readonly string[] | null = null,
  ): Promise<readonly SeenType[]> {
    const names = narrowed(this.#scope.types, among);
    const found = await this.#master.typesAfter(name, count, names);
    return found.map((seen) => this.#shownType(seen));
  }

  /** The weights of a definition name groups. */
  #shownType(seen: SeenType): SeenType {
    const { groups } = this.#scope;
    if (groups === null) return seen;
    const { taskType } = seen;
    const { group_weights: weights, ...definition } = JSON.parse(taskType.text) as {
      readonly group_weights?: Readonly<Record<string, number>>;
    };
    if (weights === undefined) return seen;
    const shown = Object.entries(weights).filter(([group]) => groups.includes(group));
    const text = JSON.stringify({ ...definition, group_weights: Object.fromEntries(shown) });
    return { ...seen, taskType: { ...taskType, text } };
  }

  async changeBooking(change: BookingChange): Promise<CommandAnswer> {
    if (change.type !== 'bookingRequested') {
      const { types } = this.#scope;
      if (types !== null && this.booking(change.bookingId) === null)
        return { kind: 'unknown', message: 'there is no such booking' };
      return this.#master.changeBooking({ ...change, groups: this.#scope.groups });
    }
    const { type, group } = change.booking;
    const message = this.#refusalOf({ type, user: { group } });
    return message === null ? this.#master.changeBooking(change) : { kind: 'forbidden', message };
  }

  booking(id: string): SeenBooking | null {
    const found = this.#master.booking(id);
    return found !== null && this.#includesBooking(found.booking) ? found : null;
  }

  bookings(): readonly Booking[] {
    return this.#master.bookings().filter((booking) => this.#includesBooking(booking));
  }

  #includesBooking({ type, group }: Booking): boolean {
    return this.#includesType(type) && (this.#scope.groups?.includes(group) ?? true);
  }

  seenLimit(name: string): SeenLimit | null {
    const seen = this.#master.seenLimit(name);
    return seen && { ...seen, places: [] };
  }

  /** Their places are hosts and labels of whatever executors there are. */
  limitsAfter(name: string, count: number): readonly SeenLimit[] {
    return this.#master.limitsAfter(name, count).map((seen) => ({ ...seen, places: [] }));
  }

  seenExecutors(after?: string): readonly SeenExecutor[] {
    return this.#master
      .seenExecutors(after)
      .filter((one) => this.#seesExecutor(one))
      .map((one) => this.#shownExecutor(one));
  }

  seenExecutor(executorId: string): SeenExecutor | null {
    const one = this.#master.seenExecutor(executorId);
    return one !== null && this.#seesExecutor(one) ? this.#shownExecutor(one) : null;
  }

  #seesExecutor({ executor: { types } }: SeenExecutor): boolean {
    return types.some((type) => this.#includesType(type));
  }

  /** What else it runs and ran is nobody's business; that it is busy, is. */
  #shownExecutor(one: SeenExecutor): SeenExecutor {
    const { executor, current, booked } = one;
    const includesTask = ({ type, group }: { readonly type: string; readonly group: string }) =>
      this.#includesType(type) && includes(this.#scope, 'groups', group);
    const types = executor.types.filter((type) => this.#includesType(type));
    return {
      ...one,
      executor: { ...executor, types, past: executor.past.filter(includesTask) },
      current: current !== null && includesTask(current) ? current : null,
      booked: booked && (includesTask(booked) ? booked : { ...booked, id: null }),
    };
  }

  /** Nobody knows which types they ran. */
  goneExecutors() {
    return this.#scope.types === null ? this.#master.goneExecutors() : [];
  }

  changeType(change: TypeChange): Promise<CommandOutcome> {
    if (this.#scope.groups !== null || !this.#includesType(change.name)) throw beyond();
    return this.#master.changeType(change);
  }

  changePause(change: PauseChange): Promise<CommandOutcome> {
    checkPause(this.#actor, change.scope, change.value);
    return this.#master.changePause(change);
  }

  pauseOf(scope: PauseScope, value: string): ScopedPause | null {
    return this.#master.pauseOf(scope, value);
  }

  pausesAfter(place: string, count: number): readonly ScopedPause[] {
    const { groups, types } = this.#scope;
    return this.#master.pausesAfter(place, count, { groups, types });
  }

  /** Those that ask for nothing else than what may be seen: the others may name what may not. */
  views(): readonly SavedView[] {
    const { types, groups } = this.#scope;
    return this.#master.views().filter(({ query }) => {
      const { type = '', group = '' } = JSON.parse(query) as { type?: string; group?: string };
      return (types?.includes(type) ?? true) && (groups?.includes(group) ?? true);
    });
  }

  #includesType(type: string): boolean {
    return includes(this.#scope, 'types', type);
  }

  #sees({ type, user: { group } }: Task): boolean {
    return this.#includesType(type) && includes(this.#scope, 'groups', group);
  }
}

/** `rights.ts` lets nobody come so far. */
function beyond(): Error {
  return new Error('A token whose scope does not include this has come to a route that does it.');
}

function refuse(): never {
  throw beyond();
}
