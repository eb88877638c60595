/** Submits, put to the engine: of those with one id, one after another. */
import { SUBMIT_DELAY_MS_MAX } from '../domain/bounds.ts';
import type { SubmitOutcome } from '../domain/effects.ts';
import type { Engine } from './engine/engine.ts';
import { IdRegister } from './engine/id-register.ts';
import { type Submission, unanswered, Unavailable } from './master-handle.ts';
import type { TaskStore } from './ports.ts';

export class Submissions {
  readonly #engine: Engine;
  readonly #ids: IdRegister;

  constructor(engine: Engine, findIds: TaskStore['findIds']) {
    this.#engine = engine;
    this.#ids = new IdRegister({ findIds });
  }

  /** One outcome for each, in order, after the commit. @throws {Unavailable} */
  submit(tasks: readonly Submission[]): Promise<readonly SubmitOutcome[]> {
    const { status, delayMs, storeWatch } = this.#engine;
    if (status !== 'ready') {
      return Promise.reject(new Unavailable(`the master is ${status}`, 2));
    }
    if (delayMs >= SUBMIT_DELAY_MS_MAX) {
      return Promise.reject(new Unavailable('the master is busy: requests wait too long', 5));
    }
    // An id stays held until its commit is decided, also when nobody waits for that any more.
    return storeWatch.whileItAnswers(this.#submitHeld(tasks));
  }

  #submitHeld(tasks: readonly Submission[]): Promise<readonly SubmitOutcome[]> {
    // An id that the master made is free.
    const chosen = tasks.filter((task) => task.requestHash !== '').map((task) => task.id);
    if (chosen.length === 0) return this.#submit(tasks, new Map());
    return this.#ids
      .during([...new Set(chosen)], (taken) => this.#submit(tasks, taken))
      .catch((error: unknown) => {
        if (error instanceof Unavailable) throw error;
        throw unanswered(error);
      });
  }

  async #submit(
    tasks: readonly Submission[],
    taken: ReadonlyMap<string, string>,
  ): Promise<readonly SubmitOutcome[]> {
    const reply = await this.#engine.request((request) => {
      return { type: 'tasksSubmitted', request, tasks, taken };
    });
    return reply as readonly SubmitOutcome[];
  }
}
