/** The table of states, the names of lanes, and which executors serve which lane first. */
import { expect } from 'chai';
import { type Executor, mayRun, poolKeyOf } from '../../../master/domain/model/executor.ts';
import { addIdle, idlePools, Junctions } from '../../../master/domain/queue/junctions.ts';
import { createKind, createPool, type Pool } from '../../../master/domain/queue/lane.ts';
import {
  isTerminal,
  kindKeyOf,
  mayFollow,
  type TaskState,
} from '../../../master/domain/model/task.ts';
import { sampleExecutor } from '../../helpers/task.ts';

const states: readonly TaskState[] = [
  'waiting',
  'held',
  'suspended',
  'offered',
  'running',
  'succeeded',
  'failed',
  'canceled',
  'expired',
];

describe('mayFollow', () => {
  const allowed: Record<TaskState, readonly TaskState[]> = {
    waiting: ['held', 'suspended', 'offered', 'failed', 'canceled', 'expired'],
    held: ['waiting', 'suspended', 'failed', 'canceled', 'expired'],
    suspended: ['waiting', 'held', 'offered', 'failed', 'canceled', 'expired'],
    offered: [
      'waiting',
      'held',
      'suspended',
      'running',
      'succeeded',
      'failed',
      'canceled',
      'expired',
    ],
    running: ['waiting', 'held', 'suspended', 'succeeded', 'failed', 'canceled', 'expired'],
    succeeded: [],
    failed: [],
    canceled: [],
    expired: [],
  };

  for (const from of states) {
    it(`lets ${from} be followed by ${allowed[from].join(', ') || 'nothing'}`, () => {
      expect(states.filter((to) => mayFollow(from, to))).to.deep.equal(allowed[from]);
    });
  }

  it('has terminal states that absorb everything', () => {
    for (const state of states) {
      expect(isTerminal(state)).to.equal(allowed[state].length === 0);
    }
  });
});

describe('kindKeyOf', () => {
  it('is the same for the same labels in another order', () => {
    expect(kindKeyOf('t', ['b', 'a'], ['d', 'c'])).to.equal(kindKeyOf('t', ['a', 'b'], ['c', 'd']));
  });

  it('tells type, required labels and labels apart', () => {
    const names = [
      kindKeyOf('t', [], []),
      kindKeyOf('t', ['a'], []),
      kindKeyOf('t', [], ['a']),
      kindKeyOf('t', ['a'], ['a']),
      kindKeyOf('t', ['a', 'b'], []),
      kindKeyOf('u', [], []),
    ];
    expect(new Set(names).size).to.equal(names.length);
  });

  it('leaves the lists it is given as they are', () => {
    const labels = ['b', 'a'];
    kindKeyOf('t', labels, labels);
    expect(labels).to.deep.equal(['b', 'a']);
  });
});

describe('mayRun', () => {
  const cases: [what: string, executor: object, task: object, fits: boolean][] = [
    ['the type is the same', {}, {}, true],
    ['the type is another', {}, { type: 'u' }, false],
    ['a required label is missing', { labels: ['a'] }, { requires: ['a', 'b'] }, false],
    ['all required labels are there', { labels: ['b', 'a', 'c'] }, { requires: ['a', 'b'] }, true],
    ['labels of the task alone require nothing', {}, { labels: ['a'] }, true],
    ['it is reserved for another label', { reserve: ['a'] }, { labels: ['b'] }, false],
    [
      'it is reserved for two labels of which one is there',
      { reserve: ['a', 'b'] },
      { labels: ['a'] },
      false,
    ],
    ['it is reserved for a label of the task', { reserve: ['a'] }, { labels: ['b', 'a'] }, true],
    ['its reservation is only required', { reserve: ['a'] }, { requires: ['a'] }, false],
  ];
  for (const [what, executor, task, fits] of cases) {
    it(`${fits ? 'fits' : 'does not fit'} when ${what}`, () => {
      const kind = { types: ['t'], labels: [], reserve: [], ...executor };
      expect(mayRun(kind, { type: 't', labels: [], requires: [], ...task })).to.equal(fits);
    });
  }
});

describe('pools', () => {
  const pool = (fields: Partial<Pick<Executor, 'types' | 'labels' | 'reserve'>>): Pool => {
    const kind = { types: ['t'], labels: [], reserve: [], ...fields };
    return createPool(kind, poolKeyOf(kind));
  };

  it('are the same for executors that differ in the order of their labels only', () => {
    const kind = { types: ['t'], reserve: [] };
    expect(poolKeyOf({ ...kind, labels: ['b', 'a'] })).to.equal(
      poolKeyOf({ ...kind, labels: ['a', 'b'] }),
    );
  });

  it('serve a kind in this order: most reserved, fewest labels, fewest types', () => {
    const reserved = pool({ reserve: ['vip'], labels: ['x', 'y', 'z'] });
    const plain = pool({});
    const manyTypes = pool({ types: ['t', 'u'] });
    const labelled = pool({ labels: ['gpu'] });
    const unfit = pool({ types: ['u'] });
    const kind = createKind('k', { type: 't', requires: [], labels: ['vip'] });
    const junctions = new Junctions();
    for (const other of [labelled, manyTypes]) junctions.addPool(other);
    junctions.addKind(kind);
    for (const other of [unfit, plain, reserved]) junctions.addPool(other);
    for (const other of [unfit, plain, labelled, manyTypes, reserved])
      addIdle(other, sampleExecutor);
    expect([...idlePools(kind)]).to.deep.equal([reserved, plain, manyTypes, labelled]);
  });
});
