/**
 * What a handler starts with `ctx.spawn` ends with its attempt, however that ends. Every child here
 * holds a connection to the test, whose end proves that the process is gone.
 */
import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { childEnd, endChild, TaskAborted } from '@soda-scheduler/executor-sdk';
import type { TaskContext } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import { ScriptedMaster } from '../../helpers/scripted-master.ts';
import { SystemProcess } from '../../helpers/system/process.ts';
import { TcpProxy } from '../../helpers/tcp-proxy.ts';

const SCRIPT = fileURLToPath(new URL('../../helpers/sdk/executor-process.mjs', import.meta.url));

describe('what a handler has started', function () {
  const closing: (() => Promise<unknown>)[] = [];
  let server: Server;
  let port: number;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    server.close();
  });

  async function nextChild(): Promise<{ gone: Promise<unknown> }> {
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.on('error', () => undefined);
    socket.resume();
    return { gone: once(socket, 'close') };
  }

  const connected = () => `require('node:net').connect(${port}, '127.0.0.1');`;
  const node = (ctx: TaskContext, script: string) =>
    ctx.spawn(process.execPath, ['-e', connected() + script], { stdio: 'ignore' });

  it('is waited for until what it has written has been read', async () => {
    const { result } = await runHandler(
      async (_task, ctx) => {
        const child = ctx.spawn('sh', ['-c', 'echo said; exit 3']);
        const ended = childEnd(child);
        let said = '';
        child.stdout?.on('data', (text: Buffer) => {
          said += text.toString();
        });
        return { ...(await ended), said };
      },
      { params: null },
    );
    expect(result).to.deep.equal({ code: 3, signal: null, said: 'said\n' });
    const { error } = await runHandler((_task, ctx) => childEnd(ctx.spawn('/nowhere/at/all')), {
      params: null,
    });
    expect((error as Error).message).to.include('ENOENT');
  });

  it('is ended before its attempt, by force where it does not hear', async () => {
    const { result } = await runHandler(
      async (_task, ctx) => {
        const next = nextChild();
        const deaf = `process.on('SIGTERM', () => {}); ${connected()}`;
        const child = ctx.spawn(process.execPath, ['-e', deaf], { stdio: 'ignore' });
        const ended = childEnd(child);
        const { gone } = await next;
        endChild(child, 50);
        await gone;
        endChild(child);
        return ended;
      },
      { params: null },
    );
    expect(result).to.deep.equal({ code: null, signal: 'SIGKILL' });
  });

  it('is ended when the handler has, its own children included', async () => {
    const seen: { gone: Promise<unknown> }[] = [];
    const report = await runHandler(
      async (_task, ctx) => {
        const next = [nextChild()];
        const grandchild = JSON.stringify(connected());
        node(ctx, `require('node:child_process').spawn(process.execPath, ['-e', ${grandchild}]);`);
        seen.push(await next[0]!, await nextChild());
        return 'done';
      },
      { params: null },
    );
    expect(report.result).to.equal('done');
    await Promise.all(seen.map(({ gone }) => gone));
  });

  it('is told to end when the attempt is', async () => {
    const abort = new AbortController();
    const signals: unknown[] = [];
    const { error } = await runHandler(
      async (_task, ctx) => {
        const next = nextChild();
        const exited = once(node(ctx, ''), 'exit');
        await next;
        abort.abort();
        signals.push((await exited)[1]);
        node(ctx, '');
      },
      { params: null, signal: abort.signal },
    );
    expect(signals).to.deep.equal(['SIGTERM']);
    expect(error, 'nothing is started any more').to.be.instanceOf(TaskAborted);
  });

  it('says what cannot be started', async () => {
    const { result } = await runHandler(
      async (_task, ctx) => {
        const [error] = (await once(ctx.spawn('/nowhere/ffmpeg'), 'error')) as [Error];
        return error.message;
      },
      { params: null },
    );
    expect(result).to.contain('ENOENT');
  });

  /** An executor in a process of its own, whose handler has started a child. */
  async function parent(mode: 'parent' | 'orphan') {
    const master = await ScriptedMaster.start({ heartbeatMs: 1_000, leaseMs: 6_000 });
    closing.push(() => master.close());
    const proxy = await TcpProxy.start(master.port);
    closing.push(() => proxy.close());
    const url = `http://127.0.0.1:${proxy.port}`;
    const child = new SystemProcess({
      name: 'executor',
      args: [SCRIPT, url, 'e1'],
    });
    closing.push(() => child.end());
    const { sessionId } = await master.nth('executorConnected');
    const next = nextChild();
    master.assign(sessionId, { id: 't1', params: JSON.stringify({ mode, port }) });
    const { gone } = await next;
    // Told by the thread that is told of the group before, and has then told the guard.
    await master.nth('progressReported');
    return { master, proxy, child, gone };
  }

  it('is killed before the lease is over, though the handler blocks its thread', async () => {
    const { proxy, child, gone } = await parent('parent');
    proxy.drop();
    await gone;
    expect(child.exit, 'the process itself comes after it').to.equal(null);
    expect(await child.exited).to.deep.equal({ code: null, signal: 'SIGKILL' });
  });

  it('is killed before the lease is over, though the executor stands still', async () => {
    const { master, child, gone } = await parent('orphan');
    child.signal('SIGSTOP');
    const end = gone.then(() => 'gone');
    const leaseEnd = master.nth('executorDisconnected').then(async () => {
      // Where this process has stood still: what came meanwhile is read after what was due.
      await setImmediate();
      return 'the lease is over';
    });
    expect(await Promise.race([end, leaseEnd])).to.equal('gone');
    expect(child.exit, 'the executor still stands').to.equal(null);
  });

  it('dies with an executor that was killed', async () => {
    const { child, gone } = await parent('orphan');
    child.signal('SIGKILL');
    await gone;
  });
});
