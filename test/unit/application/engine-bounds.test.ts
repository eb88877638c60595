/** What may come in masses, or again and again, must not keep the engine from everything else. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Unavailable } from '../../../master/application/master-handle.ts';
import { EVENT_FOLLOWERS_MAX, TURN_STEP_MS_MAX } from '../../../master/domain/bounds.ts';
import type { NewTask } from '../../../master/domain/events.ts';
import { SECOND } from '../../helpers/domain.ts';
import { hello, newTask } from '../../helpers/task.ts';
import { createEngine } from '../../helpers/engine.ts';
import { settled } from '../../helpers/manual-clock.ts';

describe('Engine under load', () => {
  let harness: ReturnType<typeof createEngine>;

  async function begin(...options: Parameters<typeof createEngine>): Promise<void> {
    harness = createEngine(...options);
    await harness.engine.start();
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
  const connect = () => harness.engine.post({ type: 'executorConnected', ...hello({}) });
  const refusalOf = (answer: Promise<unknown>) =>
    answer.then(
      () => null,
      (error: unknown) => error,
    );

  it('counts a batch by its tasks, so that its commit is bounded too', async () => {
    harness.store.held.add('commit');
    const batch = (name: string) => Array.from({ length: 600 }, (_, i) => own(`${name}${i}`));
    const answers = [submit(own('first'))];
    await settled();
    for (const name of ['a', 'b', 'c']) answers.push(submit(...batch(name)));
    harness.store.release();
    await Promise.all(answers);
    const counts = harness.store.commits.map(({ writes }) => writes.length);
    expect(counts, 'with a lane, and with usage').to.deep.equal([3, 1201, 601]);
  });

  it('steps for so long only in one turn, and the rest in the next ones', async () => {
    const { clock, recorder } = harness;
    const now = clock.now.bind(clock);
    const answers = Array.from({ length: 12 }, (_, i) => submit(own(`a${i}`)));
    let passedMs = 0;
    // Each event takes more than a third of that time.
    clock.now = () => now() + (passedMs += Math.ceil(TURN_STEP_MS_MAX / 3));
    recorder.turns.length = 0;
    await Promise.all(answers);
    clock.now = now;
    expect(Math.max(...recorder.turns), 'the last one whole').to.be.within(1, 3);
    expect(recorder.turns.reduce((sum, count) => sum + count)).to.be.at.least(12);
  });

  describe('where work takes its time', () => {
    let turn = 0;
    let counting: NodeJS.Immediate;
    const committedIn: number[] = [];
    /** How much was committed when somebody who came in the next turn of the loop was shown the state. */
    let shownAfter: Promise<number>;
    const lookInNextTurn = (): void => {
      shownAfter = nextTurn().then(() => harness.engine.look(() => committedIn.length));
    };

    beforeEach(async () => {
      await harness.engine.stop();
      await begin({ windowCountMax: 1, laneWindowCount: 0, pageCount: 1 });
      const count = (): void => {
        turn += 1;
        counting = setImmediate(count);
      };
      counting = setImmediate(count);
    });
    afterEach(() => clearImmediate(counting));

    /** Each look at the clock finds it so much later. */
    function slowDown(ms: number): () => void {
      const { clock, store } = harness;
      const [now, commit] = [clock.now.bind(clock), store.commit.bind(store)];
      let passedMs = 0;
      clock.now = () => now() + (passedMs += ms);
      committedIn.length = 0;
      store.commit = (one) => {
        committedIn.push(turn);
        return commit(one);
      };
      return () => Object.assign(clock, { now });
    }

    it('lets others have their turn between what it steps and what it writes', async () => {
      let steppedIn = 0;
      const task = {
        ...own('a'),
        get params() {
          steppedIn = turn;
          lookInNextTurn();
          return '{}';
        },
      };
      const goOn = slowDown(TURN_STEP_MS_MAX);
      await harness.master.submit([
        Object.defineProperties(newTask({}), Object.getOwnPropertyDescriptors(task)),
      ]);
      goOn();
      expect(committedIn[0]).to.be.greaterThan(steppedIn);
      expect(await shownAfter, 'what is not committed is shown to nobody').to.equal(1);
    });

    it('steps commands on tasks that it has read in pieces, and commits them once', async () => {
      const { store, master } = harness;
      const ids = Array.from({ length: 40 }, (_, i) => `t${i}`);
      await kinds(submit(...ids.map(own)));
      const findTasks = store.findTasks.bind(store);
      let readIn = Number.NaN;
      let goOn = (): void => undefined;
      store.findTasks = async (...asked) => {
        const found = await findTasks(...asked);
        readIn = turn;
        goOn = slowDown(1);
        lookInNextTurn();
        return found;
      };
      const replies = await Promise.all(ids.map((id) => master.cancel(id)));
      goOn();
      expect(new Set(replies.map(({ kind }) => kind))).to.deep.equal(new Set(['done']));
      expect(committedIn).to.have.length(1);
      expect(committedIn[0]).to.be.at.least(readIn + 4);
      expect(await shownAfter, 'what is not committed is shown to nobody').to.equal(1);
    });
  });

  it('goes on where something outside throws: that is no failure of the store', async () => {
    harness.recorder.observe = () => {
      throw new Error('the disk of the log is full');
    };
    connect();
    expect(await kinds(submit(own('a')))).to.deep.equal(['accepted']);
    expect(harness.engine).to.include({ status: 'ready', term: 1 });
    expect(harness.recorder.sent).to.have.length(1);
  });

  it('refuses submits, and nothing else, once requests have waited for five seconds', async () => {
    const { store, clock, master } = harness;
    const commit = store.commit.bind(store);
    // Not so slow that the store would count as silent.
    store.commit = async (one) => {
      await new Promise<void>((resolve) => clock.wakeAt(clock.now() + SECOND, resolve));
      return commit(one);
    };
    const batch = (name: string) => Array.from({ length: 1_000 }, (_, i) => own(`${name}${i}`));
    const answers = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o'].map(
      (name) => submit(...batch(name)),
    );
    await clock.pass(4.9 * SECOND);
    const inTime = submit(own('in time'));
    await clock.pass(0.2 * SECOND);
    const late = refusalOf(submit(own('late')));
    const canceled = master.cancel('a1');
    await clock.pass(30 * SECOND);
    store.commit = commit;
    await clock.pass(2 * SECOND);
    expect(await late)
      .to.be.instanceOf(Unavailable)
      .and.include({ retryAfterSeconds: 5 });
    for (const answer of answers) expect(await kinds(answer)).to.include('accepted');
    expect(await kinds(inTime)).to.deep.equal(['accepted']);
    expect((await canceled).kind).to.equal('done');
    expect(await kinds(submit(own('again')))).to.deep.equal(['accepted']);
  });

  it('reads many pages and lets others have their turn in between', async () => {
    await harness.engine.stop();
    await begin({ pageCount: 10 });
    const runAt = harness.clock.now() + 60 * SECOND;
    await kinds(submit(...Array.from({ length: 500 }, (_, i) => ({ ...own(`t${i}`), runAt }))));
    await harness.engine.stop();
    await begin({ pageCount: 10 }, harness.store);
    let pageCount = 0;
    let countAtAnswer = 0;
    const loadDelayed = harness.store.loadDelayed.bind(harness.store);
    harness.store.loadDelayed = (...args) => {
      if (++pageCount === 5) void submit(own('late')).then(() => (countAtAnswer = pageCount));
      return loadDelayed(...args);
    };
    await harness.clock.pass(60 * SECOND);
    await settled();
    expect(pageCount).to.be.at.least(40);
    expect(countAtAnswer).to.be.within(5, 10);
  });

  it('reads the feed for all who follow it at once: one commit wakes them', async () => {
    const all = { taskSeq: null, type: null, group: null, kind: null, within: null };
    // As many as may follow, each token as many as it leaves for others; and some who follow nothing.
    const counts = [2, 4, 8, 16, 2].map((share) => Math.floor(EVENT_FOLLOWERS_MAX / share));
    const reads = counts.flatMap((length, at) => {
      const { feed } = harness.master.by(null, `token-${at}`);
      return Array.from({ length }, () => feed.read({ ...all, after: null, limit: 1 }));
    });
    await Promise.all(reads);
  });

  it('reads the rows of many commands together, and lets others have their turn in between', async () => {
    const { store, master } = harness;
    const idCounts: number[] = [];
    const findTasks = store.findTasks.bind(store);
    store.findTasks = (ids, bytesMax) => {
      idCounts.push(ids.length);
      return findTasks(ids, bytesMax);
    };
    const answered: string[] = [];
    store.held.add('findTasks');
    const commands = Array.from({ length: 1_200 }, (_, i) =>
      master.cancel(`no${i}`).then(({ kind }) => answered.push(`cancel ${kind}`)),
    );
    await settled();
    const late = submit(own('late')).then(() => answered.push('submit'));
    store.release();
    await Promise.all([...commands, late]);
    expect(idCounts).to.deep.equal([340, 340, 340, 180]);
    expect(answered.filter((what) => what === 'cancel unknown')).to.have.length(1_200);
    expect(answered.indexOf('submit')).to.be.within(340, 700);
  });

  it('reads and writes only so many bytes in one turn, and each task once', async () => {
    await harness.engine.stop();
    await begin({ laneWindowCount: 1, windowCountMax: 1, pageCount: 1 });
    const params = JSON.stringify('x'.repeat(100_000));
    for (let i = 0; i < 40; i++) await kinds(submit({ ...own(`t${i}`), params }));
    const readCounts: number[] = [];
    const { store, engine, master } = harness;
    const findTasks = store.findTasks.bind(store);
    store.findTasks = async (...args) => {
      const found = await findTasks(...args);
      readCounts.push(found.size);
      return found;
    };
    const before = store.commits.length;
    const replies = await Promise.all(
      Array.from({ length: 38 }, (_, i) => master.cancel(`t${i + 2}`)),
    );
    expect(replies.map(({ kind }) => kind)).to.deep.equal(Array(38).fill('done'));
    expect(readCounts).to.deep.equal([10, 10, 10, 8]);
    const sizes = store.commits.slice(before).map(({ writes }) => JSON.stringify(writes).length);
    // A row is written as one piece of text, with whatever is in it.
    expect(Math.max(...sizes)).to.be.below(1.1 * 2 ** 20);
    expect(engine.term, 'without a rebuild').to.equal(1);
  });

  it('lets each of many commands on one stored task see what the others made of it', async () => {
    await harness.engine.stop();
    await begin({ laneWindowCount: 1, windowCountMax: 1, pageCount: 1 });
    await kinds(submit(...Array.from({ length: 40 }, (_, i) => own(`t${i}`))));
    const { engine, master, store } = harness;
    let readCount = 0;
    const findTasks = store.findTasks.bind(store);
    store.findTasks = (...args) => {
      readCount++;
      return findTasks(...args);
    };
    expect(engine.state?.tasks.has('t39')).to.equal(false);
    const replies = await Promise.all([
      master.cancel('t39'),
      master.change('t39', { priority: 5 }),
      ...Array.from({ length: 100 }, () => master.cancel('t39')),
    ]);
    expect(replies.map(({ kind }) => kind)).to.deep.equal(['done', ...Array(101).fill('conflict')]);
    expect(readCount, 'again only once it was written').to.equal(2);
    expect(engine.term, 'without a rebuild').to.equal(1);
  });

  it('does not rebuild again and again without a pause when every commit fails', async () => {
    const fail = async () => {
      harness.store.failing.set('commit', { error: new Error('one row will not go in') });
      await refusalOf(submit(own('a')));
      await settled();
    };
    await fail();
    expect(harness.engine).to.include({ status: 'ready', term: 2 });
    await fail();
    expect(harness.engine).to.include({ status: 'recovering', term: 2 });
    await harness.clock.pass(100);
    expect(harness.engine).to.include({ status: 'ready', term: 3 });
    await fail();
    await harness.clock.pass(199);
    expect(harness.engine.status).to.equal('recovering');
    await harness.clock.pass(1);
    expect(harness.engine).to.include({ status: 'ready', term: 4 });
    await harness.clock.pass(10 * SECOND);
    await fail();
    expect(harness.engine).to.include({ status: 'ready', term: 5 });
  });

  const beat = (i: number) =>
    harness.engine.post({
      type: 'heartbeatReceived',
      executorId: `x${i}`,
      sessionId: `x${i}/1`,
      draining: false,
      running: [],
      loopLagMs: 1,
      rssBytes: 1,
    });
  const FLEET = 1_000;
  const fleet = Array.from({ length: FLEET }, (_, i) => i);

  it('gathers nothing in an hour without a store, however many executors go on to beat', async () => {
    const { takeTerm } = harness.store;
    harness.store.takeTerm = () => Promise.reject(new Error('down'));
    harness.store.failing.set('commit', { error: new Error('down') });
    await refusalOf(submit(own('a')));
    for (let second = 0; second < 3_600; second += 10) {
      for (const i of fleet) beat(i);
      expect(harness.engine.mailbox.size).to.equal(0);
      harness.clock.advance(10 * SECOND);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    harness.store.takeTerm = takeTerm.bind(harness.store);
    await harness.clock.pass(10 * SECOND);
    expect(harness.engine).to.include({ status: 'ready', term: 2 });
    expect(harness.recorder.reattachCount).to.equal(1);
    connect();
    await settled();
    expect(harness.engine.state?.executors.has('x'), 'who comes back is heard').to.equal(true);
  });

  it('keeps two heartbeats of each executor while a commit hangs, the first and the newest', async () => {
    for (const i of fleet) {
      const session = { executorId: `x${i}`, sessionId: `x${i}/1` };
      harness.engine.post({ type: 'executorConnected', ...hello(session) });
    }
    await settled();
    harness.store.held.add('commit');
    void submit(own('a')).catch(() => undefined);
    await settled();
    for (let round = 0; round < 100; round++) for (const i of fleet) beat(i);
    expect(harness.engine.mailbox.size).to.equal(2 * FLEET);
  });

  it('is full of frames at 64 MiB, and has room again once they were stepped', async () => {
    connect();
    await settled();
    harness.store.held.add('commit');
    const answer = submit(own('a'));
    await settled();
    const frameBytes = 64 * 1024;
    const checkpoint = 'c'.repeat(frameBytes);
    let count = 0;
    for (; !harness.engine.mailbox.isFull; count++) {
      const about = { executorId: 'x', sessionId: 'x/1', taskId: 'a', attempt: 1 };
      const news = { percent: null, state: undefined, checkpoint, detail: undefined };
      const frameSeq = count + 1;
      harness.engine.post({ type: 'progressReported', frameSeq, ...news, ...about }, frameBytes);
    }
    expect(count).to.equal(1024);
    harness.store.release();
    expect(await kinds(answer)).to.deep.equal(['accepted']);
    await settled();
    expect(harness.engine.mailbox).to.include({ isFull: false, frameBytes: 0 });
    expect(harness.recorder.confirmed).to.have.length(count);
  });
});
