/**
 * What the event feed of a namespace tells: which kinds there are, and what each says beside what it is about. Data
 * only; `protocol/api/events.ts` says the same to clients, and a test compares the two.
 */
import { TOLD_AT_ONCE_MAX, TOLD_PER_SECOND_MAX } from '../bounds.ts';
import type { Sight } from '../model/task-filter.ts';
import type { CancelReason, Task } from '../model/task.ts';
import { Allowances } from '../state/allowances.ts';

/** How much is told: `ends` leaves out what every task goes through between its submit and its end. */
export type FeedLevel = 'all' | 'ends' | 'none';

/** Of each kind, the least level at which it is told. */
export const FEED_KINDS = {
  'task.submitted': 'ends',
  'task.held': 'all',
  'task.offered': 'all',
  'task.rejected': 'ends',
  'task.assign_timeout': 'ends',
  'task.started': 'all',
  'task.start_overdue': 'ends',
  'task.progress': 'all',
  'task.checkpoint': 'all',
  'task.events_dropped': 'ends',
  'task.cancel_requested': 'ends',
  'task.attempt_ended': 'ends',
  'task.changed': 'ends',
  'task.moved': 'ends',
  'task.suspended': 'ends',
  'task.resumed': 'ends',
  'task.finished': 'ends',
  'task.retried': 'ends',
  'task.deleted': 'ends',
  'task.callback_tried': 'all',
  'task.callback_gave_up': 'ends',
  'task.redelivered': 'ends',
  'executor.joined': 'ends',
  'executor.left': 'ends',
  'executor.lost': 'ends',
  'executor.readiness': 'ends',
  'executor.drained': 'ends',
  'executor.resumed': 'ends',
  'executor.changed': 'ends',
  'executor.removed': 'ends',
  'type.changed': 'ends',
  'type.deleted': 'ends',
  'type.paused': 'ends',
  'type.resumed': 'ends',
  'type.overridden': 'ends',
  'type.override_ended': 'ends',
  'pause.set': 'ends',
  'pause.ended': 'ends',
  'limit.changed': 'ends',
  'limit.deleted': 'ends',
  'namespace.changed': 'ends',
  'job.changed': 'ends',
  'job.deleted': 'ends',
  'job.enabled': 'ends',
  'job.disabled': 'ends',
  'job.fire_refused': 'ends',
  'job.trigger_paused': 'ends',
  'calendar.changed': 'ends',
  'calendar.deleted': 'ends',
  'blackouts.changed': 'ends',
  'booking.created': 'ends',
  'booking.planned': 'ends',
  'booking.at_risk': 'ends',
  'booking.began': 'ends',
  'booking.bound': 'ends',
  'booking.short': 'ends',
  'booking.skipped': 'ends',
  'booking.ended': 'ends',
  'operation.began': 'ends',
  'operation.ended': 'ends',
} as const satisfies Readonly<Record<string, 'all' | 'ends'>>;

export type FeedKind = keyof typeof FEED_KINDS;
/** Told by an executor, of its attempt; whatever the level is, but `none`. */
export type ExecutorKind = `user.${string}`;

/** Epoch milliseconds; shown as in the rest of the API where the name ends in `_at`, or is `until`. */
type Instant = number;
interface PauseData {
  readonly reason: string | null;
  readonly until: Instant | null;
}

interface BookingData {
  readonly booking_id: string;
}

/** What kinds have to say; the others say nothing more. */
export interface FeedData {
  readonly 'task.submitted': { readonly due_at?: Instant; readonly job?: string };
  readonly 'task.rejected': { readonly error: string };
  readonly 'task.progress': { readonly percent: number };
  readonly 'task.checkpoint': { readonly length: number };
  readonly 'task.events_dropped': { readonly count: number };
  readonly 'task.cancel_requested': { readonly reason: CancelReason };
  readonly 'task.attempt_ended': {
    readonly outcome: string;
    readonly error?: string;
    readonly percent?: number;
  };
  readonly 'task.changed': { readonly version: number };
  readonly 'task.moved': { readonly to: 'first' | 'last' };
  readonly 'task.finished': { readonly state: string; readonly reason?: string };
  readonly 'task.callback_tried': {
    readonly outcome: 'delivered' | 'gone' | 'failed';
    readonly status: number | null;
    readonly error?: string;
  };
  readonly 'task.callback_gave_up': { readonly tries: number };
  readonly 'executor.joined': { readonly types: readonly string[]; readonly host: string };
  readonly 'executor.lost': { readonly reason: string };
  readonly 'executor.readiness': { readonly ok: boolean; readonly reason: string | null };
  readonly 'executor.drained': PauseData;
  readonly 'type.changed': { readonly version: number };
  readonly 'type.paused': PauseData;
  readonly 'type.overridden': PauseData;
  readonly 'pause.set': PauseData & { readonly scope: string; readonly value: string };
  readonly 'pause.ended': { readonly scope: string; readonly value: string };
  readonly 'limit.changed': { readonly limit: string; readonly max: number };
  readonly 'limit.deleted': { readonly limit: string };
  readonly 'namespace.changed': {
    readonly max_waiting: number | null;
    readonly max_running: number | null;
    readonly retention: string;
  };
  readonly 'booking.created': BookingData & {
    readonly from_at: Instant;
    readonly to_at: Instant;
    readonly count: number;
  };
  readonly 'booking.planned': BookingData & { readonly from_at: Instant };
  readonly 'booking.at_risk': BookingData & {
    readonly from_at: Instant;
    readonly reason: string;
  };
  readonly 'booking.began': BookingData;
  readonly 'booking.bound': BookingData;
  readonly 'booking.short': BookingData & { readonly count: number };
  readonly 'booking.skipped': BookingData & { readonly from_at: Instant };
  readonly 'booking.ended': BookingData & { readonly state: string };
  readonly 'job.changed': { readonly job: string; readonly version: number };
  readonly 'job.deleted': { readonly job: string };
  readonly 'job.enabled': { readonly job: string };
  readonly 'job.disabled': { readonly job: string };
  readonly 'job.fire_refused': {
    readonly job: string;
    readonly trigger: string;
    readonly nominal_at: Instant;
    readonly reason: string;
  };
  readonly 'job.trigger_paused': {
    readonly job: string;
    readonly trigger: string;
    readonly reason: string;
  };
  readonly 'calendar.changed': { readonly calendar: string; readonly version: number };
  readonly 'calendar.deleted': { readonly calendar: string };
  readonly 'blackouts.changed': { readonly version: number };
  readonly 'operation.began': { readonly operation_id: string; readonly action: string };
  readonly 'operation.ended': { readonly operation_id: string; readonly state: string };
}

export type DataOf<K extends FeedKind> = K extends keyof FeedData ? FeedData[K] : never;

/** One thing that has happened. It is told by the commit of what it tells of. */
export interface FeedEvent {
  /** From 1, without gaps in its namespace; 0 until it is committed. */
  seq: number;
  readonly at: number;
  readonly kind: FeedKind | ExecutorKind;
  readonly taskSeq: number | null;
  readonly taskId: string | null;
  /** Of the task, or what it is about itself; and so for `group`. */
  readonly type: string | null;
  readonly group: string | null;
  readonly attempt: number | null;
  readonly executorId: string | null;
  /** Whose command it follows from; null: nobody's. */
  actor: string | null;
  /** JSON text of an object; null: there is nothing more to say. */
  readonly data: string | null;
}

/** How far it has come. */
export interface FeedState {
  /** Of the newest event; not of the numbers of tasks. */
  lastSeq: number;
  /** By task: told by the commit that writes its row. */
  readonly untold: Map<number, FeedEvent[]>;
  /** Of tasks that run: the last tenth of their progress that was told. */
  readonly toldTenths: WeakMap<Task, { readonly attempt: number; readonly tenth: number }>;
  /** Of events that executors tell of themselves. */
  readonly allowances: Allowances;
}

export function newFeed(lastSeq: number): FeedState {
  return {
    lastSeq,
    untold: new Map(),
    toldTenths: new WeakMap(),
    allowances: new Allowances(TOLD_AT_ONCE_MAX, TOLD_PER_SECOND_MAX),
  };
}

/** What an executor tells of its attempt, in its own words. */
export interface Told {
  readonly name: string;
  /** JSON text of an object; undefined: there is nothing more to say. */
  readonly data: string | undefined;
  /** In its attempt, from 1; null: its executor does not count. */
  readonly n: number | null;
}

/** Also of kinds that a later version has told of: for whoever only reads. */
export type StoredEvent = Readonly<Omit<FeedEvent, 'kind'>> & { readonly kind: string };

/** Whether whoever may see only some types and groups may see it: not what names neither. */
export function isWithin(
  { types, groups }: Sight,
  { type, group }: Pick<StoredEvent, 'type' | 'group'>,
): boolean {
  if (type === null && group === null) return false;
  const isOfType = type === null || types === null || types.includes(type);
  return isOfType && (group === null || groups === null || groups.includes(group));
}
