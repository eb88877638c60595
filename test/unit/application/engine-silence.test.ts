/** A store that keeps its connections and says nothing: who is told what, and what goes on. */
import { expect } from 'chai';
import type { Engine } from '../../../master/application/engine/engine.ts';
import { turnstiles } from '../../../master/application/turnstile.ts';
import { REBUILD_COUNT_MAX } from '../../../master/domain/bounds.ts';
import type { NewTask } from '../../../master/domain/events.ts';
import { Unavailable } from '../../../master/application/master-handle.ts';
import { SECOND } from '../../helpers/domain.ts';
import { createEngine, HeldStore, leaderOn } from '../../helpers/engine.ts';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';
import { newTask } from '../../helpers/task.ts';

describe('Engine on a store that is silent', () => {
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
  const refusalOf = (answer: Promise<unknown>) =>
    answer.then(
      () => null,
      (error: unknown) => error,
    );

  it('notices it also when there is nothing to write', async () => {
    harness.store.held.add('confirm');
    await harness.clock.pass(2_500);
    expect(harness.engine.status).to.equal('recovering');
    harness.store.release();
    await settled();
    expect(harness.engine).to.include({ status: 'ready', term: 1 });
  });

  it('lets nobody wait, and does not give the commit up', async () => {
    harness.store.held.add('commit');
    const unknown = refusalOf(submit({ id: 'a' }));
    await harness.clock.pass(1_499);
    expect(harness.engine.status).to.equal('ready');
    await harness.clock.pass(1);
    expect(harness.engine.status).to.equal('recovering');
    expect(await refusalOf(submit({ id: 'b' })), 'it is not let in').to.be.instanceOf(Unavailable);
    await harness.clock.pass(2_000);
    expect(((await unknown) as Error).message).to.match(/outcome is unknown.*same id/);

    await harness.clock.pass(20 * SECOND);
    harness.store.release();
    await settled();
    expect(harness.engine).to.include({ status: 'ready', term: 1 });
    expect(harness.recorder.reattachCount).to.equal(0);
    expect(harness.engine.state?.waitingCount).to.equal(1);
    expect(await submit({ id: 'a' })).to.deep.equal([
      { taskId: 'a', kind: 'taken', holderHash: 'hash of a' },
    ]);
  });

  it('keeps an id that nobody waits for any more until its commit is decided', async () => {
    await harness.engine.stop();
    await begin({ laneWindowCount: 1 });
    await submit(own('first in the window'));
    harness.store.held.add('commit');
    const answers = [refusalOf(submit({ id: 'a' }))];
    await settled();
    // From now on a lookup sees the rows as they are before the commit.
    const findIds = harness.store.findIds.bind(harness.store);
    let answer: () => void = () => undefined;
    const answering = new Promise<void>((resolve) => (answer = resolve));
    harness.store.findIds = async (ids) => {
      const found = await findIds(ids);
      await answering;
      return found;
    };
    answers.push(refusalOf(submit({ id: 'a' })));
    await harness.clock.pass(4 * SECOND);
    for (const refused of answers) expect(await refused).to.be.instanceOf(Unavailable);
    harness.store.release();
    await settled();
    answer();
    await settled();
    expect(harness.engine).to.include({ status: 'ready', term: 1 });
    expect(harness.engine.state?.waitingCount).to.equal(2);
  });

  it('refuses commands and reads that it leaves without an answer', async () => {
    await submit(own('a'));
    harness.store.held.add('commit').add('showTask');
    const cancel = refusalOf(harness.master.cancel('a'));
    const read = refusalOf(harness.master.find('a', 'all'));
    await harness.clock.pass(3_500);
    expect(((await cancel) as Error).message).to.match(/outcome is unknown/);
    expect(((await read) as Error).message).to.equal('the store does not answer');
    const late = refusalOf(harness.master.find('a', 'all'));
    await harness.clock.pass(SECOND);
    expect(await late).to.be.instanceOf(Unavailable);
  });
});

describe('Engines that all begin at once', () => {
  const COUNT = 16;
  const ANSWER_MS = 125;
  let clock: ManualClock;
  let warned: string[];
  let stores: HeldStore[];
  let engines: Engine[];

  beforeEach(() => {
    clock = new ManualClock();
    warned = [];
    const noted = (message: string): void => void warned.push(message);
    const log = { debug() {}, info() {}, warn: noted, error: noted };
    stores = Array.from({ length: COUNT }, () => new HeldStore());
    const { rebuilds } = turnstiles();
    engines = stores.map((store) => leaderOn({ store, clock, log, rebuilds }).engine);
  });
  afterEach(async () => {
    for (const store of stores) store.release();
    await Promise.all(engines.map((engine) => engine.stop()));
    expect(clock.nextAlarmAt, 'no alarm is left').to.equal(Number.POSITIVE_INFINITY);
  });

  it('do not take for silence that they wait for each other', async () => {
    let answered: Promise<unknown> = Promise.resolve();
    for (const store of stores) {
      const takeTerm = store.takeTerm.bind(store);
      store.takeTerm = (...args) => {
        const mine = answered.then(
          () => new Promise<void>((resolve) => clock.wakeAt(clock.now() + ANSWER_MS, resolve)),
        );
        answered = mine;
        return mine.then(() => takeTerm(...args));
      };
    }
    const begun = Promise.all(engines.map((engine) => engine.start()));
    await clock.pass(COUNT * ANSWER_MS);
    expect(engines.filter(({ status }) => status === 'ready')).to.have.length(COUNT);
    await begun;
    expect(warned).to.deep.equal([]);
  });

  it('are stopped in their line, where the store does not answer the first of them', async () => {
    for (const store of stores) store.held.add('takeTerm');
    const begun = engines.map((engine) => engine.start());
    await clock.pass(2 * SECOND);
    expect(warned, 'of those that ask').to.have.length(REBUILD_COUNT_MAX);
    const waiting = engines.slice(REBUILD_COUNT_MAX);
    await Promise.all(waiting.map((engine) => engine.stop()));
    await Promise.all(begun.slice(REBUILD_COUNT_MAX));
    expect(waiting.filter(({ term }) => term > 0)).to.deep.equal([]);
    expect(warned).to.have.length(REBUILD_COUNT_MAX);
  });
});
