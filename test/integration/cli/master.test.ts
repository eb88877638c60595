/** `soda master` as a process among others: whoever reads its log, and whoever ends it. */
import { expect } from 'chai';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { freePort } from '../../helpers/free-port.ts';
import { commandSuite, soda } from '../../helpers/soda/command.ts';
import { eventually } from '../../helpers/system/wait.ts';

describe('soda master', function () {
  this.slow(20_000);
  const suite = commandSuite();
  const { start } = suite;

  async function takesWork(port: number): Promise<void> {
    const url = `http://127.0.0.1:${port}/readyz`;
    await eventually('it takes work', async () => (await fetch(url)).ok);
  }

  for (const command of ['master', 'dev']) {
    it(`goes on without whoever read what it says: ${command}`, async () => {
      const port = await freePort();
      const child = start([command, '--port', String(port), '--data-dir', `unread-${command}`]);
      const ended = once(child, 'close') as Promise<[number | null]>;
      const log = command === 'master' ? child.stdout : child.stderr;
      await once(createInterface(log), 'line');
      const rest = text(command === 'master' ? child.stderr : child.stdout);
      log.destroy();
      await takesWork(port);
      child.kill('SIGINT');
      expect((await ended)[0]).to.equal(0);
      if (command === 'master') {
        expect(await rest).to.equal(
          'soda: the log cannot be written (EPIPE); the master goes on\n',
        );
      }
    });
  }

  it('goes on where the disk of its log is full', async () => {
    const full = openSync('/dev/full', 'w');
    const port = await freePort();
    const args = [soda, 'master', '--port', String(port), '--data-dir', 'full'];
    const { folder } = suite;
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    try {
      const ended = once(child, 'close') as Promise<[number | null]>;
      const said = text(child.stderr as NodeJS.ReadableStream);
      await takesWork(port);
      child.kill('SIGTERM');
      expect((await ended)[0]).to.equal(0);
      expect(await said).to.equal('soda: the log cannot be written (ENOSPC); the master goes on\n');
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('says how many files it must be allowed to have open', async function () {
    if (process.platform === 'win32') return this.skip();
    const { folder } = suite;
    for (const [fileCount, args] of [
      [100, ['master', '--port', '0', '--data-dir', 'few']],
      [60, ['dev', '--port', '0', '--data-dir', 'few']],
    ] as const) {
      const script = `ulimit -n ${fileCount}; exec "$@"`;
      const command = ['-c', script, 'sh', process.execPath, soda, ...args];
      const child = spawn('sh', command, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
      const [said, [code]] = await Promise.all([
        text(child.stderr as NodeJS.ReadableStream),
        once(child, 'close') as Promise<[number | null]>,
      ]);
      expect(said).to.match(
        new RegExp(`^soda: this process may have ${fileCount} files open, and needs 128: .*\n$`),
      );
      expect(code).to.equal(2);
    }
  });

  it('stops in order when it is told to before there is a master', async () => {
    // While it loads what a master needs, which reads its own version.
    const early = `import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const read = fs.readFileSync;
      fs.readFileSync = (file, ...more) => {
        if (/master.package\\.json$/.test(String(file))) process.kill(process.pid, 'SIGTERM');
        return read(file, ...more);
      };
      syncBuiltinESMExports();`;
    const child = start(['master', '--port', '0', '--data-dir', 'early'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(early)}`,
    });
    const [out, [code, signal]] = await Promise.all([
      text(child.stdout),
      once(child, 'close') as Promise<[number | null, string | null]>,
    ]);
    expect({ code, signal }).to.deep.equal({ code: 0, signal: null });
    expect(out, 'none begins').to.equal('');
  });

  it('ends when it is told to though a file does not answer', async () => {
    const { folder } = suite;
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    // As on a mount that hangs: who opens a pipe waits in a thread for somebody who writes to it.
    const hanging = `import { readFile } from 'node:fs'; readFile('${pipe}', () => {});`;
    const port = await freePort();
    const child = start(['master', '--port', String(port), '--data-dir', 'hanging'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hanging)}`,
    });
    const said = [text(child.stdout), text(child.stderr)];
    const ended = once(child, 'close') as Promise<[number | null, string | null]>;
    await takesWork(port);
    child.kill('SIGTERM');
    expect((await ended)[1]).to.equal('SIGKILL');
    const [out, err] = await Promise.all(said);
    expect(out).to.include('the master has stopped');
    expect(err).to.include('a file has not answered yet: the process ends itself by SIGKILL');
  });
});
