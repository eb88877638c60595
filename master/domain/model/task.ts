/**
 * A task, its attempts and its notification, and which state may follow which. Data only: the
 * rules that move a task along stand in `steps/`. See `docs/state-machine.md`.
 */
import type { TaskJob } from './task-job.ts';
import { type Use, NO_USES, usesIn, usesText } from './shared-limit.ts';

/** In the store only: `held`, until there is a place for it in its gate; `suspended`, until somebody resumes it. */
export type LiveState = 'waiting' | 'held' | 'suspended' | 'offered' | 'running';
export type TerminalState = 'succeeded' | 'failed' | 'canceled' | 'expired';
export type TaskState = LiveState | TerminalState;

/** Why a task is `failed` (or, with `deadline`, `expired`). */
export type FailureReason =
  | 'attempts_exhausted'
  | 'non_retryable'
  | 'input_unavailable'
  | 'crash_budget'
  | 'not_started'
  | 'deadline';

/** What becomes of a task that was not started in time: it fails, or it is told of once. */
export type StartTimeoutAction = 'fail' | 'alert';

/** How long a task is kept once it has ended, and with it its id: by one of three settings of the master. */
export type Retention = 'short' | 'normal' | 'long';
export const RETENTIONS: readonly Retention[] = ['short', 'normal', 'long'];

/** How an attempt ended. Only `failed` and `timed_out` use up an attempt; both losses have budgets. */
export type AttemptOutcome =
  | 'succeeded'
  | 'failed'
  | 'timed_out'
  | 'lost'
  | 'lost_contact'
  | 'rejected'
  | 'assign_timeout'
  | 'canceled'
  | 'returned';

/** Nobody knows how far it came: its process has died, or was not heard of any more. */
export function isLoss<O>(outcome: O): outcome is O & ('lost' | 'lost_contact') {
  return outcome === 'lost' || outcome === 'lost_contact';
}

/** Why a running attempt was told to end. */
export type CancelReason =
  | 'canceled'
  | 'suspended'
  | 'execution_timeout'
  | 'stalled'
  | 'deadline'
  | 'drain'
  /** For a booking: it is given back, as for a drain. */
  | 'preempted'
  /** The window of its booking is over. */
  | 'booking_end';

export interface User {
  readonly group: string;
  readonly project: string | null;
  readonly env: string | null;
  readonly user: string | null;
}

export interface RetryPolicy {
  /** Attempts that may be used up; 0 means until success. */
  readonly maxAttempts: number;
  /** Seconds; see `retry-policy.ts`. */
  readonly interval: number | readonly number[];
}

/** Who has set a task aside, and why: of one that is suspended, or told to end for that. */
export interface Suspension {
  readonly at: number;
  /** The name of a token; null: of somebody who needs none. */
  readonly by: string | null;
  readonly reason: string | null;
}

export interface AttemptError {
  readonly message: string;
  readonly name?: string;
  /** JSON text. */
  readonly details?: string;
}

/** What was asked for. While it waits all of it may be changed but what tells which task it is. */
export interface TaskSpec {
  /** Accept order. Never leaves the master. */
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly params: string;
  readonly labels: readonly string[];
  readonly requires: readonly string[];
  readonly user: User;
  readonly notifyUrl: string | null;
  /** Digest of the request, to recognise its repetition; empty where the master chose the id. */
  readonly requestHash: string;
  readonly submittedAt: number;
  readonly retry: RetryPolicy;
  readonly assignTimeoutMs: number;
  readonly executionTimeoutMs: number | null;
  readonly stallTimeoutMs: number | null;
  /** From due to accepted by an executor, each time that it is to be started. */
  readonly startTimeoutMs: number | null;
  readonly startTimeoutAction: StartTimeoutAction;
  /** Free disk that its executor must report; null: any will do. */
  readonly diskBytes: number | null;
  /** What it takes of shared limits while it runs: what was asked for, and what its type takes. By name. */
  readonly uses: readonly Use[];
  readonly deadlineAt: number | null;
  /** Of the trace that its submit was part of, as version 00 of W3C writes it; null: of none. */
  readonly traceparent: string | null;
  /** Null: it is a run of no job. */
  readonly job: TaskJob | null;
  /** It runs on an executor of this booking, in its window; null: on any that fits. */
  readonly booking: string | null;
}

/** What happens to it. */
interface TaskRun {
  state: TaskState;
  /** The version of the stored row; every write of the row raises it by one. 0: not stored yet. */
  version: number;
  /** Seconds of head start. */
  priority: number;
  /** Where it came to stand by itself: since when it waits, less its head start. */
  orderTime: number;
  /** The sort key of a waiting task, before `seq`: `orderTime`, until somebody puts it first or last. */
  queueTime: number;
  /** Where it waits, or waited last: its lane may have gone since. 0: it has not waited yet. */
  lane: number;
  /** The gate that holds it; null where it is not `held`. */
  gate: number | null;
  /** A waiting task is not offered before this instant. */
  dueAt: number;
  /**
   * By when it is to be started. Null: without limit, or the deadline is no later, or it was told of,
   * or it has started.
   */
  startBy: number | null;
  /** Number of the newest attempt: the fencing number. 0 before the first offer. */
  attempt: number;
  /** Attempts used up, to be compared with `retry.maxAttempts`. */
  attemptsUsed: number;
  /** Executors lost under this task since its last new checkpoint. */
  crashCount: number;
  /** Contacts to executors lost under it since then, of executors that went on. */
  contactCount: number;
  /** Who was offered the newest attempt: also when it has ended. Null before the first. */
  executorId: string | null;
  /** Which process of that executor id; null where the row is older than this column. */
  incarnation: string | null;
  offeredAt: number | null;
  startedAt: number | null;
  /**
   * Time that no master could see, since the newest attempt was offered or started, and since its last
   * progress: it counts against nobody.
   */
  hiddenMs: number;
  stallHiddenMs: number;
  /** A wish that the running attempt ends; durable before the `cancel` frame goes out. */
  cancelRequestedAt: number | null;
  cancelReason: CancelReason | null;
  /** Where that is `suspended`; else it may be of an earlier time. */
  suspension: Suspension | null;
  progressPercent: number | null;
  progressState: string | null;
  /** JSON text of an object, of what the newest report has of it: `parts`, `speed`, `eta_seconds`. */
  progressDetail: string | null;
  progressAt: number | null;
  checkpoint: string | null;
  /** The number of the newest event that the newest attempt has told of itself. */
  eventCount: number;
  /** Of the newest attempt that failed. */
  error: AttemptError | null;
  /** How the newest attempt ended. */
  lastOutcome: AttemptOutcome | null;
  result: string | null;
  finishedAt: number | null;
  /** As its namespace had it when the task ended; null before. */
  retention: Retention | null;
  failureReason: FailureReason | null;
}

/**
 * One task from submit to its end. JSON the scheduler does not read (params, result, progress
 * state, checkpoint, details of errors) is kept as text. Instants are epoch milliseconds.
 */
export interface Task extends TaskSpec, TaskRun {}

/** An attempt that ended without ending its task with success. */
export interface AttemptRecord {
  readonly taskSeq: number;
  readonly attempt: number;
  readonly executorId: string;
  readonly incarnation: string | null;
  /** In which session its end was found out; null where it had none. */
  readonly session: string | null;
  readonly outcome: AttemptOutcome;
  readonly offeredAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly error: AttemptError | null;
}

export type NotificationState = 'pending' | 'delivered' | 'gave_up';

/** The callback of a finished task. It lives in the history row, in the commit that ends the task. */
export interface Notification {
  readonly taskSeq: number;
  readonly taskId: string;
  /** Of the task, as whose it is: for the feed, and for what it has used. */
  readonly type: string;
  readonly user: User;
  readonly url: string;
  /** Both tell the store in which segment of history the row is. */
  readonly finishedAt: number;
  readonly retention: Retention;
  state: NotificationState;
  /** Since `triesSince`: the end of the task, or when somebody asked for it once more. */
  tries: number;
  triesSince: number;
  nextTryAt: number;
  lastStatus: number | null;
  lastError: string | null;
  deliveredAt: number | null;
}

/** What is kept of an ended task for its callback. */
export type EndedTask = Pick<
  Task,
  | 'id'
  | 'type'
  | 'state'
  | 'user'
  | 'attempt'
  | 'submittedAt'
  | 'finishedAt'
  | 'error'
  | 'result'
  | 'failureReason'
  | 'lastOutcome'
  | 'traceparent'
  | 'job'
>;

/** `startBy` of a task that is due then, whatever was before. */
export function startLimitOf(
  task: Pick<TaskSpec, 'startTimeoutMs' | 'deadlineAt'>,
  dueAt: number,
): number | null {
  if (task.startTimeoutMs === null) return null;
  const startBy = dueAt + task.startTimeoutMs;
  return task.deadlineAt !== null && task.deadlineAt <= startBy ? null : startBy;
}

/** `startBy` after an absence of the master: what was left when it began, or was due in it, is left. */
export function startByAfter(
  { startBy, dueAt, deadlineAt }: Pick<Task, 'startBy' | 'dueAt' | 'deadlineAt'>,
  from: number,
  until: number,
): number | null {
  if (startBy === null || startBy <= from || dueAt >= until) return startBy;
  const later = startBy + until - Math.max(from, dueAt);
  return deadlineAt !== null && deadlineAt <= later ? null : later;
}

/** It fails now, unless it has started: its start timeout has passed, and is not only told of. */
export function isStartOverdue(task: Task, now: number): boolean {
  return task.startTimeoutAction === 'fail' && task.startBy !== null && task.startBy <= now;
}

/** A copy: whoever holds it does not hold the params and the checkpoint. */
export function endedTask(task: Task): EndedTask {
  const { id, type, state, user, attempt, submittedAt, finishedAt } = task;
  const { error, result, failureReason, lastOutcome, traceparent, job } = task;
  return {
    id,
    type,
    state,
    user,
    attempt,
    submittedAt,
    finishedAt,
    error,
    result,
    failureReason,
    lastOutcome,
    traceparent,
    job,
  };
}

/** To which end of its type somebody has put it in the queue since it came there; null: nobody has. */
export function movedTo({
  orderTime,
  queueTime,
}: Pick<Task, 'orderTime' | 'queueTime'>): 'first' | 'last' | null {
  if (queueTime === orderTime) return null;
  return queueTime < orderTime ? 'first' : 'last';
}

/** Whether it may be offered by now, as far as that is its own matter. */
export function isDue({ dueAt }: Pick<Task, 'dueAt'>, now: number): boolean {
  return dueAt <= now;
}

/** Whether it waits for an executor, in its lane or behind others of its gate. */
export function waits({ state }: Pick<Task, 'state'>): boolean {
  return state === 'waiting' || state === 'held';
}

/** Whether no executor has it: it waits, or is suspended. */
export function isAtRest(task: Pick<Task, 'state'>): boolean {
  return waits(task) || task.state === 'suspended';
}

export function isTerminal(state: TaskState): state is TerminalState {
  return state === 'succeeded' || state === 'failed' || state === 'canceled' || state === 'expired';
}

const followers: Record<TaskState, readonly TaskState[]> = {
  waiting: ['held', 'suspended', 'offered', 'failed', 'canceled', 'expired'],
  held: ['waiting', 'suspended', 'failed', 'canceled', 'expired'],
  suspended: ['waiting', 'held', 'offered', 'failed', 'canceled', 'expired'],
  offered: [
    'running',
    'waiting',
    'held',
    'suspended',
    'succeeded',
    'failed',
    'canceled',
    'expired',
  ],
  running: ['waiting', 'held', 'suspended', 'succeeded', 'failed', 'canceled', 'expired'],
  succeeded: [],
  failed: [],
  canceled: [],
  expired: [],
};

/** The whole transition table. `retry` of a terminal task makes a new run: it is not a transition. */
export function mayFollow(from: TaskState, to: TaskState): boolean {
  return followers[from].includes(to);
}

/** Type, required labels and labels in the name of a kind, which is the key of an index; what a task needs and uses comes behind. */
export const KIND_LENGTH_MAX = 255;

/**
 * The name of a kind of tasks, which may run on the same executors. Labels count because an executor may
 * be reserved for some of them. The parts are limited so that the name fits an index (`KIND_LENGTH_MAX`).
 */
export function kindKeyOf(
  type: string,
  requires: readonly string[],
  labels: readonly string[],
  diskBytes: number | null = null,
  uses: readonly Use[] = NO_USES,
  booking: string | null = null,
): string {
  const joined = (list: readonly string[]) =>
    list.length < 2 ? (list[0] ?? '') : [...list].sort().join(',');
  const key = `${type}|${joined(requires)}|${joined(labels)}`;
  const disk = diskBytes === null ? '' : `${diskClassOf(diskBytes)}`;
  if (booking !== null) return `${key}|${disk}|${usesText(uses)}|${booking}`;
  if (uses.length > 0) return `${key}|${disk}|${usesText(uses)}`;
  return disk === '' ? key : `${key}|${disk}`;
}

/** Below it a megabyte is as good as a byte. */
const DISK_BYTES_MIN = 2 ** 20;

/** What a task needs, rounded up by less than an eighth: so few kinds stand for all that may be asked for. */
export function diskClassOf(diskBytes: number): number {
  if (diskBytes <= DISK_BYTES_MIN) return DISK_BYTES_MIN;
  const step = 2 ** (Math.floor(Math.log2(diskBytes)) - 3);
  return Math.ceil(diskBytes / step) * step;
}

/** What `kindKeyOf` was given, in the order of the name: labels are sets. */
export function kindOf(key: string): {
  readonly type: string;
  readonly requires: readonly string[];
  readonly labels: readonly string[];
  readonly diskBytes: number | null;
  readonly uses: readonly Use[];
  readonly booking: string | null;
} {
  const [type = '', requires = '', labels = '', disk = '', uses = '', booking = ''] =
    key.split('|');
  const listed = (part: string) => (part === '' ? [] : part.split(','));
  const diskBytes = disk === '' ? null : Number(disk);
  const sets = { requires: listed(requires), labels: listed(labels) };
  return { type, ...sets, diskBytes, uses: usesIn(uses), booking: booking === '' ? null : booking };
}
