/** What `limits.concurrency` of a type says is another now: it holds from this step on. */
import type { Concurrency } from '../model/task-type.ts';
import { concurrencyOf, gateKeyOf, regate } from '../limits/places.ts';
import { unload } from '../queue/waiting.ts';
import type { State } from '../state/state.ts';
import { occupy } from '../steps/occupation.ts';

/**
 * What waits in memory is read again, and asks for a place as it comes. What executors have counts, but for leftovers
 * whose params nobody has any more. Those who are held are let go by the pages that this asks for.
 */
export function concurrencyChanged(state: State, type: string, before: Concurrency | null): void {
  const after = concurrencyOf(state, type);
  if (before?.pointer === after?.pointer && before?.max === after?.max) return;
  regate(state, type, before?.pointer === after?.pointer);
  for (const executor of [...state.executors.values(), ...state.elders.values()]) {
    const { occupation } = executor;
    if (occupation?.type !== type) continue;
    const task = state.tasks.get(occupation.taskId);
    const gate = task === undefined ? occupation.gate : gateKeyOf(state, task);
    occupy(state, executor, { ...occupation, gate });
  }
  for (const lane of state.lanes.values()) {
    if (lane.kind.type === type && lane.waitingCount > 0) unload(state, lane);
  }
}
