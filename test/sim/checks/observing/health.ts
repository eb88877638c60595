/**
 * What health says of the flow of work, against what was so for a whole lease, by the rows.
 *
 * H1: there is nothing to do, `idle`, is not said while one task is due, or runs, all the time.
 *
 * H2: nothing moves, `stopped`, is not said while there is nothing to do, a task runs, or one could be started, all the
 * time; but where somebody has paused everything.
 *
 * H3: work flows is not said while nothing runs and nothing is offered, though something could be, or nobody is there
 * for anything that is due.
 */
import type { FlowState } from '../../../../master/domain/health/health.ts';
import type { World } from '../../world.ts';
import type { Sight } from './sight.ts';

/** In a lease: else it stood still itself. */
const LOOK_COUNT_MIN = 5;

interface Look extends Sight {
  readonly flow: FlowState;
}

/** Of one master. */
export class HealthChecks {
  readonly #world: World;
  readonly #leaseMs: number;
  #looks: readonly Look[] = [];

  constructor(world: World, leaseMs: number) {
    this.#world = world;
    this.#leaseMs = leaseMs;
  }

  looked(look: Look): void {
    const since = look.now - this.#leaseMs;
    // Those within a lease, and one before.
    const later = this.#looks.filter(({ now }) => now > since);
    const before = this.#looks.filter(({ now }) => now <= since).slice(-1);
    const looks = [...before, ...later, look];
    this.#looks = looks;
    if (
      before.length === 0 ||
      looks.length < LOOK_COUNT_MIN ||
      looks.some(({ flow }) => flow !== look.flow)
    )
      return;
    const what = violationBy(look.flow, looks);
    if (what !== null) this.#world.violate(...what);
  }
}

function violationBy(
  flow: FlowState,
  looks: readonly Look[],
): readonly [invariant: string, what: string] | null {
  const due = always(looks, (look) => look.due.map(({ task }) => task.id));
  const startable = always(looks, (look) =>
    look.due.filter(({ isStartable }) => isStartable).map(({ task }) => task.id),
  );
  const running = always(looks, ({ withExecutors }) => [...withExecutors]);
  if (flow === 'idle') {
    const busy = due ?? running;
    return busy === null ? null : ['H1', `nothing is to be done, it says, and there is ${busy}`];
  }
  if (flow === 'stopped') {
    if (looks.some(({ isPaused }) => isPaused)) return null;
    const moving = running ?? startable;
    if (moving !== null) return ['H2', `nothing moves, it says, and there is ${moving}`];
    const isNothing = looks.every((look) => {
      return look.due.length + look.withExecutors.size + look.vagueTypes.size === 0;
    });
    return isNothing ? ['H2', 'nothing moves, it says, and there is nothing to do'] : null;
  }
  const [first] = looks;
  const stands = looks.every((look) => {
    return look.withExecutors.size === 0 && look.attemptCount === first?.attemptCount;
  });
  if (!stands) return null;
  if (startable !== null) return ['H3', `work flows, it says, and ${startable} is not started`];
  const isHopeless = looks.every((look) => {
    return look.due.length > 0 && look.due.every((one) => one.isHopeless && one.isPlain);
  });
  return isHopeless ? ['H3', 'work flows, it says, and nobody is there for it'] : null;
}

/** What was so at all of them; null: nothing. */
function always(looks: readonly Look[], namesOf: (look: Look) => readonly string[]): string | null {
  const [first, ...others] = looks.map(namesOf);
  return first?.find((name) => others.every((names) => names.includes(name))) ?? null;
}
