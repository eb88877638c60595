/**
 * Who is kept for which booking. Before its lead executors that are free by then take only what is over in time; from
 * its lead on they are bound, and one that is lost, drained or not ready is replaced as soon as another is free:
 * before anything is offered. Runs in each step that may have changed something of that, and costs nothing in others.
 */
import type { Output } from '../effects.ts';
import { tell } from '../feed/tell.ts';
import { bindsAt, bookedMs, type Booking } from './booking.ts';
import { type Executor, isFree, isServing } from '../model/executor.ts';
import type { State } from '../state/state.ts';
import { changePool } from '../steps/fleet.ts';
import { countReserved } from '../steps/limits.ts';
import { becomeIdle, rouse } from '../steps/occupation.ts';
import { announce, announceTo } from './announce.ts';
import type { ActiveBooking } from './bookings-state.ts';
import { enterPlan } from './planning.ts';
import { putBooking, withAbsences } from './rows.ts';
import {
  Among,
  candidatesFor,
  endingSoon,
  fits,
  isNeeded,
  lateness,
  leftTo,
  type Promised,
  promisedTo,
  unfitAmong,
} from './candidates.ts';
import { makeRoom, preempt } from './preempt.ts';

/** At the end of each step, before tasks are offered. */
export function settleBookings(state: State, now: number, out: Output): void {
  const { bookings, freed, unsettled } = state;
  if (bookings.active.size === 0) return;
  const isUnsettled =
    bookings.isUnsettled ||
    [...freed].some((one) => isMisplaced(state, one)) ||
    [...unsettled].some((one) => isKeptLate(state, one));
  if (!isUnsettled && freed.size === 0) return;
  settle(state, isUnsettled, now, out);
  // Those from whom somebody was taken may not have been looked at: before that others have whoever is idle.
  if (bookings.hasTaken && !isUnsettled) settle(state, true, now, out);
}

/** Those first that are bound first: they take from those that are bound later. */
function settle(state: State, isUnsettled: boolean, now: number, out: Output): void {
  const { bookings, executors, freed } = state;
  bookings.isUnsettled = false;
  bookings.hasTaken = false;
  const inOrder = [...bookings.active.values()]
    .filter(({ isWanting }) => isUnsettled || isWanting)
    .map((active) => {
      const booking = bookings.byId.get(active.id) as Booking;
      return { active, booking, at: bindsAt(booking) };
    })
    .sort((a, b) => a.at - b.at || a.booking.seq - b.booking.seq);
  const last = inOrder.at(-1);
  const until = last?.at ?? now;
  const among = new Among(state, isUnsettled ? executors.values() : freed, isUnsettled, until);
  // Who has just come is promised to nobody yet: whoever is short may have it before it is given anything else.
  for (const executor of freed) among.bookable.see(bookings.plan, executor);
  for (const { active, booking } of inOrder) {
    if (booking.state !== 'bound') keep(state, active, booking, among);
    else {
      bind(state, active, booking, among, now, out);
      if (isUnsettled) makeRoom(state, booking, now, out);
    }
  }
}

/** It has done with a task of its booking, and may have no other since. */
function isMisplaced({ bookings }: State, executor: Executor): boolean {
  const booking = bookings.byId.get(executor.booking ?? '');
  return booking !== undefined && !fits(executor, booking);
}

/** What it was offered in time is not sure to be over in time any more. */
function isKeptLate(state: State, executor: Executor): boolean {
  const { keptUntil } = executor;
  return keptUntil !== null && lateness(state, executor, keptUntil) === 2;
}

/** As many as it is to have, those first that are free by then. */
function keep(state: State, active: ActiveBooking, booking: Booking, among: Among): void {
  const until = bindsAt(booking);
  const { kept } = active;
  const promised = promisedTo(state, booking);
  const poolOf = (executor: Executor) => among.bookable.poolFor(booking.type, executor);
  const isFitting = among.fitter(booking);
  const late: Executor[] = [];
  for (const executor of [...kept.values()]) {
    const isHere = state.executors.get(executor.id) === executor && isServing(executor);
    const mayServe = !among.isAll || (isHere && isFitting(executor));
    if (mayServe && lateness(state, executor, until) === 2) late.push(executor);
    // What it was not promised somebody else may be, since. Where pools are about to be others nobody knows that yet.
    else if (!mayServe || !(promised.take(poolOf(executor)) || state.bookings.plan.isOld))
      letGo(state, active, executor);
  }
  let missingCount = booking.count - (kept.size - late.length);
  const keepMore = (isLate: boolean) => {
    if (missingCount <= 0) return;
    const scoreOf = (executor: Executor): number | null => {
      if (kept.has(executor.id)) return null;
      const rank = lateness(state, executor, until);
      return (rank === 2) === isLate ? 2 * (rank % 2) + isNeeded(executor) : null;
    };
    const of = isLate ? among.all : among.inTime;
    for (const executor of candidatesFor(state, booking, among, of, promised, scoreOf)) {
      keepOne(state, active, executor, until);
      if (--missingCount === 0) return;
    }
  };
  keepMore(false);
  for (const executor of late) {
    if (missingCount > 0 && promised.take(poolOf(executor))) missingCount--;
    else letGo(state, active, executor);
  }
  keepMore(true);
  // What was offered in time may start too late to be done in time.
  const isSure = [...kept.values()].every(({ occupation }) => occupation === null);
  active.isWanting = missingCount > 0 || !isSure;
  active.shortCount = 0;
}

function keepOne(state: State, active: ActiveBooking, executor: Executor, until: number): void {
  takeFromOthers(state, active, executor);
  executor.keptUntil = until;
  active.kept.set(executor.id, executor);
}

/** Whoever it was kept for looks for another one. */
function takeFromOthers({ bookings }: State, active: ActiveBooking, executor: Executor): void {
  if (executor.keptUntil === null || active.kept.has(executor.id)) return;
  for (const other of bookings.active.values()) {
    if (other.kept.delete(executor.id)) bookings.hasTaken = true;
  }
}

/** It takes again whatever fits it. */
function letGo(state: State, { kept }: ActiveBooking, executor: Executor): void {
  kept.delete(executor.id);
  executor.keptUntil = null;
  // It may be what another one waits for.
  state.bookings.hasTaken = true;
  rouse(state, executor);
}

function letAllGo(state: State, active: ActiveBooking): void {
  for (const executor of active.kept.values()) letGo(state, active, executor);
}

function bind(
  state: State,
  active: ActiveBooking,
  bookedBefore: Booking,
  among: Among,
  now: number,
  out: Output,
): void {
  const isFitting = among.fitter(bookedBefore);
  const isAwaited = (id: string) => now < active.graceUntil && !state.executors.has(id);
  const booking = withAbsences(state, bookedBefore, isAwaited, now, out);
  const ids = booking.executors.map(({ executorId }) => executorId);
  const here = ids.filter((id) => !isAwaited(id));
  const { unfit, refusingCount, stayingCount } = unfitAmong(state, booking, here, isFitting, now);
  let missing = booking.count - (booking.executors.length - unfit.length);
  let endingCount = 0;
  if (missing > 0) {
    const promised = leftTo(state, booking, unfit, among);
    const choice = { among, promised, now };
    const chosen = chosenFor(state, active, booking, choice, missing - stayingCount);
    missing -= chosen.length;
    const ending = missing > 0 ? endingSoon(state, booking) : [];
    const poolOf = (executor: Executor) => among.bookable.poolFor(booking.type, executor);
    const mayHave = (executor: Executor) => promised.take(poolOf(executor));
    endingCount = Math.min(missing, ending.filter(mayHave).length);
    // Nobody is interrupted for one that is there, and has refused one task.
    const goneCount = missing - endingCount - refusingCount;
    if (goneCount > 0 && among.giving.length > 0) {
      const mayTake = among.fittingOne(booking);
      const mayGive = (one: Executor) => mayTake(one) && mayHave(one);
      const taken = preempt(state, among.giving, goneCount, mayGive, now, out);
      chosen.push(...taken);
      missing -= taken.length;
    }
    if (chosen.length > 0) bindAll(state, active, booking, { chosen, unfit, among }, now, out);
  }
  followPools(state, booking.id, among, out);
  const wasShort = active.shortCount > 0;
  active.shortCount = Math.max(0, missing - endingCount);
  active.isWanting = missing > 0;
  if (missing <= 0) letAllGo(state, active);
  if (active.shortCount === 0 || wasShort) return;
  const { id, type, group } = booking;
  const data = { booking_id: id, count: active.shortCount };
  tell(state, out, 'booking.short', now, { type, group }, data);
}

interface Choice {
  readonly among: Among;
  readonly promised: Promised;
  readonly now: number;
}

/** Those that are free; first those that were kept for it: their inputs may be near. */
function chosenFor(
  state: State,
  { kept, refusedBy }: ActiveBooking,
  booking: Booking,
  { among, promised, now }: Choice,
  countMax: number,
): Executor[] {
  const scoreOf = (executor: Executor): number | null => {
    if (!isFree(executor) || (refusedBy.get(executor)?.until ?? now) > now) return null;
    if (kept.has(executor.id)) return 0;
    // Those last that have refused before: two that refuse in turn would keep a third from it.
    return 1 + isNeeded(executor) + 2 * Number(refusedBy.has(executor));
  };
  const chosen = new Set<Executor>();
  if (countMax <= 0) return [];
  for (const executor of candidatesFor(state, booking, among, among.free, promised, (one) =>
    chosen.has(one) ? null : scoreOf(one),
  )) {
    chosen.add(executor);
    if (chosen.size === countMax) break;
  }
  return [...chosen];
}

interface Chosen {
  readonly chosen: readonly Executor[];
  readonly unfit: readonly string[];
  readonly among: Among;
}

/** They are its own from now on; of those that are of no use as many go. */
function bindAll(
  state: State,
  active: ActiveBooking,
  booking: Booking,
  { chosen, unfit, among }: Chosen,
  now: number,
  out: Output,
): void {
  const { id, type, group, count } = booking;
  const excess = booking.executors.length + chosen.length - count;
  const gone = new Set(unfit.slice(0, Math.max(0, excess)));
  for (const executor of chosen) {
    takeFromOthers(state, active, executor);
    active.kept.delete(executor.id);
    active.refusedBy.delete(executor);
    executor.keptUntil = null;
    state.bookings.boundTo.set(executor.id, id);
  }
  const executors = [
    ...booking.executors.filter(({ executorId }) => !gone.has(executorId)),
    ...chosen.map(({ id: executorId }) => ({ executorId, since: now })),
  ];
  const windows = windowsWith(state, booking, executors, among);
  const replaced = booking.executors.filter(({ executorId }) => gone.has(executorId));
  const replacedMs = replaced.reduce(
    (sum, bound) => sum + bookedMs(booking, bound, now),
    booking.replacedMs,
  );
  enterPlan(state, putBooking(state, { ...booking, executors, windows, replacedMs }, out));
  for (const executorId of gone) unbind(state, id, executorId, out);
  for (const executor of chosen) {
    changePool(state, executor);
    becomeIdle(state, executor);
    tell(
      state,
      out,
      'booking.bound',
      now,
      { type, group, executorId: executor.id },
      { booking_id: id },
    );
  }
  announceTo(state, chosen, id, out);
}

/** One that it has, and that is of another pool than it was, counts there: nobody else is promised it. */
function followPools(state: State, id: string, among: Among, out: Output): void {
  const booking = state.bookings.byId.get(id) as Booking;
  const { type, executors, windows } = booking;
  const inPlace = new Set<string>();
  for (const { pool, executorIds } of windows[0]?.parts ?? []) {
    for (const executorId of executorIds) {
      const executor = state.executors.get(executorId);
      const isThere = executor === undefined || among.bookable.poolFor(type, executor) === pool;
      if (isThere) inPlace.add(executorId);
    }
  }
  if (executors.every(({ executorId }) => inPlace.has(executorId))) return;
  const row = { ...booking, windows: windowsWith(state, booking, executors, among) };
  enterPlan(state, putBooking(state, row, out));
}

/** The plan knows which ones they are, and of which pools: nobody else is promised them. The rest stays as it is. */
function windowsWith(
  state: State,
  { windows, count, type }: Booking,
  bound: Booking['executors'],
  { bookable }: Among,
): Booking['windows'] {
  const [window, ...later] = windows;
  if (window === undefined) return windows;
  const before = window.parts ?? [];
  const byPool = new Map<string, string[]>(before.map(({ pool }) => [pool, []]));
  for (const { executorId } of bound) {
    const executor = state.executors.get(executorId);
    const known = before.find(({ executorIds }) => executorIds.includes(executorId))?.pool;
    const pool = executor === undefined ? known : bookable.poolFor(type, executor);
    if (pool !== undefined) byPool.set(pool, [...(byPool.get(pool) ?? []), executorId]);
  }
  let leftCount = count - bound.length;
  const parts = [...byPool].map(([pool, executorIds]) => {
    const promisedCount = before.find((part) => part.pool === pool)?.count ?? 0;
    const unboundCount = Math.min(leftCount, Math.max(0, promisedCount - executorIds.length));
    leftCount -= unboundCount;
    return { pool, count: executorIds.length + unboundCount, executorIds };
  });
  return [{ ...window, parts: parts.filter((part) => part.count > 0) }, ...later];
}

/** It is nobody's any more. What it has still goes on. */
export function unbind(state: State, id: string, executorId: string, out: Output): void {
  const { boundTo } = state.bookings;
  if (boundTo.get(executorId) !== id) return;
  boundTo.delete(executorId);
  const executor = state.executors.get(executorId);
  if (executor === undefined) return;
  changePool(state, executor);
  becomeIdle(state, executor);
  announce(state, executor, out);
}

/** From its hold on; `boundAt`: it is bound from then on, with its part of what limits allow; null: it is not yet. */
export function activate(
  state: State,
  booking: Booking,
  boundAt: number | null,
  graceUntil = 0,
): void {
  const { id, type, group, count, isMaintenance } = booking;
  const { active } = state.bookings;
  const known = active.get(id);
  const one: ActiveBooking = known ?? {
    id,
    reserved: { type, group, count: 0 },
    kept: new Map(),
    refusedBy: new Map(),
    refusedTasks: new Map(),
    shortCount: 0,
    isWanting: true,
    graceUntil,
    seenFrom: null,
    isOpen: false,
    isAsked: false,
    unwrittenRanMs: 0,
    ranWrittenAt: Number.NEGATIVE_INFINITY,
  };
  active.set(id, one);
  state.bookings.nextEndAt = Math.min(state.bookings.nextEndAt, booking.to);
  one.seenFrom ??= boundAt;
  state.bookings.isUnsettled = true;
  // Maintenance runs nothing.
  if (boundAt === null || isMaintenance || one.reserved.count > 0) return;
  one.reserved = { type, group, count };
  countReserved(state, one.reserved, count);
}

/** It keeps nobody any more. */
export function deactivate(state: State, id: string): void {
  const { active } = state.bookings;
  const one = active.get(id);
  if (one === undefined) return;
  letAllGo(state, one);
  active.delete(id);
  countReserved(state, one.reserved, -one.reserved.count);
  state.bookings.isUnsettled = true;
}
