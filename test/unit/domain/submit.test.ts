/** Which submissions are accepted: ids, and the bounds on what waits. */
import { expect } from 'chai';
import { taskUpdated } from '../../../master/domain/changes.ts';
import { fillsOf } from '../../../master/domain/views/backlog.ts';
import {
  written,
  BEGIN,
  inserted,
  MINUTE,
  observed,
  offers,
  Scheduler,
} from '../../helpers/domain.ts';
import { changing } from '../../helpers/task.ts';

describe('submit', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
  });

  it('answers for each task of a batch, in order, and writes those it accepts', () => {
    const out = scheduler.submit({ id: 'a' }, { id: 'b' }, { id: 'a' });
    expect(out.outcomes.map(({ taskId, kind }) => [taskId, kind])).to.deep.equal([
      ['a', 'accepted'],
      ['b', 'accepted'],
      ['a', 'taken'],
    ]);
    expect(inserted(out).map(({ id, seq }) => [id, seq])).to.deep.equal([
      ['a', 1],
      // The second number is that of their lane.
      ['b', 3],
    ]);
    expect(observed(out)).to.deep.equal(['task_accepted', 'task_accepted']);
  });

  it('uses no sequence number for a refused task', () => {
    scheduler.submit({ id: 'a' }, { id: 'a' }, { id: 'b' });
    expect(scheduler.state.lastSeq, 'two tasks and their lane').to.equal(3);
  });

  it('fills in the assign timeout of the policy', () => {
    expect(inserted(scheduler.submit({ assignTimeoutMs: null }))[0]?.assignTimeoutMs).to.equal(
      5000,
    );
  });

  it('fills in the execution timeout of the policy, for good', () => {
    const limited = new Scheduler({ executionTimeoutMs: MINUTE });
    const tasks = inserted(
      limited.submit({ id: 'a' }, { id: 'b', executionTimeoutMs: 2 * MINUTE }),
    );
    expect(tasks.map((task) => task.executionTimeoutMs)).to.deep.equal([MINUTE, 2 * MINUTE]);
    expect(inserted(scheduler.submit({}))[0]?.executionTimeoutMs).to.equal(null);
  });

  it('is refused when its deadline has passed, unless it was accepted before that', () => {
    const request = { id: 'a', requestHash: 'h', deadlineAt: scheduler.now + MINUTE };
    expect(scheduler.submit(request).outcomes).to.deep.equal([{ taskId: 'a', kind: 'accepted' }]);
    scheduler.pass(MINUTE);
    const { now } = scheduler;
    const [again, other] = scheduler.submit(
      { ...request, taken: 'h' },
      { ...request, id: 'b' },
    ).outcomes;
    expect(again).to.deep.equal({ taskId: 'a', kind: 'taken', holderHash: 'h' });
    expect(other).to.deep.equal({ taskId: 'b', kind: 'overdue', now });
    expect(scheduler.submit({ deadlineAt: now + 1 }).outcomes[0]).to.include({ kind: 'accepted' });
  });

  it('is refused while the master stops', () => {
    scheduler.send({ type: 'drainStarted' });
    const out = scheduler.submit({});
    expect(out.outcomes[0]).to.include({ kind: 'closed' });
    expect(out.changes).to.deep.equal([]);
  });
});

describe('a task id in use', () => {
  const refused = (holderHash: string) => ({ taskId: 'a', kind: 'taken', holderHash });

  it('by a task in memory is refused, and told by the digest of whose request', () => {
    const scheduler = new Scheduler();
    scheduler.submit({ id: 'a', requestHash: 'h' });
    expect(scheduler.submit({ id: 'a', requestHash: 'i' }).outcomes).to.deep.equal([refused('h')]);
    expect(scheduler.state.waitingCount).to.equal(1);
  });

  it('by an offered or a running task is refused alike', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.submit({ id: 'a' });
    expect(scheduler.submit({ id: 'a' }).outcomes).to.deep.equal([refused('hash of a')]);
    scheduler.accept('x');
    expect(scheduler.submit({ id: 'a' }).outcomes).to.deep.equal([refused('hash of a')]);
  });

  it('by a row of the store, live or retained, is refused', () => {
    const scheduler = new Scheduler();
    const same = scheduler.submit({ id: 'a', requestHash: 'h', taken: 'h' });
    expect(same.outcomes).to.deep.equal([refused('h')]);
    const other = scheduler.submit({ id: 'a', requestHash: 'h', taken: 'i' });
    expect(other.outcomes).to.deep.equal([refused('i')]);
    expect([...same.changes, ...other.changes]).to.deep.equal([]);
  });

  it('within one batch is refused, also when the first went to the store only', () => {
    const scheduler = new Scheduler({ laneWindowCount: 1 });
    const hashed = { id: 'a', requestHash: 'h' };
    const out = scheduler.submit({ id: 'z' }, hashed, hashed, { id: 'a', requestHash: 'i' });
    expect(scheduler.state.tasks.has('a')).to.equal(false);
    expect(out.outcomes.slice(2)).to.deep.equal([refused('h'), refused('h')]);
    expect(inserted(out)).to.have.length(2);
  });

  it('has no digest where the master made the id', () => {
    const scheduler = new Scheduler();
    scheduler.submit({ id: 'a', requestHash: '' });
    const out = scheduler.submit({ id: 'a', requestHash: '' });
    expect(out.outcomes).to.deep.equal([refused('')]);
  });
});

describe('bounds', () => {
  it('refuse more waiting tasks than may wait, in memory or not', () => {
    const scheduler = new Scheduler({ waitingCountMax: 3, laneWindowCount: 1 });
    const out = scheduler.submit({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' });
    expect(out.outcomes.map(({ kind }) => kind)).to.deep.equal([
      'accepted',
      'accepted',
      'accepted',
      'full',
    ]);
    expect(out.outcomes[3]).to.include({ message: '3 waiting or suspended already' });
  });

  it('count what is suspended with what waits', () => {
    const scheduler = new Scheduler({ waitingCountMax: 2 });
    scheduler.submit({ id: 'a' }, { id: 'b' });
    scheduler.command({ type: 'suspendRequested', taskId: 'a' });
    const fill = { bound: 'waiting_task_count', used: 2, limit: 2 };
    expect(fillsOf(scheduler.state)).to.deep.include(fill);
    expect(scheduler.submit({ id: 'c' }).outcomes[0]).to.include({ kind: 'full' });
  });

  it('count nothing that runs', () => {
    const scheduler = new Scheduler({ waitingCountMax: 1 });
    scheduler.connect('x');
    scheduler.run('x', { id: 'a' });
    expect(scheduler.submit({ id: 'b' }).outcomes[0]).to.include({ kind: 'accepted' });
    expect(scheduler.submit({ id: 'c' }).outcomes[0]).to.include({ kind: 'full' });
    scheduler.end('x');
    expect(scheduler.submit({ id: 'c' }).outcomes[0]).to.include({ kind: 'accepted' });
  });

  it('refuse more combinations of type and labels than there may be, and name the type with most', () => {
    const scheduler = new Scheduler({ kindCountMax: 3 });
    scheduler.submit(
      { id: 'a', type: 'other' },
      { id: 'b', labels: ['1'] },
      { id: 'c', labels: ['2'] },
    );
    const out = scheduler.submit({ id: 'd', labels: ['3'] }, { id: 'e', labels: ['2'] });
    const [refused, accepted] = out.outcomes;
    expect(refused).to.include({ kind: 'full' });
    expect(JSON.stringify(refused)).to.match(/3 combinations .* 2 of them with type echo/);
    expect(accepted).to.include({ kind: 'accepted' });
  });

  it('refuse more groups of these than there may be lanes, and name the type with most', () => {
    const scheduler = new Scheduler({ laneCountMax: 3 });
    const user = (group: string) => ({ group, project: null, env: null, user: null });
    scheduler.submit({ id: 'a', type: 'other' });
    for (const group of ['1', '2']) scheduler.submit({ id: `b${group}`, user: user(group) });
    const [refused] = scheduler.submit({ id: 'c', user: user('3') }).outcomes;
    expect(JSON.stringify(refused)).to.match(
      /3 combinations .* group already, 2 of them with type echo/,
    );
    expect(scheduler.submit({ id: 'd', user: user('2') }).outcomes[0]).to.include({
      kind: 'accepted',
    });
    scheduler.command({ type: 'cancelRequested', taskId: 'a' });
    const out = scheduler.submit({ id: 'c', user: user('3') });
    expect(written(out)).to.deep.equal(['remove lane', 'insert task', 'insert lane']);
  });

  it('make room for a kind only by the end of another, not by an empty lane of one in use', () => {
    const scheduler = new Scheduler({ kindCountMax: 2 });
    const user = { group: 'other', project: null, env: null, user: null };
    scheduler.submit({ id: 'a' }, { id: 'b', user }, { id: 'c', type: 'other' });
    scheduler.command({ type: 'cancelRequested', taskId: 'b' });
    const refused = scheduler.submit({ id: 'd', type: 'third' });
    expect(refused.outcomes[0]).to.include({ kind: 'full' });
    expect(written(refused)).to.deep.equal([]);
    scheduler.command({ type: 'cancelRequested', taskId: 'a' });
    const out = scheduler.submit({ id: 'd', type: 'third' });
    expect(written(out)).to.deep.equal([
      'remove lane',
      'remove lane',
      'insert task',
      'insert lane',
    ]);
  });

  it('reuse the lanes that are empty', () => {
    const scheduler = new Scheduler({ laneCountMax: 2 });
    scheduler.connect('x');
    for (let i = 0; i < 20; i++) {
      const out = scheduler.submit({ id: `t${i}`, labels: [`${i}`] });
      expect(offers(out)).to.deep.equal([`t${i} -> x`]);
      scheduler.accept('x');
      scheduler.end('x');
    }
    expect(scheduler.state.lanes.size).to.be.at.most(2);
  });

  it('leave no trace of a lane that was reused in the pools', () => {
    const scheduler = new Scheduler({ laneCountMax: 2 });
    scheduler.connect('x');
    for (let i = 0; i < 20; i++) {
      scheduler.submit({ id: `t${i}`, labels: [`${i}`] });
      scheduler.accept('x');
      scheduler.end('x');
    }
    const [pool] = scheduler.state.pools.values();
    const kindCount = pool?.junctions.reduce((sum, junction) => sum + junction.kindCount, 0);
    expect(kindCount).to.equal(scheduler.state.kinds.size);
  });
});

describe('change of a waiting task', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
  });
  const change = (fields: { priority?: number; runAt?: number }, taskId = 'a') =>
    scheduler.command(changing(taskId, fields));

  it('moves it by its new priority', () => {
    scheduler.submit({ id: 'b' }, { id: 'a' });
    const out = change({ priority: 10 });
    expect(out.reply).to.deep.equal({ kind: 'done', version: 1 });
    expect(out.changes).to.deep.equal([taskUpdated(scheduler.task('a'))]);
    expect(offers(scheduler.connect('x'))).to.deep.equal(['a -> x']);
  });

  it('does not put it off past its deadline', () => {
    const deadlineAt = scheduler.now + MINUTE;
    scheduler.submit({ id: 'a', deadlineAt });
    const refused = {
      kind: 'conflict',
      field: 'run_at',
      message: 'the deadline of the task is not later than that',
    };
    expect(change({ runAt: deadlineAt }).reply).to.deep.equal(refused);
    expect(change({ runAt: deadlineAt - 1 }).reply).to.include({ kind: 'done' });
  });

  it('keeps its age: the same priority again is the same place', () => {
    scheduler.submit({ id: 'a' });
    scheduler.now += MINUTE;
    scheduler.submit({ id: 'b' });
    change({ priority: 0 });
    expect(offers(scheduler.connect('x'))).to.deep.equal(['a -> x']);
  });

  it('counts the head start from its place in the queue, also after a rejection', () => {
    scheduler.connect('x');
    scheduler.submit({ id: 'a', priority: 7 });
    scheduler.now += MINUTE;
    scheduler.reject('x');
    change({ priority: 10 });
    expect(scheduler.task('a').orderTime).to.equal(BEGIN - 10_000);
    change({ priority: 7 });
    expect(scheduler.task('a').orderTime).to.equal(BEGIN - 7_000);
  });

  it('counts it from the time of the retry after a failure, but never from before submit', () => {
    scheduler.connect('x');
    for (const priority of [3600, -3600]) {
      scheduler.run('x', { id: `${priority}`, priority });
      scheduler.fail('x', { retryAfterMs: MINUTE });
    }
    change({ priority: 10 }, '3600');
    expect(scheduler.task('3600').orderTime).to.equal(BEGIN + MINUTE - 10_000);
    change({ priority: 10 }, '-3600');
    expect(scheduler.task('-3600').orderTime).to.equal(BEGIN - 10_000);
  });

  it('puts it off, and brings it forward again', () => {
    scheduler.submit({});
    change({ runAt: scheduler.now + MINUTE });
    expect(offers(scheduler.connect('x'))).to.deep.equal([]);
    expect(offers(change({ runAt: scheduler.now }))).to.deep.equal(['a -> x']);
    expect(scheduler.state).to.include({ windowCount: 0, waitingCount: 0 });
  });

  it('gains nothing from a time in the past: that is what priority is for', () => {
    scheduler.submit({ id: 'b' });
    scheduler.now += 1;
    scheduler.submit({ id: 'a' });
    change({ runAt: 0 });
    expect(scheduler.task('a')).to.include({ dueAt: scheduler.now, orderTime: scheduler.now });
    expect(offers(scheduler.connect('x'))).to.deep.equal(['b -> x']);
  });

  it('brings a retry forward', () => {
    scheduler.connect('x');
    scheduler.run('x', { retry: { maxAttempts: 5, interval: -600 } });
    scheduler.fail('x');
    expect(offers(change({ runAt: scheduler.now }))).to.deep.equal(['a -> x']);
  });

  it('works on a task that is only in the store, which may then come into memory', () => {
    scheduler = new Scheduler({ laneWindowCount: 1 });
    const [, , row] = inserted(scheduler.submit({ id: '1' }, { id: '2' }, { id: 'a' }));
    expect(change({ priority: 10 }).loads.map(({ type }) => type)).to.deep.equal(['task']);
    const out = scheduler.command({ ...changing('a', { priority: 10 }), task: row ?? null });
    expect(out.reply).to.deep.equal({ kind: 'done', version: 1 });
    expect(scheduler.state).to.include({ waitingCount: 3, windowCount: 1 });
    expect(offers(scheduler.connect('x'))).to.deep.equal(['a -> x']);
  });

  it('is refused for a task that is offered, running or unknown', () => {
    scheduler.connect('x');
    scheduler.submit({});
    expect(change({ priority: 1 }).reply).to.include({ kind: 'conflict' });
    scheduler.accept('x');
    expect(change({ priority: 1 }).reply).to.include({ kind: 'conflict' });
    const out = scheduler.command({ ...changing('u', { priority: 1 }), task: null });
    expect(out.reply).to.deep.equal({ kind: 'unknown', message: 'no such task' });
  });
});
