/**
 * Lanes and pools: which waiting tasks may go to which executors. Tasks of one lane have the same
 * type, required labels and labels; executors of one pool have the same types, labels and
 * reservations. So whether they fit is decided once for each pair of lane and pool, and a type
 * without executors never delays another.
 */
import { type Executor, mayRun } from '../executor.ts';
import type { Task } from '../task.ts';
import { isBefore, type Position, Window } from './window.ts';

export interface Lane {
  readonly key: string;
  readonly type: string;
  readonly requires: readonly string[];
  readonly labels: readonly string[];
  /** Tasks that are due, in order. */
  readonly ready: Window<Task>;
  /** Every waiting task of the lane: due or not, in memory or only in the store. */
  waitingCount: number;
  /** A page has been asked for. */
  loading: boolean;
  /** Pools whose executors may run these tasks, the most reserved and most specific first. */
  readonly pools: Pool[];
}

/** Executors with the same types, labels and reservations: any of them will do. */
export interface Pool {
  readonly key: string;
  readonly types: readonly string[];
  readonly labels: readonly string[];
  readonly reserve: readonly string[];
  /** In the order they became idle: the longest idle is taken first. */
  readonly idle: Set<Executor>;
  memberCount: number;
  /** Those that its executors may serve. */
  readonly lanes: Set<Lane>;
}

/** The place of a task among those of its lane, and of other lanes (P6). */
export function positionOf(task: Pick<Task, 'orderTime' | 'seq'>): Position {
  return { time: task.orderTime, seq: task.seq };
}

/** Whether `a` is to be offered before `b`. */
export function comesFirst(a: Task, b: Task): boolean {
  return isBefore(positionOf(a), positionOf(b));
}

/** A lane without tasks, linked to those of `pools` that may serve it. */
export function createLane(
  kind: Pick<Lane, 'key' | 'type' | 'requires' | 'labels'>,
  pools: Iterable<Pool>,
): Lane {
  const lane: Lane = {
    key: kind.key,
    type: kind.type,
    requires: kind.requires,
    labels: kind.labels,
    ready: new Window<Task>(positionOf),
    waitingCount: 0,
    loading: false,
    pools: [],
  };
  for (const pool of pools) connect(lane, pool);
  return lane;
}

/** A pool without members, linked to those of `lanes` that it may serve. */
export function createPool(
  executor: Pick<Executor, 'types' | 'labels' | 'reserve'>,
  key: string,
  lanes: Iterable<Lane>,
): Pool {
  const pool: Pool = {
    key,
    types: executor.types,
    labels: executor.labels,
    reserve: executor.reserve,
    idle: new Set(),
    memberCount: 0,
    lanes: new Set(),
  };
  for (const lane of lanes) connect(lane, pool);
  return pool;
}

/** Its last member has gone. */
export function removePool(pool: Pool): void {
  for (const lane of pool.lanes) lane.pools.splice(lane.pools.indexOf(pool), 1);
}

/** No task of it waits any more. */
export function removeLane(lane: Lane): void {
  for (const pool of lane.pools) pool.lanes.delete(lane);
}

function connect(lane: Lane, pool: Pool): void {
  if (!mayRun(pool, lane)) return;
  pool.lanes.add(lane);
  lane.pools.push(pool);
  // Reserved executors first, so that urgent work leaves the others free; then those that can do
  // the least else.
  lane.pools.sort(
    (a, b) =>
      b.reserve.length - a.reserve.length ||
      a.labels.length - b.labels.length ||
      a.types.length - b.types.length ||
      (a.key < b.key ? -1 : 1),
  );
}
