/** The loop that owns the state: turns, commits, loads, rebuilds, and how it ends. */
import { expect } from 'chai';
import type { Event, NewTask } from '../../../master/domain/events.ts';
import { Unavailable } from '../../../master/application/master-handle.ts';
import { CommitConflict, StoreUnusable, TermLost } from '../../../master/application/ports.ts';
import { ANY_TASK } from '../../../master/domain/model/task-filter.ts';
import { SECOND } from '../../helpers/domain.ts';
import { hello, newTask } from '../../helpers/task.ts';
import { createEngine } from '../../helpers/engine.ts';
import { settled } from '../../helpers/manual-clock.ts';

describe('Engine', () => {
  let harness: ReturnType<typeof createEngine>;
  let ended: Promise<void>;

  async function begin(...options: Parameters<typeof createEngine>): Promise<void> {
    harness = createEngine(...options);
    ({ ended } = await harness.engine.start());
    ended.catch(() => undefined);
  }

  beforeEach(() => begin());
  afterEach(async () => {
    harness.store.release();
    await harness.engine.stop();
    expect(harness.clock.nextAlarmAt, 'no alarm is left').to.equal(Number.POSITIVE_INFINITY);
  });

  const submit = (...tasks: Partial<NewTask>[]) => harness.master.submit(tasks.map(newTask));
  /** An id chosen by the master needs no lookup. */
  const own = (id: string): Partial<NewTask> => ({ id, requestHash: '' });
  const kinds = async (answer: ReturnType<typeof submit>) => (await answer).map(({ kind }) => kind);
  const connect = (executorId = 'x') =>
    harness.engine.post({ type: 'executorConnected', ...hello({ executorId }) });
  const heartbeat = (sessionId = 'none'): Event => ({
    type: 'heartbeatReceived',
    executorId: 'nobody',
    sessionId,
    draining: false,
    running: [],
    loopLagMs: null,
    rssBytes: null,
  });
  const refusalOf = (answer: Promise<unknown>) =>
    answer.then(
      () => null,
      (error: unknown) => error,
    );

  describe('a turn', () => {
    it('lets nothing out before its commit: no answer, no frame', async () => {
      connect();
      await settled();
      harness.store.held.add('commit');
      let answered = false;
      const answer = submit(own('a')).finally(() => (answered = true));
      await settled();
      expect(harness.store.commits).to.have.length(1);
      expect(answered).to.equal(false);
      expect(harness.recorder.sent).to.deep.equal([]);
      harness.store.release();
      expect(await kinds(answer)).to.deep.equal(['accepted']);
      expect(harness.recorder.sent).to.have.length(1);
      expect(harness.recorder.sent[0]).to.include({ sessionId: 'x/1', term: 1 });
    });

    it('takes all that came during a commit, for one commit more', async () => {
      harness.store.held.add('commit');
      const answers = [submit(own('first'))];
      await settled();
      for (let i = 0; i < 50; i++) answers.push(submit(own(`t${i}`)));
      await settled();
      harness.store.release();
      for (const answer of answers) expect(await kinds(answer)).to.deep.equal(['accepted']);
      const counts = harness.store.commits.map(({ writes }) => writes.length);
      expect(counts, 'the first with its lane, both with usage').to.deep.equal([3, 51]);
    });

    it('writes nothing when nothing has changed', async () => {
      harness.engine.post(heartbeat());
      await harness.clock.pass(10 * SECOND);
      expect(harness.store.commits).to.deep.equal([]);
    });

    it('is bounded: more events are left to the next', async () => {
      harness.recorder.turns.length = 0;
      for (let i = 0; i < 1500; i++) harness.engine.post(heartbeat(`s${i}`));
      await settled();
      expect(harness.recorder.turns).to.deep.equal([1024, 476]);
    });

    it('comes by itself when something is due', async () => {
      connect();
      await kinds(submit({ ...own('a'), runAt: harness.clock.now() + 90 * SECOND }));
      const beat = async (seconds: number) => {
        for (let i = 0; i < seconds; i++) {
          harness.engine.post({ ...heartbeat(), executorId: 'x', sessionId: 'x/1' } as Event);
          await harness.clock.pass(SECOND);
        }
      };
      await beat(89);
      expect(harness.recorder.sent).to.deep.equal([]);
      await beat(1);
      expect(harness.recorder.sent.map(({ command }) => command.type)).to.deep.equal(['assign']);
    });
  });

  describe('a load', () => {
    it('is a turn of its own: nothing is stepped while rows are read', async () => {
      harness.store.held.add('findTasks');
      const cancel = harness.master.cancel('unknown');
      await settled();
      const answer = submit(own('a'));
      await settled();
      expect(harness.store.commits).to.deep.equal([]);
      harness.store.release();
      expect(await cancel).to.include({ kind: 'unknown' });
      expect(await kinds(answer)).to.deep.equal(['accepted']);
    });

    it('brings the row of a task that is only in the store', async () => {
      await harness.engine.stop();
      await begin({ laneWindowCount: 1 });
      await kinds(submit(own('a'), own('b')));
      expect(harness.engine.state?.tasks.has('b')).to.equal(false);
      expect(await harness.master.cancel('b')).to.deep.equal({ kind: 'done' });
      expect((await harness.master.find('b', 'all'))?.task.state).to.equal('canceled');
      expect(await harness.master.cancel('b'), 'it is over').to.include({ kind: 'conflict' });
    });

    it('brings page after page until every executor has a task', async () => {
      await harness.engine.stop();
      await begin({ laneWindowCount: 2, pageCount: 2 });
      await kinds(submit(...Array.from({ length: 9 }, (_, i) => own(`t${i}`))));
      for (let i = 0; i < 9; i++) connect(`x${i}`);
      await settled();
      expect(harness.recorder.sent).to.have.length(9);
    });

    it('that fails rebuilds the state', async () => {
      harness.store.failing.set('findTasks', { error: new Error('gone away') });
      expect(await refusalOf(harness.master.cancel('a'))).to.be.instanceOf(Unavailable);
      await settled();
      expect(harness.engine).to.include({ status: 'ready', term: 2 });
    });
  });

  describe('a commit that fails', () => {
    it('rejects those who wait and rebuilds from rows', async () => {
      harness.store.failing.set('commit', { error: new Error('disk full') });
      const refusal = await refusalOf(submit(own('a')));
      expect(refusal).to.be.instanceOf(Unavailable);
      await settled();
      expect(harness.engine).to.include({ status: 'ready', term: 2 });
      expect(harness.recorder).to.include({ reattachCount: 1, forgetCount: 2 });
      expect(harness.engine.state?.tasks.size, 'it was not written').to.equal(0);
      expect(await kinds(submit(own('a')))).to.deep.equal(['accepted']);
    });

    it('may have been written: the same request is then recognised', async () => {
      harness.store.failing.set('commit', { error: new Error('reset'), after: true });
      expect(await refusalOf(submit({ id: 'a' }))).to.be.instanceOf(Unavailable);
      await settled();
      expect(harness.engine.state?.waitingCount).to.equal(1);
      expect(await submit({ id: 'a' })).to.deep.equal([
        { taskId: 'a', kind: 'taken', holderHash: 'hash of a' },
      ]);
    });

    it('performs none of its effects, and forgets what executors had said', async () => {
      connect();
      await settled();
      harness.store.failing.set('commit', { error: new CommitConflict('version') });
      expect(await refusalOf(submit(own('a')))).to.be.instanceOf(Unavailable);
      await settled();
      expect(harness.recorder.sent).to.deep.equal([]);
      expect(harness.engine.state?.executors.size).to.equal(0);
    });

    it('is tried to recover from until the store answers, with growing pauses', async () => {
      harness.store.failing.set('commit', { error: new Error('down') });
      harness.store.failing.set('takeTerm', { error: new Error('down') });
      await refusalOf(submit(own('a')));
      await settled();
      expect(harness.engine.status).to.equal('recovering');
      expect(await refusalOf(submit(own('b')))).to.be.instanceOf(Unavailable);
      harness.store.failing.set('takeTerm', { error: new Error('down') });
      await harness.clock.pass(100);
      expect(harness.engine.status).to.equal('recovering');
      await harness.clock.pass(199);
      expect(harness.engine.status).to.equal('recovering');
      await harness.clock.pass(1);
      expect(harness.engine.status).to.equal('ready');
    });

    it('ends the master when the store turns out to be unusable', async () => {
      harness.store.failing.set('commit', { error: new Error('down') });
      harness.store.failing.set('takeTerm', { error: new StoreUnusable('not durable') });
      await refusalOf(submit(own('a')));
      expect(await refusalOf(ended)).to.be.instanceOf(StoreUnusable);
      expect(harness.engine.status).to.equal('stopped');
    });
  });

  it('does not start on a store that is unusable', async () => {
    const { engine, store } = createEngine();
    store.failing.set('takeTerm', { error: new StoreUnusable('not durable') });
    expect(await refusalOf(engine.start())).to.be.instanceOf(StoreUnusable);
  });

  it('ends when it was deposed, and writes no more (P10)', async () => {
    await kinds(submit(own('a')));
    await harness.store.takeTerm('another master', harness.clock.now());
    const refusal = await refusalOf(submit(own('b')));
    expect(refusal).to.be.instanceOf(Unavailable);
    expect(await refusalOf(ended)).to.be.instanceOf(TermLost);
    expect(harness.engine.status).to.equal('stopped');
    expect(await harness.store.readTask('b')).to.equal(null);
    expect(await refusalOf(submit(own('c')))).to.be.instanceOf(Unavailable);
  });

  it('finds out within two seconds that it was deposed, with nothing to write', async () => {
    await harness.store.takeTerm('another master', harness.clock.now());
    await harness.clock.pass(2 * SECOND);
    expect(await refusalOf(ended)).to.be.instanceOf(TermLost);
  });

  it('is not ready while the store is away, but keeps its state until it answers again', async () => {
    connect();
    await kinds(submit(own('a')));
    harness.store.failing.set('confirm', { error: new Error('down') });
    await harness.clock.pass(SECOND);
    expect(harness.engine.status).to.equal('recovering');
    expect(await refusalOf(submit(own('b')))).to.be.instanceOf(Unavailable);
    expect(await refusalOf(harness.master.cancel('a'))).to.be.instanceOf(Unavailable);
    await harness.clock.pass(SECOND);
    expect(harness.engine).to.include({ status: 'ready', term: 1 });
    expect(harness.recorder.reattachCount).to.equal(0);
    expect(harness.engine.state?.executors.size).to.equal(1);
    expect(await kinds(submit(own('b')))).to.deep.equal(['accepted']);
  });

  it('does not depose its successor when it comes back from a failure', async () => {
    harness.store.failing.set('commit', { error: new Error('down') });
    harness.store.failing.set('takeTerm', { error: new Error('down') });
    await refusalOf(submit(own('a')));
    await settled();
    expect(harness.engine.status).to.equal('recovering');
    await harness.store.takeTerm('another master', harness.clock.now());
    await harness.clock.pass(SECOND);
    expect(await refusalOf(ended)).to.be.instanceOf(TermLost);
  });

  it('refuses requests when too many wait', async () => {
    harness.store.held.add('commit');
    const first = submit(own('a'));
    await settled();
    for (let i = 0; i < 20_000; i++) harness.engine.post(heartbeat(`s${i}`));
    const refusal = await refusalOf(submit(own('b')));
    expect(refusal).to.be.instanceOf(Unavailable);
    expect((refusal as Unavailable).message).to.include('busy');
    harness.store.release();
    expect(await kinds(first)).to.deep.equal(['accepted']);
    await settled();
    expect(await kinds(submit(own('b')))).to.deep.equal(['accepted']);
  });

  it('has no answer for anybody before its first term: nothing is not there yet', async () => {
    const { master, engine, store, clock } = createEngine();
    store.held.add('takeTerm');
    const started = engine.start();
    expect(await refusalOf(master.find('a', 'all'))).to.be.instanceOf(Unavailable);
    const page = master.lists.newest({ ...ANY_TASK, beforeSeq: null, limit: 1 });
    expect(await refusalOf(page)).to.be.instanceOf(Unavailable);
    expect(() => master.goneExecutors()).to.throw(Unavailable);
    store.release();
    await started;
    expect(await master.find('a', 'all')).to.equal(null);
    expect(master.goneExecutors()).to.deep.equal([]);
    await engine.stop();
    expect(clock.nextAlarmAt).to.equal(Number.POSITIVE_INFINITY);
  });

  describe('stop', () => {
    it('tells the executors also where the clock has just been set', async () => {
      connect();
      await settled();
      harness.engine.followWall();
      await harness.engine.stop();
      expect(harness.recorder.sent.map(({ command }) => command.type)).to.deep.equal(['drain']);
    });

    it('answers what is waiting, writes what is known, and takes nothing more', async () => {
      connect();
      await kinds(submit(own('a')));
      const about = { executorId: 'x', sessionId: 'x/1', frameSeq: 1, taskId: 'a', attempt: 1 };
      harness.engine.post({ type: 'attemptAccepted', ...about });
      await settled();
      const last = submit(own('b'));
      const stopped = harness.engine.stop();
      expect(harness.engine.status).to.equal('draining');
      expect(await refusalOf(submit(own('c')))).to.be.instanceOf(Unavailable);
      expect(await kinds(last)).to.deep.equal(['accepted']);
      await stopped;
      expect(await refusalOf(ended)).to.equal(null);
      expect(harness.engine.status).to.equal('stopped');
      expect((await harness.store.readTask('a'))?.task.state).to.equal('running');
      expect(harness.recorder.sent.at(-1)?.command).to.deep.equal({
        type: 'drain',
        draining: true,
      });
    });

    it('does not wait for a store that does not come back', async () => {
      harness.store.failing.set('commit', { error: new Error('down') });
      harness.store.failing.set('takeTerm', { error: new Error('down') });
      await refusalOf(submit(own('a')));
      await settled();
      expect(harness.engine.status).to.equal('recovering');
      await harness.engine.stop();
      expect(harness.engine.status).to.equal('stopped');
    });

    it('leaves the rows for the next term: a restart knows what waits and what runs', async () => {
      connect();
      await kinds(submit(own('a'), own('b')));
      await harness.engine.stop();
      await begin({}, harness.store);
      expect(harness.engine.term).to.equal(2);
      expect(harness.engine.state?.tasks.get('a')?.state).to.equal('offered');
      expect(harness.engine.state?.waitingCount).to.equal(1);
    });
  });

  describe('Master', () => {
    it('lets exactly one of many submits of one id in', async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => submit({ id: 'a' })));
      const [accepted, ...refused] = answers.flat();
      expect(accepted).to.deep.equal({ taskId: 'a', kind: 'accepted' });
      for (const answer of refused) {
        expect(answer).to.deep.equal({ taskId: 'a', kind: 'taken', holderHash: 'hash of a' });
      }
    });

    it('shows a task as memory has it, ahead of its row', async () => {
      connect();
      await kinds(submit(own('a')));
      const about = { executorId: 'x', sessionId: 'x/1', frameSeq: 1, taskId: 'a', attempt: 1 };
      harness.engine.post({ type: 'attemptAccepted', ...about });
      await settled();
      expect((await harness.store.readTask('a'))?.task.state).to.equal('offered');
      expect((await harness.master.find('a', 'all'))?.task.state).to.equal('running');
      await harness.clock.pass(SECOND);
      expect((await harness.store.readTask('a'))?.task.state).to.equal('running');
    });

    it('says of a read that fails that the store does not answer, and why', async () => {
      const down = new Error('down');
      harness.store.failing.set('showTask', { error: down }).set('listTasks', { error: down });
      const query = { ...ANY_TASK, beforeSeq: null };
      const { master } = harness;
      for (const read of [master.find('a', 'all'), master.lists.newest({ ...query, limit: 1 })]) {
        const refusal = await refusalOf(read);
        expect(refusal).to.be.instanceOf(Unavailable);
        expect(refusal).to.include({ message: 'the store does not answer', cause: down });
      }
    });

    it('runs an ended task again, and once more refuses while it is live', async () => {
      await kinds(submit(own('a')));
      expect(await harness.master.cancel('a')).to.deep.equal({ kind: 'done' });
      expect(await harness.master.retry('a')).to.deep.equal({ kind: 'done' });
      expect(await harness.master.retry('a')).to.include({ kind: 'conflict' });
      expect((await harness.store.readTask('a'))?.task).to.include({ state: 'waiting', seq: 1 });
    });
  });
});
