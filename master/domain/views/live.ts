/** Live tasks by what their lanes and executors tell: counters, and no row is looked at. */
import type { Lane } from '../queue/lane.ts';
import type { State } from '../state/state.ts';
import { sees, type TaskFilter } from '../model/task-filter.ts';
import type { LiveState } from '../model/task.ts';

/** What lanes tell of the tasks in them. */
type LaneFilter = Pick<TaskFilter, 'type' | 'group' | 'label' | 'requires' | 'within'>;

export type LiveCounts = Readonly<Record<LiveState, number>>;

/** Of all that fit. */
export function countLive(
  state: State,
  filter: Pick<LaneFilter, 'type' | 'group' | 'within'>,
): LiveCounts {
  const counts = { waiting: 0, held: 0, suspended: 0, offered: 0, running: 0 };
  for (const { kind, group, waitingCount, heldCount, suspendedCount } of state.lanes.values()) {
    if (!isOf(filter, kind.type, group)) continue;
    counts.waiting += waitingCount - heldCount;
    counts.held += heldCount;
    counts.suspended += suspendedCount;
  }
  for (const task of state.open.tasks()) {
    if (!isOf(filter, task.type, task.user.group)) continue;
    if (task.state === 'offered' || task.state === 'running') counts[task.state]++;
  }
  return counts;
}

/** Lanes in which tasks wait that may fit, held ones left out. */
export function lanesOf(state: State, filter: LaneFilter): number[] {
  const fits = ({ kind, group, waitingCount, heldCount }: Lane): boolean =>
    waitingCount > heldCount &&
    isOf(filter, kind.type, group) &&
    (filter.label === null || kind.labels.includes(filter.label)) &&
    (filter.requires === null || kind.requires.includes(filter.requires));
  return [...state.lanes.values()].filter(fits).map(({ id }) => id);
}

function isOf(
  { type, group, within }: Pick<LaneFilter, 'type' | 'group' | 'within'>,
  ofType: string,
  ofGroup: string,
): boolean {
  return (
    (type === null || type === ofType) &&
    (group === null || group === ofGroup) &&
    (within === undefined || sees(within, ofType, ofGroup))
  );
}
