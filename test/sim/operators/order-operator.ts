/** Somebody who puts tasks first and last of their type, whatever they do. */
import { isAtRest } from '../../../master/domain/model/task.ts';
import { Operator, type OperatorOptions } from './operator.ts';

export class OrderOperator extends Operator {
  constructor(options: OperatorOptions) {
    super(options, 0x0d3e7);
  }

  start(): void {
    this.decideLater(50, 1_500, () => {
      // Several at once: one after the other they are to be decided.
      do this.#move();
      while (this.random.chance(0.3));
    });
  }

  #move(): void {
    const master = this.master();
    const live = [...this.ledger.live.values()];
    const isAny = this.random.chance(0.1);
    const task = this.random.pick(isAny ? live : live.filter(isAtRest));
    const to = this.random.pick(['first', 'last'] as const);
    if (master === null || task === undefined) return;
    this.world.log(`order operator: ${task.id} is to be ${to}`);
    master.tell({ type: 'moveRequested', taskId: task.id, to });
  }
}
