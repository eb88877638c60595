/**
 * Somebody who suspends tasks and resumes them, whatever they do; in the calm all of them are resumed. Chance of its
 * own: the rest of a run is drawn as without it.
 */
import type { Task } from '../../../master/domain/model/task.ts';
import type { Ledger } from '../ledger.ts';
import { Random } from '../random.ts';
import type { World } from '../world.ts';
import type { MasterProcess } from '../actors/master-process.ts';

const INSIST_MS = 5_000;

export class TaskOperator {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #master: () => MasterProcess | null;
  #isCalm = false;

  constructor(options: {
    world: World;
    ledger: Ledger;
    seed: number;
    master: () => MasterProcess | null;
  }) {
    this.#world = options.world;
    this.#ledger = options.ledger;
    this.#random = new Random(options.seed ^ 0x5059e4d);
    this.#master = options.master;
  }

  start(): void {
    this.#decideLater();
    this.#insist();
  }

  calmDown(): void {
    this.#isCalm = true;
  }

  /** What was said before the calm may come late. */
  #insist(): void {
    if (this.#isCalm) for (const task of this.#live(isSuspended)) this.#say('resume', task);
    this.#world.after(INSIST_MS, () => this.#insist());
  }

  #decideLater(): void {
    this.#world.after(this.#random.between(50, 2_000), () => {
      if (this.#isCalm) return;
      const resumes = this.#random.chance(0.4);
      const task = this.#random.pick(this.#live((one) => isSuspended(one) === resumes));
      if (task !== undefined) this.#say(resumes ? 'resume' : 'suspend', task);
      this.#decideLater();
    });
  }

  #live(matches: (task: Task) => boolean): Task[] {
    return [...this.#ledger.live.values()].filter(matches);
  }

  #say(what: 'suspend' | 'resume', { id }: Task): void {
    const master = this.#master();
    if (master === null) return;
    this.#world.log(`task operator: ${what} ${id}`);
    if (what === 'resume') this.#ledger.suspended.resumeAsked(id);
    const type = what === 'suspend' ? 'suspendRequested' : 'taskResumeRequested';
    master.tell({ type, taskId: id });
  }
}

/** Or is about to be, or not any more: the row says it. */
const isSuspended = ({ cancelReason, state }: Task): boolean =>
  state === 'suspended' || cancelReason === 'suspended';
