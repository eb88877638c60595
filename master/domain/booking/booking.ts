/** A booking: executors of a type that are kept for one group in a window of time, once or again and again. */
import type { Task } from '../model/task.ts';
import type { Part, Wish } from '../plan/divide.ts';

/**
 * `planned`: its window is to come; `at_risk`: the same, and there will be too few executors; `bound`: they are kept
 * for it. The others are over.
 */
export type BookingState = 'planned' | 'at_risk' | 'bound' | 'no_show' | 'ended' | 'canceled';

/** An executor that it has. */
export interface Bound {
  readonly executorId: string;
  /** Since when it has it, and it was there. */
  readonly since: number;
  /** When its lease ended or it left, where nobody has taken its place; absent: it is there. */
  readonly goneAt?: number;
}

/** One window, and how it is divided over pools; null: there is no room for it any more. */
export interface BookedWindow {
  readonly from: number;
  readonly to: number;
  readonly parts: readonly Part[] | null;
}

/** What somebody asks for. Instants are epoch milliseconds, windows half-open. */
export interface BookingSpec {
  readonly id: string;
  readonly type: string;
  readonly requires: readonly string[];
  readonly labels: readonly string[];
  readonly group: string;
  readonly count: number;
  /** How long before a window its executors are bound. */
  readonly leadMs: number;
  /** From how long before it they take only what is over by then. */
  readonly holdMs: number;
  /** Its tasks may go on after the window, until another booking needs their executors. */
  readonly mayOverrun: boolean;
  readonly everyMs: number | null;
  readonly zone: string | null;
  /** Its executors are given nothing. */
  readonly isMaintenance: boolean;
  /** Of the first window. */
  readonly firstFrom: number;
  readonly windowMs: number;
  readonly createdBy: string | null;
}

/** What was asked for, and has no room. */
export interface Refusal {
  readonly spec: BookingSpec;
  /** The first of its windows that does not fit, those behind it, and how many of all are planned. */
  readonly refused: Wish;
  readonly rest: readonly Wish[];
  readonly windowCount: number;
  /** In words; null: it is that executors are taken, or too few. */
  readonly reason: string | null;
  /** The limit that leaves no room, by its name; null: none does. */
  readonly limit: string | null;
}

/** What is asked of a booking; `groups`: those whose bookings may be seen, null: all. */
export type BookingChange =
  | {
      readonly type: 'bookingRequested';
      /** `holdMs`: null, where it does not say. */
      readonly booking: Omit<BookingSpec, 'holdMs'> & { readonly holdMs: number | null };
    }
  | {
      readonly type: 'bookingCanceled';
      readonly bookingId: string;
      readonly groups: readonly string[] | null;
    }
  | {
      readonly type: 'bookingSkipped';
      readonly bookingId: string;
      readonly groups: readonly string[] | null;
      /** When the window begins. */
      readonly from: number;
    };

/** A row. Steps put another one in its place, and never change one. */
export interface Booking extends BookingSpec {
  /** Of the window that is open, or next; of one that is over: the last. */
  readonly from: number;
  readonly to: number;
  readonly state: BookingState;
  /** Those accepted first keep their place where capacity becomes less. */
  readonly seq: number;
  readonly createdAt: number;
  /** Windows to come that somebody has left out, by when they would begin. */
  readonly skips: readonly number[];
  /** That one, and those that follow it, as far as they are planned. */
  readonly windows: readonly BookedWindow[];
  readonly executors: readonly Bound[];
  /** For how long attempts that have ended have run in this window, all together. */
  readonly ranMs: number;
  /** For how long executors that others have replaced, or that have come back, were booked in this window until then, all together. */
  readonly replacedMs: number;
  /** A task of it was offered in this window. */
  readonly isUsed: boolean;
  /** Its tasks that are due before that instant, and wait, are yet to be ended; null: there are none. */
  readonly endingBefore: number | null;
  readonly endedAt: number | null;
}

/** Tasks of a booking that are due before then. */
export interface BookedWanted {
  readonly booking: string;
  readonly before: number;
}

/** Some of them; `complete`: there are no others. */
export interface BookedPage {
  readonly booking: string;
  readonly tasks: readonly Task[];
  readonly complete: boolean;
}

/** It has no window any more. */
export function isBookingOver({ state }: Pick<Booking, 'state'>): boolean {
  return state === 'no_show' || state === 'ended' || state === 'canceled';
}

/** From then on its executors take only what is over in time. */
export function holdsFrom({ from, holdMs, leadMs }: Booking): number {
  return from - Math.max(holdMs, leadMs);
}

/** When its executors are bound. */
export function bindsAt({ from, leadMs }: Booking): number {
  return from - leadMs;
}

/** For how long an executor that it has was booked in its window so far. */
export function bookedMs({ from, to }: Booking, { since, goneAt }: Bound, now: number): number {
  return Math.max(0, Math.min(now, to, goneAt ?? to) - Math.max(from, since));
}

/** When its executors are released, where it has no task by then: time in which no master was there does not count. */
export function noShowAt({ from, to }: Booking, seenFrom: number): number {
  return Math.max(from, seenFrom) + Math.min(60_000, Math.floor((to - from) / 10));
}
