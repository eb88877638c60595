/**
 * Somebody who previews operations on many tasks, begins them, now and then twice, and pauses, resumes and cancels them;
 * in the calm none stays paused, and nothing stays suspended. Chance of its own: the rest of a run is drawn as without it.
 */
import type { Master } from '../../../master/application/master.ts';
import type { CommandOutcome } from '../../../master/domain/effects.ts';
import { type BulkAction, isOver, statesFor } from '../../../master/domain/long-work/work.ts';
import { ANY_TASK, type TaskFilter } from '../../../master/domain/model/task-filter.ts';
import { markOf } from '../checks/operations.ts';
import { Operator, type OperatorOptions } from './operator.ts';

const INSIST_MS = 5_000;
const TIMEOUT_MS = 10_000;
const TRY_COUNT = 3;
/** More than a slice has. */
const MANY = Array.from({ length: 600 }, (_, index) => `nobody${index}`);
const ACTIONS: readonly BulkAction[] = [
  'cancel',
  'retry',
  'redeliver',
  'change',
  'suspend',
  'resume',
  'delete',
];
const FILTERS: readonly Partial<TaskFilter>[] = [
  {},
  { type: 'a' },
  { group: 'g' },
  { label: 'gold' },
  { requires: 'gpu' },
  { idPrefix: 't1' },
  { minAttempts: 2 },
  { state: 'waiting' },
  { state: 'canceled' },
  { failureReason: 'attempts_exhausted' },
  { notification: 'delivered' },
];

type Asked = Pick<Parameters<Operations['preview']>[0], 'action' | 'filter' | 'ids'>;
type Operations = ReturnType<Master['operations']>;

export class BulkOperator extends Operator {
  #lastId = 0;

  constructor(options: OperatorOptions) {
    super(options, 0xb01c);
  }

  start(): void {
    this.decideLater(300, 8_000, () => this.#decide());
    this.insist(INSIST_MS, () => this.#endPauses());
  }

  #endPauses(): void {
    if (!this.isCalm) return;
    for (const { id, state } of this.ledger.operations.rows.values()) {
      if (state === 'paused') this.#steer(id, 'running');
    }
    const live = [...this.ledger.live.values()];
    if (live.some(({ cancelReason }) => cancelReason === 'suspended')) {
      this.#preview({ action: 'resume', filter: ANY_TASK, ids: null });
    }
  }

  #decide(): void {
    const open = [...this.ledger.operations.rows.values()].filter((work) => !isOver(work));
    const work = this.random.chance(0.5) ? this.random.pick(open) : undefined;
    if (work === undefined) this.#preview(this.#draw());
    else this.#steer(work.id, this.random.pick(['running', 'running', 'paused', 'canceled']));
  }

  #draw(): Asked {
    const action = this.random.pick(ACTIONS) ?? 'cancel';
    if (this.random.chance(0.3)) return { action, filter: null, ids: this.#drawIds() };
    const filter = { ...ANY_TASK, ...this.random.pick(FILTERS), ...this.random.pick(FILTERS) };
    const isNone = statesFor({ action, filter }).length === 0;
    return { action, filter: isNone ? ANY_TASK : filter, ids: null };
  }

  #drawIds(): string[] {
    if (this.random.chance(0.1)) return MANY;
    const { live, history } = this.ledger;
    const ids = [...live.values(), ...history.values()].map(({ id }) => id);
    const soon = `t${this.random.between(1, 60)}`;
    const named = ids.filter((id) => id !== soon && this.random.chance(0.4));
    return [...named, soon, 'nobody'];
  }

  #preview(asked: Asked): void {
    const id = `op${++this.#lastId}`;
    this.#ask(
      (master) => master.operations().preview(asked),
      (preview) => {
        if (preview === null) return;
        const { filter, ids, action } = asked;
        const { seqMax, endedBefore, count } = preview;
        const what = JSON.stringify(ids ?? matchers(filter));
        this.world.log(`bulk: ${id} is to ${action} ${count}: ${what.slice(0, 200)}`);
        this.ledger.operations.previewed(id, { ...asked, seqMax, endedBefore }, this.ledger);
        const begin = (master: Master) => {
          const change =
            action === 'change' ? { user: { project: markOf(id) }, priority: count } : null;
          const { sample: _, ...frozen } = preview;
          const about = { reason: null, by: 'ann', change };
          return master.operations().begin(id, { ...asked, ...frozen, ...about });
        };
        this.world.after(this.random.between(0, 4_000), () => this.#begin(id, begin, TRY_COUNT));
      },
    );
  }

  /** Again where the outcome is unknown, and now and then for no reason. */
  #begin(id: string, begin: (master: Master) => Promise<CommandOutcome>, triesLeft: number): void {
    this.#ask(begin, (outcome) => {
      this.world.log(`bulk: begin ${id}: ${outcome?.kind ?? 'no answer'}`);
      const isBegun = outcome?.kind === 'done';
      if (isBegun) this.ledger.effect(`202 of ${id}`, this.ledger.operations.rows.has(id));
      if (triesLeft === 0 || (isBegun && this.random.chance(0.9))) return;
      this.world.after(this.random.between(100, 4_000), () => {
        this.#begin(id, begin, triesLeft - 1);
      });
    });
  }

  #steer(id: string, to: 'running' | 'paused' | 'canceled'): void {
    this.world.log(`bulk: ${id} is to be ${to}`);
    this.#ask(
      (master) => master.operations().steer(id, to),
      (outcome) => {
        this.world.log(`bulk: ${id} is to be ${to}: ${outcome?.kind ?? 'no answer'}`);
        if (outcome?.kind !== 'done' || to !== 'canceled') return;
        const isWritten = this.ledger.operations.rows.get(id)?.state === to;
        this.ledger.effect(`200 of the end of ${id}`, isWritten);
      },
    );
  }

  /** Null: nobody has answered in time. */
  #ask<T>(ask: (master: Master) => Promise<T>, answered: (outcome: T | null) => void): void {
    let isAnswered = false;
    const answer = (outcome: T | null): void => {
      if (isAnswered) return;
      isAnswered = true;
      answered(outcome);
    };
    const master = this.master();
    this.world.after(TIMEOUT_MS, () => answer(null));
    master?.process.deliver(() => {
      ask(master.by('bulk')).then(answer, () => answer(null));
    });
  }
}

const matchers = (filter: TaskFilter | null) =>
  Object.fromEntries(Object.entries(filter ?? {}).filter(([, value]) => value !== null));
