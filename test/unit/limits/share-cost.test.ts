/** What a type with ten thousand groups costs in one turn as these begin to take turns: counted, not timed. */
import { expect } from 'chai';
import { SHARE_LANE_COUNT_MAX } from '../../../master/domain/bounds.ts';
import { createOutput } from '../../../master/domain/effects.ts';
import type { Event } from '../../../master/domain/events.ts';
import { step } from '../../../master/domain/scheduler.ts';
import { defaultPolicy } from '../../../master/domain/state/policy.ts';
import { createState, nextWakeAt } from '../../../master/domain/state/state.ts';
import { BEGIN } from '../../helpers/domain.ts';
import { newTask } from '../../helpers/task.ts';

const GROUP_COUNT = 10_000;

describe('ten thousand groups that begin to take turns', () => {
  it('do so some at a time, one tick after another, and are all there then', () => {
    const of = { term: 1, lastSeq: 0, now: BEGIN, seed: 1 };
    const state = createState({ policy: defaultPolicy, ...of });
    const take = (event: Event) => step(state, event, BEGIN, createOutput());
    const tasks = Array.from({ length: GROUP_COUNT }, (_, n) => {
      const user = { group: `g${n}`, project: null, env: null, user: null };
      return newTask({ id: `t${n}`, user });
    });
    take({ type: 'tasksSubmitted', request: 1, tasks });
    const standing = () => new Set([...(state.shares.get('echo')?.leads() ?? [])]).size;
    take({ type: 'typeSet', request: 2, name: 'echo', text: '{"fair_by":"group"}', expect: null });
    expect(standing()).to.equal(SHARE_LANE_COUNT_MAX);
    for (let known = standing(); nextWakeAt(state) <= BEGIN; known = standing()) {
      take({ type: 'ticked' });
      expect(standing() - known).to.be.within(1, SHARE_LANE_COUNT_MAX);
    }
    expect(standing()).to.equal(GROUP_COUNT);
  });

  it('are none to be waited for where that is taken back, and lanes may go meanwhile', () => {
    const of = { term: 1, lastSeq: 0, now: BEGIN, seed: 1 };
    const state = createState({ policy: { ...defaultPolicy, laneCountMax: 1_500 }, ...of });
    const out = createOutput();
    const take = (event: Event) => step(state, event, BEGIN, out);
    const submit = (from: number, count: number) => {
      const tasks = Array.from({ length: count }, (_, n) => {
        const user = { group: `g${from + n}`, project: null, env: null, user: null };
        return newTask({ id: `t${from + n}`, user });
      });
      take({ type: 'tasksSubmitted', request: 1, tasks });
    };
    submit(0, 1_500);
    const set = (text: string) =>
      take({ type: 'typeSet', request: 2, name: 'echo', text, expect: null });
    set('{"fair_by":"group"}');
    for (const n of [0, 1, 2]) take({ type: 'cancelRequested', request: 3, taskId: `t${n}` });
    submit(2_000, 3);
    take({ type: 'ticked' });
    expect([...(state.shares.get('echo')?.leads() ?? [])].length).to.be.within(1_500, 1_503);
    set('{}');
    expect(state.partialShares.size).to.equal(0);
    set('{"fair_by":"group"}');
    set('{}');
    expect(nextWakeAt(state)).to.be.above(BEGIN);
  });
});
