/** What memory holds of bookings: all of them, and of those that are near who is kept for them. */
import type { Booking } from './booking.ts';
import type { Executor } from '../model/executor.ts';
import { CountedFleet, type Gone } from '../plan/counted-fleet.ts';
import { BookingPlan } from '../plan/plan.ts';

/** A booking that has begun to keep executors. */
export interface ActiveBooking {
  readonly id: string;
  /** Its part of the limits of its type: none until its executors are bound. */
  reserved: { readonly type: string; readonly group: string; readonly count: number };
  /** Executors that are about to be bound, by id. */
  readonly kept: Map<string, Executor>;
  /** Who has refused a task of it, or not answered, since it ran one last; bound anew only after that time. */
  readonly refusedBy: Map<Executor, Refusal>;
  /** Ids of tasks that somebody was to be replaced for, and until when nobody else is. */
  readonly refusedTasks: Map<string, number>;
  /** Executors that it should have by now, and has not. */
  shortCount: number;
  /** Somebody who becomes free may be of use to it. */
  isWanting: boolean;
  /** Until then executors that it has bound, and that are not here, may come back: the master has just begun. */
  readonly graceUntil: number;
  /** Since when it has been bound and tasks of it might have come: no master was there before. Null: it is not bound. */
  seenFrom: number | null;
  /** Its window has begun, and its tasks were looked for. */
  isOpen: boolean;
  /** Rows were asked whether a task for this window waits. */
  isAsked: boolean;
  /** `ranMs` that its row does not say yet, and when it last did. */
  unwrittenRanMs: number;
  ranWrittenAt: number;
}

interface Refusal {
  readonly until: number;
  /** Until then it is not replaced: another was, for the same task. */
  readonly staysUntil: number;
  /** Why, in its own words where it has any. */
  readonly message: string;
}

/** That executor has an attempt of another booking now, or of none. */
export function moveRunning(
  { runningOf }: BookingsState,
  executor: Executor,
  before: string | null,
  now: string | null,
): void {
  if (before === now) return;
  if (before !== null) {
    const others = runningOf.get(before);
    others?.delete(executor);
    if (others?.size === 0) runningOf.delete(before);
  }
  if (now === null) return;
  const running = runningOf.get(now) ?? new Set();
  runningOf.set(now, running.add(executor));
}

export interface BookingsState {
  /** Also those that are over, for a while: the oldest of these first. */
  readonly byId: Map<string, Booking>;
  readonly active: Map<string, ActiveBooking>;
  /** Which booking has an executor, by its id. */
  readonly boundTo: Map<string, string>;
  /** Those that are over, the oldest first: as they follow one another in `byId`. */
  readonly over: Set<string>;
  /** Who has an attempt of a task of it, told to end or not. */
  readonly runningOf: Map<string, Set<Executor>>;
  /** No window of those that are active ends before. */
  nextEndAt: number;
  /** Tasks of each that have not ended. */
  readonly taskCounts: Map<string, number>;
  /** When each is looked at next. */
  readonly wakes: Map<string, number>;
  /** Attempts of theirs that executors have, and how many are kept room for. */
  attemptCount: number;
  reservedCount: number;
  readonly plan: BookingPlan;
  readonly fleet: CountedFleet;
  readonly gone: Map<string, Gone>;
  /** Who is kept for whom has to be looked at anew. */
  isUnsettled: boolean;
  /** Somebody who was kept for one of them is kept for an earlier one now, or for none. */
  hasTaken: boolean;
  /** Capacity is known from then on: who was here before may come back. */
  knownFrom: number;
  nextPlanAt: number;
  /** Not before, whatever has changed. */
  soonestPlanAt: number;
}

export const noBookings = (): BookingsState => ({
  byId: new Map(),
  active: new Map(),
  boundTo: new Map(),
  over: new Set(),
  runningOf: new Map(),
  nextEndAt: Number.POSITIVE_INFINITY,
  taskCounts: new Map(),
  wakes: new Map(),
  attemptCount: 0,
  reservedCount: 0,
  plan: new BookingPlan(),
  fleet: new CountedFleet(),
  gone: new Map(),
  isUnsettled: false,
  hasTaken: false,
  knownFrom: 0,
  nextPlanAt: 0,
  soonestPlanAt: 0,
});
