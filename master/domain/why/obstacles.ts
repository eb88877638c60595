/**
 * All that keeps a waiting task from being offered, in the order in which it is told. There is no rule in here, and
 * in none of the files it is made of: each asks what `steps/assign.ts` and `queue/waiting.ts` ask.
 */
import type { Asked, Obstacle } from './asked.ts';
import type { Executor } from '../model/executor.ts';
import { beforeBooking, ownBooking } from './by-booking.ts';
import { byFleet, byOrder, byTurn, type Fleet } from './by-fleet.ts';
import { byItself } from './by-itself.ts';
import { byLimits } from './by-limits.ts';

/** None: it is about to be offered. */
export function* obstaclesOf(asked: Asked): Generator<Obstacle> {
  const left = yield* obstaclesButOrder(asked);
  if (left !== null) yield* byOrder(asked, left.fleet, left.mayHave);
}

/** Without those that come first: to count them takes a look at all kinds. Null: it does not wait in any order. */
export function* obstaclesButOrder(
  asked: Asked,
): Generator<Obstacle, { readonly fleet: Fleet; readonly mayHave: readonly Executor[] } | null> {
  yield* byItself(asked);
  if (asked.task.state !== 'waiting') return null;
  const booking = ownBooking(asked);
  if (booking !== null && booking.state !== 'bound') {
    yield* beforeBooking(asked, booking);
    return null;
  }
  const fleet = yield* byFleet(asked);
  yield* byLimits(asked, fleet.able);
  return { fleet, mayHave: yield* byTurn(asked, fleet) };
}
