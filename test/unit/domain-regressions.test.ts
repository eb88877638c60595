/** Faults that the simulation has found, as small as they could be made. */
import { expect } from 'chai';
import { ANY_TASK } from '../../master/domain/model/task-filter.ts';
import type { Task } from '../../master/domain/model/task.ts';
import { HOUR, offers, Scheduler, SECOND } from '../helpers/domain.ts';
import { createEngine } from '../helpers/engine.ts';
import { settled } from '../helpers/manual-clock.ts';
import { newTask } from '../helpers/task.ts';

/** A row as the store would give it. */
function row(id: string, seq: number): Task {
  const scheduler = new Scheduler();
  scheduler.submit({ id });
  return { ...scheduler.task(id), seq, version: 1 };
}

describe('regressions', () => {
  it('an executor that may not have the last task in memory waits for those in the store', () => {
    const { lane } = row('a', 1);
    const { scheduler } = Scheduler.restored(
      { lanes: [{ lane, count: 3, heldCount: 0, suspendedCount: 0, dueAt: null }] },
      { pageCount: 2 },
    );
    scheduler.connect('x');
    const tasks = [row('a', 1), row('b', 2)];
    scheduler.send({ type: 'lanesLoaded', pages: [{ lane, tasks, complete: false }] });
    scheduler.reject('x');
    scheduler.reject('x');
    // Neither may go to x again for a while; the third is only in the store.
    scheduler.command({ type: 'cancelRequested', taskId: 'a' });
    const { loads } = scheduler.command({ type: 'cancelRequested', taskId: 'b' });
    expect(loads).to.deep.equal([{ type: 'lane', lane }]);
  });

  it('an executor that may not have the head of one lane takes that of another before the rest', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x', { types: ['echo', 'copy'] });
    scheduler.submit({ id: 'head' });
    scheduler.reject('x');
    scheduler.pass(6 * SECOND);
    // Older than `later` by its head start, and younger than `head`.
    const out = scheduler.submit({ id: 'later' }, { id: 'middle', type: 'copy', priority: 5 });
    expect(offers(out)).to.deep.equal(['middle -> x']);
  });

  it('an executor whose rest is over takes what waited for that before what comes now', () => {
    const types = ['echo', 'copy'];
    const begin = () => {
      const scheduler = new Scheduler();
      scheduler.connect('x', { types });
      scheduler.submit({ id: 'old' });
      return scheduler;
    };
    // What has arrived is stepped before the tick that ends the rest.
    const comes = (scheduler: Scheduler, afterMs: number) => {
      scheduler.now += afterMs;
      return offers(scheduler.submit({ id: 'new', type: 'copy' }));
    };
    const cooling = begin();
    cooling.reject('x');
    expect(comes(cooling, 10 * SECOND), 'a cool-down').to.deep.equal(['old -> x']);
    const resting = begin();
    for (const sessionId of ['x/2', 'x/3', 'x/4']) resting.connect('x', { types, sessionId });
    expect(comes(resting, 100), 'a rest').to.deep.equal(['old -> x']);
  });

  it('a task that became due while the process stood still is offered by the first tick', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.submit({ id: 'a', runAt: scheduler.now + 10 * SECOND });
    scheduler.now += 60 * SECOND;
    expect(offers(scheduler.send({ type: 'ticked', hiddenMs: 60 * SECOND }))).to.deep.equal([
      'a -> x',
    ]);
  });

  it('a task that its route keeps waits no longer for being left to the store and read again', () => {
    const scheduler = new Scheduler({ windowBytesMax: 1 });
    for (const id of ['x', 'y']) scheduler.connect(id);
    const text = JSON.stringify({ route: { rule: 'sticky', pointer: '/k', wait: 10 } });
    scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    // It has taken what there is of memory.
    scheduler.submit({ id: 'tomorrow', runAt: scheduler.now + 24 * HOUR });
    const params = '{"k":1}';
    scheduler.submit({ id: 'first', params });
    const home = scheduler.task('first').executorId ?? '';
    const other = home === 'x' ? 'y' : 'x';
    scheduler.accept(home);
    scheduler.submit({ id: 'kept', params });
    const stored = { ...scheduler.task('kept') };
    const user = { ...stored.user, group: 'h' };
    expect(offers(scheduler.submit({ id: 'else', user }))).to.deep.equal([`else -> ${other}`]);
    scheduler.accept(other);
    scheduler.submit({ id: 'later', params });
    expect(scheduler.state.tasks.has('kept'), 'in memory').to.equal(false);
    const later = { ...stored, id: 'later', seq: stored.seq + 2 };
    scheduler.command({ type: 'cancelRequested', taskId: 'later', task: later });
    scheduler.pass(9 * SECOND);
    const { lane } = stored;
    expect(scheduler.end(other).loads).to.deep.include({ type: 'lane', lane });
    const pages = [{ lane, tasks: [stored], complete: true }];
    expect(offers(scheduler.send({ type: 'lanesLoaded', pages }))).to.deep.equal([]);
    expect(offers(scheduler.pass(1 * SECOND))).to.deep.equal([`kept -> ${other}`]);
  });

  it('a task that its route keeps waits for less once that says so', () => {
    const scheduler = new Scheduler();
    for (const id of ['x', 'y']) scheduler.connect(id);
    const setWait = (wait: number) => {
      const text = JSON.stringify({ route: { rule: 'sticky', pointer: '/k', wait } });
      scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    };
    setWait(60);
    scheduler.submit({ id: 'first', params: '{"k":1}' });
    const other = scheduler.task('first').executorId === 'x' ? 'y' : 'x';
    scheduler.submit({ id: 'kept', params: '{"k":1}' });
    setWait(3);
    expect(offers(scheduler.pass(3 * SECOND))).to.deep.equal([`kept -> ${other}`]);
  });

  it('a task behind one that its route keeps does not go before an older one of another kind', () => {
    const scheduler = new Scheduler();
    for (const id of ['x', 'y']) scheduler.connect(id);
    const text = JSON.stringify({ route: { rule: 'sticky', pointer: '/k' } });
    scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    const paramsOf = (k: number) => ({ params: JSON.stringify({ k }) });
    const homeOf = (k: number) => {
      scheduler.submit({ id: `home${k}`, ...paramsOf(k) });
      const { executorId } = scheduler.task(`home${k}`);
      scheduler.end(executorId ?? '');
      return executorId;
    };
    const [ofX = 0, ofY = 0] = ['x', 'y'].map((id) =>
      [1, 2, 3, 4, 5, 6].find((k) => homeOf(k) === id),
    );
    scheduler.submit({ id: 'first', ...paramsOf(ofX) });
    const out = scheduler.submit(
      { id: 'kept', ...paramsOf(ofX) },
      { id: 'older', labels: ['gold'], ...paramsOf(ofY) },
      { id: 'behind', ...paramsOf(ofY) },
    );
    expect(offers(out)).to.deep.equal(['older -> y']);
  });

  it('a master that is told to stop while a commit fails steps its state no more', async () => {
    const { engine, master, store } = createEngine();
    const { ended } = await engine.start();
    store.held.add('commit');
    store.failing.set('commit', { error: new Error('connection lost'), after: false });
    const answer = master.submit([newTask({ id: 'a', requestHash: '' })]).catch(() => undefined);
    await settled();
    const turnCount = engine.state?.lastTickAt;
    const stopped = engine.stop();
    store.release();
    await Promise.all([stopped, ended, answer]);
    expect(engine.state?.accepting, 'the event of the stop was not stepped').to.equal(true);
    expect(engine.state?.lastTickAt).to.equal(turnCount);
  });

  for (const ids of [['a', 'b'], null]) {
    const named = ids === null ? 'a filter' : 'its id';
    it(`one change of many reaches, by ${named}, a task that another of them takes the place of`, async () => {
      const { engine, master } = createEngine();
      (await engine.start()).ended.catch(() => undefined);
      const text = JSON.stringify({ limits: { concurrency: { pointer: '', max: 1 } } });
      await master.changeType({ type: 'typeSet', name: 'echo', text, expect: null });
      await master.submit([newTask({ id: 'a', requestHash: '' })]);
      await master.submit([newTask({ id: 'b', requestHash: '', priority: 1 })]);
      const find = async (id: string) => (await master.find(id, 'all'))!.task;
      expect([(await find('a')).state, (await find('b')).state]).to.deep.equal(['held', 'waiting']);
      const operations = master.operations();
      const asked = { action: 'change', filter: ids === null ? ANY_TASK : null, ids } as const;
      const preview = await operations.preview(asked);
      const begun = { ...asked, ...preview, change: { priority: 9 }, reason: null, by: null };
      await operations.begin('op', begun);
      await settled();
      const [work] = await operations.all();
      expect(work).to.deep.include({ state: 'done', problems: [] });
      expect(work?.counts.done).to.equal(2);
      expect(await find('a')).to.include({ state: 'waiting', priority: 9 });
      expect(await find('b')).to.include({ state: 'held', priority: 9 });
      expect(engine.term, 'nothing was rebuilt').to.equal(1);
      await engine.stop();
    });
  }
});
