/** What holds for all tasks of a namespace together: whether anything may be offered now, and what keeps it from that. */
import { isPaused, type State } from '../state/state.ts';
import type { Counted } from '../model/executor.ts';
import { type ReachedLimit, type Usage, usedOf } from './quota.ts';

/** Whether anything may be offered now. */
export function mayOffer(state: State): boolean {
  return state.accepting && !isPaused(state) && reachedInAll(state) === null;
}

type Counts = Pick<State, 'settings' | 'attemptCount' | 'open' | 'policy' | 'bookings'>;

/** Why nothing that is not booked is, whatever its type; pauses aside. */
export function reachedInAll(state: Counts): ReachedLimit | null {
  const { settings, open, policy } = state;
  const { maxRunning } = settings;
  const { attemptCount: booked, reservedCount } = state.bookings;
  // What is kept for bookings counts as if it ran.
  const attemptCount = state.attemptCount - booked + Math.max(booked, reservedCount);
  if (maxRunning !== null && attemptCount >= maxRunning) {
    return { name: 'max_running', max: maxRunning, used: attemptCount };
  }
  const { runningBytesMax: max } = policy;
  return open.bytes < max ? null : { name: 'running_task_bytes', max, used: open.bytes };
}

/** Whether anything that is booked may be: it has its part of what may run. */
export function mayOfferBooked(state: State): boolean {
  const { settings, open, policy, attemptCount } = state;
  if (isPaused(state) || open.bytes >= policy.runningBytesMax) return false;
  return settings.maxRunning === null || attemptCount < settings.maxRunning;
}

/** How many places of `max_running` others have of what is kept for bookings, and what counts there. */
export function* bookedShortage(
  state: State,
  { type, group }: { readonly type: string; readonly group: string },
): Generator<{ readonly count: number; readonly isOf: (one: Counted) => boolean }> {
  const quota = state.quotas.get(type);
  const isOfType = (one: Counted) => one.type === type;
  if (quota !== undefined) {
    const { limits, open, groups } = quota;
    for (const max of [limits.maxRunning, open.maxRunning]) {
      yield { count: lackOf(quota, max), isOf: isOfType };
    }
    const mine = groups.get(group);
    const isOf = (one: Counted) => isOfType(one) && one.group === group;
    if (mine) yield { count: lackOf(mine, limits.perGroup?.maxRunning ?? null), isOf };
  }
  const { attemptCount, settings } = state;
  const { attemptCount: bookedCount, reservedCount } = state.bookings;
  const all = { attemptCount, bookedCount, reservedCount };
  yield { count: lackOf(all, settings.maxRunning), isOf: () => true };
}

/** As many as others have too many, and not more than it has not taken yet. */
function lackOf(usage: Omit<Usage, 'waitingCount'>, max: number | null): number {
  if (max === null) return 0;
  const leftCount = Math.max(0, usage.reservedCount - usage.bookedCount);
  return Math.max(0, Math.min(leftCount, usedOf(usage) - max));
}

/** There may be no room for all that might be offered: what comes first has it. */
export function isLimited(state: State): boolean {
  const { settings, open, windowBytes, policy, executors, elders } = state;
  const { maxRunning } = settings;
  const mayHold = executors.size + elders.size;
  if (isPaused(state) || (maxRunning !== null && maxRunning < mayHold)) return true;
  return open.bytes + windowBytes > policy.runningBytesMax;
}
