/** The SDK in a process of its own: a blocked thread, a deaf handler, a stopped process, signals. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ScriptedMaster } from '../../helpers/scripted-master.ts';
import { SystemProcess } from '../../helpers/system/process.ts';
import { TcpProxy } from '../../helpers/tcp-proxy.ts';

const SCRIPT = fileURLToPath(new URL('../../helpers/sdk/executor-process.mjs', import.meta.url));

describe('executor process', function () {
  const closing: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** Executors in one process, their master, and the network between them. */
  async function started(ids: string, { leaseMs = 3_000, drainTimeoutMs = 10_000 } = {}) {
    const master = await ScriptedMaster.start({ heartbeatMs: 300, leaseMs });
    closing.push(() => master.close());
    const proxy = await TcpProxy.start(master.port);
    closing.push(() => proxy.close());
    const url = `http://127.0.0.1:${proxy.port}`;
    const child = new SystemProcess({
      name: 'executor',
      args: [SCRIPT, url, ids, String(drainTimeoutMs)],
    });
    closing.push(() => child.end());
    const sessionIds: string[] = [];
    for (const [index] of ids.split(',').entries()) {
      sessionIds.push((await master.nth('executorConnected', index + 1)).sessionId);
    }
    return { master, proxy, child, sessionIds };
  }

  /** One that runs one task in this mode. */
  async function running(
    params: { mode: string; ms?: number },
    options: { leaseMs?: number; drainTimeoutMs?: number } = {},
  ) {
    const { master, proxy, child, sessionIds } = await started('e1', options);
    const [sessionId = ''] = sessionIds;
    master.assign(sessionId, { id: 't1', params: JSON.stringify(params) });
    await child.said('that the task started', ({ fields }) => fields['type'] === 'task_started');
    return { master, proxy, child, sessionId };
  }

  it('keeps its lease while a handler blocks its thread for longer than that', async () => {
    const { master } = await running({ mode: 'block', ms: 2_500 }, { leaseMs: 2_000 });
    expect((await master.nth('attemptEnded')).result).to.equal('"unblocked"');
    expect(master.of('executorConnected').length + master.of('executorResumed').length).to.equal(1);
    const lags = master.of('heartbeatReceived').map(({ loopLagMs }) => loopLagMs ?? 0);
    expect(Math.max(...lags), 'and says how late that thread is').to.be.above(1_000);
  });

  for (const mode of ['deaf', 'block']) {
    it(`is killed when a handler goes on without a lease: ${mode}`, async () => {
      const { master, proxy, child } = await running({ mode, ms: 60_000 });
      proxy.drop();
      expect(await child.exited).to.deep.equal({ code: null, signal: 'SIGKILL' });
      expect(child.tail()).to.contain('killing this process: attempt 1 of task t1');
      expect(master.of('attemptEnded')).to.deep.equal([]);
    });
  }

  for (const reason of ['canceled', 'execution_timeout'] as const) {
    it(`is killed when a handler does not end although it was told to: ${reason}`, async () => {
      const { master, child, sessionId } = await running({ mode: 'deaf' });
      const cancel = { type: 'cancel', taskId: 't1', attempt: 1, graceMs: 100, reason } as const;
      master.sessions.send(sessionId, cancel, 1);
      expect((await child.exited).signal).to.equal('SIGKILL');
    });
  }

  it('notices on waking that its lease is over, and says nothing of its attempt', async () => {
    const { master, child } = await running({ mode: 'late' }, { leaseMs: 6_000 });
    child.signal('SIGSTOP');
    // The master gives up on the socket after a lease.
    await master.nth('executorDisconnected');
    child.signal('SIGCONT');
    await child.said('that it dropped the result', ({ fields }) => {
      return fields['type'] === 'result_dropped';
    });
    const again = await master.nth('executorConnected', 2);
    expect(again.running).to.deep.equal([]);
    expect(master.of('attemptEnded')).to.deep.equal([]);
  });

  it('drains on SIGTERM: the running task may finish, and none is begun', async () => {
    const { master, child, sessionId } = await running({ mode: 'release' });
    child.signal('SIGTERM');
    await master.find('heartbeatReceived', ({ draining }) => draining);
    master.assign(sessionId, { id: 't2' });
    expect(await master.nth('attemptRejected')).to.deep.include({ taskId: 't2', code: 406 });
    child.write('go');
    expect((await master.nth('attemptEnded')).result).to.equal('"released"');
    expect((await master.nth('executorDisconnected')).left).to.equal(true);
    expect(await child.exited).to.deep.equal({ code: 0, signal: null });
  });

  it('ends once all of its executors have ended their tasks', async () => {
    const { master, child, sessionIds } = await started('e1,e2');
    const [idle, busy = ''] = sessionIds;
    master.assign(busy, { id: 't1', params: '{"mode":"release"}' });
    await child.said('that the task started', ({ fields }) => fields['type'] === 'task_started');
    child.signal('SIGTERM');
    expect((await master.nth('executorDisconnected')).sessionId).to.equal(idle);
    child.write('go');
    expect((await master.nth('attemptEnded')).result).to.equal('"released"');
    expect(await child.exited).to.deep.equal({ code: 0, signal: null });
  });

  it('goes on where its lines cannot be written', async function () {
    if (!existsSync('/dev/full')) return this.skip();
    const master = await ScriptedMaster.start({ heartbeatMs: 300, leaseMs: 3_000 });
    closing.push(() => master.close());
    const program = `
      import { createExecutor } from '@soda-scheduler/executor-sdk';
      await createExecutor({ url: 'http://127.0.0.1:${master.port}', id: 'e1' })
        .handle('test', async () => 'done').start();`;
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'ignore', full],
      env: { ...process.env, SODA_LOG: 'json' },
    });
    closeSync(full);
    const exited = once(child, 'exit');
    closing.push(() => (child.kill('SIGKILL'), exited));
    const { sessionId } = await master.nth('executorConnected');
    for (const [index, id] of ['t1', 't2'].entries()) {
      master.assign(sessionId, { id, params: '{}' });
      const ended = await Promise.race([master.nth('attemptEnded', index + 1), exited]);
      expect(ended).to.deep.include({ taskId: id, result: '"done"' });
    }
  });

  it('gives its task back on SIGTERM when that does not end in time', async () => {
    const { master, child } = await running({ mode: 'obey' }, { drainTimeoutMs: 50 });
    child.signal('SIGTERM');
    expect((await master.nth('attemptEnded')).outcome).to.equal('returned');
    expect(await child.exited).to.deep.equal({ code: 0, signal: null });
  });

  it('exits at once on a second signal', async () => {
    const { master, child } = await running({ mode: 'release' });
    child.signal('SIGINT');
    await master.find('heartbeatReceived', ({ draining }) => draining);
    child.signal('SIGINT');
    expect(await child.exited).to.deep.equal({ code: 1, signal: null });
    expect((await master.nth('executorDisconnected')).left).to.equal(false);
  });
});
