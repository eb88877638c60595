/** Time passes for a booking: its executors are kept, bound and released, its tasks end, and the next of its windows comes. */
import type { Output } from '../effects.ts';
import { tell } from '../feed/tell.ts';
import {
  bindsAt,
  bookedMs,
  type BookedPage,
  type Booking,
  type BookingState,
  holdsFrom,
  isBookingOver,
  noShowAt,
} from './booking.ts';
import { TIME_END } from '../schedule/local-time.ts';
import { isAtRest, isDue, type Task } from '../model/task.ts';
import { release } from '../queue/waiting.ts';
import type { State } from '../state/state.ts';
import { beginEnding } from '../steps/cancel.ts';
import { finishBooked } from '../steps/finish.ts';
import { currentTask, occupy, rouse } from '../steps/occupation.ts';
import { count } from '../usage/count.ts';
import { OVER_BOOKING_KEPT_MS, OVER_BOOKINGS_MAX } from './booking-bounds.ts';
import { enterPlan, leavePlan, withNext } from './planning.ts';
import { putBooking, wakeAt } from './rows.ts';
import { activate, deactivate, unbind } from './settle.ts';

/** Whatever is due of it by now. */
export function advance(state: State, id: string, now: number, out: Output): void {
  let booking = state.bookings.byId.get(id);
  if (booking === undefined || isBookingOver(booking)) return;
  if (booking.to <= now) booking = endWindow(state, booking, 'ended', now, out);
  if (isBookingOver(booking)) return;
  if (isUnused(state, booking, now) && !mayBeAwaited(state, booking, out)) {
    booking = endWindow(state, booking, 'no_show', now, out);
  }
  if (isBookingOver(booking)) return;
  if (booking.state !== 'bound' && bindsAt(booking) <= now) {
    booking = putBooking(state, { ...booking, state: 'bound' }, out);
    activate(state, booking, now);
    const { type, group } = booking;
    tell(state, out, 'booking.began', now, { type, group }, { booking_id: id });
  } else if (booking.state !== 'bound' && holdsFrom(booking) <= now) {
    activate(state, booking, null);
  }
  open(state, booking, now, out);
  const { graceUntil: grace = 0, seenFrom, refusedBy } = state.bookings.active.get(id) ?? {};
  const stays = [...(refusedBy?.values() ?? [])].map(({ staysUntil }) => staysUntil);
  const isOver = (at: number) => at <= now && at > 0;
  if (isOver(grace) || stays.some(isOver)) state.bookings.isUnsettled = true;
  const isOpen = booking.state === 'bound';
  const times = isOpen
    ? [grace, ...stays, booking.from, noShowAt(booking, seenFrom ?? now), booking.to]
    : [holdsFrom(booking), bindsAt(booking), booking.to];
  wakeAt(state, id, Math.min(...times.filter((at) => at > now)));
}

/** Windows that are over: after this process stood still nothing of them is offered before the tick that is due. */
export function endPastWindows(state: State, now: number, out: Output): void {
  const { bookings } = state;
  if (now < bookings.nextEndAt) return;
  const endOf = (id: string) => (bookings.byId.get(id) as Booking).to;
  for (const id of [...bookings.active.keys()]) {
    if (endOf(id) <= now) advance(state, id, now, out);
  }
  bookings.nextEndAt = Number.POSITIVE_INFINITY;
  for (const id of bookings.active.keys()) {
    bookings.nextEndAt = Math.min(bookings.nextEndAt, endOf(id));
  }
}

/** Its tasks are read where more are due with them than are looked at at once: theirs are not to wait behind these. */
function open(state: State, booking: Booking, now: number, out: Output): void {
  const { bookings, delayed } = state;
  const active = bookings.active.get(booking.id);
  if (booking.state !== 'bound' || booking.from > now || !active || active.isOpen) return;
  // What is asked for is taken as of the window before: it is looked again once these have ended.
  if (booking.endingBefore !== null) return;
  active.isOpen = true;
  const dueAt = delayed.first()?.dueAt ?? delayed.until?.time ?? Number.POSITIVE_INFINITY;
  const isTasked = (bookings.taskCounts.get(booking.id) ?? 0) > 0;
  if (isTasked && dueAt <= now) askForBooked(booking.id, out);
}

/** Those that are due do not wait behind others that are. */
function bringForward(state: State, rows: readonly Task[], now: number, out: Output): void {
  for (const row of rows) {
    const task = state.tasks.get(row.id) ?? row;
    if (task.state !== 'waiting' || !isDue(task, now)) continue;
    release(state, task, now, out);
  }
}

/** No task of it was offered in this window, and its time for that has passed. */
function isUnused({ bookings }: State, booking: Booking, now: number): boolean {
  if (booking.state !== 'bound' || booking.isUsed || booking.isMaintenance) return false;
  const { seenFrom } = bookings.active.get(booking.id) ?? {};
  return noShowAt(booking, seenFrom ?? now) <= now;
}

/** Whether a task for this window waits, as far as is known: of one that recurs they may be for later ones, and rows are asked. */
function mayBeAwaited({ bookings }: State, booking: Booking, out: Output): boolean {
  const { id, everyMs, endingBefore } = booking;
  if ((bookings.taskCounts.get(id) ?? 0) === 0) return false;
  const active = bookings.active.get(id);
  // While those of an earlier window are being ended it is looked at again once they have.
  if (everyMs === null || endingBefore !== null || active?.isAsked !== false) return true;
  active.isAsked = true;
  askForBooked(id, out);
  return true;
}

type How = Extract<BookingState, 'ended' | 'no_show' | 'canceled'> | 'skipped';

/**
 * This window is over, or all of them (`canceled`): its executors are released, its tasks end, but those that may go
 * on after it. Those that have passed since, while nobody looked, are over with it. As it is then.
 */
export function endWindow(
  state: State,
  booking: Booking,
  how: How,
  now: number,
  out: Output,
): Booking {
  const { id, type, group } = booking;
  countBookedIdle(state, booking, now, out);
  leaveRunning(state, booking, how, now, out);
  deactivate(state, id);
  for (const { executorId } of booking.executors) unbind(state, id, executorId, out);
  leavePlan(state, booking);
  const rest = booking.windows.filter(({ from, to }) => from > booking.from && to > now);
  const windows = how === 'canceled' ? [] : withNext(state, booking, rest, now);
  const next = nextOf(booking, windows, how, now);
  const isTasked = (state.bookings.taskCounts.get(id) ?? 0) > 0;
  // Until then they are asked for already, and read up to what it is by then.
  const isAsked = booking.endingBefore !== null;
  const endingBefore = isTasked ? endsBefore(next) : null;
  const row = putBooking(state, { ...next, endingBefore }, out);
  enterPlan(state, row);
  if (isTasked && !isAsked) askForBooked(id, out);
  tell(state, out, 'booking.ended', now, { type, group }, { booking_id: id, state: how });
  if (isBookingOver(row)) forgetOld(state, row, now, out);
  else wakeAt(state, id, now);
  return row;
}

/** Tasks for a later window stay. */
function endsBefore(booking: Booking): number {
  return isBookingOver(booking) ? TIME_END : booking.from;
}

function nextOf(booking: Booking, windows: Booking['windows'], how: How, now: number): Booking {
  const [window] = windows;
  const released = { ...booking, windows, executors: [], isUsed: false, ranMs: 0, replacedMs: 0 };
  if (window === undefined) {
    return { ...released, state: how === 'skipped' ? 'canceled' : how, endedAt: now };
  }
  const { from, to, parts } = window;
  const skips = booking.skips.filter((at) => at > from);
  return { ...released, skips, from, to, state: parts === null ? 'at_risk' : 'planned' };
}

/** What runs, or is about to, is told to end (`isEnding`), or goes on: as what is of no booking from now on. */
function leaveRunning(
  state: State,
  { id, mayOverrun }: Booking,
  how: How,
  now: number,
  out: Output,
): void {
  const isEnding = how !== 'ended' || !mayOverrun;
  // What has gone on after an earlier window, or was offered before one by a clock that was set back, is of no booking
  // any more, and ends with this one.
  const mayBeOthers = how === 'canceled' || (isEnding && mayOverrun);
  const all = () => [...state.executors.values(), ...state.elders.values()];
  const some = mayBeOthers ? all() : [...(state.bookings.runningOf.get(id) ?? [])];
  for (const executor of some) {
    const { occupation } = executor;
    if (occupation === null) continue;
    const task = currentTask(state, executor, occupation);
    if (occupation.booking === id) occupy(state, executor, { ...occupation, booking: null });
    if (isEnding && task?.booking === id) beginEnding(state, task, 'booking_end', now, out);
  }
}

/** Its tasks that wait: those that are to end, page by page, or those for the window that is open. */
export function askForBooked(id: string, out: Output): void {
  out.loads.push({ type: 'booked', booking: id });
}

/** Of those that are asked for: all are due before then. */
export function askedBefore({ endingBefore, to }: Booking): number {
  return endingBefore ?? to;
}

/** They end with it; or it is known now whether there are any for the window that is open. */
export function bookedLoaded(state: State, page: BookedPage, now: number, out: Output): void {
  const booking = state.bookings.byId.get(page.booking);
  if (booking === undefined) return;
  if (booking.endingBefore !== null) endBooked(state, booking, page, now, out);
  else if (page.tasks.length > 0) bringForward(state, page.tasks, now, out);
  else if (isUnused(state, booking, now)) {
    endWindow(state, booking, 'no_show', now, out);
    // The next one may have begun: before others have those that are released.
    advance(state, booking.id, now, out);
  }
  if (state.bookings.byId.get(booking.id)?.endingBefore === null)
    advance(state, booking.id, now, out);
}

function endBooked(
  state: State,
  booking: Booking,
  { booking: id, tasks, complete }: BookedPage,
  now: number,
  out: Output,
): void {
  for (const row of tasks) {
    const task = state.tasks.get(row.id) ?? row;
    if (isAtRest(task)) finishBooked(state, task, now, out);
  }
  if (!complete) return askForBooked(id, out);
  const left = state.bookings.byId.get(id) ?? booking;
  putBooking(state, { ...left, endingBefore: null }, out);
  // Who was asked looked past so many of them only.
  for (const { executorId } of left.executors) {
    const executor = state.executors.get(executorId);
    if (executor !== undefined) rouse(state, executor);
  }
}

/** Of those that are over only the newest are kept; it stands behind them now. */
function forgetOld({ bookings }: State, row: Booking, now: number, out: Output): void {
  bookings.wakes.delete(row.id);
  bookings.byId.delete(row.id);
  bookings.byId.set(row.id, row);
  bookings.over.add(row.id);
  for (const id of bookings.over) {
    const { endedAt = null, endingBefore = null } = bookings.byId.get(id) ?? {};
    const isOld = (endedAt ?? 0) < now - OVER_BOOKING_KEPT_MS;
    if (!isOld && bookings.over.size <= OVER_BOOKINGS_MAX) return;
    if (endingBefore !== null) continue;
    bookings.over.delete(id);
    bookings.byId.delete(id);
    bookings.taskCounts.delete(id);
    out.changes.push({ op: 'remove', table: 'booking', key: id, expect: 'any' });
  }
}

/** What was booked and not used is usage too. Of this window, up to now: time of its executors, less what its tasks have run for. */
function countBookedIdle(state: State, booking: Booking, now: number, out: Output): void {
  const { id, type, group, from, to, ranMs, replacedMs } = booking;
  const until = Math.min(now, to);
  let allMs = replacedMs;
  let runningMs = 0;
  for (const bound of booking.executors) {
    allMs += bookedMs(booking, bound, now);
    const occupation = state.executors.get(bound.executorId)?.occupation ?? null;
    if (occupation === null || occupation.booking === null) continue;
    const startedAt = state.tasks.get(occupation.taskId)?.startedAt ?? until;
    runningMs += Math.max(0, until - Math.max(from, startedAt));
  }
  const { unwrittenRanMs = 0 } = state.bookings.active.get(id) ?? {};
  const idleMs = allMs - ranMs - unwrittenRanMs - runningMs;
  if (idleMs <= 0) return;
  const user = { group, project: null, env: null, user: null };
  count(state, out, { type, user }, now, { booked_idle_ms: idleMs });
}
