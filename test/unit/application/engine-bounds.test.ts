/** What may come in masses, or again and again, must not keep the engine from everything else. */
import { expect } from 'chai';
import type { NewTask } from '../../../master/domain/events.ts';
import { hello, newTask, SECOND } from '../../helpers/domain.ts';
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
  const codes = async (answer: ReturnType<typeof submit>) => (await answer).map(({ code }) => code);
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
    const counts = harness.store.commits.map(({ inserts }) => inserts.length);
    expect(counts).to.deep.equal([1, 1200, 600]);
  });

  it('goes on where something outside throws: that is no failure of the store', async () => {
    harness.recorder.observe = () => {
      throw new Error('the disk of the log is full');
    };
    connect();
    expect(await codes(submit(own('a')))).to.deep.equal([202]);
    expect(harness.engine).to.include({ status: 'ready', term: 1 });
    expect(harness.recorder.sent).to.have.length(1);
  });

  it('reads many pages and lets others have their turn in between', async () => {
    await harness.engine.stop();
    await begin({ pageCount: 10 });
    const runAt = harness.clock.now() + 60 * SECOND;
    await codes(submit(...Array.from({ length: 500 }, (_, i) => ({ ...own(`t${i}`), runAt }))));
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
});
