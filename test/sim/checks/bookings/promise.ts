/**
 * What is promised to those whose booking was accepted: by who was there and what was set, from what the master has seen
 * of its executors, and not by its plan.
 */
import { bindsAt, type Booking, holdsFrom } from '../../../../master/domain/booking/booking.ts';
import { type Executor, isFree, isServing } from '../../../../master/domain/model/executor.ts';
import { isAtRest, type Task } from '../../../../master/domain/model/task.ts';
import type { State } from '../../../../master/domain/state/state.ts';
import { currentTask } from '../../../../master/domain/steps/occupation.ts';
import { mayServe } from './serving.ts';
import type { World } from '../../world.ts';

/** For so long who has gone counts as there, by the rules; and then the plan is made anew. */
const GONE_MS = 600_000 + 15_000;
/** What is due takes a tick, and what is told to end a frame. */
const LATE_MS_MAX = 5_000;

/** Who was there, by what they can do, and since when nobody lacks and nothing is set that there is less for bookings. */
export class Presence {
  readonly #known = new Map<string, { readonly bareKey: string; readonly goneAt: number | null }>();
  #settings = '';
  /** Infinite: somebody has gone. */
  wholeSince = 0;
  /** When somebody went last, or what is set was changed. */
  changedAt = Number.NEGATIVE_INFINITY;

  see(state: State): void {
    const { executors, lastTickAt: now } = state;
    const settings = limitsOf(state);
    let isChanged = settings !== this.#settings;
    this.#settings = settings;
    for (const [id, { bareKey, goneAt }] of this.#known) {
      const executor = executors.get(id);
      const isThere = executor !== undefined && isServing(executor) && executor.bareKey === bareKey;
      if (isThere && goneAt === null) continue;
      isChanged = true;
      if (isThere || (goneAt !== null && goneAt < now - GONE_MS)) this.#known.delete(id);
      else if (goneAt === null) this.#known.set(id, { bareKey, goneAt: now });
      else if (executor !== undefined && isServing(executor)) this.#known.delete(id);
    }
    for (const executor of executors.values()) {
      const { id, bareKey } = executor;
      if (!this.#known.has(id) && isServing(executor))
        this.#known.set(id, { bareKey, goneAt: null });
    }
    const isWhole = [...this.#known.values()].every(({ goneAt }) => goneAt === null);
    if (isChanged) this.changedAt = now;
    if (!isWhole) this.wholeSince = Number.POSITIVE_INFINITY;
    else if (isChanged) this.wholeSince = now;
  }
}

/** Of what is set: what keeps bookings and their tasks from executors that are there. */
function limitsOf({ settings, types, pauses }: State): string {
  const ofTypes = [...types.values()].map(({ type, capacity, limits, override, paused }) => {
    return [type, capacity, limits, override?.text, paused?.at];
  });
  return JSON.stringify([settings.maxRunning, settings.paused?.at, [...pauses.keys()], ofTypes]);
}

export class PromiseCheck {
  readonly #world: World;
  readonly #presence: Presence;
  /** For how long a booking is short, or a task of it waits, and for how long the master has looked at it so. */
  #lateSince = new Map<string, number>();

  constructor(world: World, presence: Presence) {
    this.#world = world;
    this.#presence = presence;
  }

  /**
   * I44: where nobody was lost since before its hold, and nothing set that there is less, a booking that was accepted is
   * not at risk, is not short and has its tasks begun in time.
   */
  check(state: State, open: readonly Booking[], live: Iterable<Task>): void {
    // What is due by a clock that was set is due by another time.
    if (this.#world.wallsMs.length > 1) return;
    const { lastTickAt: now, types } = state;
    const lateSince = new Map<string, number>();
    const tasks = [...live].filter(({ booking }) => booking !== null);
    for (const row of open) {
      if ((types.get(row.type)?.capacity ?? null) !== null) continue;
      const why = this.#whyLate(state, row, tasks);
      if (why === null) continue;
      const since = this.#lateSince.get(row.id) ?? now;
      lateSince.set(row.id, since);
      if (now > since + LATE_MS_MAX) this.#world.violate('I44', `${row.id} ${why}`);
    }
    this.#lateSince = lateSince;
  }

  #whyLate(state: State, row: Booking, tasks: readonly Task[]): string | null {
    const { wholeSince, changedAt } = this.#presence;
    const isPromised = row.windows[0]?.parts !== null;
    if (!isPromised) {
      const isOfNow = row.everyMs === null && changedAt < row.createdAt;
      return isOfNow ? `is ${row.state}, and nothing has become less` : null;
    }
    const keptSince = Math.max(holdsFrom(row), row.createdAt);
    if (row.state !== 'bound' || wholeSince > holdsFrom(row)) return null;
    if (state.lastTickAt < bindsAt(row) + LATE_MS_MAX) return null;
    const lackCount = row.count - row.executors.length;
    if (lackCount > excused(state, row, keptSince)) {
      return `has ${row.executors.length} of ${row.count}, and nobody has gone since ${wholeSince}`;
    }
    return lateTask(state, row, tasks);
  }
}

/** Executors that may be late for it by right. */
function excused(state: State, row: Booking, keptSince: number): number {
  const { executors, bookings } = state;
  let count = 0;
  for (const executor of executors.values()) {
    if (executor.booking === row.id || !mayServe(executor, row)) continue;
    const other = bookings.byId.get(executor.booking ?? '');
    // Those of a window that ends as this one begins are its own then.
    if (other !== undefined && other.to <= row.from && state.lastTickAt < row.from) count++;
    else if (isLateByRight(state, executor, row, keptSince)) count++;
  }
  return count;
}

/** What it has was begun before anybody could keep it for that, or does not end when it is told to. */
function isLateByRight(state: State, executor: Executor, row: Booking, keptSince: number): boolean {
  const { occupation } = executor;
  if (occupation === null) return false;
  const task = currentTask(state, executor, occupation);
  if (task === null || task.cancelReason !== null || task.offeredAt === null) return true;
  if (task.offeredAt <= keptSince) return true;
  // It was in time when it was offered, and was begun too late for that.
  const startedAt = task.startedAt ?? state.lastTickAt;
  const longMs = (task.executionTimeoutMs ?? 0) + state.policy.cancelGraceMs + task.hiddenMs;
  return startedAt > task.offeredAt && startedAt + longMs > bindsAt(row);
}

/** A task of it that is due, and could be begun: nothing is set that would keep it. */
function lateTask(state: State, row: Booking, tasks: readonly Task[]): string | null {
  const { settings, types, pauses, lastTickAt: now, executors } = state;
  const type = types.get(row.type);
  const { limits = null, paused = null, override = null } = type ?? {};
  const isSet = settings.paused !== null || settings.maxRunning !== null || pauses.size > 0;
  const { maxRunning = null, perGroup = null, concurrency = null, windows = [] } = limits ?? {};
  const isLimited = maxRunning !== null || perGroup !== null || concurrency !== null;
  if (isSet || isLimited || windows.length > 0 || paused !== null || override !== null) return null;
  if (row.from > now || row.endingBefore !== null) return null;
  const free = row.executors.find(({ executorId }) => {
    const executor = executors.get(executorId);
    return executor !== undefined && isFree(executor);
  });
  if (free === undefined) return null;
  const late = tasks.find((task) => {
    const isNew = task.attempt === 0 && task.uses.length === 0 && task.diskBytes === null;
    return (
      task.booking === row.id &&
      isNew &&
      task.state === 'waiting' &&
      isAtRest(task) &&
      task.dueAt <= now
    );
  });
  return late === undefined ? null : `has ${free.executorId} free, and ${late.id} waits`;
}
