/** What holds of a master's bookings at the end of a turn: by the rows, and by which executors it knows. */
import { isDeepStrictEqual } from 'node:util';
import {
  bindsAt,
  type Booking,
  holdsFrom,
  isBookingOver,
} from '../../../../master/domain/booking/booking.ts';
import { Bookable } from '../../../../master/domain/booking/capacity.ts';
import {
  type Executor,
  isFree,
  isServing,
  pinnedTo,
} from '../../../../master/domain/model/executor.ts';
import { isAtRest, type Task } from '../../../../master/domain/model/task.ts';
import { Promised } from '../../../../master/domain/booking/candidates.ts';
import type { State } from '../../../../master/domain/state/state.ts';
import { currentTask } from '../../../../master/domain/steps/occupation.ts';
import type { Ledger } from '../../ledger.ts';
import type { World } from '../../world.ts';
import { PromiseCheck } from './promise.ts';
import { isAvailable, mayServe } from './serving.ts';

/** In which tasks of a booking that is over have ended, while the master ticks. */
const OVER_MS_MAX = 12_000;

export class KeepingCheck {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #promise: PromiseCheck;
  #term = 0;
  #lastTickAt = 0;
  /** After the last turn, of each booking in its hold: who was free for it, or sure to be. */
  #ready = new Map<string, ReadonlySet<string>>();
  /** For how long a task waits whose booking is over. */
  #overMs = new Map<number, number>();

  constructor(world: World, ledger: Ledger) {
    this.#world = world;
    this.#ledger = ledger;
    this.#promise = new PromiseCheck(world, ledger.bookings.presence);
  }

  check(state: State, offered: readonly Task[]): void {
    if (state.term !== this.#term) this.#ready.clear();
    this.#term = state.term;
    this.#ledger.bookings.presence.see(state);
    this.#checkMirror(state);
    this.#checkCounts(state);
    if (state.lastTickAt !== this.#lastTickAt) this.#checkOver(state);
    this.#lastTickAt = state.lastTickAt;
    // After the process stood still it keeps executors, binds them and ends windows by the next tick only.
    if (state.deadlines.nextAt() <= state.lastTickAt) {
      this.#ready.clear();
      return;
    }
    this.#checkKept(state, offered);
    this.#checkTimely(state);
    const { open, hearing } = this.#ledger.bookings;
    hearing.check(state, open);
    if (!state.accepting) return;
    this.#checkShort(state);
    this.#promise.check(state, open, this.#ledger.live.values());
  }

  #checkMirror({ bookings }: State): void {
    const inMemory = [...bookings.byId.values()];
    const { rows } = this.#ledger.bookings;
    const isSame = (one: Booking): boolean => isDeepStrictEqual(one, rows.get(one.id));
    if (inMemory.length === rows.size && inMemory.every(isSame)) return;
    this.#world.violate('M1', 'bookings in memory differ from their rows');
  }

  /** S3: tasks of each that have not ended. */
  #checkCounts({ bookings }: State): void {
    const counts = new Map<string, number>();
    for (const { booking } of this.#ledger.live.values()) {
      if (booking !== null) counts.set(booking, (counts.get(booking) ?? 0) + 1);
    }
    for (const id of new Set([...counts.keys(), ...bookings.taskCounts.keys()])) {
      const [counted = 0, count = 0] = [bookings.taskCounts.get(id), counts.get(id)];
      if (counted === count) continue;
      this.#world.violate('S3', `booking ${id} counts ${counted} tasks, not ${count}`);
    }
  }

  /** T1: each is bound and ends when that is due. */
  #checkTimely({ lastTickAt }: State): void {
    for (const row of this.#ledger.bookings.open) {
      const isLate = row.state !== 'bound' && bindsAt(row) <= lastTickAt;
      if (row.to <= lastTickAt) this.#world.violate('T1', `booking ${row.id} outlasts its window`);
      else if (isLate)
        this.#world.violate('T1', `booking ${row.id} is ${row.state} after its lead`);
    }
  }

  /** I41: what waits for a booking ends with it. */
  #checkOver({ lastTickAt, accepting }: State): void {
    const overMs = new Map<number, number>();
    const tickMs = Math.min(1_000, lastTickAt - this.#lastTickAt);
    for (const row of this.#ledger.live.values()) {
      const booking = this.#ledger.bookings.rows.get(row.booking ?? '');
      if (booking === undefined || !isBookingOver(booking) || !isAtRest(row)) continue;
      const ms = (this.#overMs.get(row.seq) ?? 0) + tickMs;
      overMs.set(row.seq, ms);
      if (!accepting || ms <= OVER_MS_MAX) continue;
      this.#world.violate('I41', `${row.id} waits for ${booking.id}, which is ${booking.state}`);
    }
    this.#overMs = overMs;
  }

  /**
   * I42: in its hold nothing that is not over in time is offered to an executor that is needed by then: those that are
   * free, or sure to be, are as many as are booked without it.
   */
  #checkKept(state: State, offered: readonly Task[]): void {
    const before = this.#ready;
    this.#ready = new Map();
    for (const row of this.#ledger.bookings.open) {
      const until = bindsAt(row);
      const isHeld = holdsFrom(row) <= state.lastTickAt && state.lastTickAt < until;
      if (!isHeld || row.state === 'bound') continue;
      const ready = new Set<string>();
      for (const executor of state.executors.values()) {
        if (isAvailable(executor, row) && this.#isInTime(state, executor, until))
          ready.add(executor.id);
      }
      this.#ready.set(row.id, ready);
      const readyBefore = before.get(row.id);
      if (readyBefore === undefined) continue;
      const late = offered.filter((task) => {
        // One of a booking is offered to whom that has, and it may be over in the same turn (`BookingChecks`).
        if (task.booking !== null) return false;
        const executor = state.executors.get(task.executorId ?? '');
        if (executor === undefined || !isAvailable(executor, row)) return false;
        return !this.#isPromised(executor, row) && endsAt(state, task, task.offeredAt ?? 0) > until;
      });
      if (late.length === 0) continue;
      const lateIds = new Set(late.map(({ executorId }) => executorId ?? ''));
      const left = [...readyBefore].filter((id) => !lateIds.has(id));
      if (this.#planned(state, row, left) >= row.count) continue;
      const readyCount = this.#planned(state, row, ready);
      const isNeeded = this.#planned(state, row, [...ready, ...lateIds]) > readyCount;
      if (readyCount >= row.count || !isNeeded) continue;
      const what = late.map(({ id, executorId }) => `${id} is offered to ${executorId}`).join(', ');
      this.#world.violate('I42', `${what}, and ${row.id} of ${row.count} is left ${readyCount}`);
    }
  }

  /** How many of them the plan lets it have: what it is promised of each pool, and what nobody is. */
  #planned(state: State, row: Booking, ids: Iterable<string>): number {
    return this.#leftOf(state, row, ids).count;
  }

  #leftOf({ types, executors, bookings: { plan } }: State, row: Booking, ids: Iterable<string>) {
    const bookable = new Bookable({ types });
    const parts = row.windows[0]?.parts ?? [];
    const isPinned = pinnedTo(row.requires) !== null;
    const roomIn = (pool: string) => (isPinned ? 1 : plan.roomIn(pool, row.from, row.to));
    const promised = new Promised(parts, roomIn);
    const take = (id: string): boolean => {
      const executor = executors.get(id);
      const part = parts.find(({ executorIds }) => executorIds.includes(id));
      const pool = part?.pool ?? (executor && bookable.poolFor(row.type, executor));
      return pool !== undefined && promised.take(pool);
    };
    return { count: [...ids].filter(take).length, take };
  }

  #isInTime(state: State, executor: Executor, until: number): boolean {
    if (executor.occupation === null) return true;
    const task = currentTask(state, executor, executor.occupation);
    if (task === null) return false;
    return endsAt(state, task, task.startedAt ?? task.offeredAt ?? 0) <= until;
  }

  /** I43: none that is bound is short of executors while one is free that nobody else has, needs or is promised. */
  #checkShort(state: State): void {
    const { bookings, executors, lastTickAt } = state;
    for (const row of this.#ledger.bookings.open) {
      if (row.state !== 'bound') continue;
      if ((bookings.active.get(row.id)?.graceUntil ?? 0) > lastTickAt) continue;
      const serving = row.executors.filter(({ executorId }) => {
        const executor = executors.get(executorId);
        if (executor === undefined || executor.occupation?.booking === row.id) return executor;
        return isServing(executor) && mayServe(executor, row);
      });
      if (serving.length >= row.count) continue;
      const ids = serving.map(({ executorId }) => executorId);
      const { take } = this.#leftOf(state, row, ids);
      for (const executor of executors.values()) {
        const isWanted = executor.keptUntil !== null || this.#isPromised(executor, row);
        if (isWanted || !isFree(executor) || !isAvailable(executor, row)) continue;
        if (!take(executor.id)) continue;
        const what = `${row.id} has ${serving.length} of ${row.count}`;
        this.#world.violate('I43', `${what}, and ${executor.id} is free`);
      }
    }
  }

  /** To another booking: by its name, or as the one that it has. */
  #isPromised({ id }: Executor, row: Booking): boolean {
    return this.#ledger.bookings.open.some((other) => {
      if (other.id === row.id) return false;
      const named = other.windows.flatMap(({ parts }) => (parts ?? []).flatMap(idsOf));
      return pinnedTo(other.requires) === id || named.includes(id);
    });
  }
}

const idsOf = ({ executorIds }: { readonly executorIds: readonly string[] }) => executorIds;

/** At the latest, whatever it does. */
function endsAt({ policy }: State, task: Task, since: number): number {
  const { executionTimeoutMs, deadlineAt } = task;
  const byTimeout = executionTimeoutMs === null ? Infinity : since + executionTimeoutMs;
  return Math.min(byTimeout, deadlineAt ?? Infinity) + policy.cancelGraceMs;
}
