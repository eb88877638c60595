/** Everything that can happen to the scheduler. Past tense; the engine's mailbox holds these. */
import type { Said } from './alerts/alert.ts';
import type { Override, Readiness } from './model/executor.ts';
import type { Told } from './feed/feed-event.ts';
import type { Author } from './model/audit.ts';
import type { Pause, RowScope } from './model/pause.ts';
import type { ViewChange } from './model/saved-view.ts';
import type { SharedLimit } from './model/shared-limit.ts';
import type { TypeOverride } from './model/task-type.ts';
import type { BookedPage, BookingChange } from './booking/booking.ts';
import type { Position, QueueEnd } from './queue/window.ts';
import type { Settings } from './state/state.ts';
import type { BackfillPage, JobHappening } from './jobs/job-events.ts';
import type { NewWork, Work } from './long-work/work.ts';
import type { NewTask, TaskChange } from './model/new-task.ts';
import type { AttemptError, Notification, Task } from './model/task.ts';

export type { NewTask, TaskChange, ViewChange };

/** Tells the engine whom a `reply` effect is for. */
export type RequestId = number;

/** Which task is meant, by its number and its version; null: whatever they are. */
export interface Seen {
  readonly seq: number | null;
  readonly version: number | null;
}

/** Of a command on a task: the one that is meant, as long as it is of that group; another is as if it were not there. */
export type Only = Pick<Task, 'seq'> & { readonly group: string };

/** What operators set, all of it. A pause that goes on keeps its beginning. */
export type NewSettings = Omit<Settings, 'paused'> & {
  readonly paused: Omit<Pause, 'at'> | null;
};

/** An attempt that an executor says it has; `finished`: its result is still on the way. */
export interface ReportedAttempt {
  readonly taskId: string;
  readonly attempt: number;
  readonly state: 'running' | 'finished';
  /** It was to prove that the attempt was offered to it, and could not. */
  readonly isUnproven?: true;
  /** How long its handler has run, by its own clock, where it says so. */
  readonly ranMs?: number;
}

/** What an executor says of the end of an attempt. */
export interface AttemptResult {
  readonly outcome: 'succeeded' | 'failed' | 'timed_out' | 'canceled' | 'returned';
  /** JSON text. */
  readonly result: string | null;
  readonly error: AttemptError | null;
  readonly retryable: boolean;
  /** What it was to work on is not there: no fault of the attempt, and no further one can help. */
  readonly isInputUnavailable?: true;
  readonly retryAfterMs: number | null;
  /** Lines that it has logged; null, or absent: it does not say. */
  readonly logLineCount?: number | null;
}

/** What an executor says of itself when it begins a session. */
export interface ExecutorHello {
  readonly executorId: string;
  readonly incarnation: string;
  readonly sessionId: string;
  readonly types: readonly string[];
  readonly labels: readonly string[];
  readonly reserve: readonly string[];
  readonly running: readonly ReportedAttempt[];
  readonly host: string;
  readonly pid: number;
  readonly sdk: string;
  /** Of its program; empty where it does not say. */
  readonly version: string;
  /** False: the id was made up for this process. */
  readonly lasting: boolean;
  readonly bootId: string;
  readonly usesMac: boolean;
  readonly leaseMs: number;
  /** Incarnations of its executor id that it has seen dead on its host. */
  readonly died: readonly string[];
  /** Attempts that a process of its id ended by itself, for want of a lease. */
  readonly fenced: readonly { readonly taskId: string; readonly attempt: number }[];
  readonly ready: Readiness;
  /** To which it believes that it is bound; null: to none, or it does not say. */
  readonly booking: string | null;
}

/** A sequenced frame of an executor; the session confirms `seq` once it is safely handled. */
interface FromExecutor {
  readonly executorId: string;
  readonly sessionId: string;
  readonly frameSeq: number;
  readonly taskId: string;
  readonly attempt: number;
  /** It was to prove that the attempt was offered to it, and could not. */
  readonly isUnproven?: true;
}

/** Rows of one lane beyond its window, in order; `complete`: there are no more. */
export interface LanePage {
  readonly lane: number;
  readonly tasks: readonly Task[];
  readonly complete: boolean;
}

/** The first of those that a gate holds, in order; `complete`: there are no more. */
export interface HeldPage {
  readonly gate: number;
  readonly tasks: readonly Task[];
  readonly complete: boolean;
}

/** A task as long work comes to it: its row, unless it is in memory. */
export interface FoundTask {
  readonly taskId: string;
  /** Null: no such task is retained. */
  readonly task: Task | null;
  readonly notification: Notification | null;
}

/** The next slice of long work, and where it goes on after that. */
export interface WorkPage extends Pick<Work, 'ids' | 'cursor'> {
  readonly workId: string;
  readonly tasks: readonly FoundTask[];
  /** Where it puts tasks first or last: who is that of their types now; none where nobody is due. */
  readonly edges?: ReadonlyMap<string, Position>;
  readonly isLast: boolean;
}

/** To a shared limit. */
export interface LimitChange {
  readonly type: 'limitSet';
  readonly name: string;
  /** Null: there is to be none. */
  readonly limit: SharedLimit | null;
}

/** To the pause of a group, of a label, or of all namespaces. */
export interface PauseChange {
  readonly type: 'pauseSet';
  readonly scope: RowScope;
  /** The group or the label; empty: of all. */
  readonly value: string;
  /** One that goes on keeps its beginning; null: there is to be none. */
  readonly pause: Omit<Pause, 'at'> | null;
}

/** To what is set for a type. `expect`: the version that it must have; null: whatever it has. */
export type TypeChange =
  | {
      readonly type: 'typeSet';
      readonly name: string;
      /** Canonical JSON text. */
      readonly text: string;
      readonly expect: number | null;
      /** Only to tell what would become of it. */
      readonly isTrial?: boolean;
    }
  | {
      readonly type: 'typeRemoved';
      readonly name: string;
      readonly expect: number | null;
      /** Also while tasks of it live. */
      readonly isForced: boolean;
    }
  | {
      readonly type: 'typePaused';
      readonly name: string;
      readonly reason: string | null;
      readonly until: number | null;
      readonly by: string | null;
    }
  | { readonly type: 'typeResumed'; readonly name: string }
  /** Null: there is to be none. */
  | {
      readonly type: 'typeOverridden';
      readonly name: string;
      readonly layer: Pick<TypeOverride, 'text' | 'by' | 'reason' | 'until'> | null;
    };

/** Of what somebody asks for it says who does: what that changes is kept. Absent: nobody keeps it. */
export type Event = Happening & { readonly author?: Author; readonly only?: Only };

/**
 * What is asked of one task. `task` is absent at first. Where it is not in memory the step asks for the stored row, and
 * the event comes again with it; null: no such task is retained.
 */
interface ForTask {
  readonly request: RequestId;
  readonly taskId: string;
  readonly task?: Task | null;
}

type Happening =
  | JobHappening
  | {
      readonly type: 'tasksSubmitted';
      readonly request: RequestId;
      readonly tasks: readonly NewTask[];
      /** Hashes of the tasks that already hold an id, by id, as the store said just before. Absent: none. */
      readonly taken?: ReadonlyMap<string, string>;
    }
  | (ForTask & {
      readonly type: 'cancelRequested' | 'suspendRequested' | 'taskResumeRequested';
      /** Why, in the words of whoever asks for it. */
      readonly reason?: string | null;
      readonly by?: string | null;
    })
  | (ForTask & {
      readonly type: 'retryRequested' | 'deleteRequested';
      readonly notification?: Notification | null;
    })
  /** Of a loss that was in doubt. `task` as in a command: absent at first. */
  | {
      readonly type: 'lossDecided';
      readonly taskId: string;
      readonly taskSeq: number;
      readonly attempt: number;
      readonly checkpoint: string | null;
      readonly verdict: 'lost' | 'lost_contact';
      readonly task?: Task | null;
    }
  | (ForTask & {
      readonly type: 'changeRequested';
      readonly change: TaskChange;
      readonly seen: Seen;
    })
  | (ForTask & {
      readonly type: 'moveRequested';
      readonly to: QueueEnd;
      /** Who is first, or last, of its type: read with the task, and absent at first. Null: none of it is due. */
      readonly edge?: Position | null;
    })
  | {
      readonly type: 'drainRequested';
      readonly request: RequestId;
      readonly executorId: string;
      readonly timeoutMs: number | null;
      readonly reason: string | null;
      readonly by: string | null;
    }
  | { readonly type: 'resumeRequested'; readonly request: RequestId; readonly executorId: string }
  | { readonly type: 'removeRequested'; readonly request: RequestId; readonly executorId: string }
  | {
      readonly type: 'relabelRequested';
      readonly request: RequestId;
      readonly executorId: string;
      /** What is absent stays as it is. */
      readonly override: Partial<Override>;
      readonly by: string | null;
    }
  | {
      readonly type: 'redeliverRequested';
      readonly request: RequestId;
      readonly taskId: string;
      readonly notification?: Notification | null;
    }
  | {
      readonly type: 'workRequested';
      readonly request: RequestId;
      readonly work: NewWork;
    }
  | {
      readonly type: 'workSteered';
      readonly request: RequestId;
      readonly workId: string;
      readonly to: 'running' | 'paused' | 'canceled';
    }
  | ({ readonly request: RequestId } & BookingChange)
  | ({ readonly type: 'settingsChanged'; readonly request: RequestId } & NewSettings)
  | (TypeChange & { readonly request: RequestId })
  | (LimitChange & { readonly request: RequestId })
  | (PauseChange & { readonly request: RequestId })
  | (ViewChange & { readonly request: RequestId })
  | ({ readonly type: 'executorConnected' } & ExecutorHello)
  | {
      readonly type: 'executorResumed';
      readonly executorId: string;
      readonly sessionId: string;
      readonly ready?: Readiness;
    }
  | {
      readonly type: 'executorDisconnected';
      readonly executorId: string;
      readonly sessionId: string;
      readonly left: boolean;
    }
  | {
      readonly type: 'heartbeatReceived';
      readonly executorId: string;
      readonly sessionId: string;
      readonly draining: boolean;
      readonly running: readonly ReportedAttempt[];
      readonly loopLagMs: number | null;
      readonly rssBytes: number | null;
      readonly cpuPercent?: number | null;
      /** Absent: it is as it said last. */
      readonly ready?: Readiness;
    }
  | ({ readonly type: 'attemptAccepted' } & FromExecutor)
  | ({
      readonly type: 'attemptRejected';
      readonly code: number;
      readonly message: string;
    } & FromExecutor)
  | ({
      readonly type: 'progressReported';
      readonly percent: number | null;
      /** JSON texts; undefined: not part of this report. */
      readonly state: string | undefined;
      readonly checkpoint: string | undefined;
      /** Parts, speed and time left: JSON text of an object. */
      readonly detail: string | undefined;
    } & FromExecutor)
  | ({ readonly type: 'eventTold' } & FromExecutor & Told)
  | ({ readonly type: 'alertSaid' } & FromExecutor & Said)
  | ({ readonly type: 'attemptEnded' } & FromExecutor & AttemptResult)
  /** It has received the frame that tells it to end an attempt. */
  | {
      readonly type: 'cancelAcknowledged';
      readonly executorId: string;
      readonly sessionId: string;
      readonly taskId: string;
      readonly attempt: number;
    }
  /** A frame of its session can never be taken, so that the session is over. */
  | {
      readonly type: 'frameRefused';
      readonly executorId: string;
      readonly sessionId: string;
      /** What the frame is about; null where it could not be read: then it is about what it holds. */
      readonly about: { readonly taskId: string; readonly attempt: number } | null;
      readonly problem: string;
    }
  | {
      readonly type: 'notificationTried';
      /** Of the state that handed it over: one that was rebuilt since has handed it over again. */
      readonly term: number;
      readonly taskSeq: number;
      /** Of the notification that was tried: a task that was retried since has another. */
      readonly finishedAt: number;
      readonly outcome: 'delivered' | 'gone' | 'failed';
      readonly status: number | null;
      readonly error: string | null;
      readonly retryAfterMs: number | null;
      /** How often the receiver may have seen it: more than once where a connection broke. */
      readonly tryCount: number;
      /** Its row is long. */
      readonly isLong?: true;
    }
  /** Handed back without having been sent: its receiver answers nobody. */
  | {
      readonly type: 'notificationPutOff';
      readonly term: number;
      readonly taskSeq: number;
      readonly finishedAt: number;
      readonly error: string;
      /** When it may be worth another look. */
      readonly afterMs: number;
    }
  /** Null: there was none to be done any more. */
  | { readonly type: 'workLoaded'; readonly page: WorkPage | BackfillPage | null }
  /** Tasks of bookings that wait, and are to end or are for the window that is open: `BOOKED_TASK_PAGE` of them, or the last. */
  | { readonly type: 'bookedLoaded'; readonly pages: readonly BookedPage[] }
  | { readonly type: 'lanesLoaded'; readonly pages: readonly LanePage[] }
  | { readonly type: 'heldLoaded'; readonly pages: readonly HeldPage[] }
  | { readonly type: 'delayedLoaded'; readonly tasks: readonly Task[]; readonly complete: boolean }
  | {
      readonly type: 'notificationsLoaded';
      readonly notifications: readonly Notification[];
      readonly complete: boolean;
    }
  /** Waiting tasks whose deadline has passed; `next`: from where on there may be more. */
  | {
      readonly type: 'overdueLoaded';
      readonly tasks: readonly Task[];
      readonly next: Position | null;
    }
  /** This process stood still, up to now. Before any other event of the turn: they are not charged for it. */
  | { readonly type: 'stoodStill'; readonly hiddenMs: number }
  | { readonly type: 'drainStarted' }
  | {
      readonly type: 'ticked';
      /** How long this process stood still since the last tick. */
      readonly hiddenMs?: number;
      /** Something that has arrived is not stepped yet. */
      readonly isBehind?: boolean;
      /** As it holds now; undefined: nobody says. Follows it where a request that told of it was lost. */
      readonly pauseOfAll?: Pause | null | undefined;
    };

/** What somebody asks for, and is answered. */
export type Requested = Extract<Event, { readonly request: RequestId }>;

/** The same without the number by which he is. */
export type Command = WithoutRequest<Requested>;
type WithoutRequest<E> = E extends unknown ? Omit<E, 'request'> : never;
