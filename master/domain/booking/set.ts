/** What people ask of bookings: one more, one less, or one of its windows less. */
import type { Output } from '../effects.ts';
import type { CommandOutcome } from '../effects.ts';
import type { Event } from '../events.ts';
import { tell } from '../feed/tell.ts';
import { pinnedTo } from '../model/executor.ts';
import { type Booking, isBookingOver } from './booking.ts';
import type { State } from '../state/state.ts';
import { BOOKINGS_MAX, HOLD_MS, SKIPS_MAX } from './booking-bounds.ts';
import { advance, endWindow } from './due.ts';
import { admit, enterPlan, leavePlan, recurrenceOf, withNext } from './planning.ts';
import { beginsAt } from '../plan/recurrence.ts';
import { instantInWords } from '../schedule/local-time.ts';
import { refusalOf } from './refusal.ts';
import { putBooking } from './rows.ts';

export type OnBooking = Extract<
  Event,
  { type: 'bookingRequested' | 'bookingCanceled' | 'bookingSkipped' }
>;

/** Whether it is asked of bookings. */
export function isOfBookings(event: Event): event is OnBooking {
  const { type } = event;
  return type === 'bookingRequested' || type === 'bookingCanceled' || type === 'bookingSkipped';
}

export function onBooking(state: State, event: OnBooking, now: number, out: Output): void {
  const { request } = event;
  out.effects.push({ type: 'reply', request, reply: outcomeOf(state, event, now, out) });
}

function outcomeOf(state: State, event: OnBooking, now: number, out: Output): CommandOutcome {
  if (event.type === 'bookingRequested') return book(state, event, now, out);
  const booking = state.bookings.byId.get(event.bookingId);
  const isSeen = event.groups === null || event.groups.includes(booking?.group ?? '');
  if (booking === undefined || !isSeen) {
    return { kind: 'unknown', message: 'there is no such booking' };
  }
  if (isBookingOver(booking)) {
    return { kind: 'conflict', message: `the booking is over: ${booking.state}` };
  }
  if (event.type === 'bookingSkipped') return skip(state, booking, event.from, now, out);
  endWindow(state, booking, 'canceled', now, out);
  return { kind: 'done' };
}

function book(
  state: State,
  { booking: asked }: Extract<OnBooking, { type: 'bookingRequested' }>,
  now: number,
  out: Output,
): CommandOutcome {
  const { bookings, types } = state;
  if (asked.firstFrom < now) {
    const message = `expected not before now, which is ${instantInWords(now)}`;
    return { kind: 'misfit', field: 'from', message };
  }
  if (asked.count > 1 && pinnedTo(asked.requires) !== null) {
    return { kind: 'misfit', field: 'count', message: 'expected 1, of an executor by its name' };
  }
  if (bookings.byId.size - bookings.over.size >= BOOKINGS_MAX) {
    return { kind: 'full', message: `there are ${BOOKINGS_MAX} bookings: cancel one` };
  }
  const { type, group } = asked;
  const holdMs = asked.holdMs ?? types.get(type)?.holdMs ?? HOLD_MS;
  const spec = { ...asked, holdMs };
  const admission = admit(state, spec, now);
  if ('refused' in admission) return refusalOf(admission);
  const { windows } = admission;
  const [first] = windows;
  if (first === undefined)
    return { kind: 'misfit', field: 'from', message: 'no window is to come' };
  const booking: Booking = {
    ...spec,
    from: first.from,
    to: first.to,
    state: 'planned',
    seq: ++state.lastSeq,
    createdAt: now,
    skips: [],
    windows,
    executors: [],
    ranMs: 0,
    replacedMs: 0,
    isUsed: false,
    endingBefore: null,
    endedAt: null,
  };
  enterPlan(state, putBooking(state, booking, out));
  const about = { booking_id: spec.id, from_at: first.from, to_at: first.to, count: spec.count };
  tell(state, out, 'booking.created', now, { type, group }, about);
  advance(state, spec.id, now, out);
  return { kind: 'done', isNew: true };
}

/** That window is left out; the others stay. Which one is said to the second, as people see it. */
function skip(
  state: State,
  booking: Booking,
  asked: number,
  now: number,
  out: Output,
): CommandOutcome {
  const at = asked - (asked % 1000) + (booking.firstFrom % 1000);
  if (booking.everyMs === null) {
    return { kind: 'conflict', message: 'the booking has one window: cancel it' };
  }
  if (at < booking.from || !beginsAt(recurrenceOf(booking), at)) {
    const message = `expected when a window of it begins, as ${instantInWords(booking.from)}`;
    return { kind: 'misfit', field: 'from', message };
  }
  if (booking.skips.includes(at)) return { kind: 'done' };
  if (booking.skips.length >= SKIPS_MAX) {
    return { kind: 'full', message: `${SKIPS_MAX} windows of it are skipped already` };
  }
  const { id, type, group } = booking;
  const skips = [...booking.skips, at].sort((a, b) => a - b);
  tell(state, out, 'booking.skipped', now, { type, group }, { booking_id: id, from_at: at });
  const row = putBooking(state, { ...booking, skips }, out);
  if (at === booking.from) {
    endWindow(state, row, 'skipped', now, out);
    // The next one may have begun to keep executors: before others have those that are released.
    advance(state, booking.id, now, out);
    return { kind: 'done' };
  }
  leavePlan(state, row);
  const windows = withNext(
    state,
    row,
    row.windows.filter(({ from }) => from !== at),
    now,
  );
  enterPlan(state, putBooking(state, { ...row, windows }, out));
  return { kind: 'done' };
}
