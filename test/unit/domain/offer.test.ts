/** Offering a task to an executor: accepted, rejected, or not answered. */
import { expect } from 'chai';
import {
  BEGIN,
  ended,
  observed,
  offers,
  outcomes,
  Scheduler,
  SECOND,
  stops,
  written,
} from '../../helpers/domain.ts';

describe('offer', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
  });

  it('is made in the step that submits, when an executor is idle (S-83)', () => {
    scheduler.connect('x');
    const out = scheduler.submit({ id: 'a' });
    expect(offers(out)).to.deep.equal(['a -> x']);
    expect(out.loads).to.deep.equal([]);
    expect(written(out), 'all in one commit').to.deep.equal([
      'insert task',
      'insert lane',
      'set task',
    ]);
  });

  it('comes after the reply to the submit, never before', () => {
    scheduler.connect('x');
    const kinds = scheduler.submit({}).effects.map(({ type }) => type);
    expect(kinds.indexOf('reply')).to.be.lessThan(kinds.indexOf('sendToExecutor'));
  });

  it('is made to each executor at most once at a time', () => {
    scheduler.connect('x');
    expect(offers(scheduler.submit({ id: 'a' }, { id: 'b' }))).to.deep.equal(['a -> x']);
    expect(offers(scheduler.submit({ id: 'c' }))).to.deep.equal([]);
    expect(offers(scheduler.accept('x'))).to.deep.equal([]);
    expect(offers(scheduler.end('x'))).to.deep.equal(['b -> x']);
  });

  it('without an answer blocks that executor and no other (T-2)', () => {
    scheduler.connect('mute');
    scheduler.submit({ id: 'a' });
    scheduler.connect('y');
    for (const id of ['b', 'c', 'd']) {
      expect(offers(scheduler.submit({ id }))).to.deep.equal([`${id} -> y`]);
      scheduler.accept('y');
      scheduler.end('y');
    }
    expect(scheduler.task('a').state).to.equal('offered');
  });

  it('numbers the attempts from 1 and raises the number with every offer', () => {
    scheduler.connect('x');
    scheduler.connect('y');
    scheduler.submit({});
    expect(scheduler.task('a').attempt).to.equal(1);
    scheduler.reject('x');
    expect(scheduler.task('a').attempt).to.equal(2);
  });

  it('makes the task run once it is accepted', () => {
    scheduler.connect('x');
    scheduler.submit({});
    scheduler.now += 7;
    const out = scheduler.accept('x');
    expect(scheduler.task('a')).to.include({ state: 'running', startedAt: scheduler.now });
    expect(observed(out)).to.deep.equal(['task_started']);
    expect(out.effects[0]).to.include({ type: 'confirmFrame', sessionId: 'x/1' });
  });
});

describe('assign timeout', () => {
  it('takes the task back after 5 s, costs no attempt, and offers it to another', () => {
    const scheduler = new Scheduler();
    scheduler.connect('mute');
    scheduler.submit({});
    scheduler.connect('y');
    expect(outcomes(scheduler.pass(5 * SECOND - 1))).to.deep.equal([]);
    const out = scheduler.pass(1);
    expect(outcomes(out)).to.deep.equal(['assign_timeout']);
    expect(offers(out)).to.deep.equal(['a -> y']);
    expect(scheduler.task('a')).to.include({ attempt: 2, attemptsUsed: 0, crashCount: 0 });
  });

  it('can be set for each task', () => {
    const scheduler = new Scheduler();
    scheduler.connect('mute');
    scheduler.submit({ assignTimeoutMs: 60 * SECOND });
    expect(outcomes(scheduler.pass(60 * SECOND - 1))).to.deep.equal([]);
    expect(outcomes(scheduler.pass(1))).to.deep.equal(['assign_timeout']);
  });

  it('keeps the place of the task in the order', () => {
    const scheduler = new Scheduler();
    scheduler.connect('mute');
    scheduler.submit({ id: 'a' });
    scheduler.submit({ id: 'b' });
    scheduler.pass(5 * SECOND);
    expect(offers(scheduler.connect('y'))).to.deep.equal(['a -> y']);
  });

  it('offers nothing more to the executor until it says something about the offer', () => {
    const scheduler = new Scheduler();
    scheduler.connect('mute');
    scheduler.silence('mute');
    scheduler.submit({ id: 'a' });
    scheduler.pass(5 * SECOND);
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal([]);
    const out = scheduler.reject('mute', { taskId: 'a', attempt: 1 });
    expect(offers(out), 'a is cooling down there').to.deep.equal(['b -> mute']);
  });

  it('offers to it again after two heartbeats that do not mention the offer', () => {
    const scheduler = new Scheduler();
    scheduler.connect('mute');
    scheduler.silence('mute');
    scheduler.submit({ id: 'a' });
    scheduler.pass(5 * SECOND);
    scheduler.submit({ id: 'b' });
    expect(offers(scheduler.beat('mute', []))).to.deep.equal([]);
    expect(offers(scheduler.beat('mute', []))).to.deep.equal(['b -> mute']);
  });

  it('stops the attempt of an executor that accepts too late', () => {
    const scheduler = new Scheduler();
    scheduler.connect('slow');
    scheduler.submit({});
    scheduler.connect('y');
    scheduler.pass(5 * SECOND);
    const out = scheduler.accept('slow', { taskId: 'a', attempt: 1 });
    expect(stops(out)).to.deep.equal(['a#1 stale_attempt -> slow']);
    expect(scheduler.task('a')).to.include({ state: 'offered', attempt: 2, executorId: 'y' });
  });
});

describe('rejection', () => {
  it('costs no attempt and is recorded with what the executor said', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.submit({});
    scheduler.now += 7;
    const out = scheduler.reject('x');
    expect(ended(out)).to.have.length(1);
    expect(ended(out)[0]).to.deep.include({
      outcome: 'rejected',
      executorId: 'x',
      attempt: 1,
      offeredAt: BEGIN,
      startedAt: null,
      endedAt: BEGIN + 7,
      error: { message: 'not now', details: '{"code":409}' },
    });
    expect(scheduler.task('a')).to.include({ state: 'waiting', attemptsUsed: 0, crashCount: 0 });
  });

  it('goes to another executor at once', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.connect('y');
    scheduler.submit({});
    expect(offers(scheduler.reject('x'))).to.deep.equal(['a -> y']);
  });

  it('keeps the pair apart for the cool-down, and then tries again by itself', () => {
    const scheduler = new Scheduler({ coolDownMs: 10 * SECOND });
    scheduler.connect('x');
    scheduler.submit({});
    expect(offers(scheduler.reject('x'))).to.deep.equal([]);
    expect(offers(scheduler.pass(10 * SECOND - 1))).to.deep.equal([]);
    expect(offers(scheduler.pass(1))).to.deep.equal(['a -> x']);
  });

  it('lets the executor run other tasks meanwhile, also those behind the one it refused', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.submit({ id: 'a' }, { id: 'b' });
    expect(offers(scheduler.reject('x'))).to.deep.equal(['b -> x']);
    scheduler.accept('x');
    expect(offers(scheduler.end('x'))).to.deep.equal([]);
    expect(offers(scheduler.submit({ id: 'c' }))).to.deep.equal(['c -> x']);
  });

  it('leaves an executor that refuses everything alone for longer and longer', () => {
    const scheduler = new Scheduler({ coolDownMs: 10 * SECOND });
    scheduler.connect('x');
    const tasks = Array.from({ length: 500 }, (_, i) => ({ id: `t${i}` }));
    let offerCount = offers(scheduler.submit(...tasks)).length;
    for (let secondsPassed = 0; secondsPassed < 60; secondsPassed++) {
      while (scheduler.executor('x').occupation !== null) {
        offerCount += offers(scheduler.reject('x')).length;
      }
      offerCount += offers(scheduler.pass(SECOND)).length;
    }
    // Three at once, one at each doubling of 100 ms up to the cool-down, then one each cool-down.
    expect(offerCount).to.be.within(8, 20);
  });

  it('forgets the refusals once it accepts', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.submit({ id: 'a' }, { id: 'b' }, { id: 'c' });
    scheduler.reject('x');
    scheduler.reject('x');
    scheduler.accept('x');
    scheduler.end('x');
    scheduler.submit({ id: 'd' }, { id: 'e' });
    expect(offers(scheduler.reject('x')), 'not the third in a row').to.deep.equal(['e -> x']);
  });
});
