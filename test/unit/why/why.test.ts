/** Why a task waits, and that what is proposed would start it: each reason is come to, told, and ended so. */
import { expect } from 'chai';
import { changing } from '../../helpers/task.ts';
import { GateBench } from '../../helpers/gates.ts';
import { book, bookedScenarios } from '../../helpers/why/booked.ts';
import { ofGroup, setLimit, setType } from '../../helpers/why/build.ts';
import { make } from '../../helpers/why/change.ts';
import { scenarios } from '../../helpers/why/scenarios.ts';

let bench: GateBench;
beforeEach(async () => {
  bench = new GateBench();
  await bench.start();
});
afterEach(() => bench.stop());

async function makeChange() {
  const { change, facts, reason } = await bench.wholeWhy('asked');
  if (change === null) throw new Error('nothing is proposed');
  const limit = facts.limit?.name ?? (reason === 'held' ? 'limits.concurrency' : '');
  await make(bench, { ...change, limit });
}

const all = [...scenarios, ...bookedScenarios];

describe('why a task waits', () => {
  for (const { reason, of = '', build, message, change, behind } of all) {
    it(`${reason} ${of}`, async () => {
      await build(bench);
      bench.offers();
      const why = await bench.wholeWhy('asked');
      expect(why).to.include({ reason, message });
      expect(why.change?.message).to.equal(change);
      expect(why.behind.map((one) => one.message)).to.deep.equal(
        behind === undefined ? [] : [behind],
      );
      expect(await bench.wholeWhy('asked')).to.deep.equal(why);
      await makeChange();
      if (behind !== undefined) {
        expect(bench.offers()).to.not.include('asked');
        expect((await bench.wholeWhy('asked')).message).to.equal(behind);
        await makeChange();
      }
      expect(bench.offers()).to.include('asked');
    });
  }
});

describe('why a task is where it is', () => {
  it('held behind as many as executors are free: these come first once it is let in', async () => {
    await setType(bench, { limits: { concurrency: { pointer: '/film', max: 1 } } });
    await bench.connect('x', 'y');
    const params = '{"film":"tenet"}';
    await bench.submit({ id: 'first', params }, { id: 'second', params });
    await bench.submit({ id: 'asked', params });
    bench.offers();
    const { change, behind } = await bench.wholeWhy('asked');
    expect(change?.message).to.equal('Raise limits.concurrency of type echo to 3.');
    const then = '1 executor would be free, and 1 task comes first.';
    expect(behind.map(({ message }) => message)).to.deep.equal([then]);
    await makeChange();
    expect(bench.offers()).to.deep.equal(['second']);
    await makeChange();
    expect(bench.offers()).to.include('asked');
  });

  it('paused, as all namespaces are: it starts once that is over', async () => {
    await bench.connect('x');
    const pause = { by: null, reason: null, until: null };
    await bench.command({ type: 'pauseSet', scope: 'all', value: '', pause });
    await bench.submit({ id: 'asked' });
    const { reason, change } = await bench.wholeWhy('asked');
    expect({ reason, target: change?.target }).to.deep.equal({ reason: 'paused', target: 'all' });
    await makeChange();
    expect(bench.offers()).to.include('asked');
  });

  it('about_to_start, offered, running, ending: nothing is to be changed', async () => {
    await bench.connect('x');
    await bench.submit({ id: 'asked', assignTimeoutMs: 5_000 });
    await bench.pass(1_000);
    expect(await bench.wholeWhy('asked')).to.deep.include({
      reason: 'offered',
      message: 'It was offered to executor x 1 s ago (attempt 1): it has 4 s to answer.',
      change: null,
      ahead: null,
    });
    await bench.accept('x');
    await bench.pass(2_000);
    expect(await bench.wholeWhy('asked')).to.deep.include({
      reason: 'running',
      message: 'It has run on executor x for 2 s (attempt 1), and has not said how far it is.',
      change: null,
    });
    bench.silence('x');
    await bench.send({
      type: 'executorDisconnected',
      executorId: 'x',
      sessionId: 'x/1',
      left: false,
    });
    await bench.command({ type: 'cancelRequested', taskId: 'asked', reason: null });
    const { reason, message } = await bench.wholeWhy('asked');
    expect(reason).to.equal('ending');
    expect(message).to.match(
      /It was told to end: it was canceled\. Its executor is not connected: unless/,
    );
  });

  it('running: how far this attempt is, not the one before', async () => {
    await bench.connect('x');
    await bench.submit({ id: 'asked', retry: { maxAttempts: 0, interval: -1 } });
    await bench.accept('x');
    await bench.progress('x', 10.100679999999999);
    expect((await bench.wholeWhy('asked')).message).to.match(/\(attempt 1\), 10\.1 % 0 s ago\.$/);
    await bench.end('x', { outcome: 'failed' });
    await bench.pass(2_000);
    await bench.accept('x');
    await bench.pass(2_000);
    const { message, facts } = await bench.wholeWhy('asked');
    expect(message).to.equal(
      'It has run on executor x for 2 s (attempt 2), and has not said how far it is.',
    );
    expect(facts.progress).to.equal(null);
  });

  it('ended: how and why', async () => {
    await bench.connect('x');
    await bench.submit({ id: 'asked', retry: { maxAttempts: 1, interval: 1 } });
    await bench.accept('x');
    await bench.end('x', { outcome: 'failed' });
    await bench.pass(1_000);
    expect(await bench.wholeWhy('asked')).to.deep.include({
      reason: 'ended',
      message: 'It failed (its attempts are used up) 1 s ago, after 1 attempt: it broke.',
      change: null,
    });
  });

  it('callback_pending, callback_gave_up: what its callback waits for', async () => {
    await bench.connect('x');
    await bench.submit({ id: 'asked', notifyUrl: 'https://example.org/done' });
    await bench.accept('x');
    await bench.end('x');
    const { task } = (await bench.store.readTask('asked')) ?? {};
    const tried = {
      type: 'notificationTried',
      term: bench.state.term,
      taskSeq: task?.seq ?? 0,
      finishedAt: task?.finishedAt ?? 0,
      status: 503,
      error: 'it is away',
      tryCount: 1,
    } as const;
    await bench.send({ ...tried, outcome: 'failed', retryAfterMs: 60_000 });
    expect(await bench.wholeWhy('asked')).to.deep.include({
      reason: 'callback_pending',
      message:
        'It succeeded 0 s ago, after 1 attempt. Its callback is tried again in 1 min, after 1 try (it is away).',
    });
    await bench.pass(60_000, 10_000);
    await bench.send({ ...tried, outcome: 'gone', retryAfterMs: null });
    const { reason, message, change } = await bench.wholeWhy('asked');
    expect(reason).to.equal('callback_gave_up');
    expect(message).to.include('Its callback was given up after 2 tries (it is away).');
    expect(change?.action).to.equal('none');
  });

  it('all_busy: the executors of its booking are at work', async () => {
    await bench.connect('x');
    await book(bench, 0);
    await bench.submit({ id: 'first', booking: 'bk-1' }, { id: 'asked', booking: 'bk-1' });
    bench.offers();
    const { reason, message, change } = await bench.wholeWhy('asked');
    expect([reason, message, change?.action]).to.deep.equal([
      'all_busy',
      '1 executor of booking bk-1, all busy.',
      'none',
    ]);
  });

  it('reserved: a booking of another group is not named to whoever may not see all', async () => {
    await bench.connect('x');
    await book(bench, 0, { group: 'other' });
    await bench.submit('asked');
    const { reason, message, facts } = await bench.wholeWhy('asked', false);
    expect(reason).to.equal('reserved');
    expect(message).to.equal('1 fitting executor, which a booking has for another 10 min.');
    expect(facts.booking).to.equal(null);
  });

  it('not_due, suspended: what others keep from starting does not come first', async () => {
    await setLimit(bench, 0);
    await bench.connect('x', 'y');
    const pause = { by: null, reason: null, until: null };
    await bench.command({ type: 'pauseSet', scope: 'group', value: 'paused', pause });
    await bench.submit(
      { id: 'limited/1', uses: [{ limit: 'drm', n: 1 }] },
      { id: 'limited/2', uses: [{ limit: 'drm', n: 1 }] },
      { id: 'large/1', diskBytes: 8e9 },
      { id: 'large/2', diskBytes: 8e9 },
      { id: 'labelled', requires: ['rack:none'] },
      { id: 'paused', ...ofGroup('paused') },
      { id: 'asked', runAt: bench.now + 9_000 },
    );
    const about = async () => {
      const { reason, ahead, behind } = await bench.wholeWhy('asked');
      return { reason, count: ahead?.count, behind };
    };
    expect(await about()).to.deep.equal({ reason: 'not_due', count: 0, behind: [] });
    await bench.command({ type: 'suspendRequested', taskId: 'asked', reason: null, by: null });
    await bench.command(changing('asked', { runAt: 0 }));
    expect(await about()).to.deep.equal({ reason: 'suspended', count: undefined, behind: [] });
    await makeChange();
    expect(bench.offers()).to.deep.equal(['asked']);
  });

  it('names no other task to whoever may not see all groups', async () => {
    const { build } = scenarios.find(({ reason }) => reason === 'held')!;
    await build(bench);
    const why = await bench.wholeWhy('asked', false);
    expect(why.message).to.include('1 comes first');
    expect(why.facts.concurrency).to.include({ holderCount: 1, heldCount: 1 });
    expect(JSON.stringify(why)).to.not.include('first (with');
  });
});
