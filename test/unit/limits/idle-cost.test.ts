/** What tasks cost that most of the idle executors may not have: how often these are looked at. */
import { expect } from 'chai';
import { createOutput } from '../../../master/domain/effects.ts';
import type { Event, ExecutorHello, NewTask } from '../../../master/domain/events.ts';
import type { Executor } from '../../../master/domain/model/executor.ts';
import { step } from '../../../master/domain/scheduler.ts';
import { defaultPolicy } from '../../../master/domain/state/policy.ts';
import { createState, NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { BEGIN } from '../../helpers/domain.ts';
import { hello, newTask } from '../../helpers/task.ts';

const TASK_COUNT = 100;
const OTHER_COUNT = 2_000;

class Fleet {
  readonly #state = createState({
    ...{ policy: defaultPolicy, term: 1, lastSeq: 0, now: BEGIN, seed: 1 },
  });
  #request = 0;

  take(event: Event): void {
    step(this.#state, event, BEGIN, createOutput());
  }

  join(executorId: string, fields: Partial<ExecutorHello>): void {
    this.take({ type: 'executorConnected', ...hello({ executorId, ...fields }) });
  }

  limit(max: number): void {
    const limit = { name: 'l', max, per: 'host' } as const;
    this.take({ type: 'limitSet', request: ++this.#request, name: 'l', limit });
  }

  submit(id: string, fields: Partial<NewTask>, count = 1): void {
    const tasks = Array.from({ length: count }, (_, n) => newTask({ id: `${id}${n}`, ...fields }));
    this.take({ type: 'tasksSubmitted', request: ++this.#request, tasks });
  }

  get offeredCount(): number {
    return [...this.#state.tasks.values()].filter(({ state }) => state === 'offered').length;
  }

  /** How often that is read of any executor meanwhile. */
  readsOf(field: keyof Executor, work: () => void): number {
    let count = 0;
    for (const executor of this.#state.executors.values()) {
      let value: unknown = executor[field];
      Object.defineProperty(executor, field, {
        get: () => (count++, value),
        set: (given) => {
          value = given;
        },
      });
    }
    work();
    return count;
  }
}

/** Each of them some times, and not each of them for each task. */
const READ_COUNT_MAX = 20 * (OTHER_COUNT + TASK_COUNT);

describe('tasks that most idle executors may not have', () => {
  for (const [how, maxRunning] of [
    ['as they come', null],
    ['in order', OTHER_COUNT],
  ] as const) {
    it(`cost no look at each for each task, for want of disk, ${how}`, () => {
      const fleet = new Fleet();
      const disk = (diskBytes: number) => ({ ready: { ok: true, reason: null, diskBytes } });
      for (let n = 0; n < OTHER_COUNT; n++) fleet.join(`x${n}`, disk(n));
      for (let n = 0; n < TASK_COUNT; n++) fleet.join(`y${n}`, disk(1e9));
      fleet.take({ type: 'settingsChanged', request: 0, ...NO_SETTINGS, maxRunning });
      const submit = () => fleet.submit('t', { diskBytes: 1e8 }, TASK_COUNT);
      expect(fleet.readsOf('readiness', submit)).to.be.below(READ_COUNT_MAX);
      expect(fleet.offeredCount).to.equal(TASK_COUNT);
    });
  }

  it('cost no look at each for each task where hosts are used up', () => {
    const fleet = new Fleet();
    fleet.limit(1);
    const uses = [{ limit: 'l', n: 1 }];
    for (let n = 0; n < OTHER_COUNT; n++) fleet.join(`x${n}`, { host: 'full' });
    fleet.submit('first', { uses });
    for (let n = 0; n < TASK_COUNT; n++) fleet.join(`y${n}`, { host: `h${n}` });
    const submit = () => fleet.submit('t', { uses }, TASK_COUNT);
    expect(fleet.readsOf('host', submit)).to.be.below(READ_COUNT_MAX);
    expect(fleet.offeredCount).to.equal(TASK_COUNT + 1);
  });

  it('nor at each for each task that might stand back for an older one, in however many lanes', () => {
    const fleet = new Fleet();
    fleet.limit(TASK_COUNT);
    for (let n = 0; n < OTHER_COUNT; n++) fleet.join(`x${n}`, { host: 'h', labels: ['big'] });
    fleet.submit('one', { uses: [{ limit: 'l', n: 1 }], requires: ['big'] });
    fleet.submit('wide', { uses: [{ limit: 'l', n: TASK_COUNT }], requires: ['big'] });
    // Idle where there is room for whoever comes later, and not one that might have the older one.
    for (let n = 0; n < TASK_COUNT; n++) fleet.join(`y${n}`, { host: 'other' });
    fleet.submit('used', { uses: [{ limit: 'l', n: 1 }], labels: ['a'] });
    const submit = () => {
      const tasks = Array.from({ length: TASK_COUNT - 1 }, (_, n) =>
        newTask({
          id: `t${n}`,
          uses: [{ limit: 'l', n: 1 }],
          user: { group: `g${n}`, project: null, env: null, user: null },
        }),
      );
      fleet.take({ type: 'tasksSubmitted', request: 99, tasks });
    };
    expect(fleet.readsOf('restUntil', submit)).to.be.below(READ_COUNT_MAX);
    expect(fleet.offeredCount).to.be.above(TASK_COUNT / 2);
  });
});
