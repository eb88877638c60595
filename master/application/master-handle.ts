/** What the access layer may ask of the running master. Implemented by `master.ts`. */
import type { Backlog } from '../domain/views/backlog.ts';
import type { FeedHandle } from './feed.ts';
import type { JobsHandle } from './jobs/jobs-handle.ts';
import type { ListsHandle } from './lists/lists.ts';
import type { LogsHandle } from './logs/logs.ts';
import type { ReportsHandle } from './reports/reports-handle.ts';
import type { Fill } from '../domain/bounds.ts';
import type { CommandOutcome, SubmitOutcome } from '../domain/effects.ts';
import type {
  Event,
  LimitChange,
  NewSettings,
  NewTask,
  PauseChange,
  Only,
  Seen,
  TaskChange,
  TypeChange,
  ViewChange,
} from '../domain/events.ts';
import type { Booking, BookingChange } from '../domain/booking/booking.ts';
import type { Author } from '../domain/model/audit.ts';
import type { PauseScope, ScopedPause } from '../domain/model/pause.ts';
import type { Executor, ExecutorRecord, Override } from '../domain/model/executor.ts';
import type { SavedView } from '../domain/model/saved-view.ts';
import type { TaskType } from '../domain/model/task-type.ts';
import type { Settings } from '../domain/state/state.ts';
import type { ShownTask, StoredTask } from './ports.ts';
import type { Health } from '../domain/health/health.ts';
import type { Sight, TaskFilter } from '../domain/model/task-filter.ts';
import type { Task } from '../domain/model/task.ts';
import type { QueueEnd } from '../domain/queue/window.ts';
import type { SeenExecutor } from '../domain/views/executors.ts';
import type { Outlook } from '../domain/views/outlook.ts';
import type { Why } from '../domain/why/why.ts';
import type { OperationsHandle } from './operations/operations-handle.ts';
import type { SeenBooking } from '../domain/views/bookings.ts';
import type { SeenLimit } from '../domain/views/limits.ts';
import type { LiveCounts } from '../domain/views/live.ts';
import type { SeenType, SeenTypeInDetail } from '../domain/views/types.ts';

/**
 * `starting`: no term yet. `ready`: takes work. `recovering`: the store does not answer, or the
 * state is being rebuilt from it. `draining`: told to stop. `stopped`: over, as
 * told or because it was deposed.
 */
export type MasterStatus = 'starting' | 'ready' | 'recovering' | 'draining' | 'stopped';

export type CountQuery = Pick<TaskFilter, 'type' | 'group' | 'within'>;

/** A task as submitted, validated; whether its id is free is found out later. */
export type Submission = NewTask & {
  /** What the request said, where the type of the task has said more: by this a repetition is recognised. */
  readonly asked?: Omit<NewTask, 'id' | 'requestHash'>;
};

/** The master cannot answer now; whether the request took effect is unknown. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly retryAfterSeconds: number;

  /** @param options.cause What failed, for the log. */
  constructor(message: string, retryAfterSeconds = 1, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const starting = (): Unavailable => new Unavailable('the master is starting', 2);

/** What asked for no change has no outcome that could be unknown. */
export function unanswered(cause: unknown): Unavailable {
  const options = cause === undefined ? undefined : { cause };
  return new Unavailable('the store does not answer', 2, options);
}

/** Of a task in memory. Its accept number never leaves the master. */
export type HeldAttempt = Pick<
  Task,
  'seq' | 'state' | 'attempt' | 'executorId' | 'incarnation' | 'offeredAt'
>;

/** Whichever task it is by then, whatever has become of it. */
export const ANY_TASK: Seen = { seq: null, version: null };

/** Of one namespace. */
export interface MasterHandle {
  /** Its name. */
  readonly namespace: string;
  readonly status: MasterStatus;
  /** 0 before the first has begun. */
  readonly term: number;

  /** One outcome per task, in order, after the commit. @throws {Unavailable} */
  submit(tasks: readonly Submission[]): Promise<readonly SubmitOutcome[]>;
  /** The same for somebody: what is changed by it is kept as his; null: as nobody's. `asker`: who takes turns with others. */
  by(author: Author | null, asker?: string): MasterHandle;
  /** The same for commands on one task, as long as it is of that group: another is as if it were not there. */
  onlyOn(only: Only): MasterHandle;
  /** Resolves once the wish is durable, not once the attempt has ended. @throws {Unavailable} */
  cancel(taskId: string, reason?: string | null): Promise<CommandOutcome>;
  /** Runs a terminal task again, under the same id, with fresh attempts. @throws {Unavailable} */
  retry(taskId: string): Promise<CommandOutcome>;
  /** Changes a waiting task; `seen`: the one that is meant, as it was. @throws {Unavailable} */
  change(taskId: string, change: TaskChange, seen?: Seen): Promise<CommandOutcome>;
  /** Sets a task aside; as for `cancel`, the wish is durable then. @throws {Unavailable} */
  suspend(taskId: string, reason?: string | null): Promise<CommandOutcome>;
  /** Puts a suspended task back to its place. @throws {Unavailable} */
  resume(taskId: string): Promise<CommandOutcome>;
  /** Puts a waiting task before, or behind, all of its type that are due. @throws {Unavailable} */
  move(taskId: string, to: QueueEnd): Promise<CommandOutcome>;
  /** Leaves nothing of a terminal task. @throws {Unavailable} */
  delete(taskId: string): Promise<CommandOutcome>;
  /** Sends the callback of a terminal task again. @throws {Unavailable} */
  redeliver(taskId: string): Promise<CommandOutcome>;
  /** Gives it no new task; what still runs after `timeoutMs` is taken back. @throws {Unavailable} */
  drainExecutor(
    executorId: string,
    timeoutMs: number | null,
    reason: string | null,
    by: string | null,
  ): Promise<CommandOutcome>;
  /** Gives a drained executor tasks again. @throws {Unavailable} */
  resumeExecutor(executorId: string): Promise<CommandOutcome>;
  /** Forgets one that is gone, and what was decided about it. @throws {Unavailable} */
  removeExecutor(executorId: string): Promise<CommandOutcome>;
  /** They hold from here on: after this nothing is offered that they forbid. @throws {Unavailable} */
  changeSettings(settings: NewSettings): Promise<CommandOutcome>;
  /** As they hold now. @throws {Unavailable} nothing is known yet. */
  settings(): Settings;
  /** Changes what is set for a type. @throws {Unavailable} */
  changeType(change: TypeChange): Promise<CommandOutcome>;
  /** What is set for it now; null: nothing. @throws {Unavailable} nothing is known yet. */
  typeOf(name: string): TaskType | null;
  /** As the rows have it. Null: nobody knows of it. @throws {Unavailable} */
  seenType(name: string): Promise<SeenTypeInDetail | null>;
  /**
   * Up to `count` of them by name, after that one, as the rows have them; `among`: of these only.
   * @throws {Unavailable}
   */
  typesAfter(
    name: string,
    count: number,
    among?: readonly string[] | null,
  ): Promise<readonly SeenType[]>;
  /** Sets, changes or ends a pause: after this nothing is offered that it forbids. @throws {Unavailable} */
  changePause(change: PauseChange): Promise<CommandOutcome>;
  /** Null: it is not paused. @throws {Unavailable} nothing is known yet. */
  pauseOf(scope: PauseScope, value: string): ScopedPause | null;
  /** Up to `count` of those that are seen, after that place (`placeOf`). @throws {Unavailable} nothing is known yet. */
  pausesAfter(place: string, count: number, sight?: Sight): readonly ScopedPause[];
  /** Sets, changes or deletes a shared limit. @throws {Unavailable} */
  changeBooking(change: BookingChange): Promise<CommandOutcome>;
  /** Null: there is no such booking. @throws {Unavailable} nothing is known yet. */
  booking(id: string): SeenBooking | null;
  /** All of them as their rows are, also those that are over, for a while; in no order. @throws {Unavailable} nothing is known yet. */
  bookings(): readonly Booking[];
  changeLimit(change: LimitChange): Promise<CommandOutcome>;
  /** Null: there is no such limit. @throws {Unavailable} nothing is known yet. */
  seenLimit(name: string): SeenLimit | null;
  /** Up to `count` of them by name, after that one. @throws {Unavailable} nothing is known yet. */
  limitsAfter(name: string, count: number): readonly SeenLimit[];
  /** Saves a view, or deletes it. @throws {Unavailable} */
  changeView(change: ViewChange): Promise<CommandOutcome>;
  /** By name. @throws {Unavailable} nothing is known yet. */
  views(): readonly SavedView[];
  /** Sets what counts in place of its own labels; null: they count again. @throws {Unavailable} */
  relabelExecutor(
    executorId: string,
    override: Partial<Override>,
    by: string | null,
  ): Promise<CommandOutcome>;

  /**
   * From memory where the task is live and known there, else from the store. With all attempts
   * that are kept, large details left out; or with one attempt, whole. @throws {Unavailable}
   */
  find(taskId: string, attempt: 'all' | number): Promise<ShownTask | null>;
  /** How many live tasks there are in each state, from counters. @throws {Unavailable} nothing is known yet. */
  countLive(query: CountQuery): LiveCounts;
  /** Of tasks that are looked for. */
  readonly lists: ListsHandle;
  /** What has happened, as it is told. */
  readonly feed: FeedHandle;
  /** What tasks have logged. */
  readonly logs: LogsHandle;
  /** What was used, and how it was. */
  readonly reports: ReportsHandle;
  /** What is fired again and again. `sight`: of whoever asks; absent: all. */
  jobs(sight?: Sight): JobsHandle;
  /** On many tasks. `sight`: of whoever asks; absent: all. */
  operations(sight?: Sight): OperationsHandle;
  /** Why a task does not run yet, or when it ends. `isNaming`: false counts the tasks that come first, and names none. */
  outlook(task: Task, isNaming?: boolean): Outlook;
  /** Why a task is where it is, and what would start it; `isNaming` as above. @throws {Unavailable} nothing is known yet. */
  why(asked: StoredTask, isNaming?: boolean): Promise<Why>;
  executors(): readonly Executor[];
  /** The same, as people see them; `after`: only those whose key (`elderKey`) is greater. @throws {Unavailable} */
  seenExecutors(after?: string): readonly SeenExecutor[];
  /** The newest process of that id; null: there is none here. @throws {Unavailable} */
  seenExecutor(executorId: string): SeenExecutor | null;
  /** Of those that are not here: what is remembered of them. @throws {Unavailable} nothing is known yet. */
  goneExecutors(): readonly ExecutorRecord[];
  /** What waits and runs, from counters: cheap whatever the backlog. */
  backlog(): Promise<Backlog>;
  /** How the work flows that is seen; `sight`: absent: all. Null: nothing is known yet. @throws {Unavailable} too many ask. */
  health(sight?: Sight): Promise<Health | null>;
  /** How full is what would refuse, close or put off if it were full. */
  fills(): readonly Fill[];

  /** For the executor gateway: whose the newest attempt of a task in memory is. */
  attemptOf(taskId: string): HeldAttempt | null;
  /** For the executor gateway: how long that process has been silent; infinite where none is known. */
  silentMs(executorId: string): number;
  /** For the executor gateway: the newest process under an id, as far as anything is known of it. */
  executorOf(executorId: string): Executor | null;
  /** For the executor gateway. `frameBytes`: of the frame that the event came as. */
  post(event: Event, frameBytes?: number): void;
  /** So much waits for a turn that no further frame must be taken. */
  readonly isFull: boolean;
}
