/**
 * Somebody who puts tasks first and last of their type, whatever they do. Chance of its own: the rest of a run is drawn
 * as without it.
 */
import { isAtRest } from '../../../master/domain/model/task.ts';
import type { MasterProcess } from '../actors/master-process.ts';
import type { Ledger } from '../ledger.ts';
import { Random } from '../random.ts';
import type { World } from '../world.ts';

export class OrderOperator {
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
    this.#random = new Random(options.seed ^ 0x0d3e7);
    this.#master = options.master;
  }

  start(): void {
    this.#world.after(this.#random.between(50, 1_500), () => {
      if (this.#isCalm) return;
      // Several at once: one after the other they are to be decided.
      do this.#move();
      while (this.#random.chance(0.3));
      this.start();
    });
  }

  calmDown(): void {
    this.#isCalm = true;
  }

  #move(): void {
    const master = this.#master();
    const live = [...this.#ledger.live.values()];
    const isAny = this.#random.chance(0.1);
    const task = this.#random.pick(isAny ? live : live.filter(isAtRest));
    const to = this.#random.pick(['first', 'last'] as const);
    if (master === null || task === undefined) return;
    this.#world.log(`order operator: ${task.id} is to be ${to}`);
    master.tell({ type: 'moveRequested', taskId: task.id, to });
  }
}
