/**
 * Who is kept for which booking. Before its lead executors that are free by then take only what is over in time; from
 * its lead on they are bound, and one that is lost, drained or not ready is replaced as soon as another is free:
 * before anything is offered. Runs in each step that may have changed something of that, and costs nothing in others.
 */
import type { Output } from '../effects.ts';
import { tell } from '../feed/tell.ts';
import { bindsAt, type Booking } from './booking.ts';
import {
  endsInTime,
  type Executor,
  isFree,
  isServing,
  mayRun,
  pinnedTo,
  pinOf,
} from '../model/executor.ts';
import type { State } from '../state/state.ts';
import { changePool } from '../steps/fleet.ts';
import { countReserved } from '../steps/limits.ts';
import { becomeIdle, currentTask, rouse } from '../steps/occupation.ts';
import { announce } from './announce.ts';
import type { ActiveBooking } from './bookings-state.ts';
import { bareOf, bookedPoolOf } from './capacity.ts';
import { enterPlan, leavePlan } from './planning.ts';
import { makeRoom, preempt } from './preempt.ts';
import { putBooking } from './rows.ts';

/** At the end of each step, before tasks are offered. */
export function settleBookings(state: State, now: number, out: Output): void {
  const { bookings, freed } = state;
  if (bookings.active.size === 0) return;
  const isUnsettled = bookings.isUnsettled || [...freed].some((one) => isMisplaced(state, one));
  if (!isUnsettled && freed.size === 0) return;
  bookings.isUnsettled = false;
  const inOrder = [...bookings.active.values()]
    .filter(({ isWanting }) => isUnsettled || isWanting)
    .map((active) => ({ active, booking: bookings.byId.get(active.id) as Booking }))
    .sort((a, b) => a.booking.from - b.booking.from || a.booking.seq - b.booking.seq);
  for (const { active, booking } of inOrder) {
    const among = isUnsettled ? state.executors.values() : [...freed];
    if (booking.state !== 'bound') keep(state, active, booking, [...among]);
    else {
      bind(state, active, booking, [...among], now, out);
      if (isUnsettled) makeRoom(state, booking, now, out);
    }
  }
  // What was done here is settled, but for those from whom somebody was taken.
  bookings.isUnsettled = bookings.hasTaken;
  bookings.hasTaken = false;
}

/** Whether it may be booked so, whoever has it now. */
function fits(executor: Executor, { type, requires, labels }: Booking): boolean {
  const { labels: own, ...bare } = bareOf(executor);
  const pin = pinnedTo(requires);
  const named = pin === executor.id ? [...own, pinOf(pin)] : own;
  return mayRun({ ...bare, labels: named }, { type, requires, labels });
}

/** It has done with a task of its booking, and may have no other since. */
function isMisplaced({ bookings }: State, executor: Executor): boolean {
  const booking = bookings.byId.get(executor.booking ?? '');
  return booking !== undefined && !fits(executor, booking);
}

/** Executors that may have it, and that no other booking has or needs. */
function* candidatesFor(
  state: State,
  booking: Booking,
  among: readonly Executor[],
): Generator<Executor> {
  const { plan, active } = state.bookings;
  const taken = new Map<string, ReadonlySet<string>>();
  for (const executor of among) {
    if (executor.booking !== null || state.executors.get(executor.id) !== executor) continue;
    if (!isServing(executor) || !fits(executor, booking)) continue;
    const pool = bookedPoolOf(state, executor);
    const others = taken.get(pool) ?? plan.takenWithin(pool, booking.from, booking.to);
    taken.set(pool, others);
    const isOwn = active.get(booking.id)?.kept.has(executor.id) ?? false;
    // One that is kept for a later booking may serve this one first.
    if (!isOwn && (executor.keptUntil ?? Infinity) <= bindsAt(booking)) continue;
    // What names it is among what the plan has of it.
    if (pinnedTo(booking.requires) !== executor.id && others.has(executor.id)) continue;
    yield executor;
  }
}

/** 0: it is idle; 1: it is done in time; 2: nobody knows. */
function lateness(state: State, executor: Executor, until: number): 0 | 1 | 2 {
  if (executor.occupation === null) return 0;
  const task = currentTask(state, executor, executor.occupation);
  if (task === null) return 2;
  const begun = task.startedAt ?? task.offeredAt ?? 0;
  const { cancelGraceMs } = state.policy;
  return endsInTime({ keptUntil: until }, task, cancelGraceMs, begun) ? 1 : 2;
}

/** As many as it is to have, those first that are free by then. */
function keep(
  state: State,
  active: ActiveBooking,
  booking: Booking,
  among: readonly Executor[],
): void {
  const until = bindsAt(booking);
  const { kept } = active;
  for (const executor of kept.values()) {
    const isHere = state.executors.get(executor.id) === executor;
    const mayServe = isHere && isServing(executor) && fits(executor, booking);
    if (!mayServe) letGo(state, active, executor);
  }
  const free = [...candidatesFor(state, booking, among)]
    .filter((executor) => !kept.has(executor.id))
    .map((executor) => ({ executor, rank: lateness(state, executor, until) }))
    .sort((a, b) => a.rank - b.rank || byUse(a.executor, b.executor));
  for (const { executor, rank } of free) {
    if (kept.size < booking.count) keepOne(state, active, executor, until);
    else if (rank === 2) break;
    else {
      const late = [...kept.values()].find((one) => lateness(state, one, until) === 2);
      if (late === undefined) break;
      letGo(state, active, late);
      keepOne(state, active, executor, until);
    }
  }
  // What was offered in time may start too late to be done in time.
  const isSure = [...kept.values()].every(({ occupation }) => occupation === null);
  active.isWanting = kept.size < booking.count || !isSure;
  active.shortCount = 0;
}

/** First those that nobody needs later. */
function byUse(one: Executor, other: Executor): number {
  const needs = Number(one.keptUntil !== null) - Number(other.keptUntil !== null);
  return needs || (one.id < other.id ? -1 : 1);
}

function keepOne(state: State, active: ActiveBooking, executor: Executor, until: number): void {
  takeFromOthers(state, active, executor);
  executor.keptUntil = until;
  active.kept.set(executor.id, executor);
}

/** Whoever it was kept for looks for another one, in the next step. */
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
  rouse(state, executor);
}

function letAllGo(state: State, active: ActiveBooking): void {
  for (const executor of active.kept.values()) letGo(state, active, executor);
}

/** Executors that it has and that are of use to it; one that has a task of it is its own whatever has become of it. */
export function isOfUse(state: State, booking: Booking, executorId: string): boolean {
  const executor = state.executors.get(executorId);
  if (executor === undefined) return false;
  if (executor.occupation?.booking === booking.id) return true;
  return isServing(executor) && fits(executor, booking);
}

function bind(
  state: State,
  active: ActiveBooking,
  booking: Booking,
  among: readonly Executor[],
  now: number,
  out: Output,
): void {
  const isAwaited = (id: string) => now < active.graceUntil && !state.executors.has(id);
  const unfit = booking.executors
    .map(({ executorId }) => executorId)
    .filter((id) => !isOfUse(state, booking, id) && !isAwaited(id));
  let missing = booking.count - (booking.executors.length - unfit.length);
  const chosen: Executor[] = [];
  if (missing > 0) {
    const all = [...candidatesFor(state, booking, among)];
    // Those that were kept for it first: their inputs may be near.
    const rank = (one: Executor) => (active.kept.has(one.id) ? 0 : 1);
    const free = all.filter(isFree).sort((a, b) => rank(a) - rank(b) || byUse(a, b));
    chosen.push(...free.slice(0, missing));
    missing -= chosen.length;
    if (missing > 0) {
      const due = missing - endingSoon(state, booking);
      const taken = due > 0 ? preempt(state, all, due, now, out) : [];
      chosen.push(...taken);
      missing -= taken.length;
    }
  }
  if (chosen.length > 0) bindAll(state, active, booking, { chosen, unfit }, now, out);
  const wasShort = active.shortCount > 0;
  active.shortCount = Math.max(0, missing - endingSoon(state, booking));
  active.isWanting = missing > 0;
  if (missing <= 0) letAllGo(state, active);
  if (active.shortCount === 0 || wasShort) return;
  const { id, type, group } = booking;
  const data = { booking_id: id, count: active.shortCount };
  tell(state, out, 'booking.short', now, { type, group }, data);
}

/** Executors of bookings that end as this one begins: they are its own then. */
function endingSoon(state: State, booking: Booking): number {
  let count = 0;
  for (const [executorId, id] of state.bookings.boundTo) {
    const other = state.bookings.byId.get(id);
    const executor = state.executors.get(executorId);
    if (id === booking.id || other === undefined || executor === undefined) continue;
    if (other.to <= booking.from && isServing(executor) && fits(executor, booking)) count++;
  }
  return count;
}

/** They are its own from now on; of those that are of no use as many go. */
function bindAll(
  state: State,
  active: ActiveBooking,
  booking: Booking,
  { chosen, unfit }: { readonly chosen: readonly Executor[]; readonly unfit: readonly string[] },
  now: number,
  out: Output,
): void {
  const { id, type, group, count } = booking;
  const excess = booking.executors.length + chosen.length - count;
  const gone = new Set(unfit.slice(0, Math.max(0, excess)));
  for (const executor of chosen) {
    takeFromOthers(state, active, executor);
    active.kept.delete(executor.id);
    executor.keptUntil = null;
    state.bookings.boundTo.set(executor.id, id);
  }
  const executors = [
    ...booking.executors.filter(({ executorId }) => !gone.has(executorId)),
    ...chosen.map(({ id: executorId }) => ({ executorId, since: now })),
  ];
  leavePlan(state, booking);
  const windows = windowsWith(state, booking, executors);
  enterPlan(state, putBooking(state, { ...booking, executors, windows }, out));
  for (const executorId of gone) unbind(state, id, executorId, out);
  for (const executor of chosen) {
    changePool(state, executor);
    becomeIdle(state, executor);
    announce(state, executor, out);
    tell(
      state,
      out,
      'booking.bound',
      now,
      { type, group, executorId: executor.id },
      { booking_id: id },
    );
  }
}

/** The plan knows which ones they are: nobody else is promised them. */
function windowsWith(
  state: State,
  { windows }: Booking,
  bound: Booking['executors'],
): Booking['windows'] {
  const [window, ...later] = windows;
  if (window === undefined || window.parts === null) return windows;
  const byPool = new Map<string, string[]>();
  for (const { executorId } of bound) {
    const executor = state.executors.get(executorId);
    if (executor === undefined) continue;
    const pool = bookedPoolOf(state, executor);
    byPool.set(pool, [...(byPool.get(pool) ?? []), executorId]);
  }
  const parts = window.parts.map((part) => ({
    ...part,
    executorIds: (byPool.get(part.pool) ?? []).slice(0, part.count),
  }));
  return [{ ...window, parts }, ...later];
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
    shortCount: 0,
    isWanting: true,
    graceUntil,
    seenFrom: null,
  };
  active.set(id, one);
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
