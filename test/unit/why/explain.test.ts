/** Why a waiting task does not run yet, in words. */
import { expect } from 'chai';
import { explain } from '../../../master/domain/views/explain.ts';
import type { NewTask } from '../../../master/domain/events.ts';
import { inserted, MINUTE, Scheduler } from '../../helpers/domain.ts';

describe('explain', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
  });

  function why(fields: Partial<NewTask> = {}) {
    const [task] = inserted(scheduler.submit({ id: 'asked', ...fields }));
    if (task === undefined) throw new Error('refused');
    return explain(scheduler.state, task, scheduler.now);
  }

  it('not_due: it was submitted for later', () => {
    scheduler.connect('x');
    expect(why({ runAt: scheduler.now + MINUTE })).to.include({
      reason: 'not_due',
      message: 'It is to run later: in 1 min.',
    });
    const far = scheduler.now + 40 * 1440 * MINUTE + 443 * MINUTE;
    expect(why({ id: 'far', runAt: far }).message).to.equal('It is to run later: in 40 d 7 h.');
  });

  it('not_due: it failed and is retried later', () => {
    scheduler.connect('x');
    const task = scheduler.run('x');
    scheduler.fail('x', { retryAfterMs: 1_500 });
    expect(explain(scheduler.state, task, scheduler.now)).to.include({
      reason: 'not_due',
      message: 'It is retried later: in 2 s.',
    });
  });

  it('no_executor: nobody of its type is connected', () => {
    scheduler.connect('x', { types: ['other'] });
    expect(why()).to.include({
      reason: 'no_executor',
      message: 'No executor of type echo is connected.',
    });
    scheduler.connect('y');
    scheduler.disconnect('y');
    expect(why({ id: 'b' })).to.include({ reason: 'no_executor' });
  });

  it('labels_unmatched: it requires what nobody has', () => {
    scheduler.connect('x', { labels: ['cpu'] });
    const { reason, message } = why({ requires: ['gpu'] });
    expect(reason).to.equal('labels_unmatched');
    expect(message).to.include('1 executor of type echo').and.include('gpu');
  });

  it('not_ready: all that fit say that they cannot work', () => {
    scheduler.connect('x', { ready: { ok: false, reason: 'the disk is full', diskBytes: null } });
    expect(why()).to.include({
      reason: 'not_ready',
      message: '1 fitting executor, which is not ready. x says: the disk is full.',
    });
    scheduler.connect('y');
    scheduler.connect('z', { types: ['other'] });
    scheduler.ready('y', 'no ffmpeg');
    expect(why({ id: 'b' }).message).to.equal(
      '2 fitting executors, none of which is ready. x says: the disk is full.',
    );
  });

  it('all_busy: and it says that others are not ready', () => {
    scheduler.connect('x');
    scheduler.connect('y', { ready: { ok: false, reason: 'the disk is full', diskBytes: null } });
    scheduler.run('x');
    expect(why().message).to.match(/^1 fitting executor, all busy, and 1 not ready\./);
  });

  it('labels_unmatched: all are reserved for others', () => {
    scheduler.connect('x', { reserve: ['vip'] });
    scheduler.connect('y', { reserve: ['vip'] });
    const { reason, message } = why();
    expect(reason).to.equal('labels_unmatched');
    expect(message).to.include('2 executors');
  });

  it('draining: those that fit take nothing new', () => {
    scheduler.connect('x');
    scheduler.connect('y');
    scheduler.command({
      type: 'drainRequested',
      executorId: 'x',
      timeoutMs: null,
      reason: null,
      by: null,
    });
    scheduler.beat('y', [], true);
    expect(why()).to.include({
      reason: 'draining',
      message: '2 fitting executors, all draining.',
    });
  });

  it('draining: the master itself gives out nothing any more', () => {
    scheduler.connect('x');
    scheduler.run('x', { id: 'running' });
    const [task] = inserted(scheduler.submit({ id: 'asked' }));
    scheduler.send({ type: 'drainStarted' });
    scheduler.end('x');
    expect(task && explain(scheduler.state, task, scheduler.now)).to.include({
      reason: 'draining',
      message: 'The master is shutting down: the next one takes it up.',
    });
  });

  it('all_busy: and how many of its kind come first', () => {
    scheduler.connect('x');
    scheduler.run('x', { id: 'running' });
    scheduler.submit({ id: '1' }, { id: '2' }, { id: 'other lane', labels: ['l'] });
    expect(why()).to.deep.equal({
      reason: 'all_busy',
      message: '1 fitting executor, all busy. 2 of its kind come first.',
      ahead: 2,
    });
  });

  it('all_busy: where groups take turns, how many of its group come first', () => {
    const text = '{"fair_by":"group"}';
    scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    scheduler.connect('x');
    scheduler.run('x', { id: 'running' });
    const of = (group: string) => ({ user: { group, project: null, env: null, user: null } });
    scheduler.submit({ id: '1', ...of('many') }, { id: '2', ...of('many') });
    scheduler.submit({ id: '3', ...of('few') });
    const waiting = why({ ...of('few') });
    expect(waiting).to.deep.equal({
      reason: 'all_busy',
      message:
        '1 fitting executor, all busy. 1 of its group come first. Its group takes turns with 1 other group.',
      ahead: 1,
    });
  });

  it('all_busy: its place is not known when it is only in the store', () => {
    scheduler = new Scheduler({ laneWindowCount: 1 });
    scheduler.connect('x');
    scheduler.run('x', { id: 'running' });
    scheduler.submit({ id: '1' });
    expect(why()).to.deep.equal({
      reason: 'all_busy',
      message: '1 fitting executor, all busy.',
      ahead: null,
    });
  });

  it('cooling_down: the only idle executor has just refused it', () => {
    scheduler.connect('x');
    scheduler.submit({});
    scheduler.reject('x');
    expect(explain(scheduler.state, scheduler.task('a'), scheduler.now)).to.include({
      reason: 'cooling_down',
      message: '1 idle executor refused it a moment ago.',
    });
  });

  it('cooling_down: the only idle executor is left alone because it refuses everything', () => {
    scheduler.connect('x');
    scheduler.submit({ id: '1' }, { id: '2' }, { id: '3' });
    for (let i = 0; i < 3; i++) scheduler.reject('x');
    expect(why()).to.include({ reason: 'cooling_down' });
  });

  it('about_to_start: an executor is free and its row is being read', () => {
    const lane = { lane: 2, count: 1, heldCount: 0, suspendedCount: 0, dueAt: null };
    scheduler = Scheduler.restored({ lanes: [lane] }).scheduler;
    scheduler.connect('x');
    expect(why()).to.include({ reason: 'about_to_start' });
  });
});
