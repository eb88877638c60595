/** What waits and runs, from counters: cheap however much it is. For metrics. */
import {
  type Fill,
  NOTIFYING_BYTES_MAX,
  PAUSES_MAX,
  SHARED_LIMITS_MAX,
  TYPES_MAX,
  VIEWS_MAX,
  WINDOW_BYTES_FACTOR,
  WORK_OPEN_COUNT_MAX,
} from '../bounds.ts';
import { ALL } from '../model/task-filter.ts';
import { PIECE_COUNT, type Pieces } from '../pieces.ts';
import type { ObstacleReason } from '../why/asked.ts';
import { type Heads, headsOf } from '../why/heads.ts';
import { fullestOf } from './limits.ts';
import { dueAtOf } from '../queue/lane.ts';
import { kindCountOf } from '../queue/lanes.ts';
import { isPaused, pauseCount, registeredCount, type State } from '../state/state.ts';
import { holderOf } from '../steps/occupation.ts';
import { openWorkCount } from '../long-work/works.ts';

export interface Backlog {
  /** Shared limits: what is taken where most is. */
  readonly limits: readonly {
    readonly name: string;
    readonly used: number;
    readonly max: number;
  }[];
  readonly types: readonly {
    readonly type: string;
    /** Without those that are held. */
    readonly waitingCount: number;
    readonly heldCount: number;
    readonly suspendedCount: number;
    readonly runningCount: number;
    /** Of those that wait, held ones too: a pause keeps them. */
    readonly pausedCount: number;
    /** How long the first due task has waited, as far as memory knows. */
    readonly oldestWaitingMs: number;
  }[];
  readonly groups: readonly ({ readonly group: string } & Readonly<Counts>)[];
  /** Tasks that wait, by what keeps the first of their kind; null: nothing does. */
  readonly kept: readonly {
    readonly type: string;
    readonly reason: ObstacleReason | null;
    readonly count: number;
  }[];
  /** Waiting tasks held in memory. */
  readonly cachedCount: number;
  /** Callbacks in flight, and those in memory that wait for their next try. */
  readonly pendingCallbackCount: number;
}

/** Of a master that knows of no task yet. */
export const NO_BACKLOG: Backlog = {
  types: [],
  groups: [],
  kept: [],
  limits: [],
  cachedCount: 0,
  pendingCallbackCount: 0,
};

interface Counts {
  waitingCount: number;
  heldCount: number;
  suspendedCount: number;
  runningCount: number;
  pausedCount: number;
}

const NOTHING: Counts = {
  waitingCount: 0,
  heldCount: 0,
  suspendedCount: 0,
  runningCount: 0,
  pausedCount: 0,
};

/**
 * One entry for each type, and each group, that waits or runs, or lately did.
 * @param found What waits, where somebody has asked for it already.
 */
export function* backlogOf(state: State, now: number, found?: Heads): Pieces<Backlog> {
  const { heads } = found ?? (yield* headsOf(state, now, ALL));
  let lookCount = 0;
  const types = new Map<string, Counts & { dueAt: number }>();
  const of = (type: string) => {
    const known = types.get(type);
    if (known !== undefined) return known;
    const added = { ...NOTHING, dueAt: now };
    types.set(type, added);
    return added;
  };
  const groups = new Map<string, Counts>();
  const ofGroup = (group: string) => {
    const known = groups.get(group) ?? { ...NOTHING };
    groups.set(group, known);
    return known;
  };
  const isAll = isPaused(state);
  for (const lane of state.lanes.values()) {
    if (++lookCount % PIECE_COUNT === 0) yield;
    const ofType = of(lane.kind.type);
    ofType.dueAt = Math.min(ofType.dueAt, dueAtOf(lane) ?? now);
    const isOfType = lane.quota !== null && lane.quota.quota.taskType.paused !== null;
    for (const counts of [ofType, ofGroup(lane.group)]) {
      counts.waitingCount += lane.waitingCount - lane.heldCount;
      counts.heldCount += lane.heldCount;
      if (isAll || isOfType || lane.isPaused) counts.pausedCount += lane.waitingCount;
      counts.suspendedCount += lane.suspendedCount;
    }
  }
  for (const executor of state.executors.values()) {
    if (++lookCount % PIECE_COUNT === 0) yield;
    const task = state.tasks.get(executor.occupation?.taskId ?? '');
    if (task === undefined || holderOf(state, task) !== executor) continue;
    of(task.type).runningCount++;
    ofGroup(task.user.group).runningCount++;
  }
  return {
    types: [...types].map(([type, { dueAt, ...counts }]) => ({
      type,
      ...counts,
      oldestWaitingMs: now - dueAt,
    })),
    groups: [...groups].map(([group, counts]) => ({ group, ...counts })),
    kept: heads.map(({ type, obstacle, count }) => ({
      type,
      reason: obstacle?.reason ?? null,
      count,
    })),
    limits: [...state.supplies.values()].map((supply) => {
      const { name, max } = supply.limit;
      return { name, used: fullestOf(supply), max };
    }),
    cachedCount: state.windowCount,
    pendingCallbackCount: state.notifying.size + state.notifications.size,
  };
}

/** How full the state is. */
export function fillsOf(state: State): readonly Fill[] {
  const { policy, notifying, open, waitingCount, suspendedCount } = state;
  const keptCount = waitingCount + suspendedCount;
  const windowBytesMax = policy.windowBytesMax * WINDOW_BYTES_FACTOR;
  return [
    { bound: 'waiting_task_count', used: keptCount, limit: policy.waitingCountMax },
    { bound: 'waiting_window_bytes', used: state.windowBytes, limit: windowBytesMax },
    { bound: 'running_task_bytes', used: open.bytes, limit: policy.runningBytesMax },
    { bound: 'kind_count', used: kindCountOf(state), limit: policy.kindCountMax },
    { bound: 'lane_count', used: state.lanes.size, limit: policy.laneCountMax },
    { bound: 'gate_count', used: state.gates.size, limit: policy.gateCountMax },
    { bound: 'type_count', used: registeredCount(state), limit: TYPES_MAX },
    { bound: 'limit_count', used: state.supplies.size, limit: SHARED_LIMITS_MAX },
    { bound: 'pause_count', used: pauseCount(state), limit: PAUSES_MAX },
    { bound: 'view_count', used: state.views.size, limit: VIEWS_MAX },
    { bound: 'operation_count', used: openWorkCount(state), limit: WORK_OPEN_COUNT_MAX },
    { bound: 'callback_count', used: notifying.size, limit: policy.notificationCountMax },
    { bound: 'callback_bytes', used: notifying.bytes, limit: NOTIFYING_BYTES_MAX },
  ];
}
