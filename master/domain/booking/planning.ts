/** Windows of bookings, as the plan has them: which come, whether they fit, and what becomes of them when executors go. */
import type { Output } from '../effects.ts';
import { tell } from '../feed/tell.ts';
import type { BookedWindow, Booking, BookingSpec } from './booking.ts';
import { pinnedTo, pinOf } from '../model/executor.ts';
import { effectiveOf } from '../model/task-type.ts';
import { TIME_END } from '../schedule/local-time.ts';
import type { State } from '../state/state.ts';
import {
  FREE_AFTER_MS,
  FREE_BEFORE_MS,
  PLAN_EVERY_MS,
  REPLANNED_WINDOWS_MAX,
  WINDOWS_MAX,
} from './booking-bounds.ts';
import { bookedPools, declaredTypes } from './capacity.ts';
import type { FreeWindow } from '../plan/free.ts';
import type { Ceiling, Wish } from '../plan/divide.ts';
import type { PlannedWindow } from '../plan/plan.ts';
import { occurrencesOf, type Recurrence } from '../plan/recurrence.ts';
import { putBooking } from './rows.ts';

type Recurring = Pick<BookingSpec, 'firstFrom' | 'windowMs' | 'everyMs' | 'zone'>;

export function recurrenceOf(
  { firstFrom, windowMs, everyMs, zone }: Recurring,
  skips: readonly number[] = [],
): Recurrence {
  const of = { from: firstFrom, to: firstFrom + windowMs, everyMs, zone: zone ?? 'UTC' };
  return { ...of, skips: new Set(skips) };
}

/** The next ones that end after that instant. */
export function windowsAfter(
  of: Recurring & { readonly skips?: readonly number[] },
  after: number,
  countMax: number,
): { readonly from: number; readonly to: number }[] {
  return occurrencesOf(recurrenceOf(of, of.skips), { after, until: TIME_END, countMax });
}

/** What the limits of its type and its group allow, whichever executors there are. */
function ceilingsOf({ types }: State, { type, group }: Pick<BookingSpec, 'type' | 'group'>) {
  const ceilings: Ceiling[] = [];
  const ofType = types.get(type);
  if (ofType === undefined) return ceilings;
  const { maxRunning, perGroup } = effectiveOf(ofType).limits;
  if (maxRunning !== null) ceilings.push({ key: type, max: maxRunning });
  const ofGroup = perGroup?.maxRunning ?? null;
  if (ofGroup !== null) ceilings.push({ key: `${type} ${group}`, max: ofGroup });
  return ceilings;
}

function wishOf(
  state: State,
  spec: BookingSpec,
  { from, to }: { readonly from: number; readonly to: number },
): Wish {
  const { type, count, leadMs } = spec;
  // Of a type that declares its capacity nobody knows which labels its executors have, but for their own.
  const isDeclared = declaredTypes(state.types).has(type);
  const pin = pinnedTo(spec.requires);
  const requires = !isDeclared ? spec.requires : pin === null ? [] : [pinOf(pin)];
  const labels = isDeclared ? [] : spec.labels;
  // What is being maintained runs nothing.
  const ceilings = spec.isMaintenance ? [] : ceilingsOf(state, spec);
  return { type, requires, labels, from, to, count, leadMs, ceilings };
}

const windowId = (id: string, from: number): string => `${id} ${from}`;

function planned(state: State, booking: Booking, window: BookedWindow): PlannedWindow {
  const { id, seq: order } = booking;
  return {
    ...wishOf(state, booking, window),
    id: windowId(id, window.from),
    order,
    parts: window.parts,
  };
}

/** Its windows, divided; or where else there is room for the one that does not fit. */
export function admit(
  state: State,
  spec: BookingSpec,
  now: number,
): { readonly windows: readonly BookedWindow[] } | { readonly refused: Wish; free: FreeWindow[] } {
  const { plan } = state.bookings;
  seePools(state, now);
  const windows = windowsAfter(spec, now, WINDOWS_MAX);
  const wishes = windows.map((window) => wishOf(state, spec, window));
  const admission = plan.admit(wishes);
  if ('refused' in admission) {
    const { refused } = admission;
    const from = Math.max(now, refused.from - FREE_BEFORE_MS);
    return { refused, free: plan.free(refused, { from, to: refused.to + FREE_AFTER_MS }) };
  }
  const divided = windows.map((window, at) => ({
    ...window,
    parts: admission.divisions[at] ?? null,
  }));
  return { windows: divided };
}

/** Who has come since is promised to nobody yet: bookings that are short may have it. */
function seePools(state: State, now: number): void {
  const { bookings } = state;
  bookings.plan.setPools(bookedPools(state, now));
  if (bookings.active.size > 0) bookings.isUnsettled = true;
}

/** It has its place in the plan, as its row says. */
export function enterPlan(state: State, booking: Booking): void {
  for (const window of booking.windows) state.bookings.plan.put(planned(state, booking, window));
}

export function leavePlan({ bookings }: State, { id, windows }: Booking): void {
  for (const { from } of windows) bookings.plan.remove(windowId(id, from));
  if (bookings.active.size > 0) bookings.isUnsettled = true;
}

/** One more at the end, where there are fewer than are planned: in no room that others have. */
export function withNext(
  state: State,
  booking: Booking,
  windows: readonly BookedWindow[],
  now: number,
): readonly BookedWindow[] {
  if (booking.everyMs === null || windows.length >= WINDOWS_MAX) return windows;
  const after = windows.at(-1)?.to ?? Math.max(now, booking.to);
  const next = windowsAfter(booking, after, WINDOWS_MAX - windows.length);
  return [
    ...windows,
    ...next.map((window) => {
      const admission = state.bookings.plan.admit([wishOf(state, booking, window)]);
      const parts = 'refused' in admission ? null : (admission.divisions[0] ?? null);
      return { ...window, parts };
    }),
  ];
}

/** Executors have come or gone: what no longer fits is at risk, and what fits again is not. Some windows in each tick. */
export function replan(state: State, now: number, out: Output): void {
  const { bookings } = state;
  const { plan } = bookings;
  if (!plan.isReplanning) {
    if (bookings.byId.size === 0 || now < bookings.nextPlanAt) return;
    bookings.nextPlanAt = now + PLAN_EVERY_MS;
    seePools(state, now);
  }
  const declared = declaredTypes(state.types);
  const isKnown = ({ type }: PlannedWindow) => now >= bookings.knownFrom || declared.has(type);
  const changed = new Map<string, PlannedWindow[]>();
  for (const window of plan.replan({ countMax: REPLANNED_WINDOWS_MAX, isKnown })) {
    const id = window.id.split(' ')[0] ?? '';
    changed.set(id, [...(changed.get(id) ?? []), window]);
  }
  if (changed.size > 0 && bookings.active.size > 0) bookings.isUnsettled = true;
  for (const [id, windows] of changed) {
    const booking = bookings.byId.get(id);
    if (booking !== undefined) divided(state, booking, windows, now, out);
  }
}

function divided(
  state: State,
  booking: Booking,
  changed: readonly PlannedWindow[],
  now: number,
  out: Output,
): void {
  const partsFrom = new Map(changed.map(({ from, parts }) => [from, parts]));
  const windows = booking.windows.map((one) => {
    const parts = partsFrom.get(one.from);
    return parts === undefined ? one : { ...one, parts };
  });
  const isRisky = windows[0]?.parts === null;
  const isToCome = booking.state === 'planned' || booking.state === 'at_risk';
  const next = isRisky ? 'at_risk' : 'planned';
  const row: Booking = { ...booking, windows, state: isToCome ? next : booking.state };
  putBooking(state, row, out);
  if (row.state === booking.state) return;
  const { id, type, group, from } = booking;
  const kind = isRisky ? 'booking.at_risk' : 'booking.planned';
  tell(state, out, kind, now, { type, group }, { booking_id: id, from_at: from });
}
