/** What holds for all tasks of a namespace together: whether anything may be offered now, and what keeps it from that. */
import { isPaused, type State } from '../state/state.ts';
import type { ReachedLimit } from './quota.ts';

/** Whether anything may be offered now. */
export function mayOffer(state: State): boolean {
  return state.accepting && !isPaused(state) && reachedInAll(state) === null;
}

/** Why nothing is, whatever its type; pauses aside. */
export function reachedInAll({
  settings,
  attemptCount,
  open,
  policy,
}: Pick<State, 'settings' | 'attemptCount' | 'open' | 'policy'>): ReachedLimit | null {
  const { maxRunning } = settings;
  if (maxRunning !== null && attemptCount >= maxRunning) {
    return { name: 'max_running', max: maxRunning, used: attemptCount };
  }
  const { runningBytesMax: max } = policy;
  return open.bytes < max ? null : { name: 'running_task_bytes', max, used: open.bytes };
}

/** There may be no room for all that might be offered: what comes first has it. */
export function isLimited(state: State): boolean {
  const { settings, open, windowBytes, policy, executors, elders } = state;
  const { maxRunning } = settings;
  const mayHold = executors.size + elders.size;
  if (isPaused(state) || (maxRunning !== null && maxRunning < mayHold)) return true;
  return open.bytes + windowBytes > policy.runningBytesMax;
}
