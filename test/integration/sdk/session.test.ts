/** The SDK, with its worker thread, against the real gateway; through a proxy where a fault is due. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ExecutorRefused } from '@soda-scheduler/executor-sdk';
import type { ExecutorOptions, TaskAborted } from '@soda-scheduler/executor-sdk';
import { expect } from 'chai';
import { Problem } from '../../../master/access/http/problem.ts';
import { ANYBODY, type LinkOptions, ScriptedMaster } from '../../helpers/scripted-master.ts';
import { TcpProxy } from '../../helpers/tcp-proxy.ts';
import { eventually } from '../../helpers/system/wait.ts';
import { deferred, watchedExecutor } from '../../helpers/sdk/watched-executor.ts';

describe('executor SDK', () => {
  const closing: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function startMaster(options: LinkOptions = {}, port = 0, term = 1) {
    const master = await ScriptedMaster.start(options, port);
    master.term = term;
    closing.push(() => master.close());
    return master;
  }

  async function startProxy(master: ScriptedMaster) {
    const proxy = await TcpProxy.start(master.port);
    closing.push(() => proxy.close());
    return proxy;
  }

  function executor(url: string, options: Partial<ExecutorOptions> = {}) {
    const made = watchedExecutor(url, options);
    closing.push(() => made.stop().catch(() => undefined));
    return made;
  }

  it('runs a task and reports progress, checkpoint and result in order', async () => {
    const master = await startMaster();
    await executor(master.url, { labels: ['gpu'], reserve: ['urgent'] })
      .handle<{ n: number }>('test', (task, ctx) => {
        ctx.progress(10);
        ctx.progress(60, { frame: 6 });
        ctx.checkpoint({ at: 60, was: ctx.lastCheckpoint });
        return { doubled: task.params.n * 2, token: ctx.token, attempt: ctx.attempt };
      })
      .start();
    const connected = await master.nth('executorConnected');
    expect(connected).to.deep.include({
      executorId: 'e1',
      types: ['test'],
      labels: ['gpu'],
      reserve: ['urgent'],
      running: [],
      pid: process.pid,
    });

    master.assign(connected.sessionId, {
      id: 't1',
      params: '{"n":21}',
      checkpoint: '{"at":5}',
      attempt: 3,
    });
    const ended = await master.nth('attemptEnded');
    expect(ended).to.deep.include({
      taskId: 't1',
      attempt: 3,
      outcome: 'succeeded',
      result: '{"doubled":42,"token":"1.3","attempt":3}',
      error: null,
    });
    const reports = master.events.filter((event) => 'frameSeq' in event);
    expect(reports.map((event) => event.type)).to.deep.equal([
      'attemptAccepted',
      'progressReported',
      'progressReported',
      'progressReported',
      'attemptEnded',
    ]);
    expect(master.of('progressReported').map((event) => event.percent)).to.deep.equal([
      10,
      null,
      60,
    ]);
    expect(master.of('progressReported')[1]!.checkpoint).to.equal('{"at":60,"was":{"at":5}}');
  });

  it('keeps a result until it is acknowledged, and sends it once over a cut', async () => {
    const master = await startMaster();
    const proxy = await startProxy(master);
    master.confirmsResults = false;
    const sdk = executor(`http://127.0.0.1:${proxy.port}`).handle('test', () => 'done');
    await sdk.start();
    const { sessionId } = await master.nth('executorConnected');
    master.assign(sessionId, { id: 't1' });
    const { frameSeq } = await master.nth('attemptEnded');

    proxy.cut();
    await master.nth('executorResumed');
    const beat = await master.find('heartbeatReceived', ({ running }) => running.length > 0);
    expect(beat.running).to.have.length(1);
    expect(beat.running[0]).to.include({ taskId: 't1', attempt: 1, state: 'finished' });

    master.sessions.confirm(sessionId, frameSeq);
    const count = master.of('heartbeatReceived').length;
    const later = await master.nth('heartbeatReceived', count + 3);
    expect(later.running, 'acknowledged, so forgotten').to.deep.equal([]);
    expect(master.of('attemptEnded').length).to.equal(1);
  });

  it('tells a restarted master what it runs, and reports to it what the old one never confirmed', async () => {
    const old = await startMaster();
    const { port } = old;
    const gate = deferred();
    const sdk = executor(old.url).handle('test', async (_task, ctx) => {
      ctx.checkpoint('begun');
      await gate.promise;
      return 'done';
    });
    await sdk.start();
    const { sessionId } = await old.nth('executorConnected');
    old.assign(sessionId, { id: 't1', attempt: 4 });
    await old.nth('progressReported');
    await old.close();

    const young = await startMaster({}, port, 2);
    young.confirmsResults = false;
    const { running } = await young.nth('executorConnected');
    expect(running).to.have.length(1);
    expect(running[0]).to.include({ taskId: 't1', attempt: 4, state: 'running' });
    gate.resolve();
    await young.nth('attemptEnded');
    await young.close();

    const youngest = await startMaster({}, port, 3);
    const { running: finished } = await youngest.nth('executorConnected');
    expect(finished).to.have.length(1);
    expect(finished[0]).to.include({ taskId: 't1', attempt: 4, state: 'finished' });
    expect((await youngest.nth('attemptEnded')).result).to.equal('"done"');
    expect(sdk.events.map((event) => event.type)).to.include('disconnected');
  });

  it('refuses a master of an older term', async () => {
    const young = await startMaster({}, 0, 7);
    const { port } = young;
    await executor(young.url)
      .handle('test', () => null)
      .start();
    await young.nth('heartbeatReceived');
    await young.close();

    const deposed = await startMaster({}, port, 6);
    await deposed.nth('executorConnected', 2);
    expect(deposed.of('heartbeatReceived')).to.deep.equal([]);
    deposed.term = 7;
    await deposed.nth('heartbeatReceived');
  });

  it('ends its attempt by itself when the master is out of reach, and starts afresh', async () => {
    const master = await startMaster({ leaseMs: 1_000 });
    const proxy = await startProxy(master);
    const reasons: unknown[] = [];
    const sdk = executor(`http://127.0.0.1:${proxy.port}`).handle<string>(
      'test',
      async ({ params }, { signal }) => {
        if (params === 'quick') return 'ok';
        await once(signal, 'abort');
        reasons.push(signal.reason);
        return 'too late';
      },
    );
    await sdk.start();
    const { sessionId } = await master.nth('executorConnected');
    master.assign(sessionId, { id: 't1', params: '"slow"' });
    await sdk.told('task_started');

    proxy.drop();
    const dropped = await sdk.told('result_dropped');
    expect(dropped.message).to.equal('attempt 1 of t1: the lease was lost before it ended');
    expect((reasons[0] as Error).message).to.equal('attempt 1 of t1 has to end: lease_lost');
    expect(reasons.map((reason) => (reason as TaskAborted).reason)).to.deep.equal(['lease_lost']);
    proxy.heal();
    proxy.cut();

    const again = await master.nth('executorConnected', 2);
    expect(again.running).to.deep.equal([]);
    master.assign(again.sessionId, { id: 't2', params: '"quick"' });
    const ended = await master.nth('attemptEnded');
    expect(ended.taskId, 'nothing was said of t1').to.equal('t2');
  });

  const outages: Record<string, (proxy: TcpProxy) => void> = {
    'is cut': (proxy) => proxy.cut(),
    'goes silent': (proxy) => proxy.drop(),
    'loses what the master sends': (proxy) => proxy.drop(['down']),
    'loses what the executor sends': (proxy) => proxy.drop(['up']),
    'stands still': (proxy) => proxy.freeze(),
  };
  for (const [what, breakIt] of Object.entries(outages)) {
    it(`keeps its task and its session when the network ${what} for less than the lease`, async () => {
      const master = await startMaster({ heartbeatMs: 200, leaseMs: 6_000 });
      const proxy = await startProxy(master);
      const gate = deferred();
      await executor(`http://127.0.0.1:${proxy.port}`)
        .handle('test', async (_task, { signal }) => {
          await Promise.race([gate.promise, once(signal, 'abort')]);
          return { aborted: signal.aborted };
        })
        .start();
      const { sessionId } = await master.nth('executorConnected');
      master.assign(sessionId, { id: 't1' });
      await master.nth('attemptAccepted');

      breakIt(proxy);
      await eventually('another connection', () => proxy.connectionCount > 1);
      proxy.heal();
      await master.nth('executorResumed');
      gate.resolve();
      expect((await master.nth('attemptEnded')).result).to.equal('{"aborted":false}');
      expect(master.of('executorConnected').length).to.equal(1);
    });
  }

  it('ends an attempt when told to, and says how it ended', async () => {
    const master = await startMaster();
    const sdk = executor(master.url).handle<string>('test', async ({ params }, { signal }) => {
      await once(signal, 'abort');
      if (params === 'late') return (signal.reason as TaskAborted).reason;
      throw new Error('interrupted');
    });
    await sdk.start();
    const { sessionId } = await master.nth('executorConnected');
    const cases = [
      ['"throws"', 'canceled', 'canceled'],
      ['"throws"', 'execution_timeout', 'timed_out'],
      ['"throws"', 'drain', 'returned'],
      ['"late"', 'stalled', 'succeeded'],
    ] as const;
    for (const [index, [params, reason, outcome]] of cases.entries()) {
      const attempt = index + 1;
      master.assign(sessionId, { id: 't1', params, attempt });
      await master.nth('attemptAccepted', attempt);
      const cancel = { type: 'cancel', taskId: 't1', graceMs: 5_000, reason } as const;
      master.sessions.send(sessionId, { ...cancel, attempt: attempt + 1 }, 1);
      master.sessions.send(sessionId, { ...cancel, attempt }, 1);
      const ended = await master.nth('attemptEnded', attempt);
      expect([ended.attempt, ended.outcome], `${params} ${reason}`).to.deep.equal([
        attempt,
        outcome,
      ]);
    }
    expect(master.of('attemptEnded').at(-1)!.result).to.equal('"stalled"');
  });

  it('rejects what it does not want, cannot run, or has no room for', async () => {
    const master = await startMaster();
    const gate = deferred();
    await executor(master.url, {
      canAccept: (task) => task.params !== 'huge' || 'no disk space',
    })
      .handle('test', () => gate.promise)
      .start();
    const { sessionId } = await master.nth('executorConnected');
    master.assign(sessionId, { id: 't1', params: '"huge"' });
    master.assign(sessionId, { id: 't2', type: 'unknown' });
    await master.nth('attemptRejected', 2);
    master.assign(sessionId, { id: 't3' });
    await master.nth('attemptAccepted');
    master.assign(sessionId, { id: 't4' });
    await master.nth('attemptRejected', 3);
    gate.resolve();
    await master.nth('attemptEnded');
    const rejections = master.of('attemptRejected');
    expect(
      rejections.map((event) => [event.taskId, event.code, event.message]),
    ).to.have.deep.members([
      ['t1', 400, 'no disk space'],
      ['t2', 405, 'no handler'],
      ['t4', 406, 'busy'],
    ]);
  });

  it('sends only the newest of many reports, and the last of them before the result', async () => {
    const master = await startMaster();
    await executor(master.url)
      .handle('test', async (_task, ctx) => {
        for (let done = 0; done <= 10_000; done += 1) ctx.progress(done / 100, { done });
      })
      .start();
    const { sessionId } = await master.nth('executorConnected');
    master.assign(sessionId, { id: 't1' });
    const ended = await master.nth('attemptEnded');
    const states = master.of('progressReported').map((event) => event.state);
    expect(states.at(-1)).to.equal('{"done":10000}');
    expect(states.length).to.be.below(5);
    expect(ended).to.deep.include({ outcome: 'succeeded', result: null });
  });

  it('keeps trying to reach a master, and says so once', async () => {
    const master = await startMaster();
    const proxy = await startProxy(master);
    proxy.refuse();
    const sdk = executor(`http://127.0.0.1:${proxy.port}`).handle('test', () => null);
    const started = sdk.start();
    await sdk.told('unreachable');
    proxy.heal();
    await started;
    expect(sdk.events.filter(({ type }) => type === 'unreachable').length).to.equal(1);
  });

  it('gives up when the master refuses it for good', async () => {
    const master = await startMaster({
      authorize({ headers: { authorization } }) {
        if (authorization !== 'Bearer right') throw new Problem('noToken', 'No.');
        return ANYBODY;
      },
    });
    const wrong = executor(master.url, { token: 'wrong' }).handle('test', () => null);
    const refused = await wrong.start().catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ExecutorRefused);
    expect((refused as Error).message).to.equal('the master answered HTTP 401 Unauthorized: No.');

    const first = executor(master.url, { token: 'right' }).handle('test', () => null);
    await first.start();
    const second = executor(master.url, { token: 'right' }).handle('test', () => null);
    const started = second.start();
    expect((await second.told('unreachable')).message).to.equal(
      'another living process uses the executor id e1: give each its own id; trying on',
    );
    master.sessions.close((await master.nth('executorConnected')).sessionId, 'superseded');
    await started;
    const stopped = await first.told('stopped');
    expect(stopped.message).to.contain('another process has taken over this executor id');
  });

  it('quotes of an answer only what a master would say', async () => {
    const types = ['text/html', 'text/plain'];
    const server = createServer().on('upgrade', (_request, socket) => {
      const head = `HTTP/1.1 403 Forbidden\r\nContent-Type: ${types.shift()}\r\n`;
      // More than is ever sent: whoever waits for the end waits in vain.
      socket.write(`${head}Content-Length: 1000000\r\n\r\n${'Go  away.\n'.repeat(100)}`);
      closing.push(async () => socket.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(async () => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const refusal = () =>
      executor(url)
        .handle('test', () => null)
        .start()
        .catch((error: Error) => error.message);
    expect(await refusal()).to.equal('the master answered HTTP 403 Forbidden');
    expect(await refusal()).to.match(
      /^the master answered HTTP 403 Forbidden: Go away\. Go away\.[a-zA-Z. ]{150,200}$/,
    );
  });

  it('stops: drains, gives back what does not end in time, and leaves', async () => {
    const master = await startMaster();
    const sdk = executor(master.url, { drainTimeoutMs: 0 }).handle(
      'test',
      async (_task, { signal }) => {
        await once(signal, 'abort');
        throw signal.reason;
      },
    );
    await sdk.start();
    const { sessionId } = await master.nth('executorConnected');
    master.assign(sessionId, { id: 't1' });
    await sdk.told('task_started');
    await sdk.stop();
    expect((await master.nth('attemptEnded')).outcome).to.equal('returned');
    expect(master.of('heartbeatReceived').some(({ draining }) => draining)).to.equal(true);
    expect((await master.nth('executorDisconnected')).left).to.equal(true);
    expect(sdk.events.map(({ type }) => type)).to.deep.equal([
      'connected',
      'task_started',
      'task_aborted',
      'task_ended',
      'stopped',
    ]);
  });
});
