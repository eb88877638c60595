/** What holds for all tasks of a namespace together: whether anything may be offered now, and what keeps it from that. */
import { isPaused, type State } from '../state/state.ts';
import type { ReachedLimit } from './quota.ts';

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

/** There may be no room for all that might be offered: what comes first has it. */
export function isLimited(state: State): boolean {
  const { settings, open, windowBytes, policy, executors, elders } = state;
  const { maxRunning } = settings;
  const mayHold = executors.size + elders.size;
  if (isPaused(state) || (maxRunning !== null && maxRunning < mayHold)) return true;
  return open.bytes + windowBytes > policy.runningBytesMax;
}
