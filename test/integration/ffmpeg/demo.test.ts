/** `npm start` as a user sees it, on a free port and with a folder of its own. */
import { expect } from 'chai';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFfmpeg } from '../../../examples/media/binaries.ts';

const main = fileURLToPath(new URL('../../../examples/dist/demo/main.js', import.meta.url));

/** Itself and the next, at which callbacks come at every start: below those that connections take for themselves. */
async function freePair(): Promise<number> {
  for (;;) {
    const first = 20_000 + 2 * Math.floor(6_000 * Math.random());
    const isFree = async (port: number): Promise<boolean> => {
      const server = createServer().listen(port, '127.0.0.1');
      const is = await once(server, 'listening').then(
        () => true,
        () => false,
      );
      server.close();
      return is;
    };
    if ((await isFree(first)) && (await isFree(first + 1))) return first;
  }
}

describe('the demo', function () {
  let dataDir: string;
  let port: number;
  let ffmpeg: string;
  let running: ChildProcess | null = null;

  before(async function () {
    const found = await findFfmpeg(process.env).catch(() => null);
    if (found === null) return this.skip();
    dataDir = mkdtempSync(join(tmpdir(), 'soda-demo-'));
    // The demo takes the clip that is there; this one is shorter than its own, with a picture a second.
    mkdirSync(join(dataDir, 'media'));
    const source = ['-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=1:d=6'];
    ({ ffmpeg } = found);
    execFileSync(ffmpeg, ['-loglevel', 'error', ...source, join(dataDir, 'media/demo.mp4')]);
    port = await freePair();
  });
  // One that a failed test has left running would keep this process alive.
  afterEach(() => running?.kill('SIGTERM'));
  after(() => dataDir && rmSync(dataDir, { recursive: true }));

  /** Starts it, and tells it to stop once it has said this. */
  async function runUntil(sign: RegExp, more = {}): Promise<{ code: number | null; said: string }> {
    const env = { ...process.env, SODA_PORT: String(port), SODA_DATA_DIR: dataDir, ...more };
    const demo = spawn(process.execPath, [main], {
      env,
      cwd: dataDir,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running = demo;
    let said = '';
    for (const stream of [demo.stdout, demo.stderr]) {
      stream.setEncoding('utf8').on('data', (more: string) => {
        said += more;
        if (sign.test(said)) demo.kill('SIGTERM');
      });
    }
    const [code] = (await once(demo, 'close')) as [number | null];
    return { code, said };
  }

  it('stops in the middle of a transcode, and goes on from there at the next start', async () => {
    // So slow that it cannot come to its end before it is told to stop, however fast the machine is.
    const slow = join(dataDir, 'ffmpeg');
    writeFileSync(slow, `#!/bin/sh\nexec '${ffmpeg}' -re "$@"\n`, { mode: 0o755 });
    const first = await runUntil(/output \d of 2/, { FFMPEG: slow });
    expect(first.code, first.said).to.equal(0);
    expect(first.said).to.match(/Stopping \.\.\.\n$/);

    const second = await runUntil(/Ctrl-C stops/);
    expect(second.code, second.said).to.equal(0);
    expect(second.said).to.include('1 task from before').and.include('signature verified');
    expect(second.said).to.include('One of them has not ended: that is gone on with first.');
    expect(second.said).to.match(/^SODA_URL=http:\S+ npx soda task list$/m);
    // It is called back where the first start has said, by which nobody listens any more.
    const [, before = ''] = /Task (demo-\d+)/.exec(first.said) ?? [];
    expect(second.said).to.match(new RegExp(`callback +${before} succeeded`));
    const outputs = readdirSync(join(dataDir, 'media'))
      .filter((name) => name.startsWith('demo-'))
      .map((name) => readdirSync(join(dataDir, 'media', name)).sort());
    const both = ['640x360.mp4', '854x480.mp4'];
    expect(outputs).to.deep.equal([both, both]);
  });

  it('says that its data cannot be written', async () => {
    const demo = { ...process.env, SODA_PORT: String(port), SODA_DATA_DIR: main };
    const child = spawn(process.execPath, [main], { env: demo, stdio: 'pipe' });
    running = child;
    let said = '';
    child.stderr.on('data', (more: Buffer) => (said += more.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code).to.equal(1);
    expect(said).to.match(/The data directory .* cannot be written to \(\w+\)[^]*SODA_DATA_DIR=/);
  });

  it('says that a port is in use', async () => {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    // An empty variable is none: its data is where it is without one.
    const { code, said } = await runUntil(/never said/, { SODA_DATA_DIR: '' });
    server.close();
    expect(code).to.equal(1);
    expect(said).to.include(`Port ${port} is in use`);
    expect(readdirSync(join(dataDir, 'data'))).to.deep.equal(['media']);
  });
});
