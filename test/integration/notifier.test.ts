/** Callbacks over real sockets: what receivers get, and what the domain is told about each try. */
import { expect } from 'chai';
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { callbackBody, type CallbackBody } from '@soda-scheduler/protocol';
import type { Log, StoredTask } from '../../master/application/ports.ts';
import type { Event } from '../../master/domain/events.ts';
import type { Task } from '../../master/domain/task.ts';
import { AddressPolicy } from '../../master/infrastructure/address-policy.ts';
import { HttpNotifier } from '../../master/infrastructure/http-notifier.ts';
import { ManualClock } from '../helpers/manual-clock.ts';
import { notificationOf, sampleTask } from '../helpers/task.ts';

type Tried = Extract<Event, { type: 'notificationTried' }>;
interface Call {
  readonly request: IncomingMessage;
  readonly body: string;
  readonly response: ServerResponse;
}

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const olderSecret = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Hands out what was put in, in order, to whoever asks, now or later. */
class Inbox<T> {
  readonly #items: T[] = [];
  readonly #takers: ((item: T) => void)[] = [];

  put(item: T): void {
    const taker = this.#takers.shift();
    if (taker === undefined) this.#items.push(item);
    else taker(item);
  }

  take(): Promise<T> {
    const item = this.#items.shift();
    return item === undefined
      ? new Promise((resolve) => this.#takers.push(resolve))
      : Promise.resolve(item);
  }

  get count(): number {
    return this.#items.length;
  }
}

function taskOf(id: string, change: Partial<Task> = {}): Task {
  return sampleTask({
    id,
    type: 'transcode',
    user: { group: 'video', project: null, env: 'test', user: null },
    submittedAt: 1_700_000_000_000,
    state: 'succeeded',
    attempt: 2,
    attemptsUsed: 1,
    executorId: 'e1',
    lastOutcome: 'succeeded',
    result: '{"frames":9007199254740993}',
    finishedAt: 1_700_000_060_000,
    ...change,
  });
}

describe('HTTP notifier', () => {
  const clock = new ManualClock();
  let calls: Inbox<Call>;
  let tries: Inbox<Tried>;
  let stored: Map<string, StoredTask>;
  let server: http.Server;
  let base: string;
  let notifier: HttpNotifier;

  const notifierWith = (options: {
    secrets?: string[];
    allow?: string[];
    policy?: AddressPolicy;
  }) =>
    new HttpNotifier({
      secrets: [secret],
      allow: ['127.0.0.0/8', 'localhost'],
      post: (event) => tries.put(event as Tried),
      findTask: async (id) => stored.get(id) ?? null,
      clock,
      log: quiet,
      ...options,
    });

  beforeEach(async () => {
    calls = new Inbox();
    tries = new Inbox();
    stored = new Map();
    server = http.createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => calls.put({ request, body, response }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    notifier = notifierWith({});
  });

  afterEach(async () => {
    notifier.stop();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  function deliver(task: Task, path = '/done'): void {
    notifier.deliver(notificationOf(task, { url: base + path }), task);
  }

  async function answered(status: number, headers = {}, body = ''): Promise<Tried> {
    const { response } = await calls.take();
    response.writeHead(status, headers).end(body);
    return tries.take();
  }

  it('posts a signed body that any Standard Webhooks library accepts', async () => {
    deliver(taskOf('a.b:c'));
    const { request, body, response } = await calls.take();
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
    expect(await tries.take()).to.deep.equal({
      type: 'notificationTried',
      taskSeq: 1,
      finishedAt: 1_700_000_060_000,
      outcome: 'delivered',
      status: 204,
      error: null,
      retryAfterMs: null,
    });
  });

  it('signs with every secret during a rotation, and keeps the id over tries', async () => {
    notifier.stop();
    notifier = notifierWith({ secrets: [secret, olderSecret] });
    const ids = new Set<unknown>();
    for (const status of [500, 200]) {
      deliver(taskOf('rotated'));
      const { request, body, response } = await calls.take();
      response.writeHead(status).end();
      await tries.take();
      ids.add(request.headers['webhook-id']);
      for (const key of [secret, olderSecret]) {
        new Webhook(key).verify(body, request.headers as Record<string, string>);
      }
    }
    expect(ids.size).to.equal(1);
  });

  it('refuses secrets that receivers could not use', () => {
    for (const bad of ['secret', 'whsec_', 'whsec_c2hvcnQ=', `whsec_${'!'.repeat(40)}`]) {
      expect(() => notifierWith({ secrets: [bad] }), bad).to.throw(/24 to 64 bytes/);
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
      deliver(taskOf('ended', { result: null, error: { message: 'no codec' }, ...change }));
      const { body, response } = await calls.take();
      response.end();
      const parsed = JSON.parse(body) as CallbackBody;
      expect(parsed).to.include({ code, state: change.state });
      expect(parsed.error).to.deep.equal({ message: 'no codec' });
      expect(parsed).to.not.have.property('result');
      await tries.take();
    }
  });

  it('reports what the receiver said', async () => {
    deliver(taskOf('t'));
    expect(await answered(410)).to.include({ outcome: 'gone', status: 410 });
    deliver(taskOf('t'));
    expect(await answered(302, { location: `${base}/elsewhere` })).to.include({
      outcome: 'failed',
      status: 302,
    });
    expect(calls.count, 'redirects are not followed').to.equal(0);
    deliver(taskOf('t'));
    expect(await answered(500, {}, `line one\nline\u0007 two ${'x'.repeat(500)}`)).to.satisfy(
      ({ error }: Tried) =>
        error?.startsWith('HTTP 500: line one line two xxx') && error.length === 256,
    );
    deliver(taskOf('t'));
    expect(await answered(503, { 'retry-after': '120' })).to.include({ retryAfterMs: 120_000 });
    deliver(taskOf('t'));
    expect(await answered(429, { 'retry-after': '999999' })).to.include({
      retryAfterMs: 3_600_000,
    });
    deliver(taskOf('t'));
    const date = new Date(Date.now() + 60_000).toUTCString();
    const { retryAfterMs } = await answered(503, { 'retry-after': date });
    expect(retryAfterMs).to.be.within(55_000, 60_000);
  });

  it('cuts what the receiver said between characters: databases refuse half a one', async () => {
    for (const fill of ['x'.repeat(244), 'x'.repeat(245)]) {
      deliver(taskOf('t'));
      const { error } = await answered(500, {}, `${fill}\u{1f600}\u{1f600}`);
      expect(error).to.match(/^HTTP 500: [^\p{Cs}]*$/u);
    }
  });

  it('reads the task from the store where it is not at hand', async () => {
    const task = taskOf('stored');
    stored.set(task.id, { task, notification: null });
    notifier.deliver(notificationOf(task, { url: base }), null);
    expect(await answered(200)).to.include({ outcome: 'delivered' });
    notifier.deliver(notificationOf(taskOf('dropped'), { url: base }), null);
    expect(await tries.take()).to.include({ outcome: 'gone', error: 'the task is not retained' });
  });

  it('says nothing about a run that was replaced by another', async () => {
    const task = taskOf('again');
    const notification = notificationOf(task, { url: base });
    notifier.deliver(notification, { ...task, state: 'waiting', finishedAt: null });
    deliver(taskOf('next', { seq: 2 }));
    expect(await answered(200)).to.include({ taskSeq: 2 });
    expect(tries.count).to.equal(0);
  });

  it('refuses addresses by policy, whichever way they are reached', async () => {
    notifier.stop();
    const policy = new AddressPolicy([], (_host, done) =>
      done(null, [{ address: '127.0.0.1', family: 4 }]),
    );
    notifier = notifierWith({ policy });
    const { port } = server.address() as AddressInfo;
    for (const url of [`${base}/x`, `http://[::1]:${port}/`, `http://rebound.example:${port}/`]) {
      notifier.deliver(notificationOf(taskOf('t'), { url }), taskOf('t'));
      const { outcome, status, error } = await tries.take();
      expect({ outcome, status }, url).to.deep.equal({ outcome: 'failed', status: null });
      expect(error, url).to.match(/is a loopback address; .*SODA_NOTIFY_ALLOW/);
    }
    expect(calls.count).to.equal(0);
    notifier.deliver(notificationOf(taskOf('t'), { url: 'not a url' }), taskOf('t'));
    expect((await tries.take()).error).to.equal('refused: not a URL');
  });

  it('gives up on silence, slow bodies and unreachable hosts, and caps endless bodies', async () => {
    deliver(taskOf('silent'));
    await calls.take();
    clock.advance(15_000);
    expect(await tries.take()).to.include({ status: null, error: 'no answer within 15 s' });

    deliver(taskOf('endless'));
    const endless = await calls.take();
    const cut = once(endless.response, 'close');
    endless.response.writeHead(200);
    const chunk = Buffer.alloc(16 * 1024, 'x');
    while (endless.response.write(chunk)) {}
    endless.response.on('drain', () => endless.response.write(chunk));
    await cut;
    expect(await tries.take()).to.include({ outcome: 'delivered', status: 200 });

    deliver(taskOf('slow'));
    const slow = await calls.take();
    slow.response.write('a byte now and then');
    const ended = once(slow.response, 'close');
    clock.advance(15_000);
    await ended;
    expect((await tries.take()).taskSeq).to.equal(1);
  });

  it('sends again at once when a kept connection turns out to be closed', async () => {
    deliver(taskOf('first'));
    expect(await answered(200)).to.include({ outcome: 'delivered' });
    deliver(taskOf('second'));
    const { request } = await calls.take();
    request.socket.resetAndDestroy();
    expect(await answered(200)).to.include({ outcome: 'delivered' });
    deliver(taskOf('third'));
    (await calls.take()).request.socket.resetAndDestroy(); // This connection was new: no excuse.
    expect(await tries.take()).to.include({ outcome: 'failed', status: null });
  });

  it('holds back an origin in trouble and lets the others go on', async () => {
    const atOnce = (count: number) =>
      Promise.all(Array.from({ length: count }, () => calls.take()));
    for (let i = 0; i < 40; i += 1) deliver(taskOf(`t${i}`, { seq: i }));
    const first = await atOnce(32);
    const { port } = server.address() as AddressInfo;
    notifier.deliver(
      notificationOf(taskOf('other'), { url: `http://localhost:${port}/` }),
      taskOf('other'),
    );
    const other = await calls.take();
    expect(other.request.headers.host, 'the 33rd waits, another origin does not').to.equal(
      `localhost:${port}`,
    );
    other.response.end();
    await tries.take();

    clock.advance(15_000);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, () => tries.take().then(({ error }) => error)),
    );
    expect(outcomes.filter((error) => error?.startsWith('no answer'))).to.have.length(first.length);
    expect(outcomes.filter((error) => error?.startsWith('not sent'))).to.have.length(8);

    for (let i = 0; i < 3; i += 1) deliver(taskOf(`u${i}`));
    const probe = await calls.take();
    expect(calls.count, 'one at a time until it answers').to.equal(0);
    probe.response.end();
    for (const { response } of await atOnce(2)) response.end();
    for (let i = 0; i < 3; i += 1) expect((await tries.take()).outcome).to.equal('delivered');
  });

  it('forgets what waits for its turn, and sends what is in flight once', async () => {
    const all = Array.from({ length: 40 }, (_, i) => taskOf(`t${i}`, { seq: i }));
    for (const task of all) deliver(task);
    const first = await Promise.all(Array.from({ length: 32 }, () => calls.take()));
    // The state was rebuilt, and hands everything over again.
    notifier.forgetAll();
    for (const task of all) deliver(task);
    for (const { response } of first) response.end();
    const rest = await Promise.all(Array.from({ length: 8 }, () => calls.take()));
    for (const { response } of rest) response.end();
    const tried = await Promise.all(Array.from({ length: 40 }, () => tries.take()));
    const ids = [...first, ...rest].map(({ request }) => request.headers['webhook-id']);
    expect(new Set(ids).size, 'each of them once').to.equal(40);
    expect(new Set(tried.map(({ taskSeq }) => taskSeq)).size).to.equal(40);
    deliver(taskOf('after'));
    (await calls.take()).response.end();
    expect(await tries.take()).to.include({ outcome: 'delivered' });
    expect([calls.count, tries.count]).to.deep.equal([0, 0]);
  });

  it('never reports after stop', async () => {
    deliver(taskOf('t'));
    const { response } = await calls.take();
    const closed = once(response, 'close');
    notifier.stop();
    await closed;
    deliver(taskOf('t'));
    expect(tries.count).to.equal(0);
    expect(calls.count).to.equal(0);
  });
});
