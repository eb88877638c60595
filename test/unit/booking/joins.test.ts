/** Executors that come while windows are planned, or come to have other labels while bookings count on them. */
import { expect } from 'chai';
import { HOUR, MINUTE, Scheduler, SECOND } from '../../helpers/domain.ts';
import { asked, type Asked, bookingIn, FROM } from './asked.ts';
import { book, bookOne, planOf, pool, wish } from './planned.ts';

describe('an executor that comes', () => {
  const plain = pool('plain', 1, { executorIds: new Set(['e1']) });
  const gpu = pool('gpu', 1, { labels: ['gpu'], executorIds: new Set(['e2']) });

  it('counts in its pool at once, also where windows are being planned anew', () => {
    const plan = planOf([plain, gpu]);
    book(plan, [wish(0, 5), wish(0, 5)]);
    expect(bookOne(plan, wish(0, 5), 2)).to.equal(null);
    plan.see('e3', plain);
    plan.see('e3', plain);
    expect(bookOne(plan, wish(0, 5), 3)).not.to.equal(null);
    expect(bookOne(plan, wish(0, 5), 4)).to.equal(null);
    expect(plain.executorIds.size, 'what was given is not changed').to.equal(1);
  });

  it('counts no longer in the pool that it was in', () => {
    const plan = planOf([plain, gpu]);
    plan.see('e2', plain);
    expect(bookOne(plan, wish(0, 5, 1, { requires: ['gpu'] }), 0)).to.equal(null);
    book(plan, [wish(0, 5), wish(0, 5)]);
    expect(bookOne(plan, wish(0, 5), 3)).to.equal(null);
  });
});

describe('an executor that is another than it was', () => {
  let scheduler: Scheduler;
  const book = (fields: Partial<Asked> = {}) =>
    scheduler.command({
      type: 'bookingRequested',
      booking: asked({ requires: ['gpu'], ...fields }),
    });
  const stateOf = (id = 'bk-1') => bookingIn(scheduler, id).state;
  const boundTo = () => bookingIn(scheduler, 'bk-1').executors.map(({ executorId }) => executorId);
  const passTo = (at: number) => scheduler.pass(at - scheduler.now);
  /** As a process that takes the place of the one before it. */
  const restart = (id: string, labels: string[]) => {
    scheduler.disconnect(id, true);
    return scheduler.connect(id, { incarnation: 'two', sessionId: `${id}/2`, labels });
  };
  const relabel = (executorId: string, labels: string[]) =>
    scheduler.command({ type: 'relabelRequested', executorId, override: { labels }, by: null });

  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('e1', { labels: ['gpu'] });
    // What is planned is so for as long as nothing is heard of executors.
    scheduler.state.bookings.knownFrom = 0;
    book();
    scheduler.pass(10 * SECOND);
  });

  const ways = {
    'is relabelled': (labels: string[]) => relabel('e1', labels),
    'connects anew': (labels: string[]) =>
      scheduler.connect('e1', { sessionId: `e1/${labels.length + 2}`, labels }),
    'is started anew': (labels: string[]) => restart('e1', labels),
  };
  for (const [name, change] of Object.entries(ways)) {
    it(`puts bookings at risk as it ${name}, by the next second`, () => {
      change([]);
      scheduler.pass(SECOND);
      expect(stateOf()).to.equal('at_risk');
      scheduler.pass(SECOND);
      relabel('e1', ['gpu', 'hd']);
      scheduler.pass(SECOND);
      expect(stateOf()).to.equal('planned');
    });

    it(`is replaced where it is kept or bound as it ${name}`, () => {
      scheduler.connect('e2', { labels: ['gpu'] });
      passTo(FROM - 10 * MINUTE);
      const kept = () =>
        [...scheduler.state.executors.values()].flatMap(({ id, keptUntil }) =>
          keptUntil === null ? [] : [id],
        );
      expect(kept()).to.deep.equal(['e1']);
      change([]);
      expect(kept()).to.deep.equal(['e2']);
      relabel('e1', ['gpu']);
      relabel('e2', []);
      expect(kept()).to.deep.equal(['e1']);
      relabel('e2', ['gpu']);
      passTo(FROM - 10 * SECOND);
      expect(boundTo()).to.deep.equal(['e1']);
      if (name !== 'is started anew') change(['cpu']);
      else scheduler.connect('e1', { incarnation: 'three', sessionId: 'e1/3', labels: ['cpu'] });
      relabel('e1', ['cpu']);
      expect(boundTo()).to.deep.equal(['e2']);
    });
  }

  it('counts no longer once it is drained, also before anybody looks at the fleet again', () => {
    const two = { count: 2, firstFrom: FROM + HOUR };
    passTo(FROM - 10 * MINUTE);
    scheduler.connect('e2', { labels: ['gpu'] });
    const about = { executorId: 'e2', timeoutMs: null, reason: null, by: null };
    scheduler.command({ type: 'drainRequested', ...about });
    expect(book({ ...two, id: 'drained' }).reply?.kind).to.equal('conflict');
    scheduler.command({ type: 'resumeRequested', executorId: 'e2' });
    expect(book({ ...two, id: 'resumed' }).reply?.kind).to.equal('done');
  });

  it('goes on with what it runs of a booking, and is replaced after that', () => {
    scheduler.connect('e2', { labels: ['gpu'] });
    passTo(FROM);
    scheduler.run('e1', { id: 'push', booking: 'bk-1', requires: ['gpu'] });
    relabel('e1', []);
    expect(boundTo()).to.deep.equal(['e1']);
    scheduler.pass(10 * SECOND);
    expect(boundTo()).to.deep.equal(['e1']);
    scheduler.end('e1');
    expect(boundTo()).to.deep.equal(['e2']);
  });

  it('counts for nobody else while it is bound, also with a label more', () => {
    scheduler.connect('e2', { labels: ['gpu'] });
    passTo(FROM - 10 * SECOND);
    expect(boundTo()).to.deep.equal(['e1']);
    relabel('e1', ['gpu', 'hd']);
    scheduler.pass(10 * SECOND);
    expect([stateOf(), boundTo()]).to.deep.equal(['bound', ['e1']]);
    const firstFrom = scheduler.now + MINUTE;
    expect(book({ id: 'hd', requires: ['hd'], firstFrom }).reply?.kind).to.equal('conflict');
    expect(book({ id: 'any', firstFrom }).reply?.kind).to.equal('done');
    expect(book({ id: 'then', requires: ['hd'], firstFrom: FROM + HOUR }).reply?.kind).to.equal(
      'done',
    );
  });
});
