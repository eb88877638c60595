/** What a step asks for: rows to write (`changes.ts`) and, once they are durable, things to do (`Effect`). */
import type { Severity } from './alerts/rule.ts';
import type { Refusal } from './booking/booking.ts';
import type { FreeWindow } from './plan/free.ts';
import type { Change } from './changes.ts';
import type { Event, RequestId } from './events.ts';
import type { FeedEvent } from './feed/feed-event.ts';
import type { JobChange } from './jobs/job-events.ts';
import type { Readiness } from './model/executor.ts';
import type { Trigger } from './model/job.ts';
import type { TaskType } from './model/task-type.ts';
import type { AttemptRecord, CancelReason, EndedTask, Notification, Task } from './model/task.ts';
import type { UsageDelta } from './usage/usage.ts';
import type { Work } from './long-work/work.ts';

/** What became of one submitted task. `access/http/answers.ts` says what each kind is on the wire. */
export type SubmitOutcome =
  | { readonly taskId: string; readonly kind: 'accepted' }
  /** The id is in use, by a task of a request with this digest; empty where nobody chose the id. */
  | { readonly taskId: string; readonly kind: 'taken'; readonly holderHash: string }
  /** Its params do not fit its type, or it uses a limit that there is not. */
  | {
      readonly taskId: string;
      readonly kind: 'misfit';
      readonly missingLimit?: string;
      /** It is not for the booking that it names. */
      readonly wrong?: { readonly field: string; readonly message: string };
    }
  /** There is no such booking, or it is over. */
  | { readonly taskId: string; readonly kind: 'unknown' | 'conflict'; readonly message: string }
  /** Its deadline is not after `now`. */
  | { readonly taskId: string; readonly kind: 'overdue'; readonly now: number }
  /** Too much waits already; or no task is taken any more. */
  | { readonly taskId: string; readonly kind: 'full' | 'closed'; readonly message: string }
  | ({ readonly taskId: string } & LimitReached);

/** What an operator has set as a limit is reached. */
export interface LimitReached {
  readonly kind: 'limited';
  /** `max_waiting`, of all tasks; or the way to it in what is set for the type. */
  readonly limit: string;
  readonly message: string;
}

/** What became of a command on one task or executor. */
export type CommandOutcome =
  /**
   * `lasting`: of a drain, whether it outlives the process of the executor. `taskType`: as it is now;
   * `isNew`: it was not registered. `version`: of a task that was changed.
   */
  | {
      readonly kind: 'done';
      readonly lasting?: boolean;
      readonly taskType?: TaskType;
      readonly isNew?: boolean;
      readonly version?: number;
      /** Of a job, as they are now. */
      readonly triggers?: readonly Trigger[];
      /** What was run; `nominal` is null where it had been before. */
      readonly run?: { readonly taskId: string; readonly nominal: number | null };
    }
  /**
   * There is no such thing; its state does not allow it; it has changed since; there is no room; or what is
   * asked for cannot be.
   */
  | {
      readonly kind: 'unknown' | 'conflict' | 'stale' | 'full' | 'misfit';
      readonly message: string;
      /** Of what was asked for, the part that cannot be. */
      readonly field?: string;
      /** Of a booking that has no room: by that it is looked for what else would fit. */
      readonly refusal?: Refusal;
      /** When there would be room for a booking. */
      readonly free?: readonly FreeWindow[];
      /** What an operator has set, and leaves it no room; by the name that it has where a limit is reached. */
      readonly limit?: string;
    }
  | LimitReached;

/** Why it is not done, with the part that cannot be. */
export function refusalInWords({
  field,
  message,
}: {
  readonly field?: string;
  readonly message: string;
}): string {
  return field === undefined ? message : `${field}: ${message}`;
}

/** The answer to a request; which of the two follows from the event that asked. */
export type Reply = readonly SubmitOutcome[] | CommandOutcome;

/** What a master says to an executor, before the session numbers it. */
export type ExecutorCommand =
  | { readonly type: 'assign'; readonly task: Task }
  | {
      readonly type: 'cancel';
      readonly taskId: string;
      readonly attempt: number;
      readonly reason: CancelReason | 'stale_attempt';
      readonly graceMs: number;
    }
  | { readonly type: 'drain'; readonly draining: boolean }
  /** Which booking has it from now on; null: none any more. */
  | { readonly type: 'booking'; readonly booking: AnnouncedBooking | null };

/** What an executor may get ready for. */
export interface AnnouncedBooking {
  readonly id: string;
  readonly type: string;
  readonly from: number;
  readonly to: number;
  /** Of its tasks that wait those that are known: it may be given one of them. */
  readonly tasks: readonly Pick<Task, 'id' | 'params'>[];
}

/** Something worth a log line or a counter; it changes nothing. */
export type Observation =
  | { readonly event: 'task_accepted'; readonly task: Task }
  | { readonly event: 'task_started'; readonly task: Task; readonly waitedMs: number }
  /** It still waits, or is only now started, though its start timeout has passed: once each time. */
  | { readonly event: 'start_overdue'; readonly task: Task }
  /** Tasks that were found in the store only with their time over, and how many of them have ended. */
  | { readonly event: 'overdue_swept'; readonly foundCount: number; readonly doneCount: number }
  /** Of an operation on many tasks. */
  | { readonly event: 'work_ended'; readonly work: Work }
  /** What became of a nominal time of a trigger; `lateMs`: how much later than it was to. */
  | {
      readonly event: 'trigger_decided';
      readonly job: string;
      readonly trigger: string;
      readonly outcome: 'ran' | 'pending' | 'skipped' | 'merged';
      readonly lateMs: number;
    }
  /** It was to be run, and could not be. */
  | {
      readonly event: 'fire_refused';
      readonly job: string;
      readonly trigger: string;
      readonly nominal: number;
      readonly reason: string;
    }
  | {
      readonly event: 'trigger_paused';
      readonly job: string;
      readonly trigger: string;
      readonly reason: string;
    }
  /** The state was built from rows. */
  | { readonly event: 'restored'; readonly taskCount: number }
  | { readonly event: 'attempt_ended'; readonly task: Task; readonly attempt: AttemptRecord }
  | { readonly event: 'task_finished'; readonly task: Task }
  /** Its executor has something to say that people have to know. */
  | {
      readonly event: 'alert_said';
      readonly task: Task;
      readonly severity: Severity;
      readonly message: string;
      /** JSON text of an object; null: nothing. */
      readonly fields: string | null;
    }
  /** The same, and too often. */
  | { readonly event: 'alert_left_out'; readonly task: Task }
  | {
      readonly event: 'stale_attempt';
      readonly taskId: string;
      readonly attempt: number;
      readonly executorId: string;
    }
  | {
      readonly event: 'executor_joined';
      readonly executorId: string;
      readonly host: string;
      /** False: its process has made the id, and nobody else will ever have it. */
      readonly lasting: boolean;
      readonly types: readonly string[];
    }
  /** Taken leave of in order, holding nothing. */
  | { readonly event: 'executor_left'; readonly executorId: string }
  | {
      readonly event: 'executor_lost';
      readonly executorId: string;
      readonly reason: string;
      readonly lastSeenAt: number;
    }
  /** It has become ready or is no more, or for another reason. */
  | {
      readonly event: 'executor_readiness';
      readonly executorId: string;
      readonly readiness: Readiness;
    }
  | {
      readonly event: 'notification_tried';
      readonly notification: Notification;
      readonly outcome: 'delivered' | 'gone' | 'failed';
    }
  /** Delivered or given up: it is tried no more, unless somebody asks for it. */
  | { readonly event: 'notification_ended'; readonly notification: Notification };

/** Imperative. Performed in order, and only after the commit of the turn that asked for it. */
export type Effect =
  | { readonly type: 'reply'; readonly request: RequestId; readonly reply: Reply }
  | { readonly type: 'confirmFrame'; readonly sessionId: string; readonly frameSeq: number }
  | {
      readonly type: 'sendToExecutor';
      readonly sessionId: string;
      readonly command: ExecutorCommand;
    }
  | {
      readonly type: 'closeSession';
      readonly sessionId: string;
      readonly reason: 'superseded' | 'silent' | 'reattach';
    }
  /** Nothing that this process says is answered any more, until it is thawed or lost. */
  | {
      readonly type: 'freezeExecutor';
      readonly executorId: string;
      readonly incarnation: string;
      readonly isFrozen: boolean;
    }
  /** `task` is null when it is not, or must not be, held in memory: read it from history. */
  | {
      readonly type: 'notify';
      readonly notification: Notification;
      readonly task: EndedTask | null;
    };

/**
 * Rows to read. The engine reads them when everything decided so far is committed and steps
 * nothing meanwhile, so that rows and memory agree; the answer is the next event.
 */
export type Load =
  /** The task of a command that is not in memory; the event comes again with its row. */
  | {
      readonly type: 'task';
      readonly event: Extract<
        Event,
        | { readonly taskId: string; readonly request: RequestId }
        | { readonly type: 'lossDecided' | 'runReplaced' }
      >;
    }
  /**
   * The next page of a window, from its `cursor` at the moment of reading: later steps of the turn
   * that asked may have moved it.
   */
  | { readonly type: 'lane'; readonly lane: number }
  /** The next slice of long work, of whichever it is the turn at the moment of reading. */
  | { readonly type: 'work' }
  | { readonly type: 'delayed' }
  /** Tasks of a booking that are to end, or are for the window that is open. */
  | { readonly type: 'booked'; readonly booking: string }
  /** Of the gates that have a place: as many as there are places, as they are at the moment of reading. */
  | { readonly type: 'held' }
  | { readonly type: 'notifications' }
  | { readonly type: 'overdue' }
  /** The job of a command; the event comes again with its rows. */
  | { readonly type: 'job'; readonly event: Extract<Event, { type: JobChange['type'] }> }
  /** Triggers that are due; jobs of which runs have ended; triggers whose calendars have changed. */
  | { readonly type: 'triggers' }
  | { readonly type: 'settled' }
  | { readonly type: 'replan' }
  /** Live tasks of a job up to that one, from there on: more than are known by heart. */
  | {
      readonly type: 'runs';
      readonly job: string;
      readonly seqMax: number;
      readonly cursor: string | null;
    };

/** Collects what one turn of the engine asks for. */
export interface Output {
  readonly changes: Change[];
  /** What the feed tells with the commit of these changes. */
  readonly told: FeedEvent[];
  readonly effects: Effect[];
  /** What logs and metrics are told of this turn, when all effects are done: nobody waits for it. */
  readonly observed: Observation[];
  readonly loads: Load[];
  /** The row of what this turn adds to the usage, among the changes; null: nothing yet. */
  usage: UsageDelta | null;
}

/** Empty: to be filled by one or more steps. */
export function createOutput(): Output {
  return { changes: [], told: [], effects: [], observed: [], loads: [], usage: null };
}
