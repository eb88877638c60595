/** What a gate with many places costs whoever finds none: how often those who have one are looked at. */
import { expect } from 'chai';
import { createOutput } from '../../../master/domain/effects.ts';
import type { Event } from '../../../master/domain/events.ts';
import { step } from '../../../master/domain/scheduler.ts';
import { defaultPolicy } from '../../../master/domain/state/policy.ts';
import { createState, type State } from '../../../master/domain/state/state.ts';
import { BEGIN } from '../../helpers/domain.ts';
import { newTask } from '../../helpers/task.ts';

const PLACE_COUNT = 10_000;
const BATCH = 1_000;
const LATER_COUNT = 100;
/** Some to find out where each belongs, and not all of them. */
const READ_COUNT_MAX = LATER_COUNT * 200;

/** Counts from now on how often the position of any of those who have a place is read. */
function readsIn({ gates }: State): () => number {
  let count = 0;
  for (const { candidates } of gates.values()) {
    for (const candidate of candidates) {
      const { time } = candidate;
      Object.defineProperty(candidate, 'time', { get: () => (count++, time) });
    }
  }
  return () => count;
}

function readCountOf(priority: number): number {
  const of = { term: 1, lastSeq: 0, now: BEGIN, seed: 1 };
  const state = createState({ policy: defaultPolicy, ...of });
  const take = (event: Event) => step(state, event, BEGIN, createOutput());
  let submitted = 0;
  const submit = (count: number, priority = 0): void => {
    const tasks = Array.from({ length: count }, () =>
      newTask({ id: `t${submitted++}`, params: '{"film":"a"}', priority }),
    );
    take({ type: 'tasksSubmitted', request: 2, tasks });
  };
  const concurrency = { pointer: '/film', max: PLACE_COUNT };
  const text = JSON.stringify({ limits: { concurrency } });
  take({ type: 'typeSet', request: 1, name: 'echo', text, expect: null });
  for (let n = 0; n < PLACE_COUNT; n += BATCH) submit(BATCH);
  const readCount = readsIn(state);
  submit(LATER_COUNT, priority);
  expect(state.tasks.size).to.equal(PLACE_COUNT);
  const [gate] = state.gates.values();
  expect([gate?.candidates.size, gate?.heldCount]).to.deep.equal([PLACE_COUNT, LATER_COUNT]);
  return readCount();
}

describe('a gate with ten thousand places', () => {
  it('is not looked through for each task that finds none', () => {
    expect(readCountOf(0)).to.be.within(1, READ_COUNT_MAX);
  });

  it('nor for each that takes the place of another', () => {
    expect(readCountOf(1_000)).to.be.within(1, READ_COUNT_MAX);
  });
});
