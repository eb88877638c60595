/** What alerts propose is asked for some time after it was found: whether it still means anybody. */
import type { State } from '../state/state.ts';
import type { Remedy } from '../why/asked.ts';

const OF_EXECUTOR = 'executor/';

/** False: it is about an executor that has gone. One that is to be started is none. */
export function isStillThere(
  { executors }: Pick<State, 'executors'>,
  { change: { action, target } }: Remedy,
): boolean {
  if (action === 'start_executor' || target?.startsWith(OF_EXECUTOR) !== true) return true;
  return executors.has(target.slice(OF_EXECUTOR.length));
}
