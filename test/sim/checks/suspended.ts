/** I30: what is suspended stays so until somebody asks for it. */
import { isTerminal, type Task } from '../../../master/domain/model/task.ts';
import type { World } from '../world.ts';

/** Whatever a store does, a command has come by then. */
const RESUME_MS_MAX = 30_000;

export class SuspendedChecks {
  readonly #world: World;
  /** Of each task, when somebody asked last to resume it. */
  readonly #askedAt = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  resumeAsked(taskId: string): void {
    this.#askedAt.set(taskId, this.#world.now);
  }

  /** @param since when the row before was written. */
  check({ id, state }: Task, before: Task | undefined, since: number): void {
    if (before?.state !== 'suspended' || state === 'suspended' || isTerminal(state)) return;
    const askedAt = this.#askedAt.get(id) ?? Number.NEGATIVE_INFINITY;
    // It may have been asked before the row was written, and come late.
    if (askedAt > since - RESUME_MS_MAX) return;
    this.#world.violate('I30', `${id} is ${state}, and nobody has resumed it`);
  }
}
