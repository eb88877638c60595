/** The progress of a task that is done in parts, one after another: a bar for each, and the percentage of all. */
import type { Progress, TaskContext } from '@soda-scheduler/executor-sdk';

/** Of a part in a report of progress. */
const NAME_LENGTH_MAX = 128;

export class Parts {
  readonly #ctx: Pick<TaskContext, 'progress'>;
  #parts: NonNullable<Progress['parts']>;

  constructor(ctx: Pick<TaskContext, 'progress'>, names: readonly string[]) {
    this.#ctx = ctx;
    this.#parts = names.map((name) => ({ name: endOf(name), percent: 0 }));
  }

  /** So much (0 to 1) of this part is done, and all before it. */
  report(index: number, share: number, state: object, speed?: number | null): void {
    const { name } = this.#parts[index] as { name: string };
    this.#parts = this.#parts.with(index, { name, percent: Math.round(1000 * share) / 10 });
    const percent = (100 * (index + share)) / this.#parts.length;
    this.#ctx.progress({ percent, state, parts: this.#parts, speed });
  }
}

/** The end of a long path tells more than its beginning. */
function endOf(path: string): string {
  return path.length <= NAME_LENGTH_MAX ? path : `…${path.slice(1 - NAME_LENGTH_MAX)}`;
}
