/**
 * Whatever a child does, `runChild` ends it and returns. Every child here holds a connection to
 * the test, whose end proves that the process is gone.
 */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type RunOptions, runChild } from '../../../examples/media/child-process.ts';
import { findFfmpeg } from '../../../examples/media/binaries.ts';

const limits = { stallMs: 60_000, killGraceMs: 50 };

describe('an ffmpeg child process', () => {
  let server: Server;
  let port: number;

  before(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  after(() => server.close());

  /**
   * Runs `script` in Node once it has a connection to the test, `alive`, which lives as long as
   * the process: what the script does can end the child before it would have connected.
   */
  function run(script: string, options: Partial<RunOptions> = {}) {
    const connect = `const alive = require('node:net').connect(${port}, '127.0.0.1');`;
    const whole = `${connect} alive.once('connect', () => { ${script} })`;
    const child = runChild(process.execPath, ['-e', whole], {
      ...limits,
      signal: new AbortController().signal,
      ...options,
    });
    return { child, connected: nextConnection() };
  }

  async function nextConnection(): Promise<{ gone: Promise<unknown> }> {
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.on('error', () => {});
    socket.resume();
    return { gone: once(socket, 'close') };
  }

  it('ends one that ignores SIGTERM', async () => {
    const abort = new AbortController();
    const { child, connected } = run(
      `process.on('SIGTERM', () => {}); process.stdout.write('deaf'); setInterval(() => {}, 1e6)`,
      { signal: abort.signal, onStdout: () => (abort.abort(), false) },
    );
    const { gone } = await connected;
    const end = await child;
    expect([end.why, end.signal]).to.deep.equal(['aborted', 'SIGKILL']);
    await gone;
  });

  it('ends one that was aborted before it began', async () => {
    const end = await runChild(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], {
      ...limits,
      signal: AbortSignal.abort(),
    });
    expect([end.why, end.signal], 'it never began').to.deep.equal(['aborted', null]);
  });

  it('ends one that says nothing, or nothing new', async () => {
    const { child, connected } = run(`setInterval(() => process.stdout.write('same'), 5)`, {
      stallMs: 2_000,
      onStdout: () => false,
    });
    const { gone } = await connected;
    expect((await child).why).to.equal('stalled');
    await gone;
  });

  it('ends a grandchild that holds the pipes', async () => {
    const grandchild = `require('node:net').connect(${port}, '127.0.0.1')`;
    const script =
      `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}],` +
      ` { stdio: 'inherit' })`;
    const abort = new AbortController();
    const { child, connected } = run(script, { signal: abort.signal });
    const first = await connected;
    const second = await nextConnection();
    abort.abort();
    await Promise.all([child, first.gone, second.gone]);
  });

  it('does not wait for a grandchild when the child exits by itself', async () => {
    const grandchild = `require('node:net').connect(${port}, '127.0.0.1').once('connect', () => process.send('up'))`;
    const { child, connected } = run(
      `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}],` +
        ` { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] }).once('message', () => process.exit(3))`,
    );
    await connected;
    const { gone } = await nextConnection();
    expect(await child).to.include({ why: 'exited', code: 3 });
    await gone;
  });

  it('keeps the end of a flood on stderr', async () => {
    const { child } = run(
      `for (let n = 0; n < 2000; n++) process.stderr.write('x'.repeat(5000));` +
        `process.stderr.write('the reason', () => process.exit(1))`,
    );
    const { code, stderr } = await child;
    expect(code).to.equal(1);
    expect(stderr)
      .to.have.length(8192)
      .and.match(/the reason$/);
  });

  it('says what cannot be started', async () => {
    const failure = await runChild('/nowhere/ffmpeg', [], {
      ...limits,
      signal: new AbortController().signal,
    }).catch((error: Error) => error.message);
    expect(failure).to.match(/^\/nowhere\/ffmpeg cannot be started: .*ENOENT/);
  });

  it('dies with an executor that was killed, though ffmpeg ignores broken pipes', async function () {
    const found = await findFfmpeg(process.env).catch(() => null);
    if (found === null) this.skip();
    const url = new URL('../../../examples/dist/media/child-process.js', import.meta.url);
    const args = ['-nostdin', '-loglevel', 'quiet', '-progress', 'pipe:1', '-re', '-f', 'lavfi'];
    args.push('-i', 'testsrc2=d=3600', '-f', 'mpegts', `tcp://127.0.0.1:${port}`);
    const script = `import { runChild } from ${JSON.stringify(fileURLToPath(url))};
      const ended = runChild(${JSON.stringify(found.ffmpeg)}, ${JSON.stringify(args)},
        { stallMs: 1e6, killGraceMs: 1e6, signal: new AbortController().signal });
      console.log('begun');
      await ended;`;
    const executor = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // ffmpeg may be connected before the guard was told of it, but not before that is said.
    const [{ gone }] = await Promise.all([nextConnection(), once(executor.stdout, 'data')]);
    executor.kill('SIGKILL');
    await once(executor, 'exit');
    await gone;
  });
});
