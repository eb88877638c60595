/** Windows of bookings, as the plan has them: which come, whether they fit, and what becomes of them when executors go. */
import type { Output } from '../effects.ts';
import { tell } from '../feed/tell.ts';
import type { BookedWindow, Booking, BookingSpec, Refusal } from './booking.ts';
import { pinnedTo, pinOf } from '../model/executor.ts';
import { effectiveAt } from '../model/task-type.ts';
import { maximaOf } from '../limits/maxima.ts';
import type { Pieces } from '../pieces.ts';
import { TIME_END } from '../schedule/local-time.ts';
import type { State } from '../state/state.ts';
import {
  FREE_AFTER_MS,
  FREE_BEFORE_MS,
  MOVED_LOOK_COUNT,
  OTHERS_LOOK_COUNT,
  PLAN_AGAIN_MS,
  PLAN_EVERY_MS,
  REPLANNED_WINDOWS_MAX,
  WINDOWS_MAX,
} from './booking-bounds.ts';
import { declaredTypes, labelsOfNone, seePools } from './capacity.ts';
import type { FreeWindow } from '../plan/free.ts';
import type { Ceiling, Wish } from '../plan/divide.ts';
import type { PlannedWindow } from '../plan/planned-window.ts';
import { occurrencesOf, type Recurrence } from '../plan/recurrence.ts';
import { putBooking } from './rows.ts';

const MINUTE_MS = 60_000;

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

/**
 * What limits allow of a window, whichever executors there are: of all, of its type and of its group; and of its type at
 * times of the day.
 */
function ceilingsOf(
  { types, settings }: State,
  { type, group, isMaintenance }: Pick<BookingSpec, 'type' | 'group' | 'isMaintenance'>,
  { from }: { readonly from: number },
): Ceiling[] {
  // What is being maintained runs nothing.
  if (isMaintenance) return [];
  const ofType = types.get(type);
  const limits = ofType && effectiveAt(ofType, from).limits;
  const maxOf = (max: number | null | undefined) => max ?? Number.POSITIVE_INFINITY;
  const byDay = maximaOf(limits?.windows ?? []);
  return [
    { key: '', max: maxOf(settings.maxRunning) },
    { key: type, max: maxOf(limits?.maxRunning) },
    { key: `${type} ${group}`, max: maxOf(limits?.perGroup?.maxRunning) },
    ...(byDay === undefined ? [] : [{ key: type, max: maxOf(null), byDay }]),
  ];
}

/** `max_running` may be another: bookings are planned anew by the next tick. */
export function limitsChanged({ bookings }: State): void {
  bookings.plan.limitsChanged();
  planSoon(bookings);
}

/** An executor can do something else than before: bookings that count on it are planned anew by the next tick. */
export function executorChanged({ bookings }: State): void {
  planSoon(bookings);
}

function planSoon(bookings: State['bookings']): void {
  bookings.nextPlanAt = Math.min(bookings.nextPlanAt, bookings.soonestPlanAt);
}

/** The limit that leaves no room for that window of it; null: none does. */
export function limitInWay(
  state: State,
  booking: Booking,
  window: BookedWindow,
): LimitInWay | null {
  const { type, group, count } = booking;
  const wish = wishOf(state, booking, window);
  const reached = state.bookings.plan.reachedCeiling(wish, window.parts === null ? 0 : count);
  return reached && limitOf(reached, { type, group });
}

export interface LimitInWay {
  /** For programs: as that of a submit that is refused. */
  readonly name: string;
  readonly of: string;
  readonly max: number;
}

function limitOf(
  { key, max, byDay }: Ceiling,
  { type, group }: Pick<BookingSpec, 'type' | 'group'>,
): LimitInWay {
  if (byDay !== undefined) {
    return { name: 'limits.windows', of: `type ${type} in limits.windows`, max };
  }
  if (key === '') return { name: 'max_running', of: 'all tasks', max };
  if (key === type) return { name: 'limits.max_running', of: `type ${type}`, max };
  return { name: 'limits.per_group.max_running', of: `group ${group} of type ${type}`, max };
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
  const ceilings = ceilingsOf(state, spec, { from });
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

/** Why a window of it does not fit any more. @param limit What is in its way (`limitInWay`). */
export function riskInWords(state: State, booking: Booking, limit: LimitInWay | null): string {
  if (limit !== null) return `max_running of ${limit.of} is ${limit.max}`;
  const isDeclared = declaredTypes(state.types).has(booking.type);
  return isDeclared ? 'the capacity of its type is less' : 'executors have gone';
}

/** What keeps that window of it from any executors; null: nothing but that too few of those that would do are free. */
function inTheWay(state: State, spec: BookingSpec, wish: Wish): Pick<Refusal, 'reason' | 'limit'> {
  const reached = state.bookings.plan.reachedCeiling(wish);
  if (reached !== null) {
    const { name: limit, of, max } = limitOf(reached, spec);
    return { reason: `max_running of ${of} is ${max}`, limit };
  }
  const isDeclared = declaredTypes(state.types).has(spec.type);
  const missing = isDeclared ? [] : labelsOfNone(state, wish);
  return { reason: missing.length === 0 ? null : `none has ${missing.join(', ')}`, limit: null };
}

/** Its windows, divided; or which of them does not fit. */
export function admit(
  state: State,
  spec: BookingSpec,
  now: number,
): { readonly windows: readonly BookedWindow[] } | Refusal {
  const { plan } = state.bookings;
  seeFleet(state, now);
  const windows = windowsAfter(spec, now, WINDOWS_MAX);
  const wishes = windows.map((window) => wishOf(state, spec, window));
  const admission = plan.admit(wishes);
  if ('refused' in admission) {
    const { refused } = admission;
    const rest = wishes.slice(wishes.indexOf(refused) + 1);
    const why = inTheWay(state, spec, refused);
    return { spec, refused, rest, windowCount: wishes.length, ...why };
  }
  const divided = windows.map((window, at) => ({
    ...window,
    parts: admission.divisions[at] ?? null,
  }));
  return { windows: divided };
}

/** Those after the one that was refused that do not fit either. `areAll`: false, there were more than could be looked at. */
export function* othersThatMisfit(
  { bookings: { plan } }: State,
  { rest }: Refusal,
): Pieces<{ readonly others: readonly Wish[]; readonly areAll: boolean }> {
  const looks = { left: OTHERS_LOOK_COUNT };
  const others: Wish[] = [];
  for (const wish of rest) {
    if (looks.left === 0) break;
    if ('refused' in (yield* plan.admission([wish], looks))) others.push(wish);
    yield;
  }
  return { others, areAll: looks.left > 0 };
}

/** Where else there is room. Of one that recurs only what all of its windows fit with: each as the first of them. */
export function* freeInstead(
  state: State,
  { spec, refused }: Refusal,
  now: number,
): Pieces<FreeWindow[]> {
  const { plan } = state.bookings;
  const from = Math.max(now, refused.from - FREE_BEFORE_MS);
  const within = { from, to: refused.to + FREE_AFTER_MS };
  const ceilings = ceilingsOf(state, spec, within);
  const free = yield* plan.free({ ...refused, ceilings }, within);
  if (spec.everyMs === null) return free;
  const lengthMs = refused.to - refused.from;
  const nearest = free
    .map((window) => Math.max(window.from, Math.min(refused.from, window.to - lengthMs)))
    // People type whole minutes.
    .map((at) => spec.firstFrom + Math.ceil(at / MINUTE_MS) * MINUTE_MS - refused.from)
    .filter((firstFrom) => firstFrom > now)
    .sort((a, b) => Math.abs(a - spec.firstFrom) - Math.abs(b - spec.firstFrom));
  const looks = { left: MOVED_LOOK_COUNT };
  const admitted: number[] = [];
  for (const firstFrom of nearest) {
    if (looks.left === 0) break;
    const moved = windowsAfter({ ...spec, firstFrom }, now, WINDOWS_MAX);
    const admission = yield* plan.admission(wishesOf(state, spec, moved), looks);
    if (!('refused' in admission)) admitted.push(firstFrom);
    yield;
  }
  return admitted
    .sort((a, b) => a - b)
    .map((begin) => ({ from: begin, to: begin + spec.windowMs, count: spec.count }));
}

/** Each as it is asked for: where one does not fit the rest are not needed. */
function* wishesOf(
  state: State,
  spec: BookingSpec,
  windows: readonly { readonly from: number; readonly to: number }[],
): Generator<Wish> {
  for (const window of windows) yield wishOf(state, spec, window);
}

/** Who has come since is promised to nobody yet: bookings that are short may have it. */
function seeFleet(state: State, now: number): void {
  const { bookings } = state;
  seePools(state, now);
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
    bookings.soonestPlanAt = now + PLAN_AGAIN_MS;
    seeFleet(state, now);
  }
  const declared = declaredTypes(state.types);
  const isKnown = ({ type }: PlannedWindow) => now >= bookings.knownFrom || declared.has(type);
  const bookingOf = ({ id }: PlannedWindow) => bookings.byId.get(id.split(' ')[0] ?? '');
  const ceilings = (window: PlannedWindow) => {
    const booking = bookingOf(window);
    return booking === undefined ? window.ceilings : ceilingsOf(state, booking, window);
  };
  const changed = new Map<string, PlannedWindow[]>();
  const options = { countMax: REPLANNED_WINDOWS_MAX, isKnown, ceilingsOf: ceilings };
  for (const window of plan.replan(options)) {
    const { id } = bookingOf(window) ?? window;
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
  const [window] = windows;
  const about = { booking_id: id, from_at: from };
  if (!isRisky || window === undefined) {
    tell(state, out, 'booking.planned', now, { type, group }, about);
    return;
  }
  const reason = riskInWords(state, row, limitInWay(state, row, window));
  tell(state, out, 'booking.at_risk', now, { type, group }, { ...about, reason });
}
