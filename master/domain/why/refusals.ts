/**
 * All that keeps a waiting task from being offered, in the order in which it is told. There is no rule in here, and
 * in none of the files it is made of: each asks what `steps/assign.ts` and `queue/waiting.ts` ask.
 */
import type { Asked, Refusal } from './asked.ts';
import { byFleet, byTurn } from './by-fleet.ts';
import { byItself } from './by-itself.ts';
import { byLimits } from './by-limits.ts';

/** None: it is about to be offered. */
export function* refusalsOf(asked: Asked): Generator<Refusal> {
  yield* byItself(asked);
  if (asked.task.state !== 'waiting') return;
  const fleet = yield* byFleet(asked);
  yield* byLimits(asked, fleet.able);
  yield* byTurn(asked, fleet);
}
