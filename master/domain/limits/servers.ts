/**
 * Which idle executors may have a task, in the order in which they are asked. It offers nothing, and remembers for one
 * go who need not be asked again: so that a go costs no more than there are tasks and executors.
 */
import { endsWithWindow } from '../booking/tasks.ts';
import { endsInTime, type Executor, hasDisk, isCooling, isResting } from '../model/executor.ts';
import type { Task } from '../model/task.ts';
import { hasRoomInAll, isTurnedAway, maySupply, type StandIns } from './supplies.ts';
import { idlePools } from '../queue/junctions.ts';
import type { Kind, Pool } from '../queue/lane.ts';
import { laneOf } from '../queue/lanes.ts';
import { inOrder } from '../queue/route.ts';
import type { State } from '../state/state.ts';

/** One go, in which executors are given tasks and none becomes free. */
export interface Going {
  readonly state: State;
  readonly now: number;
  /** Null until it is about what takes of shared limits. */
  asked: AskedForUses | null;
}

/** What is remembered of who was asked for what takes of shared limits. */
interface AskedForUses {
  /** Up to where idle ones of a pool may not take what a kind uses. */
  readonly turnedAway: Map<Kind, Map<Pool, number>>;
  readonly standIns: StandIns;
}

function askedIn(going: Going): AskedForUses {
  return (going.asked ??= { turnedAway: new Map(), standIns: new Map() });
}

/** An idle executor and its pool. */
export interface Server {
  readonly pool: Pool;
  readonly executor: Executor;
}

/**
 * Idle executors for tasks of the kind, as far as none of them has been refused, in the order of its route.
 * `first`: as in `suits`.
 */
export function* serversOf(going: Going, kind: Kind, first?: Task): Generator<Server> {
  const { state, now } = going;
  if (!hasRoomInAll(state, kind)) return;
  for (const pool of idlePools(kind)) {
    const begin = askedFrom(going, kind, pool);
    for (const executor of inOrder(state, pool, kind, begin)) {
      if (!isResting(executor, now) && suits(going, executor, kind, first))
        yield { pool, executor };
    }
  }
}

/** The place of the first that is not turned away: none before it is asked again in this go. */
function askedFrom(going: Going, kind: Kind, pool: Pool): number {
  if (kind.uses.length === 0) return 0;
  const { state, now } = going;
  const { turnedAway, standIns } = askedIn(going);
  const ofKind = turnedAway.get(kind) ?? new Map<Pool, number>();
  turnedAway.set(kind, ofKind);
  let place = Number.POSITIVE_INFINITY;
  for (const executor of pool.idle.from(ofKind.get(pool) ?? 0, kind.diskBytes ?? 0)) {
    if (isTurnedAway(state, kind, executor, { now, standIns })) continue;
    place = pool.idle.placeOf(executor) ?? 0;
    break;
  }
  ofKind.set(pool, place);
  return place;
}

export function mayHave(going: Going, executor: Executor, task: Task): boolean {
  const { state, now } = going;
  if (isResting(executor, now) || !takes(going, executor, task)) return false;
  return suits(going, executor, laneOf(state, task).kind, task);
}

/** Whether it takes this very task now: it has not refused it, and it is over before the executor is bound to a booking. */
export function takes({ state, now }: Going, executor: Executor, task: Task): boolean {
  if (isCooling(executor, task, now) || endsWithWindow(state, task)) return false;
  return endsInTime(executor, task, state.policy.cancelGraceMs, now);
}

/** Whether it has what tasks of the kind need, and may take what they use. `first`: as in `maySupply`. */
export function suits(going: Going, executor: Executor, kind: Kind, first?: Task): boolean {
  if (!hasDisk(executor, kind)) return false;
  if (kind.uses.length === 0) return true;
  const { state, now } = going;
  return maySupply(state, kind, executor, { now, standIns: askedIn(going).standIns, first });
}
