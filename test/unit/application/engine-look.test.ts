/** What is read from memory is what the rows have: nothing of it is shown before its commit. */
import { expect } from 'chai';
import { Unavailable } from '../../../master/application/master-handle.ts';
import { ANY_TASK } from '../../../master/domain/model/task-filter.ts';
import { HOUR, SECOND } from '../../helpers/domain.ts';
import { asked } from '../booking/asked.ts';
import { createEngine } from '../../helpers/engine.ts';
import { settled } from '../../helpers/manual-clock.ts';

describe('a look at the types', () => {
  let harness: ReturnType<typeof createEngine>;
  beforeEach(async () => {
    harness = createEngine();
    const { ended } = await harness.engine.start();
    ended.catch(() => undefined);
  });
  afterEach(async () => {
    harness.store.release();
    await harness.engine.stop();
  });

  const define = () =>
    harness.master.changeType({ type: 'typeSet', name: 'video', text: '{}', expect: null });
  const refusalOf = (answer: Promise<unknown>) => answer.catch((error: unknown) => error);

  it('waits for what is being committed', async () => {
    harness.store.held.add('commit');
    const defined = define();
    await settled();
    let seen: unknown;
    const look = harness.master.seenType('video').then((type) => (seen = type));
    await settled();
    expect(seen).to.equal(undefined);
    harness.store.release();
    await look;
    expect(seen).to.have.nested.property('taskType.version', 1);
    await defined;
  });

  it('does not show what could not be committed', async () => {
    harness.store.held.add('commit');
    harness.store.failing.set('commit', { error: new Error('disk full') });
    const defined = refusalOf(define());
    await settled();
    const look = refusalOf(harness.master.typesAfter('', 10));
    harness.store.release();
    expect(await look).to.be.instanceOf(Unavailable);
    expect(await defined).to.be.instanceOf(Unavailable);
    await settled();
    expect(await harness.master.typesAfter('', 10)).to.deep.equal([]);
  });

  it('is refused at once while the store is away, and not when it is back', async () => {
    harness.store.failing.set('commit', { error: new Error('disk full') });
    harness.store.failing.set('takeTerm', { error: new Error('disk full') });
    expect(await refusalOf(define())).to.be.instanceOf(Unavailable);
    await settled();
    expect(harness.engine.status).to.equal('recovering');
    let seen: unknown;
    void refusalOf(harness.master.typesAfter('', 10)).then((answer) => (seen = answer));
    await settled();
    expect(seen).to.be.instanceOf(Unavailable);
  });
});

describe('a booking that is refused', () => {
  it('is told of times that are free only where lists leave it time for that', async () => {
    const harness = createEngine();
    const { ended } = await harness.engine.start();
    ended.catch(() => undefined);
    const book = () =>
      harness.master.changeBooking({
        type: 'bookingRequested',
        booking: asked({ firstFrom: harness.clock.now() + HOUR }),
      });
    expect(await book())
      .to.include({ kind: 'conflict' })
      .and.to.have.property('free');
    harness.store.held.add('listTasks');
    const query = { ...ANY_TASK, beforeSeq: null, limit: 1 };
    const lists = [1, 2].map(() => harness.master.lists.newest(query).catch(() => null));
    await settled();
    let answer: unknown;
    void book().then((outcome) => (answer = outcome));
    await settled();
    expect(answer, 'lists are read').to.equal(undefined);
    await harness.clock.pass(4 * SECOND);
    expect(answer).to.include({ kind: 'conflict' }).and.to.not.have.property('free');
    harness.store.release();
    await Promise.all(lists);
    await harness.engine.stop();
  });
});
