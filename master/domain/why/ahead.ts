/**
 * What comes before a task: tasks that are offered first to executors that may have it. Counted from lanes in memory, and
 * bounded: of a backlog of a million it looks at counters of lanes, and at no task.
 */
import { AHEAD_COUNT_MAX, AHEAD_LOOK_COUNT } from '../bounds.ts';
import { hasRoom, type Quota, reachedByGroup } from '../limits/quota.ts';
import { hasSupplies, limitedUses } from '../limits/supply.ts';
import {
  diskOf,
  type Executor,
  hasDisk,
  isFree,
  mayRun,
  pinnedTo,
  poolKeyOf,
  READY,
} from '../model/executor.ts';
import { placesOf } from '../model/shared-limit.ts';
import { positionOf } from '../queue/agenda.ts';
import type { Kind, Lane } from '../queue/lane.ts';
import { isPausedBy } from '../queue/lanes.ts';
import type { Position } from '../queue/window.ts';
import { newExecutor } from '../steps/fleet.ts';
import type { Asked } from './asked.ts';

export interface Ahead {
  readonly count: number;
  /** There may be more: in the store only, or beyond what was looked at. */
  readonly isAtLeast: boolean;
  readonly queues: readonly Queue[];
}

/** Tasks of one lane that come first. */
export interface Queue {
  readonly lane: Lane;
  readonly count: number;
}

/**
 * @param takers Executors that may have the task: what else these may have, and may be offered as things are, comes
 * before it.
 */
export function aheadOf(asked: Asked, takers: readonly Executor[]): Ahead {
  const position = positionOf(asked.task);
  const pools = poolsOf(takers);
  const queues: Queue[] = [];
  // As if it were let in: then those are too that are held before it, and stand in no lane yet.
  let count = asked.task.state === 'held' ? 0 : asked.heldBefore;
  let isAtLeast = false;
  let lookCount = 0;
  for (const kind of asked.state.kinds.values()) {
    if (kind.waitingCount === kind.heldCount) continue;
    if (lookCount > AHEAD_LOOK_COUNT || count >= AHEAD_COUNT_MAX) {
      isAtLeast = true;
      break;
    }
    const isPerHost = isCountedByHost(asked, kind);
    let isTaken = false;
    for (const { roomiest, ofHosts } of pools) {
      lookCount += 1;
      if (!mayRun(roomiest, kind)) continue;
      const able = isPerHost ? [...ofHosts.values()] : [roomiest];
      lookCount += able.length - 1;
      isTaken = able.some((one) => hasAll(asked, one, kind));
      if (isTaken) break;
    }
    if (!isTaken) continue;
    const quota = quotaOf(asked, kind);
    if (quota !== null && !hasRoom(quota)) continue;
    for (const queue of queuesOf(asked, kind, quota, position)) {
      isAtLeast ||= queue.isAtLeast;
      if (queue.count > 0) queues.push(queue);
      count += queue.count;
      if (count >= AHEAD_COUNT_MAX) break;
    }
  }
  return { count, isAtLeast, queues };
}

/** Executors that may have the same: those of most disk, of all and of each host. In all else they are alike. */
interface Pool {
  roomiest: Executor;
  readonly ofHosts: Map<string, Executor>;
}

function poolsOf(takers: readonly Executor[]): readonly Pool[] {
  const pools = new Map<string, Pool>();
  for (const one of takers) {
    const pool = pools.get(one.poolKey) ?? { roomiest: one, ofHosts: new Map() };
    pools.set(one.poolKey, pool);
    if (diskOf(one) > diskOf(pool.roomiest)) pool.roomiest = one;
    const [host = ''] = placesOf('host', one);
    const ofHost = pool.ofHosts.get(host);
    if (ofHost === undefined || diskOf(one) > diskOf(ofHost)) pool.ofHosts.set(host, one);
  }
  return [...pools.values()];
}

/** Of what its tasks take each host has its own: one of a pool may have it, and others not. */
function isCountedByHost({ state }: Asked, { uses }: Kind): boolean {
  for (const [{ limit }] of limitedUses(state.supplies, uses))
    if (limit.per === 'host') return true;
  return false;
}

/** What tasks of the kind need beside an executor is there: disk, and what they take of shared limits. */
function hasAll({ state }: Asked, executor: Executor, kind: Kind): boolean {
  return hasDisk(executor, kind) && hasSupplies(state.supplies, kind, executor);
}

function quotaOf({ state, task, quota }: Asked, { type }: Kind): Quota | null {
  return type === task.type ? quota : (state.quotas.get(type) ?? null);
}

function* queuesOf(
  asked: Asked,
  kind: Kind,
  quota: Quota | null,
  position: Position,
): Generator<Queue & { readonly isAtLeast: boolean }> {
  const { state, task } = asked;
  const { group } = task.user;
  const shares = kind.type === task.type ? state.shares.get(task.type) : undefined;
  const own = shares && state.lanes.get(task.lane)?.ready.countBefore(position);
  for (const lane of kind.lanes.values()) {
    const { ready } = lane;
    let count = ready.countBefore(position);
    let isAtLeast = !ready.covers(position) && lane.waitingCount > lane.heldCount + ready.size;
    if (shares !== undefined && lane.group !== group) {
      count = Math.min(ready.size, shares.turnsBefore(group, own ?? 0, lane.group));
      isAtLeast = false;
    }
    if (count === 0 && !isAtLeast) continue;
    if (isPausedBy(state, lane)) continue;
    const mine = quota?.groups.get(lane.group);
    if (quota && mine && reachedByGroup({ ...mine, quota }) !== null) continue;
    yield { lane, count, isAtLeast };
  }
}

/**
 * What those take that begin before it once there is room, itself included: no more of them than executors are free,
 * unless it needs more of these as well: then all that come first begin before it. `takes`: of what there is too
 * little, how much a task of the lane takes.
 */
export function neededFor(
  asked: Asked,
  own: number,
  mayTake: (executor: Executor) => boolean,
  takes: (lane: Lane) => number,
): number {
  const free = asked.fleet.filter((one) => isFree(one) && mayTake(one));
  const freeCount = free.length + asked.moreCount;
  const ahead = aheadOf(asked, free.length > 0 ? free : [anotherFor(asked)]);
  let left = ahead.count >= freeCount ? ahead.count : freeCount - 1;
  let needed = own;
  for (const { lane, count } of ahead.queues) {
    const begun = Math.min(count, left);
    if (takes(lane) === 0) continue;
    needed += begun * takes(lane);
    left -= begun;
  }
  return needed;
}

/** One that may have the task and is free. */
export function anotherFor({ task, kind, state, now }: Asked): Executor {
  const { type, requires: labels } = task;
  const { leaseMs } = state.policy;
  const another = newExecutor(pinnedTo(labels) ?? 'another', '', leaseMs, now);
  another.connected = true;
  another.types = [type];
  another.labels = labels;
  another.booking = task.booking;
  another.readiness = { ...READY, diskBytes: kind?.diskBytes ?? task.diskBytes };
  another.poolKey = poolKeyOf(another);
  return another;
}
