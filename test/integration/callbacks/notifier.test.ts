/** Callbacks over real sockets: what receivers get, and what the domain is told about each try. */
import { expect } from 'chai';
import { once } from 'node:events';
import { Webhook } from 'standardwebhooks';
import type { CallbackBody } from '@soda-scheduler/protocol';
import { callbackBody } from '@soda-scheduler/protocol/schemas';
import type { Task } from '../../../master/domain/model/task.ts';
import { AddressPolicy } from '@soda-scheduler/address-policy';
import {
  NotifierBench,
  secret,
  taskOf,
  type Tried,
} from '../../helpers/callbacks/notifier-bench.ts';
import { settled } from '../../helpers/manual-clock.ts';
import { notificationOf } from '../../helpers/task.ts';

const olderSecret = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;

describe('HTTP notifier', () => {
  let bench: NotifierBench;
  beforeEach(async () => {
    bench = await new NotifierBench().open();
  });
  afterEach(() => bench.close());

  it('posts a signed body that any Standard Webhooks library accepts', async () => {
    bench.deliver(taskOf('a.b:c'));
    const { request, body, response } = await bench.calls.take();
    response.writeHead(204).end();
    expect(request.method).to.equal('POST');
    expect(request.headers['content-type']).to.equal('application/json');
    expect(request.headers['webhook-id']).to.equal('msg_a~b:c_1700000060000');
    const verified = new Webhook(secret).verify(body, request.headers as Record<string, string>);
    expect(callbackBody.parse(verified)).to.deep.include({
      task_id: 'a.b:c',
      type: 'transcode',
      code: 200,
      state: 'succeeded',
      attempts: 2,
      user: { group: 'video', env: 'test' },
      submitted_at: '2023-11-14T22:13:20.000Z',
      finished_at: '2023-11-14T22:14:20.000Z',
    });
    expect(body, 'numbers keep their digits').to.include('9007199254740993');
    expect(() =>
      new Webhook(olderSecret).verify(body, request.headers as Record<string, string>),
    ).to.throw(/signature/);
    expect(await bench.tries.take()).to.deep.equal({
      type: 'notificationTried',
      term: 1,
      taskSeq: 1,
      finishedAt: 1_700_000_060_000,
      outcome: 'delivered',
      status: 204,
      error: null,
      retryAfterMs: null,
      tryCount: 1,
    });
  });

  it('signs with every secret during a rotation, and keeps the id over tries', async () => {
    bench.replace({ secrets: [secret, olderSecret] });
    const ids = new Set<unknown>();
    for (const [tries, status] of [500, 200].entries()) {
      const ended = taskOf('rotated');
      bench.own.deliver(notificationOf(ended, { url: bench.base, tries }), ended, 1);
      const { request, body, response } = await bench.calls.take();
      response.writeHead(status).end();
      await bench.tries.take();
      ids.add(request.headers['webhook-id']);
      for (const key of [secret, olderSecret]) {
        new Webhook(key).verify(body, request.headers as Record<string, string>);
      }
    }
    expect(ids.size).to.equal(1);
  });

  it('sends nothing twice that was delivered, until somebody wants it', async () => {
    const ended = taskOf('once');
    bench.deliver(ended);
    expect(await bench.answered(200)).to.include({ outcome: 'delivered', term: 1 });
    // It could not be written: the state was rebuilt, and hands it over again.
    bench.own.forgetAll();
    bench.deliver(ended, undefined, 2);
    expect(await bench.tries.take()).to.include({ outcome: 'delivered', status: 200, term: 2 });
    expect(bench.calls.count).to.equal(0);

    const again = notificationOf(ended, { url: bench.base, triesSince: bench.clock.now() });
    bench.own.deliver(again, ended, 2);
    expect(await bench.answered(202)).to.include({ outcome: 'delivered', status: 202 });
  });

  it('sends nothing before its time that has failed and could not be written', async () => {
    const ended = taskOf('often');
    const first = notificationOf(ended, { url: bench.base });
    bench.own.deliver(first, ended, 1);
    expect(await bench.answered(500)).to.include({ outcome: 'failed', status: 500, term: 1 });
    // Each rebuild begins with the row as it was, which is due.
    for (const term of [2, 3]) {
      bench.own.forgetAll();
      bench.own.deliver({ ...first }, ended, term);
      expect(await bench.tries.take()).to.include({ outcome: 'failed', status: 500, term });
      expect(bench.calls.count).to.equal(0);
    }
    // It was written, and its next try is due.
    bench.own.deliver({ ...first, tries: 1 }, ended, 3);
    expect(await bench.answered(200)).to.include({ outcome: 'delivered', term: 3 });
  });

  it('keeps the callbacks of namespaces apart', async () => {
    const ended = taskOf('same');
    const live = bench.notifier.of(bench.sender('live'));
    bench.deliver(ended);
    live.deliver(notificationOf(ended, { url: bench.base }), ended, 7);
    const first = await bench.calls.take();
    // Its state was rebuilt: what waits for its turn is that of the other.
    bench.own.forgetAll();
    first.response.end();
    expect(await bench.tries.take()).to.include({ term: 1, outcome: 'delivered' });
    const second = await bench.calls.take();
    second.response.end();
    expect(await bench.tries.take()).to.include({ term: 7, outcome: 'delivered' });
    const [own, other] = [first, second].map(({ request, body }) => ({
      id: request.headers['webhook-id'],
      namespace: (JSON.parse(body) as { namespace: string }).namespace,
    }));
    expect(own).to.deep.equal({ id: 'msg_same_1700000060000', namespace: 'default' });
    expect(other).to.deep.equal({ id: 'msg_same@live_1700000060000', namespace: 'live' });
    expect(bench.calls.count).to.equal(0);
  });

  it('refuses secrets that receivers could not use', () => {
    for (const bad of ['secret', 'whsec_', 'whsec_c2hvcnQ=', `whsec_${'!'.repeat(40)}`]) {
      expect(() => bench.notifierWith({ secrets: [bad] }), bad).to.throw(/24 to 64 bytes/);
    }
  });

  it('tells why a task ended by code', async () => {
    const cases: [number, Partial<Task>][] = [
      [500, { state: 'failed', failureReason: 'attempts_exhausted', lastOutcome: 'failed' }],
      [501, { state: 'failed', failureReason: 'crash_budget', lastOutcome: 'lost' }],
      [408, { state: 'failed', failureReason: 'attempts_exhausted', lastOutcome: 'timed_out' }],
      [408, { state: 'expired', failureReason: 'deadline', lastOutcome: null }],
      [499, { state: 'canceled', lastOutcome: 'canceled' }],
    ];
    for (const [code, change] of cases) {
      bench.deliver(
        taskOf(`ended-${change.state}-${code}-${change.lastOutcome}`, {
          result: null,
          error: { message: 'no codec' },
          ...change,
        }),
      );
      const { body, response } = await bench.calls.take();
      response.end();
      const parsed = JSON.parse(body) as CallbackBody;
      expect(parsed).to.include({ code, state: change.state });
      expect(parsed.error).to.deep.equal({ message: 'no codec' });
      expect(parsed).to.not.have.property('result');
      await bench.tries.take();
    }
  });

  it('reports what the receiver said', async () => {
    bench.deliver(taskOf('t1'));
    expect(await bench.answered(410)).to.include({ outcome: 'gone', status: 410 });
    bench.deliver(taskOf('t2'));
    expect(await bench.answered(302, { location: `${bench.base}/elsewhere` })).to.include({
      outcome: 'failed',
      status: 302,
    });
    expect(bench.calls.count, 'redirects are not followed').to.equal(0);
    bench.deliver(taskOf('t3'));
    expect(await bench.answered(500, {}, `line one\nline\u0007 two ${'x'.repeat(500)}`)).to.satisfy(
      ({ error }: Tried) =>
        error?.startsWith('HTTP 500: line one line two xxx') && error.length === 256,
    );
    bench.deliver(taskOf('t4'));
    expect(await bench.answered(503, { 'retry-after': '120' })).to.include({
      retryAfterMs: 120_000,
    });
    bench.deliver(taskOf('t5'));
    expect(await bench.answered(429, { 'retry-after': '999999' })).to.include({
      retryAfterMs: 3_600_000,
    });
    bench.deliver(taskOf('t6'));
    const date = new Date(Date.now() + 60_000).toUTCString();
    const { retryAfterMs } = await bench.answered(503, { 'retry-after': date });
    expect(retryAfterMs).to.be.within(55_000, 60_000);
  });

  it('cuts what the receiver said between characters: databases refuse half a one', async () => {
    for (const fill of ['x'.repeat(244), 'x'.repeat(245)]) {
      bench.deliver(taskOf(`t${fill.length}`));
      const { error } = await bench.answered(500, {}, `${fill}\u{1f600}\u{1f600}`);
      expect(error).to.match(/^HTTP 500: [^\p{Cs}]*$/u);
    }
  });

  it('reads the task from the store where it is not at hand', async () => {
    const task = taskOf('stored');
    bench.stored.set(task.id, { task, notification: null });
    bench.own.deliver(notificationOf(task, { url: bench.base }), null, 1);
    expect(await bench.answered(200)).to.include({ outcome: 'delivered' });
    bench.own.deliver(notificationOf(taskOf('dropped'), { url: bench.base }), null, 1);
    expect(await bench.tries.take()).to.include({
      outcome: 'gone',
      error: 'the task is not retained',
    });
  });

  it('takes none of the tries of one whose task cannot be read', async () => {
    const task = taskOf('stored');
    bench.stored.get = () => {
      throw new Error('no reader is free');
    };
    bench.own.deliver(notificationOf(task, { url: bench.base }), null, 1);
    const error = 'not sent: the task could not be read: no reader is free';
    expect(await bench.putOffs.take()).to.include({ taskSeq: task.seq, error });
    bench.stored.get = () => ({ task, notification: null });
    bench.own.deliver(notificationOf(task, { url: bench.base }), null, 1);
    expect(await bench.answered(200)).to.include({ outcome: 'delivered', tryCount: 1 });
  });

  it('counts a try once the task could not be read for an hour, so that there is an end', async () => {
    const task = taskOf('unreadable');
    const notification = notificationOf(task, { url: bench.base });
    const isRead = (works: boolean) => {
      bench.stored.get = () => {
        if (works) return { task, notification: null };
        throw new Error('the page is damaged');
      };
    };
    const waitMs = async () => {
      bench.own.deliver(notification, null, 1);
      return (await bench.putOffs.take()).afterMs;
    };
    isRead(false);
    expect(await waitMs()).to.equal(5_000);
    bench.clock.advance(60_000);
    expect(await waitMs(), 'soon, and then less often').to.equal(60_000);
    isRead(true);
    bench.own.deliver(notification, null, 1);
    await bench.answered(503);
    const next = { ...notification, tries: 1 };
    isRead(false);
    bench.clock.advance(3_600_000);
    bench.own.deliver(next, null, 1);
    expect((await bench.putOffs.take()).afterMs, 'it was read in between').to.equal(5_000);
    bench.clock.advance(3_599_999);
    bench.own.deliver(next, null, 1);
    await bench.putOffs.take();
    bench.clock.advance(1);
    for (const tries of [1, 2]) {
      bench.own.deliver({ ...notification, tries }, null, 1);
      expect(await bench.tries.take()).to.include({
        ...{ taskSeq: task.seq, outcome: 'failed', status: null, tryCount: 1 },
        error: 'the task could not be read: the page is damaged',
      });
    }
    expect(bench.calls.count, 'nothing was sent').to.equal(0);
  });

  it('sends nothing about a run that was replaced by another, and gives its place back', async () => {
    const task = taskOf('again');
    const notification = notificationOf(task, { url: bench.base });
    bench.own.deliver(notification, { ...task, state: 'waiting', finishedAt: null }, 1);
    const error = 'the task was run again';
    expect(await bench.tries.take()).to.include({ taskSeq: 1, outcome: 'gone', error });
    bench.deliver(taskOf('next', { seq: 2 }));
    expect(await bench.answered(200)).to.include({ taskSeq: 2 });
  });

  it('refuses addresses by policy, whichever way they are reached', async () => {
    bench.replace({ policy: new AddressPolicy([], 'SODA_NOTIFY_ALLOW') });
    const { port } = bench;
    for (const url of [
      `${bench.base}/x`,
      `http://[::1]:${port}/`,
      `http://rebound.example:${port}/`,
    ]) {
      bench.deliver(taskOf(url), url);
      const { outcome, status, error } = await bench.tries.take();
      expect({ outcome, status }, url).to.deep.equal({ outcome: 'failed', status: null });
      expect(error, url).to.match(/is a loopback address; .*SODA_NOTIFY_ALLOW/);
    }
    expect(bench.calls.count).to.equal(0);
    bench.deliver(taskOf('t'), 'not a url');
    expect((await bench.tries.take()).error).to.equal('refused: not a URL');
  });

  it('gives up on silence, slow bodies and unreachable hosts, and caps endless bodies', async () => {
    bench.deliver(taskOf('silent'));
    await bench.calls.take();
    bench.clock.advance(15_000);
    expect(await bench.tries.take()).to.include({ status: null, error: 'no answer within 15 s' });

    bench.deliver(taskOf('endless'));
    const endless = await bench.calls.take();
    const cut = once(endless.response, 'close');
    endless.response.writeHead(200);
    const chunk = Buffer.alloc(16 * 1024, 'x');
    while (endless.response.write(chunk)) {}
    endless.response.on('drain', () => endless.response.write(chunk));
    await cut;
    expect(await bench.tries.take()).to.include({ outcome: 'delivered', status: 200 });

    bench.deliver(taskOf('slow'));
    const slow = await bench.calls.take();
    slow.response.write('a byte now and then');
    const ended = once(slow.response, 'close');
    bench.clock.advance(500);
    while (bench.clock.nextAlarmAt > bench.clock.now() + 1_000) await settled();
    bench.clock.advance(1_000);
    await ended;
    expect(await bench.tries.take(), 'the status says it all').to.include({
      outcome: 'delivered',
      status: 200,
    });
    bench.deliver(taskOf('next'));
    expect(await bench.answered(200), 'the receiver is in no trouble').to.include({ status: 200 });
  });

  it('sends again at once when a kept connection turns out to be closed', async () => {
    bench.deliver(taskOf('first'));
    expect(await bench.answered(200)).to.include({ outcome: 'delivered' });
    bench.deliver(taskOf('second'));
    const { request } = await bench.calls.take();
    request.socket.resetAndDestroy();
    expect(await bench.answered(200), 'and says that it was sent twice').to.include({
      outcome: 'delivered',
      tryCount: 2,
    });
    bench.deliver(taskOf('third'));
    (await bench.calls.take()).request.socket.resetAndDestroy();
    (await bench.calls.take()).request.socket.resetAndDestroy();
    expect(await bench.tries.take(), 'not a third time').to.include({
      outcome: 'failed',
      status: null,
      tryCount: 2,
    });
    bench.deliver(taskOf('fourth'));
    (await bench.calls.take()).request.socket.resetAndDestroy(); // This connection was new: no excuse.
    expect(await bench.tries.take()).to.include({ outcome: 'failed', status: null, tryCount: 1 });
  });

  it('never reports after stop', async () => {
    bench.deliver(taskOf('t'));
    const { response } = await bench.calls.take();
    const closed = once(response, 'close');
    bench.notifier.stop();
    await closed;
    bench.deliver(taskOf('t'));
    expect(bench.tries.count).to.equal(0);
    expect(bench.calls.count).to.equal(0);
  });
});
