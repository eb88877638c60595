/** Executors that a booking may be given: whom nobody else has or needs, and as many of each pool as the plan lets it have. */
import { bareOf } from '../plan/counted-fleet.ts';
import type { Part } from '../plan/divide.ts';
import {
  endsInTime,
  type Executor,
  isFree,
  isServing,
  mayRun,
  pinnedTo,
  pinOf,
} from '../model/executor.ts';
import type { Task } from '../model/task.ts';
import type { State } from '../state/state.ts';
import { currentTask } from '../steps/occupation.ts';
import { bindsAt, type Booking } from './booking.ts';
import { Bookable, type Group } from './capacity.ts';
import { givingAmong, type Held } from './preempt.ts';
import { wakeAt } from './rows.ts';

/** How many executors of each pool one window may still have: those that it is promised, and those that nobody is. */
export class Promised {
  readonly #own: Map<string, number>;
  readonly #spare = new Map<string, number>();
  readonly #roomIn: (pool: string) => number;

  /** @param roomIn How many executors of a pool nobody is promised for the whole window. */
  constructor(parts: readonly Part[], roomIn: (pool: string) => number) {
    this.#own = new Map(parts.map(({ pool, count }) => [pool, count]));
    this.#roomIn = roomIn;
  }

  /** Of its own. */
  ownIn(pool: string): number {
    return this.#own.get(pool) ?? 0;
  }

  /** Beside its own. */
  spareIn(pool: string): number {
    let count = this.#spare.get(pool);
    if (count === undefined) this.#spare.set(pool, (count = Math.max(0, this.#roomIn(pool))));
    return count;
  }

  /** It has one more: its own first. False: it may not. */
  take(pool: string): boolean {
    const own = this.ownIn(pool);
    if (own > 0) this.#own.set(pool, own - 1);
    else if (this.spareIn(pool) > 0) this.#spare.set(pool, this.spareIn(pool) - 1);
    else return false;
    return true;
  }
}

/** Executors among whom bookings look in one step. */
export class Among {
  readonly bookable: Bookable;
  /** All of them: anything may have changed. False: those that have become free alone. */
  readonly isAll: boolean;
  readonly #state: State;
  readonly #executors: readonly Executor[];
  readonly #until: number;
  // Asked for only where somebody is missing, and once: there may be as many bookings as there are executors.
  #all: readonly Group[] | null = null;
  #free: readonly Group[] | null = null;
  #inTime: readonly Group[] | null = null;
  #giving: readonly Held[] | null = null;
  /** By what bookings need, and by `bareKey`. */
  readonly #fitting = new Map<string, Map<string, boolean>>();

  /** @param until When the last of those bookings is bound. */
  constructor(state: State, executors: Iterable<Executor>, isAll: boolean, until: number) {
    this.bookable = new Bookable(state);
    this.isAll = isAll;
    this.#state = state;
    this.#executors = [...executors];
    this.#until = until;
  }

  get all(): readonly Group[] {
    return (this.#all ??= this.bookable.groupsOf(this.#executors));
  }

  /** Those that have nothing. */
  get free(): readonly Group[] {
    return (this.#free ??= this.bookable.groupsOf(this.#executors.filter(isFree)));
  }

  /** Those that may be done in time, for the last of those bookings at least. */
  get inTime(): readonly Group[] {
    const mayBe = (one: Executor) => lateness(this.#state, one, this.#until) < 2;
    return (this.#inTime ??= this.bookable.groupsOf(this.#executors.filter(mayBe)));
  }

  /** Those whose task may be ended for a booking. */
  get giving(): readonly Held[] {
    return (this.#giving ??= givingAmong(this.#state, this.#executors));
  }

  /** Of those groups that may have it: the one that it names alone, where it names one. */
  *fitting({ type, requires, labels }: Booking, groups: readonly Group[]): Generator<Group> {
    const pin = pinnedTo(requires);
    for (const group of groups) {
      const { bare } = group;
      const named = pin === null ? bare : { ...bare, labels: [...bare.labels, pinOf(pin)] };
      if (!mayRun(named, { type, requires, labels })) continue;
      if (pin === null) yield group;
      else yield { ...group, executors: group.executors.filter(({ id }) => id === pin) };
    }
  }

  /** Whether one may be booked so, whoever has it now: found out once for all that can do the same. */
  fitter(booking: Booking): (executor: Executor) => boolean {
    const pin = pinnedTo(booking.requires);
    if (pin !== null) return (executor) => fits(executor, booking);
    const { type, requires, labels } = booking;
    const needs = JSON.stringify([type, requires, labels]);
    const known = this.#fitting.get(needs) ?? new Map<string, boolean>();
    this.#fitting.set(needs, known);
    return (executor) => {
      const found = known.get(executor.bareKey);
      if (found !== undefined) return found;
      const isFitting = fits(executor, booking);
      known.set(executor.bareKey, isFitting);
      return isFitting;
    };
  }

  /** Whether one of them may have it, and nobody else has or needs that one. */
  fittingOne(booking: Booking): (executor: Executor) => boolean {
    const pin = pinnedTo(booking.requires);
    const pools = new Map<string, string>();
    for (const { bareKey, pool } of this.fitting(booking, this.all)) pools.set(bareKey, pool);
    return (executor) => {
      const pool = pools.get(executor.bareKey);
      if (pool === undefined || (pin !== null && pin !== executor.id)) return false;
      return mayTake(this.#state, booking, executor, pool);
    };
  }
}

/**
 * An offer of a task of its booking came to nothing: another that is free takes its place. For one task only once in a
 * cool-down: what everybody refuses would have each of the fleet bound in turn.
 */
export function noteRefusal(
  state: State,
  executor: Executor,
  { id, booking }: Task,
  now: number,
  message: string,
): void {
  const { bookings, policy } = state;
  const active = bookings.active.get(booking ?? '');
  if (active === undefined || executor.booking !== booking) return;
  const { refusedBy, refusedTasks } = active;
  for (const [taskId, until] of refusedTasks) if (until <= now) refusedTasks.delete(taskId);
  const until = now + policy.coolDownMs;
  const staysUntil = refusedTasks.get(id) ?? now;
  if (staysUntil <= now) refusedTasks.set(id, until);
  refusedBy.set(executor, { until, staysUntil, message });
  bookings.isUnsettled = true;
  const wake = bookings.wakes.get(active.id) ?? Number.POSITIVE_INFINITY;
  if (staysUntil > now && staysUntil < wake) wakeAt(state, active.id, staysUntil);
}

/** It does run one of its tasks. */
export function forgetRefusal({ bookings }: State, executor: Executor, { booking }: Task): void {
  if (bookings.active.get(booking ?? '')?.refusedBy.delete(executor)) bookings.isUnsettled = true;
}

/**
 * Executors that it has and that are of use to it; one that has a task of it is its own whatever has become of it, and
 * one that refuses or leaves offers unanswered is of none.
 */
export function isOfUse(
  state: State,
  booking: Booking,
  executorId: string,
  isFitting = (executor: Executor) => fits(executor, booking),
): boolean {
  const executor = state.executors.get(executorId);
  if (executor === undefined) return false;
  const { occupation } = executor;
  const isRefusing = hasRefused(state, booking.id, executor);
  if (occupation?.booking === booking.id) {
    return !isRefusing || currentTask(state, executor, occupation) !== null;
  }
  return !isRefusing && isServing(executor) && isFitting(executor);
}

/** Nothing tells of it while no task waits. */
export function hasRefused({ bookings }: State, id: string, executor: Executor): boolean {
  if ((bookings.taskCounts.get(id) ?? 0) === 0) return false;
  return bookings.active.get(id)?.refusedBy.has(executor) ?? false;
}

/**
 * Those that it has and that are of no use to it; last those that refuse: one of these may take the next task; and of
 * these last those that are not to be replaced yet.
 */
export function unfitAmong(
  state: State,
  booking: Booking,
  ids: readonly string[],
  isFitting: (executor: Executor) => boolean,
  now: number,
): Unfit {
  const unfit = ids.filter((id) => !isOfUse(state, booking, id, isFitting));
  const isRefusing = (id: string): boolean => {
    const executor = state.executors.get(id);
    if (executor === undefined || !hasRefused(state, booking.id, executor)) return false;
    return isServing(executor) && isFitting(executor);
  };
  const stays = (id: string): boolean => {
    const executor = state.executors.get(id);
    const { refusedBy } = state.bookings.active.get(booking.id) ?? {};
    return executor !== undefined && (refusedBy?.get(executor)?.staysUntil ?? now) > now;
  };
  const refusing = unfit.filter(isRefusing);
  const others = unfit.filter((id) => !refusing.includes(id));
  const staying = refusing.filter(stays);
  const going = refusing.filter((id) => !staying.includes(id));
  return {
    unfit: [...others, ...going, ...staying],
    refusingCount: refusing.length,
    stayingCount: staying.length,
  };
}

interface Unfit {
  readonly unfit: readonly string[];
  readonly refusingCount: number;
  readonly stayingCount: number;
}

/** Whether it may be booked so, whoever has it now. */
export function fits(executor: Executor, { type, requires, labels }: Booking): boolean {
  const { labels: own, ...bare } = bareOf(executor);
  const pin = pinnedTo(requires);
  const named = pin === executor.id ? [...own, pinOf(pin)] : own;
  return mayRun({ ...bare, labels: named }, { type, requires, labels });
}

/** What the plan lets it have: its parts, and what nobody is promised while it lasts. */
export function promisedTo({ bookings: { plan } }: State, booking: Booking): Promised {
  const { from, to, requires, windows } = booking;
  const isPinned = pinnedTo(requires) !== null;
  return new Promised(windows[0]?.parts ?? [], (pool) =>
    isPinned ? 1 : plan.roomIn(pool, from, to),
  );
}

/**
 * Executors that may have it, that no other booking has or needs, and of each pool no more than the plan lets it have:
 * what it is promised first. Each counts as its own once it is yielded.
 * @param of Some of the groups of `among`.
 * @param scoreOf Those with the lowest first; null: not that one.
 */
export function* candidatesFor(
  state: State,
  booking: Booking,
  among: Among,
  of: readonly Group[],
  promised: Promised,
  scoreOf: (executor: Executor) => number | null,
): Generator<Executor> {
  const groups = [...among.fitting(booking, of)];
  for (const isOwn of [true, false]) {
    for (const { pool, executors } of groups) {
      const planned = among.bookable.poolOf(booking.type, pool);
      const leftCount = () => (isOwn ? promised.ownIn(planned) : promised.spareIn(planned));
      if (leftCount() === 0) continue;
      const isMissing = (one: Executor) => mayTake(state, booking, one, planned);
      for (const executor of byScore(executors, (one) => (isMissing(one) ? scoreOf(one) : null))) {
        if (!promised.take(planned)) break;
        yield executor;
        if (leftCount() === 0) break;
      }
    }
  }
}

/** In their order where they have the lowest score: what comes after as many as are asked for is not looked at. */
function* byScore(
  executors: readonly Executor[],
  scoreOf: (executor: Executor) => number | null,
): Generator<Executor> {
  const others: Executor[][] = [];
  for (const executor of executors) {
    const score = scoreOf(executor);
    if (score === 0) yield executor;
    else if (score !== null) (others[score] ??= []).push(executor);
  }
  for (const some of others) if (some !== undefined) yield* some;
}

/** No other booking has it, needs it by its name, or keeps it for a time before this one. */
function mayTake(state: State, booking: Booking, executor: Executor, pool: string): boolean {
  const { executors, bookings } = state;
  if (executor.booking !== null || executors.get(executor.id) !== executor) return false;
  if (executor.keptUntil !== null) {
    const isOwn = bookings.active.get(booking.id)?.kept.has(executor.id) ?? false;
    // One that is kept for a later booking may serve this one first.
    if (!isOwn && executor.keptUntil <= bindsAt(booking)) return false;
  }
  // What names it is among what the plan has of it.
  if (pinnedTo(booking.requires) === executor.id) return true;
  return !bookings.plan.isTaken(pool, executor.id, booking.from, booking.to);
}

/** 0: it is idle; 1: it is done in time; 2: nobody knows. */
export function lateness(state: State, executor: Executor, until: number): 0 | 1 | 2 {
  if (executor.occupation === null) return 0;
  const task = currentTask(state, executor, executor.occupation);
  if (task === null) return 2;
  const begun = (task.startedAt ?? task.offeredAt ?? 0) + task.hiddenMs;
  const { cancelGraceMs } = state.policy;
  return endsInTime({ keptUntil: until }, task, cancelGraceMs, begun) ? 1 : 2;
}

/** First those that nobody needs later. */
export const isNeeded = ({ keptUntil }: Executor): number => Number(keptUntil !== null);

/** What the plan lets it have beside those that it has already. */
export function leftTo(
  state: State,
  booking: Booking,
  unfit: readonly string[],
  { bookable }: Among,
): Promised {
  const promised = promisedTo(state, booking);
  const parts = booking.windows[0]?.parts ?? [];
  for (const { executorId } of booking.executors) {
    if (unfit.includes(executorId)) continue;
    const executor = state.executors.get(executorId);
    const part = parts.find(({ executorIds }) => executorIds.includes(executorId));
    const pool = part?.pool ?? (executor && bookable.poolFor(booking.type, executor));
    if (pool !== undefined) promised.take(pool);
  }
  return promised;
}

/** Executors of bookings that end as this one begins: they are its own then. */
export function endingSoon({ bookings, executors }: State, booking: Booking): Executor[] {
  const ending: Executor[] = [];
  if (booking.from < bookings.nextEndAt) return ending;
  for (const { id } of bookings.active.values()) {
    const other = bookings.byId.get(id);
    if (id === booking.id || other === undefined || other.to > booking.from) continue;
    for (const { executorId } of other.executors) {
      const executor = executors.get(executorId);
      if (executor && isServing(executor) && fits(executor, booking)) ending.push(executor);
    }
  }
  return ending;
}
