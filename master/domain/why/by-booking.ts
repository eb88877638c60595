/** What keeps a task from being offered for a booking: one that others have, or its own. */
import { type Booking, isBookingOver } from '../booking/booking.ts';
import { limitInWay } from '../booking/planning.ts';
import { type Executor, poolKeyOf } from '../model/executor.ts';
import type { Asked, Facts, Obstacle, Remedy } from './asked.ts';
import { started } from './remedies.ts';
import { counted, inWords } from './words.ts';

/** That of which the task is, unless it is over: it ends with that. */
export function ownBooking({ state, task }: Asked): Booking | null {
  const booking = task.booking === null ? undefined : state.bookings.byId.get(task.booking);
  return booking === undefined || isBookingOver(booking) ? null : booking;
}

/** Nobody has been bound for it yet: who might have it is not known. */
export function* beforeBooking({ state }: Asked, booking: Booking): Generator<Obstacle> {
  if (booking.state !== 'at_risk') return;
  const { id, type } = booking;
  const [window] = booking.windows;
  const limit = window && limitInWay(state, booking, window);
  const otherwise = `Start more executors of type ${type}, or cancel other bookings.`;
  yield {
    reason: 'no_executor',
    key: 'at_risk',
    message: limit
      ? `Booking ${id} is at risk: max_running of ${limit.of} is ${limit.max}.`
      : `There are too few executors for booking ${id} (at risk).`,
    facts: { booking: id },
    remedies: () => [],
    otherwise: limit ? `Raise max_running of ${limit.of}, or cancel other bookings.` : otherwise,
  };
}

/** Whoever would fit is bound; where the task is of a booking: not to that one. */
export function allBooked(asked: Asked, booked: readonly Executor[], facts: Facts): Obstacle {
  const own = ownBooking(asked);
  if (own !== null) return shortOf(asked, own, 0, facts);
  const booking = firstOf(booked.map((one) => bookingOf(asked, one.booking)));
  const name = nameFor(asked, booking);
  const until = booking?.to ?? asked.now;
  const rest = inWords(Math.max(0, until - asked.now));
  const message =
    booked.length === 1
      ? `1 fitting executor, which ${name} has for another ${rest}.`
      : `${booked.length} fitting executors, all booked: ${name} ends first, in ${rest}.`;
  return {
    reason: 'reserved',
    key: 'booked',
    message,
    facts: { ...facts, until, booking: isSeen(asked, booking) ? (booking?.id ?? null) : null },
    remedies: () => (booking === null ? [started(asked)] : [ended(asked, booking), started(asked)]),
  };
}

/** Whoever is idle is about to be bound, and the task may not be over by then. */
export function keptForBooking(asked: Asked, kept: readonly Executor[], facts: Facts): Obstacle {
  const { state, now, task } = asked;
  const keepers = [...state.bookings.active.values()].filter((active) =>
    kept.some(({ id }) => active.kept.has(id)),
  );
  const booking = firstOf(keepers.map(({ id }) => bookingOf(asked, id)));
  const until = Math.max(...kept.map(({ keptUntil }) => keptUntil ?? now));
  const who = counted(kept.length, 'idle executor');
  const what = 'only what is sure to be over by then is started on';
  const message = `${who}, kept for ${nameFor(asked, booking)}, which begins in ${inWords(Math.max(0, (booking?.from ?? until) - now))}: ${what} ${kept.length === 1 ? 'it' : 'them'}.`;
  const leftSeconds = Math.floor((until - now - state.policy.cancelGraceMs) / 1000);
  const isLong = task.executionTimeoutMs === null || task.executionTimeoutMs > leftSeconds * 1000;
  const verb =
    leftSeconds >= 1 && isLong
      ? `Give it an execution_timeout of at most ${leftSeconds} s, or start`
      : 'Start';
  return {
    reason: 'reserved',
    key: 'booked',
    message,
    facts: { ...facts, until, booking: isSeen(asked, booking) ? (booking?.id ?? null) : null },
    remedies: () => [started(asked, verb)],
  };
}

/** All executors that its own booking has are at work; null: it is of none. */
export function busyOfBooking(asked: Asked, ownCount: number, facts: Facts): Obstacle | null {
  const booking = ownBooking(asked);
  if (booking === null) return null;
  if (ownCount < booking.count) return shortOf(asked, booking, ownCount, facts);
  const { id, type } = booking;
  return {
    reason: 'all_busy',
    key: 'all_busy booked',
    message: `${counted(ownCount, 'executor')} of booking ${id}, all busy.`,
    facts: { ...facts, booking: id },
    remedies: () => [],
    otherwise: `Wait until a task of the booking has ended, or book more executors of type ${type}.`,
  };
}

/** What becomes of it that those whom its own booking has cannot serve; empty: it is of none. */
export function replacedInWords(asked: Asked): string {
  const booking = ownBooking(asked);
  if (booking === null) return '';
  return ` Booking ${booking.id} has the next that is free in their place.`;
}

/** It lacks executors: whoever is free next is its own. */
function shortOf(asked: Asked, booking: Booking, ownCount: number, facts: Facts): Obstacle {
  const { id, count } = booking;
  const has =
    ownCount === 0 ? 'none' : `only ${ownCount}, which ${ownCount === 1 ? 'is' : 'are'} busy,`;
  return {
    reason: 'all_busy',
    key: 'all_busy booked',
    message: `Booking ${id} has ${has} of its ${counted(count, 'executor')}: the next that is free is bound to it.`,
    facts: { ...facts, booking: id },
    remedies: () => [started(asked)],
  };
}

/** Its window ends, and so does what runs in it. */
function ended(asked: Asked, { id, to, mayOverrun }: Booking): Remedy {
  const fleet = asked.fleet.map((one) => {
    if (one.booking !== id) return one;
    const occupation = mayOverrun ? one.occupation : null;
    const free = { ...one, booking: null, occupation };
    free.poolKey = poolKeyOf(free);
    return free;
  });
  const { type } = asked.task;
  const message = `Wait for ${inWords(to - asked.now)}: then the booking ends; or start another executor of type ${type}.`;
  const change = { action: 'wait_until', target: null, value: to, message } as const;
  return { change, asked: { ...asked, fleet, now: to } };
}

function bookingOf({ state }: Asked, id: string | null): Booking | null {
  return id === null ? null : (state.bookings.byId.get(id) ?? null);
}

/** Whose window ends first. */
function firstOf(bookings: readonly (Booking | null)[]): Booking | null {
  let first: Booking | null = null;
  for (const one of bookings)
    if (one !== null && (first === null || one.to < first.to)) first = one;
  return first;
}

/** One of another group is named only to whoever sees all. */
function isSeen({ isNaming, task }: Asked, booking: Booking | null): boolean {
  return isNaming || booking?.group === task.user.group;
}

function nameFor(asked: Asked, booking: Booking | null): string {
  return booking !== null && isSeen(asked, booking) ? `booking ${booking.id}` : 'a booking';
}
