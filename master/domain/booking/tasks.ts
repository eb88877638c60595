/** Tasks of bookings: which may be of one, when they are due, and that they end with it. */
import type { NewTask } from '../events.ts';
import { type CommandOutcome, type Output, refusalInWords } from '../effects.ts';
import { type Booking, isBookingOver } from './booking.ts';
import { KIND_LENGTH_MAX, kindKeyOf, type Task } from '../model/task.ts';
import type { Executor } from '../model/executor.ts';
import { mayOfferBooked } from '../limits/whole.ts';
import type { State } from '../state/state.ts';
import { BOOKED_TASKS_MAX, RAN_WRITTEN_MS } from './booking-bounds.ts';
import { windowsAfter } from './planning.ts';
import { putBooking } from './rows.ts';
import { instantInWords } from '../schedule/local-time.ts';

/** Why a task cannot be of the booking that it names. */
export type BookingRefusal =
  | { readonly kind: 'unknown' | 'conflict' | 'full'; readonly message: string }
  | {
      readonly kind: 'misfit';
      readonly wrong: { readonly field: string; readonly message: string };
    };

type OfBooking = Pick<Task, 'type' | 'requires' | 'labels' | 'user'> & {
  readonly booking: string;
};

/** What is wrong with it, or when a task of it is due that is to run at that instant at the earliest. */
function dueInBooking(
  state: State,
  task: OfBooking,
  runAt: number,
): BookingRefusal | { readonly kind: 'fits'; readonly dueAt: number; readonly booking: Booking } {
  const booking = state.bookings.byId.get(task.booking);
  const { group } = task.user;
  // One of another group is as if it were not there: whoever asks may not see it.
  if (booking === undefined || booking.group !== group) {
    return { kind: 'unknown', message: `there is no booking ${task.booking} of group ${group}` };
  }
  const over = isBookingOver(booking) ? `it is over: ${booking.state}` : null;
  const conflict =
    over ?? (booking.isMaintenance ? 'it is for maintenance, and runs no tasks' : null);
  if (conflict !== null) return { kind: 'conflict', message: `booking ${booking.id}: ${conflict}` };
  const wrong = misfitOf(booking, task);
  if (wrong !== null) return { kind: 'misfit', wrong: { field: 'task.booking', message: wrong } };
  const dueAt = dueAtIn(booking, runAt);
  if (dueAt === null) {
    const message = `expected before ${instantInWords(booking.to)}, when the booking ends`;
    return { kind: 'misfit', wrong: { field: 'task.run_at', message } };
  }
  return { kind: 'fits', dueAt, booking };
}

/** In the first window that is not over then; null: there is none. */
function dueAtIn(booking: Booking, runAt: number): number | null {
  const open = booking.to > runAt ? booking : windowsAfter(booking, runAt, 1)[0];
  return open === undefined ? null : Math.max(runAt, open.from);
}

function misfitOf(booking: Booking, { type, requires, labels }: OfBooking): string | null {
  if (type !== booking.type) return `is for tasks of type ${booking.type}`;
  const missing = requires.filter((label) => !booking.requires.includes(label));
  if (missing.length > 0) return `its executors need not have ${missing.join(', ')}`;
  const all = [...new Set([...labels, ...booking.labels])];
  if (kindKeyOf(type, requires, all).length > KIND_LENGTH_MAX) return 'its labels are too many';
  return null;
}

/** The same of one that is submitted; null: it is of none. */
export function bookedAs(
  state: State,
  request: NewTask,
  now: number,
): BookingRefusal | { readonly kind: 'fits'; readonly request: NewTask } {
  const { booking: id } = request;
  if (id === null || id === undefined) return { kind: 'fits', request };
  const found = dueInBooking(state, { ...request, booking: id }, request.runAt ?? now);
  if (found.kind !== 'fits') return found;
  const full = fullOf(state, id);
  if (full !== null) return full;
  const labels = [...new Set([...request.labels, ...found.booking.labels])];
  return { kind: 'fits', request: { ...request, labels, runAt: found.dueAt } };
}

type Placed = CommandOutcome | { readonly kind: 'fits'; readonly task: Task };

/**
 * The same of one that there is, as it is to be from now on: due in a window, with the labels of its booking. Of one of
 * none: as it is. `runAt`: when it is to run; undefined: when it is due.
 */
export function bookedStill(state: State, task: Task, runAt: number | undefined): Placed {
  const { booking: id } = task;
  if (id === null) return { kind: 'fits', task: { ...task, dueAt: runAt ?? task.dueAt } };
  const ofBooking = state.bookings.byId.get(id);
  if (ofBooking !== undefined && ofBooking.group !== task.user.group) {
    const message = `booking ${id} is for tasks of group ${ofBooking.group}`;
    return { kind: 'misfit', field: 'user.group', message };
  }
  // One that is to be tried again after its window ends with it, whatever else is asked.
  const at = runAt ?? ofBooking?.from ?? task.dueAt;
  const found = dueInBooking(state, { ...task, booking: id }, at);
  if (found.kind === 'fits') {
    const labels = [...new Set([...task.labels, ...found.booking.labels])];
    const dueAt = runAt === undefined ? task.dueAt : found.dueAt;
    return { kind: 'fits', task: { ...task, labels, dueAt } };
  }
  if (found.kind !== 'misfit') return { kind: 'conflict', message: found.message };
  const { field, message } = found.wrong;
  return { kind: 'misfit', field: field.replace('task.', ''), message };
}

/** When one that has ended is due again: in the next window. */
export function bookedAgain(state: State, task: Task, now: number): Placed {
  const placed = bookedStill(state, task, now);
  if (placed.kind === 'fits') return fullOf(state, task.booking) ?? placed;
  const advice = 'copy it to have it run without the booking';
  return 'message' in placed
    ? { kind: 'conflict', message: `${refusalInWords(placed)}; ${advice}` }
    : placed;
}

/** It would wait for executors that never come: its booking, or the window that it was for, is over. */
export function isPastBooking(
  { bookings }: State,
  { booking: id }: Pick<Task, 'booking'>,
  dueAt: number,
): boolean {
  if (id === null) return false;
  const booking = bookings.byId.get(id);
  return booking === undefined || isBookingOver(booking) || dueAt < booking.from;
}

/** Why a task of it is ended, in words. */
export function endOfBooking({ bookings }: State, { booking: id }: Pick<Task, 'booking'>): string {
  const isCanceled = bookings.byId.get(id ?? '')?.state === 'canceled';
  return isCanceled ? `booking ${id} was canceled` : `the window of booking ${id} is over`;
}

/** It was offered in a window that has ended since. */
export function isAfterWindow(state: State, task: Pick<Task, 'booking' | 'offeredAt'>): boolean {
  return task.offeredAt !== null && isPastBooking(state, task, task.offeredAt);
}

/** Its window has ended, and it is about to: executors may be bound for the next one already. */
export function endsWithWindow(
  { bookings }: State,
  { booking: id, dueAt }: Pick<Task, 'booking' | 'dueAt'>,
): boolean {
  const before = id === null ? null : (bookings.byId.get(id)?.endingBefore ?? null);
  return before !== null && dueAt < before;
}

function fullOf({ bookings: { taskCounts } }: State, id: string | null) {
  if (id === null || (taskCounts.get(id) ?? 0) < BOOKED_TASKS_MAX) return null;
  return { kind: 'full', message: `${BOOKED_TASKS_MAX} tasks of booking ${id} already` } as const;
}

/** One more of its tasks is there, or one fewer. */
export function countBooked({ bookings }: State, id: string, by: number): void {
  const { taskCounts, active } = bookings;
  const count = Math.max(0, (taskCounts.get(id) ?? 0) + by);
  taskCounts.set(id, count);
  // Whoever has refused the last one lacks nothing for those that may follow.
  if (count === 0 && (active.get(id)?.refusedBy.size ?? 0) > 0) bookings.isUnsettled = true;
}

/** A task of it is offered: somebody has come. */
export function noteUsed(state: State, id: string, out: Output): void {
  const booking = state.bookings.byId.get(id);
  if (booking !== undefined && !booking.isUsed)
    putBooking(state, { ...booking, isUsed: true }, out);
}

/** An attempt of it has ended that ran for so long within its window: that is written with what else is, or once a minute. */
export function noteRan(state: State, task: Task, now: number, out: Output): void {
  const { booking: id, startedAt } = task;
  if (isAfterWindow(state, task)) return;
  const booking = id === null ? undefined : state.bookings.byId.get(id);
  if (booking === undefined || startedAt === null || booking.state !== 'bound') return;
  const ranMs = Math.max(0, Math.min(now, booking.to) - Math.max(startedAt, booking.from));
  const active = state.bookings.active.get(booking.id);
  if (active === undefined || ranMs <= 0) return;
  active.unwrittenRanMs += ranMs;
  const writtenAt = active.ranWrittenAt + RAN_WRITTEN_MS;
  if (now < writtenAt) {
    state.flush.at = Math.min(state.flush.at, writtenAt);
    return;
  }
  active.ranWrittenAt = now;
  putBooking(state, booking, out);
}

/** Executors that are bound, and for which a task may have come: as many as may be given one. */
export function* bookedToServe(state: State): Generator<Executor> {
  if (state.bookings.boundTo.size === 0) return;
  for (const executorId of askedIds(state)) {
    const executor = state.executors.get(executorId);
    if (executor === undefined) continue;
    if (!mayOfferBooked(state)) return;
    yield executor;
  }
}

/** Some of them twice: all, where nobody knows whom it concerns. */
function askedIds({ bookings, roused, freed, isHeldBack, opened }: State): Iterable<string> {
  if (isHeldBack || opened.size > 0) return [...bookings.boundTo.keys()];
  const ids = [...freed].map(({ id }) => id).filter((id) => bookings.boundTo.has(id));
  const comes = new Set([...roused].map(({ kind }) => kind.booking));
  for (const id of comes) {
    const { executors = [] } = bookings.byId.get(id ?? '') ?? {};
    for (const { executorId } of executors) ids.push(executorId);
  }
  return ids;
}
