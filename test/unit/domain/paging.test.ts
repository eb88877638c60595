/** Waiting tasks beyond what is held in memory: left to the store, asked for, taken in again. */
import { expect } from 'chai';
import type { Load, Output } from '../../../master/domain/effects.ts';
import type { NewTask } from '../../../master/domain/events.ts';
import type { Position } from '../../../master/domain/queue/window.ts';
import type { Policy } from '../../../master/domain/state/policy.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import { BEGIN, MINUTE, offers, Scheduler, SECOND } from '../../helpers/domain.ts';

type Place = (task: Task) => Position;
const byOrder: Place = (task) => ({ time: task.queueTime, seq: task.seq });
const byDueTime: Place = (task) => ({ time: task.dueAt, seq: task.seq });

/** The rows behind a scheduler: it answers loads as the engine does, with copies. */
class Rows {
  readonly #scheduler: Scheduler;
  readonly #rows: Map<string, Task>;

  constructor(scheduler: Scheduler, rows = new Map<string, Task>()) {
    this.#scheduler = scheduler;
    this.#rows = rows;
  }

  /** The same rows behind another scheduler: that of the next term. */
  behind(scheduler: Scheduler): Rows {
    return new Rows(scheduler, this.#rows);
  }

  write(out: Output): void {
    for (const change of out.changes) {
      if (change.op === 'credit' || change.op === 'settings' || change.table !== 'task') continue;
      if (change.op === 'insert' || change.op === 'set') {
        this.#rows.set(change.row.id, { ...change.row });
      }
    }
  }

  /** Writes the changes, answers the loads and those that follow; returns the offers of all. */
  settle(out: Output): string[] {
    this.write(out);
    const all = offers(out);
    for (const load of out.loads) all.push(...this.settle(this.#answer(load)));
    return all;
  }

  #answer(load: Load): Output {
    const { state, now } = this.#scheduler;
    if (load.type === 'lane') {
      const ofLane = (task: Task) => task.lane === load.lane && task.dueAt <= now;
      const page = this.#page(ofLane, byOrder, state.lanes.get(load.lane)?.ready.cursor);
      return this.#scheduler.send({ type: 'lanesLoaded', pages: [{ lane: load.lane, ...page }] });
    }
    if (load.type === 'delayed') {
      const page = this.#page(() => true, byDueTime, state.delayed.cursor);
      return this.#scheduler.send({ type: 'delayedLoaded', ...page });
    }
    if (load.type === 'notifications') {
      return this.#scheduler.send({
        type: 'notificationsLoaded',
        notifications: [],
        complete: true,
      });
    }
    throw new Error(`not expected here: ${load.type}`);
  }

  #page(matches: (task: Task) => boolean, place: Place, after: Position | null = null) {
    const { pageCount } = this.#scheduler.state.policy;
    const compare = (a: Position, b: Position) => a.time - b.time || a.seq - b.seq;
    const tasks = [...this.#rows.values()]
      .filter((task) => task.state === 'waiting' && matches(task))
      .filter((task) => after === null || compare(place(task), after) > 0)
      .sort((a, b) => compare(place(a), place(b)))
      .slice(0, pageCount)
      .map((task) => ({ ...task }));
    return { tasks, complete: tasks.length < pageCount };
  }
}

function begin(policy: Partial<Policy>) {
  const scheduler = new Scheduler(policy);
  return { scheduler, rows: new Rows(scheduler) };
}

const numbered = (count: number, fields: Partial<NewTask> = {}) =>
  Array.from({ length: count }, (_, i) => ({ id: `t${i}`, ...fields }));

/** One executor runs all that there is; the order in which it got them. */
function runAll(scheduler: Scheduler, rows: Rows): string[] {
  const order: string[] = [];
  let offered = rows.settle(scheduler.connect('x'));
  for (let count = 0; offered.length > 0; count++) {
    if (count > 1000) throw new Error('it does not end');
    order.push(...offered.map((offer) => offer.split(' ')[0] ?? ''));
    rows.settle(scheduler.accept('x'));
    offered = rows.settle(scheduler.end('x'));
  }
  return order;
}

describe('a full window', () => {
  it('holds so many tasks of a lane; the rest stays in the store', () => {
    const { scheduler } = begin({ laneWindowCount: 5 });
    scheduler.submit(...numbered(8));
    expect([...scheduler.state.tasks.keys()]).to.deep.equal(['t0', 't1', 't2', 't3', 't4']);
    expect(scheduler.state).to.include({ waitingCount: 8, windowCount: 5 });
  });

  it('gives up its last for one that comes first', () => {
    const { scheduler } = begin({ laneWindowCount: 2 });
    scheduler.submit(...numbered(3), { id: 'first', priority: 10 });
    expect([...scheduler.state.tasks.keys()]).to.have.members(['first', 't0']);
  });

  it('is bounded in all lanes together, but leaves each lane 16', () => {
    const { scheduler } = begin({ windowCountMax: 20 });
    scheduler.submit(...numbered(30));
    expect(scheduler.state.windowCount).to.equal(20);
    const other = numbered(30, { type: 'other' }).map((task) => ({ ...task, id: `o${task.id}` }));
    scheduler.submit(...other);
    expect(scheduler.state.windowCount).to.equal(36);
  });

  it('is bounded by the bytes of the params', () => {
    const { scheduler } = begin({ windowBytesMax: 2_000 });
    scheduler.submit(...numbered(50, { params: 'p'.repeat(100) }));
    expect(scheduler.state).to.include({ windowCount: 20, windowBytes: 2_000, waitingCount: 50 });
    for (const task of [...scheduler.state.tasks.values()]) {
      scheduler.command({ type: 'cancelRequested', taskId: task.id });
    }
    expect(scheduler.state).to.include({ windowCount: 0, windowBytes: 0, waitingCount: 30 });
  });

  it('counts what an attempt has left behind, not only the params', () => {
    const { scheduler } = begin({});
    scheduler.connect('x');
    scheduler.submit(...numbered(20));
    const details = JSON.stringify('d'.repeat(10_000));
    for (let i = 0; i < 20; i++) {
      scheduler.accept('x');
      scheduler.progress('x', { checkpoint: 'c'.repeat(1_000), state: 's'.repeat(100) });
      scheduler.fail('x', { error: { message: 'm', details } });
    }
    // 2 of params, 1,000, 100, 1 of the message, and the details with their quotes.
    expect(scheduler.state.windowBytes).to.equal(20 * (2 + 1_000 + 100 + 1 + 10_002));
  });

  it('has a limit of bytes that holds for many lanes, and keeps them going', () => {
    const windowBytesMax = 20_000;
    const { scheduler, rows } = begin({ windowBytesMax, pageCount: 4 });
    const types = Array.from({ length: 40 }, (_, i) => `type${i}`);
    for (const type of types) {
      for (let i = 0; i < 10; i++) {
        rows.settle(scheduler.submit({ id: `${type}-${i}`, type, params: 'p'.repeat(1_000) }));
        expect(scheduler.state.windowBytes).to.be.at.most(2 * windowBytesMax + 1_000);
      }
    }
    rows.settle(scheduler.connect('x', { types }));
    for (let i = 0; i < 400; i++) {
      expect(scheduler.executor('x').occupation, `after ${i} tasks`).not.to.equal(null);
      rows.settle(scheduler.accept('x'));
      rows.settle(scheduler.end('x'));
      expect(scheduler.state.windowBytes).to.be.at.most(2 * windowBytesMax + 1_000);
    }
    expect(scheduler.state).to.include({ waitingCount: 0, windowBytes: 0 });
  });

  it('is no reason for another order: all run, each once, by the one key', () => {
    for (const policy of [
      { laneWindowCount: 3, pageCount: 2 },
      { laneWindowCount: 3, pageCount: 10 },
      { laneWindowCount: 1, pageCount: 1 },
      { windowCountMax: 1, pageCount: 50 },
    ]) {
      const { scheduler, rows } = begin(policy);
      const expected: string[] = [];
      for (let i = 0; i < 40; i++) {
        rows.settle(scheduler.submit({ id: `t${i}`, priority: i % 4 }));
      }
      for (const priority of [3, 2, 1, 0]) {
        for (let i = priority; i < 40; i += 4) expected.push(`t${i}`);
      }
      expect(runAll(scheduler, rows), JSON.stringify(policy)).to.deep.equal(expected);
      expect(scheduler.state).to.include({ waitingCount: 0, windowCount: 0, windowBytes: 0 });
    }
  });
});

describe('a window that runs low', () => {
  it('asks for the next page once, and only when an executor may want it', () => {
    const { scheduler } = begin({ laneWindowCount: 4, pageCount: 4 });
    const out = scheduler.submit(...numbered(10));
    expect(out.loads).to.deep.equal([]);
    expect(scheduler.connect('x').loads, 'there is enough yet').to.deep.equal([]);
    const asked: Load[] = [];
    for (const id of ['y', 'z', 'u', 'v']) asked.push(...scheduler.connect(id).loads);
    expect(asked).to.deep.equal([{ type: 'lane', lane: 2 }]);
  });

  it('asks again after a page that was not the last', () => {
    const { scheduler, rows } = begin({ laneWindowCount: 4, pageCount: 2 });
    rows.settle(scheduler.submit(...numbered(10)));
    const offered: string[] = [];
    for (let i = 0; i < 12; i++) offered.push(...rows.settle(scheduler.connect(`x${i}`)));
    expect(offered).to.have.length(10);
  });

  it('serves every idle executor, also when a page is shorter than their number', () => {
    const policy = { pageCount: 2 };
    const before = begin(policy);
    before.rows.settle(before.scheduler.submit(...numbered(20)));
    const lane = { lane: 2, count: 20, heldCount: 0, suspendedCount: 0, dueAt: null };
    const { scheduler, output } = Scheduler.restored({ lanes: [lane] }, policy);
    const rows = before.rows.behind(scheduler);
    rows.settle(output);
    const turn = Array.from({ length: 20 }, (_, i) => scheduler.connect(`x${i}`));
    const asked = turn.flatMap(({ loads }) => loads);
    expect(asked, 'the first asks for all').to.have.length(1);
    expect(turn.flatMap((out) => rows.settle(out))).to.have.length(20);
  });

  it('starts its next page where it ends when the page is read, not when it was asked for', () => {
    const { scheduler, rows } = begin({ laneWindowCount: 4, pageCount: 100 });
    rows.settle(scheduler.submit(...numbered(10)));
    const turn = ['u', 'v', 'w', 'y'].map((id) => scheduler.connect(id));
    expect(turn.flatMap(({ loads }) => loads)).to.have.length(1);
    // In the same turn, others make the window give up its last tasks.
    const urgent = Array.from({ length: 6 }, (_, i) => ({ id: `u${i}`, priority: 10 }));
    turn.push(scheduler.submit(...urgent));
    for (const out of turn) rows.write(out);
    for (const out of turn) rows.settle(out);
    const expected = [...urgent.map(({ id }) => id), 't4', 't5', 't6', 't7', 't8', 't9'];
    expect(runAll(scheduler, rows)).to.deep.equal(expected);
    expect(scheduler.state.waitingCount).to.equal(0);
  });

  it('takes no harm from a page that nobody asked for, of a lane that is gone, or empty', () => {
    const { scheduler } = begin({});
    scheduler.send({ type: 'lanesLoaded', pages: [{ lane: 1_000, tasks: [], complete: true }] });
    scheduler.submit(...numbered(3));
    const copies = [...scheduler.state.tasks.values()].map((task) => ({ ...task }));
    scheduler.send({
      type: 'lanesLoaded',
      pages: [{ lane: 2, tasks: copies, complete: true }],
    });
    expect(scheduler.state).to.include({ waitingCount: 3, windowCount: 3 });
    scheduler.connect('x');
    const offered = { ...scheduler.task('t0'), state: 'waiting' as const };
    scheduler.send({
      type: 'lanesLoaded',
      pages: [{ lane: 2, tasks: [offered], complete: false }],
    });
    expect(scheduler.task('t0').state, 'memory is ahead of the row').to.equal('offered');
    expect(scheduler.state).to.include({ waitingCount: 2, windowCount: 2 });
  });
});

describe('tasks due later', () => {
  it('are held up to a bound and read from the store as their time comes near', () => {
    const { scheduler, rows } = begin({ laneWindowCount: 3, pageCount: 4 });
    const tasks = numbered(12).map((task, i) => ({ ...task, runAt: BEGIN + (i + 1) * MINUTE }));
    rows.settle(scheduler.submit(...tasks));
    expect(scheduler.state.windowCount).to.equal(3);
    rows.settle(scheduler.connect('x'));
    const order: string[] = [];
    for (let i = 0; i < 12; i++) {
      // Each second on its own, so that rows are read between the ticks.
      for (let second = 0; second < 60; second++) {
        order.push(...rows.settle(scheduler.pass(SECOND)));
      }
      if (order.length !== i + 1) break;
      rows.settle(scheduler.accept('x'));
      rows.settle(scheduler.end('x'));
    }
    expect(order).to.deep.equal(tasks.map(({ id }) => `${id} -> x`));
  });
});
