/** Which namespaces are led, and when that ends: by a clock that the test moves. */
import { expect } from 'chai';
import { Duties } from '../../../master/application/process/duties.ts';
import { inNamespace, NAMESPACE_COUNT_MAX } from '../../../master/application/namespace.ts';
import { Namespaces } from '../../../master/application/process/namespaces.ts';
import { UnknownNamespace } from '../../../master/application/process/namespaces-handle.ts';
import { Unavailable } from '../../../master/application/master-handle.ts';
import { StoreUnusable, TermLost } from '../../../master/application/ports.ts';
import { MemoryStore } from '../../../master/infrastructure/memory/store.ts';
import { MINUTE, SECOND } from '../../helpers/domain.ts';
import { leaderOn } from '../../helpers/engine.ts';
import { commit, wholeRows } from '../../contract/sample.ts';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';
import { hello, newTask } from '../../helpers/task.ts';

const sessions = { connectionCount: 0, shutdown: () => undefined, fills: () => [] };

describe('numbers of namespaces', () => {
  it('stay exact up to the last one', () => {
    expect([inNamespace(0, 1), inNamespace(3, 7)]).to.deep.equal([1, 3 * 2 ** 40 + 7]);
    const last = inNamespace(NAMESPACE_COUNT_MAX, -1);
    expect(Number.isSafeInteger(last)).to.equal(true);
  });
});

describe('the namespaces of a process', () => {
  let clock: ManualClock;
  let store: MemoryStore;
  let namespaces: ReturnType<typeof create>;
  let told: Record<string, unknown>[];
  const log = {
    debug() {},
    info: (_message: string, fields = {}) => void told.push(fields),
    warn() {},
    error() {},
  };

  function create() {
    return new Namespaces({
      store,
      clock,
      log,
      duties: new Duties(clock),
      lead: ({ id, name }) => {
        const pauseOfAll = () => namespaces.pauseOfAll;
        const on = { store: store.tasks(id), clock, namespace: name, pauseOfAll };
        const { engine, master } = leaderOn(on);
        return { engine, master, sessions, logs: { stop: async () => {} } };
      },
    });
  }

  const names = () => namespaces.leaders.map(({ master }) => master.namespace);
  const submit = (name: string, id: string) =>
    namespaces.use(name, ({ master }) => master.submit([newTask({ id, requestHash: '' })]));
  const cancel = (name: string, id: string) =>
    namespaces.use(name, ({ master }) => master.cancel(id));
  const pass = async (ms: number) => {
    await clock.pass(ms);
    await settled();
  };

  beforeEach(async () => {
    told = [];
    clock = new ManualClock();
    store = new MemoryStore();
    namespaces = create();
    await namespaces.start();
  });
  afterEach(async () => {
    await namespaces.stop();
    expect(clock.nextAlarmAt, 'no alarm is left').to.equal(Number.POSITIVE_INFINITY);
  });

  it('follow a pause of all whose answer came when nobody waited for it any more', async () => {
    let answer: () => void = () => undefined;
    const set = store.setPauseOfAll.bind(store);
    store.setPauseOfAll = async (...args) => {
      await new Promise<void>((resolve) => (answer = resolve));
      await set(...args);
    };
    const change = { by: 'ann', reason: null, until: null };
    const asked = namespaces.pauseAll(change).catch((error: unknown) => error);
    await pass(5 * SECOND);
    expect(await asked).to.be.instanceOf(Unavailable);
    answer();
    await pass(SECOND);
    expect(namespaces.pauseOfAll).to.include(change);
    const [first] = namespaces.leaders;
    expect([...(first?.engine.state?.pauses.keys() ?? [])]).to.have.length(1);
  });

  it('begin with default, and with others once somebody asks for them', async () => {
    await namespaces.put('a', {});
    await namespaces.put('b', {});
    expect(names()).to.deep.equal(['default']);
    await submit('a', 't');
    expect(names()).to.deep.equal(['default', 'a']);
    const missing = await namespaces.use('c', () => null).catch((error: unknown) => error);
    expect(missing).to.be.instanceOf(UnknownNamespace);
  });

  it('say that no work is taken while one of them finds the disk full, and until it has room', async () => {
    await namespaces.put('a', {});
    await submit('a', 't');
    expect(namespaces.status).to.equal('ready');
    const tasks = store.tasks(1);
    const { commit, takeTerm } = tasks;
    const full = async () => {
      throw Object.assign(new Error('no room'), { code: 'SQLITE_FULL' });
    };
    Object.assign(tasks, { commit: full, takeTerm: full });
    expect(await submit('a', 'u').catch((error: unknown) => error)).to.be.instanceOf(Unavailable);
    await pass(MINUTE);
    expect(namespaces.status).to.equal('recovering');
    expect(namespaces.storeTrouble).to.include({ reason: 'its disk is full' });
    Object.assign(tasks, { commit, takeTerm });
    await pass(MINUTE);
    expect([namespaces.status, namespaces.storeTrouble]).to.deep.equal(['ready', null]);
  });

  it('refuse requests of one that cannot begin, and say what it waits for', async () => {
    await namespaces.put('a', {});
    await namespaces.put('b', {});
    const failing = (id: number, error: Error) =>
      Object.assign(store.tasks(id), { takeTerm: () => Promise.reject(error) });
    failing(1, Object.assign(new Error('no room'), { code: 'SQLITE_FULL' }));
    const waiting = submit('a', 't').catch((error: unknown) => error);
    await pass(MINUTE);
    expect(await waiting)
      .to.be.instanceOf(Unavailable)
      .and.to.have.property('message')
      .that.matches(
        /^the namespace a is starting: the store does not answer \(its disk is full\)$/,
      );
    failing(2, new TermLost('another master'));
    expect(await submit('b', 't').catch((error: unknown) => error)).to.be.instanceOf(Unavailable);
  });

  it('end one that has had nothing to do for a minute, and begin it again', async () => {
    await namespaces.put('a', {});
    await submit('a', 't');
    await pass(5 * MINUTE);
    expect(names(), 'a task waits').to.deep.equal(['default', 'a']);
    await cancel('a', 't');
    await pass(50 * SECOND);
    expect(names(), 'not for a minute').to.deep.equal(['default', 'a']);
    await pass(30 * SECOND);
    expect(names()).to.deep.equal(['default']);
    const [outcome] = await submit('a', 'u');
    expect(outcome).to.include({ taskId: 'u' });
    expect(names()).to.deep.equal(['default', 'a']);
  });

  it('keep one with an executor, or a request that is under way', async () => {
    await namespaces.put('a', {});
    await namespaces.put('b', {});
    await namespaces.use('a', ({ master }) => {
      master.post({ type: 'executorConnected', ...hello({ executorId: 'x', sessionId: 'x/1' }) });
    });
    let end: () => void = () => undefined;
    const asking = namespaces.use('b', () => new Promise<void>((resolve) => (end = resolve)));
    await settled();
    await namespaces.use('a', ({ master }) => {
      master.post({ type: 'executorResumed', executorId: 'x', sessionId: 'x/1' });
    });
    await pass(20 * SECOND);
    expect(names()).to.deep.equal(['default', 'a', 'b']);
    await pass(3 * MINUTE);
    expect(names(), 'the executor is lost').to.deep.equal(['default', 'b']);
    end();
    await asking;
    await pass(2 * MINUTE);
    expect(names()).to.deep.equal(['default']);
  });

  it('begin after a restart with those that have something to do', async () => {
    for (const name of ['a', 'b', 'c']) await namespaces.put(name, {});
    await submit('b', 't');
    await namespaces.stop();
    namespaces = create();
    await namespaces.start();
    await settled();
    expect(names()).to.deep.equal(['default', 'b']);
    expect(namespaces.list().map(({ record }) => record.name)).to.deep.equal([
      'a',
      'b',
      'c',
      'default',
    ]);
  });

  it('begin and keep one that has a booking to come, though nothing else', async () => {
    await namespaces.put('a', {});
    await namespaces.stop();
    const tasks = store.tasks(1);
    const { term } = await tasks.takeTerm('m', clock.now());
    const from = clock.now() + 10 * MINUTE;
    const { key, row } = wholeRows.booking(1, 0);
    const booking = { ...row, from, to: from + MINUTE, firstFrom: from, windowMs: MINUTE };
    await tasks.commit(
      commit(term, {
        writes: [{ op: 'put', table: 'booking', key, row: { ...booking, windows: [], skips: [] } }],
      }),
    );
    namespaces = create();
    await namespaces.start();
    await settled();
    expect(names()).to.deep.equal(['default', 'a']);
    await pass(5 * MINUTE);
    expect(names(), 'nobody is there for it').to.deep.equal(['default', 'a']);
    await pass(20 * MINUTE);
    expect(names(), 'it is over').to.deep.equal(['default']);
  });

  it('say what of one has changed', async () => {
    await namespaces.put('a', { maxRunning: 2 });
    await namespaces.put('a', { maxRunning: 3, maxWaiting: null });
    expect(told.filter(({ event }) => event === 'namespace')).to.deep.include({
      event: 'namespace',
      namespace: 'a',
      from: { max_running: 2, max_waiting: null },
      to: { max_running: 3, max_waiting: null },
    });
  });

  it('take new settings of one that was made by a request without an answer', async () => {
    const make = store.createNamespace.bind(store);
    store.createNamespace = async (record) => {
      await make(record);
      return new Promise(() => undefined);
    };
    const first = namespaces.put('a', { maxRunning: 1 }).catch(String);
    await pass(5 * SECOND);
    expect(await first).to.contain('Unavailable');
    store.createNamespace = make;
    const { view } = await namespaces.put('a', { maxRunning: 5 });
    expect(view.record.maxRunning).to.equal(5);
    expect((await namespaces.get('a')).record.maxRunning).to.equal(5);
  });

  it('refuse what is asked of one that is being deleted, and go on where that fails', async () => {
    await namespaces.put('a', {});
    const { record } = await namespaces.get('a');
    const rows = store.tasks(record.id);
    const commit = rows.commit.bind(rows);
    let release: () => void = () => undefined;
    const hanging = new Promise<void>((resolve) => (release = resolve));
    rows.commit = async (turn) => {
      await hanging;
      return commit(turn);
    };
    const submitted = submit('a', 't').catch(String);
    await settled();
    const deleted = namespaces.delete('a').catch(String);
    await settled();
    const asked = await namespaces.use('a', () => null).catch(String);
    expect(asked).to.equal('NamespaceEnding: The namespace a is being deleted.');
    await pass(5 * SECOND);
    expect(await deleted).to.contain('Unavailable');
    const late = namespaces.use('a', () => null).catch(String);
    await pass(5 * SECOND);
    expect(await late).to.contain('Unavailable');
    release();
    await submitted;
    await settled();
    expect((await namespaces.get('a')).counts.waiting).to.equal(1);
    expect(await namespaces.delete('a').catch(String)).to.contain('tasks or bookings not over');
    await cancel('a', 't');
    await namespaces.delete('a');
    expect(await namespaces.use('a', () => null).catch(String)).to.contain('UnknownNamespace');
  });

  it('are told all that keeps one from being deleted', async () => {
    await namespaces.put('a', {});
    await submit('a', 't');
    sessions.connectionCount = 1;
    const refused = await namespaces.delete('a').catch(String);
    sessions.connectionCount = 0;
    expect(refused).to.match(
      /executors are connected to it, and it has tasks or bookings not over/,
    );
  });

  it('end together where one was deposed', async () => {
    await namespaces.put('a', {});
    await submit('a', 't');
    const { record } = await namespaces.get('a');
    await store.tasks(record.id).takeTerm('another', clock.now());
    await submit('a', 'u').catch(() => undefined);
    const error = await namespaces.ended.catch((reason: unknown) => reason);
    expect(String(error)).to.contain('TermLost');
  });

  it('are stopped while they start', async () => {
    await namespaces.stop();
    namespaces = create();
    store.open = () => Promise.reject(new Error('away'));
    const starting = namespaces.start();
    await pass(10 * SECOND);
    expect(namespaces.status).to.equal('starting');
    await expectUnavailable();
    await namespaces.stop();
    await starting;
    expect(names()).to.deep.equal([]);
  });

  it('cannot start where the store cannot be used', async () => {
    await namespaces.stop();
    namespaces = create();
    store.open = () => Promise.reject(new StoreUnusable('no'));
    expect(await namespaces.start().catch(String)).to.contain('StoreUnusable');
  });

  async function expectUnavailable(): Promise<void> {
    const error = await namespaces.use('default', () => null).catch(String);
    expect(error).to.contain('the master is starting');
  }
});
