/**
 * Somebody who suspends tasks and resumes them, whatever they do; in the calm all of them are resumed.
 */
import type { Task } from '../../../master/domain/model/task.ts';
import { Operator, type OperatorOptions } from './operator.ts';

const INSIST_MS = 5_000;

export class TaskOperator extends Operator {
  constructor(options: OperatorOptions) {
    super(options, 0x5059e4d);
  }

  start(): void {
    this.decideLater(50, 2_000, () => this.#decide());
    this.insist(INSIST_MS, () => {
      if (this.isCalm) for (const task of this.#live(isSuspended)) this.#say('resume', task);
    });
  }

  #decide(): void {
    const resumes = this.random.chance(0.4);
    const task = this.random.pick(this.#live((one) => isSuspended(one) === resumes));
    if (task !== undefined) this.#say(resumes ? 'resume' : 'suspend', task);
  }

  #live(matches: (task: Task) => boolean): Task[] {
    return [...this.ledger.live.values()].filter(matches);
  }

  #say(what: 'suspend' | 'resume', { id }: Task): void {
    const master = this.master();
    if (master === null) return;
    this.world.log(`task operator: ${what} ${id}`);
    if (what === 'resume') this.ledger.suspended.resumeAsked(id);
    const type = what === 'suspend' ? 'suspendRequested' : 'taskResumeRequested';
    master.tell({ type, taskId: id });
  }
}

/** Or is about to be, or not any more: the row says it. */
const isSuspended = ({ cancelReason, state }: Task): boolean =>
  state === 'suspended' || cancelReason === 'suspended';
