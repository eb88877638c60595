/** What a gate with many places costs whoever finds none. */
import { expect } from 'chai';
import { createOutput } from '../../../master/domain/effects.ts';
import type { Event } from '../../../master/domain/events.ts';
import { step } from '../../../master/domain/scheduler.ts';
import { defaultPolicy } from '../../../master/domain/state/policy.ts';
import { createState } from '../../../master/domain/state/state.ts';
import { BEGIN } from '../../helpers/domain.ts';
import { newTask } from '../../helpers/task.ts';

const PLACE_COUNT = 10_000;
const BATCH = 1_000;

function costMs(priority: number): number {
  const of = { term: 1, lastSeq: 0, now: BEGIN, seed: 1 };
  const state = createState({ policy: defaultPolicy, ...of });
  const take = (event: Event) => step(state, event, BEGIN, createOutput());
  let count = 0;
  const submit = (priority = 0): void => {
    const tasks = Array.from({ length: BATCH }, () =>
      newTask({ id: `t${count++}`, params: '{"film":"a"}', priority }),
    );
    take({ type: 'tasksSubmitted', request: 2, tasks });
  };
  const concurrency = { pointer: '/film', max: PLACE_COUNT };
  const text = JSON.stringify({ limits: { concurrency } });
  take({ type: 'typeSet', request: 1, name: 'echo', text, expect: null });
  for (let n = 0; n < PLACE_COUNT; n += BATCH) submit();
  const before = process.cpuUsage();
  for (let n = 0; n < PLACE_COUNT; n += BATCH) submit(priority);
  const { user, system } = process.cpuUsage(before);
  expect(state.tasks.size).to.equal(PLACE_COUNT);
  return (user + system) / 1_000;
}

// Some 70 ms of CPU; 1,400 where each of them looks at all who have a place.
describe('a gate with ten thousand places', () => {
  it('is not looked through for each task that finds none', () => {
    expect(costMs(0)).to.be.below(700);
  });

  it('nor for each that takes the place of another', () => {
    expect(costMs(1_000)).to.be.below(700);
  });
});
