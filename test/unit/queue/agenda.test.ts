/** Queues by their first tasks, against a look at all of them; and how little is looked at. */
import { expect } from 'chai';
import { array, assert, boolean, nat, property, record } from 'fast-check';
import { createOutput } from '../../../master/domain/effects.ts';
import type { Event } from '../../../master/domain/events.ts';
import { mayRun, poolKeyOf } from '../../../master/domain/model/executor.ts';
import {
  Agenda,
  comesFirst,
  OUT,
  rankOf,
  type Standing,
} from '../../../master/domain/queue/agenda.ts';
import {
  addIdle,
  idlePools,
  isServed,
  Junctions,
  markHungry,
  removeIdle,
  takeHungry,
} from '../../../master/domain/queue/junctions.ts';
import {
  createKind,
  createLane,
  createPool,
  type Kind,
  type Pool,
} from '../../../master/domain/queue/lane.ts';
import { step } from '../../../master/domain/scheduler.ts';
import { createState, NO_SETTINGS } from '../../../master/domain/state/state.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import { BEGIN, offers, Scheduler } from '../../helpers/domain.ts';
import { hello, newTask, sampleExecutor, sampleTask, testPolicy } from '../../helpers/task.ts';

interface Queue extends Standing {
  readonly tasks: Task[];
}

const inOrder = (a: Task, b: Task): number => (comesFirst(a, b) ? -1 : 1);

describe('Agenda', () => {
  it('finds the first task of all queues that may be had, whatever was added and taken', () => {
    const operation = record({
      queue: nat(5),
      orderTime: nat(9),
      isTaken: boolean(),
      refused: nat(3),
    });
    assert(
      property(array(operation, { maxLength: 60 }), (operations) => {
        const queues = Array.from({ length: 6 }, (): Queue => ({ tasks: [], ...OUT }));
        const agendas = [new Agenda<Queue>(({ tasks }) => tasks[0], rankOf)];
        for (const [seq, { queue, orderTime, isTaken, refused }] of operations.entries()) {
          const [agenda] = agendas as [Agenda<Queue>];
          if (!isTaken) {
            const to = queues[queue] as Queue;
            to.tasks.push(sampleTask({ seq, orderTime }));
            to.tasks.sort(inOrder);
            agenda.announce(to, to.tasks[0] as Task);
            continue;
          }
          const mayBe = (task: Task) => task.seq % 4 !== refused;
          const all = queues.flatMap(({ tasks }) => tasks).sort(inOrder);
          const best = agenda.choose(({ tasks }) => tasks.find(mayBe));
          expect(best).to.equal(all.find(mayBe));
          for (const { tasks } of queues) if (best && tasks[0] === best) tasks.shift();
          const [first] = queues.flatMap(({ tasks }) => tasks).sort(inOrder);
          expect(agenda.first()?.tasks[0]).to.equal(first);
        }
      }),
    );
  });

  it('has no place for a queue that was removed, or is empty', () => {
    const agenda = new Agenda<Queue>(({ tasks }) => tasks[0], rankOf);
    const [a, b] = [1, 2].map((seq): Queue => ({ tasks: [sampleTask({ seq })], ...OUT }));
    for (const queue of [a, b] as Queue[]) agenda.announce(queue, queue.tasks[0] as Task);
    agenda.remove(a as Queue);
    agenda.remove(a as Queue);
    expect(agenda.first()).to.equal(b);
    b?.tasks.pop();
    expect(agenda.first()).to.equal(undefined);
    expect([...agenda]).to.deep.equal([]);
  });
});

/** How often first tasks are looked at, by one executor that runs tasks one after another. */
function countLooks(laneCount: number, taskCount: number): number {
  const state = createState({ policy: testPolicy, term: 1, lastSeq: 0, now: BEGIN, seed: 1 });
  let now = BEGIN;
  const send = (event: Event) => step(state, event, ++now, createOutput());
  for (let index = 0; index < taskCount; index++) {
    const labels = [`lane-${index % laneCount}`];
    send({ type: 'tasksSubmitted', request: index, tasks: [newTask({ id: `${index}`, labels })] });
  }
  let count = 0;
  for (const { ready } of state.lanes.values()) {
    const first = ready.first.bind(ready);
    ready.first = () => {
      count++;
      return first();
    };
  }
  send({ type: 'executorConnected', ...hello() });
  for (const session = { executorId: 'x', sessionId: 'x/1' }; ; ) {
    const occupation = state.executors.get('x')?.occupation;
    if (!occupation) return count;
    send({
      ...occupation,
      type: 'attemptEnded',
      frameSeq: 1,
      ...session,
      outcome: 'succeeded',
      result: null,
      error: null,
      retryable: true,
      retryAfterMs: null,
    });
  }
}

describe('a claim', () => {
  it('looks at few lanes, however many there are', () => {
    const taskCount = 1_000;
    const ofOne = countLooks(1, taskCount);
    const ofMany = countLooks(500, taskCount);
    expect(ofMany).to.be.lessThan(ofOne * 3);
    expect(ofMany).to.be.lessThan(taskCount * 12);
  });
});

/** How often one of a list of labels is read. */
function countReads(all: readonly (Kind | Pool)[], name: 'requires' | 'types'): () => number {
  let count = 0;
  for (const one of all) {
    const value = (one as unknown as Record<string, unknown>)[name];
    Object.defineProperty(one, name, { get: () => (count++, value) });
  }
  return () => count;
}

describe('Junctions', () => {
  const poolOf = (label: string): Pool => {
    const executor = { types: ['t'], labels: [label, 'common'], reserve: [] };
    return createPool(executor, poolKeyOf(executor));
  };
  const kindOfLabel = (label: string): Kind =>
    createKind(`t|common,${label}|`, { type: 't', requires: ['common', label], labels: [] });
  const labels = Array.from({ length: 300 }, (_, index) => `label-${index}`);

  it('let a kind find its pool, and a pool its kind, without a look at the others', () => {
    const junctions = new Junctions();
    const pools = labels.map(poolOf);
    for (const pool of pools) {
      junctions.addPool(pool);
      addIdle(pool, sampleExecutor);
    }
    const ofPools = countReads(pools, 'types');
    const kinds = labels.map(kindOfLabel);
    for (const kind of kinds) junctions.addKind(kind);
    expect([...idlePools(kinds[7] as Kind)]).to.deep.equal([pools[7]]);
    // Where the first kinds stand: none has more than another then.
    expect(ofPools()).to.be.lessThan(5);

    const ofKinds = countReads(kinds, 'requires');
    const late = poolOf('label-8');
    junctions.addPool(late);
    for (const kind of kinds) markHungry(createLane(1, 'g', kind));
    expect(takeHungry(late).map(({ kind }) => kind)).to.deep.equal([kinds[8]]);
    expect(ofKinds()).to.be.lessThan(5);
  });

  it('have each kind meet each pool that fits once, in order, whatever comes and goes', () => {
    const some = array(nat(2), { maxLength: 3 });
    const operation = record({ isPool: boolean(), isAdded: boolean(), which: some, other: some });
    const names = (list: readonly number[]) =>
      [...new Set(list)].sort((a, b) => a - b).map((n) => `l${n}`);
    assert(
      property(array(operation, { maxLength: 40 }), (operations) => {
        const junctions = new Junctions();
        const [pools, kinds] = [new Map<string, Pool>(), new Map<string, Kind>()];
        for (const { isPool, isAdded, which, other } of operations) {
          const [mine, theirs] = [names(which), names(other)];
          const key = `${mine.join()}|${theirs.join()}`;
          const [pool, kind] = [pools.get(key), kinds.get(key)];
          if (isPool && isAdded && pool === undefined) {
            const added = createPool({ types: ['t'], labels: mine, reserve: theirs }, key);
            pools.set(key, added);
            junctions.addPool(added);
            addIdle(added, sampleExecutor);
          } else if (isPool && !isAdded && pool !== undefined) {
            pools.delete(key);
            removeIdle(pool, sampleExecutor);
            junctions.removePool(pool);
          } else if (!isPool && isAdded && kind === undefined) {
            const added = createKind(key, { type: 't', requires: mine, labels: theirs });
            kinds.set(key, added);
            junctions.addKind(added);
          } else if (!isPool && !isAdded && kind !== undefined) {
            kinds.delete(key);
            junctions.removeKind(kind);
          }
          for (const one of kinds.values()) {
            const fitting = [...pools.values()].filter((candidate) => mayRun(candidate, one));
            expect([...idlePools(one)]).to.have.members(fitting);
            expect(isServed(one)).to.equal(fitting.length > 0);
          }
        }
      }),
    );
  });
});

describe('room for less than is idle', () => {
  const definitions = {
    'where routes are sticky': '{"route":{"rule":"sticky","pointer":"/none"}}',
    else: '{}',
  };
  for (const [when, text] of Object.entries(definitions)) {
    it(`is given to tasks with a look at few executors each, ${when}`, () => {
      const scheduler = new Scheduler();
      scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
      for (let index = 0; index < 200; index++) scheduler.connect(`x${index}`);
      scheduler.submit({ diskBytes: 1e12 });
      scheduler.command({ type: 'settingsChanged', ...NO_SETTINGS, maxRunning: 199 });
      let count = 0;
      for (const executor of scheduler.state.executors.values()) {
        Object.defineProperty(executor, 'restUntil', { get: () => (count++, 0) });
      }
      const tasks = Array.from({ length: 200 }, (_, index) => ({ id: `${index}` }));
      expect(offers(scheduler.submit(...tasks))).to.have.length(199);
      expect(count).to.be.lessThan(10 * 200);
    });
  }
});
