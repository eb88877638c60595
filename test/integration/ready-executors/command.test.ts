/** `shell.command` with real programs, and with what somebody might try to make it do. */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NonRetryableError, RetryableError, TaskAborted } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { commandHandler, commandSettings } from '@soda-scheduler/executors';
import { lookAtCommand } from '../../../executors/shell-command/settings.ts';
import { eventually } from '../../helpers/system/wait.ts';

const sh = '/bin/sh';
const echo = '/bin/echo';

describe('shell.command', () => {
  let folder: string;
  let root: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'soda-command-'));
    root = join(folder, 'root');
    mkdirSync(root);
  });
  afterEach(() => {
    delete process.env['SODA_TEST_SECRET'];
    rmSync(folder, { recursive: true });
  });

  function run(params: object, settings: object = {}, signal?: AbortSignal) {
    const handler = commandHandler(
      commandSettings.parse({ root, programs: [sh, echo], ...settings }),
    );
    return runHandler(handler, { params, ...(signal && { signal }) });
  }
  const script = (text: string, more: object = {}, settings: object = {}) =>
    run({ command: [sh, '-c', text], ...more }, settings);

  it('runs a program with stdin, in its folder, and keeps its lines and their end', async () => {
    mkdirSync(join(root, 'in'));
    const { result, log } = await script('pwd; cat; echo careful >&2', {
      cwd: 'in',
      stdin: 'hi\n',
    });
    expect(result).to.include({ exit_code: 0, stderr: 'careful\n' });
    expect((result as { stdout: string }).stdout).to.match(/\/root\/in\nhi\n$/);
    expect(log.map(({ level, stream, text }) => [level, stream, text])).to.deep.include.members([
      ['info', 'stdout', 'hi'],
      ['warn', 'stderr', 'careful'],
    ]);
  });

  it('lets no argument mean anything to a shell', async () => {
    const command = [echo, '$(touch made)', '; touch made', '`touch made`', '|', '> made', '*'];
    const { result } = await run({ command });
    expect((result as { stdout: string }).stdout).to.equal(`${command.slice(1).join(' ')}\n`);
  });

  it('runs nothing that is not listed, however it is spelled', async () => {
    symlinkSync(sh, join(root, 'mine'));
    const programs = ['/usr/bin/id', 'sh', '/bin/../bin/sh', '/bin//sh', join(root, 'mine'), ''];
    for (const program of programs) {
      const { error } = await run({ command: [program, '-c', 'true'] });
      expect(error, program).to.be.instanceOf(NonRetryableError);
      expect((error as Error).message).to.include('none of the programs');
    }
    const { error } = await run({ command: [echo, 'a\0b'] });
    expect((error as Error).message).to.include('without NUL');
  });

  it('lets a program have only arguments that match as a whole', async () => {
    const programs = [{ path: echo, args: ['-n', '[a-z]+\\.txt'] }];
    expect((await run({ command: [echo, '-n', 'a.txt'] }, { programs })).result).to.include({
      stdout: 'a.txt',
    });
    for (const odd of ['-e', 'a.txt\n-x', '--a.txt', '../a.txt', 'a.txt ']) {
      const { error } = await run({ command: [echo, odd] }, { programs });
      expect(error, odd).to.be.instanceOf(NonRetryableError);
      expect((error as Error).message).to.include('command.1');
    }
  });

  it('warns of patterns that let in options, absolute paths, and paths that climb', async () => {
    const page = readFileSync(new URL('../../../docs/executors.md', import.meta.url), 'utf8');
    const documented = /path: \/usr\/bin\/rsync\n +args: \['-a', '--delete', '(.+)'\]/.exec(
      page,
    )?.[1];
    const warned: [string, string][] = [
      ['[\\w./-]+', 'options, absolute paths, paths that climb'],
      ['.*', 'options, absolute paths, paths that climb'],
      ['\\w[\\w./-]*', 'paths that climb'],
      ['/.+', 'absolute paths'],
    ];
    for (const [pattern, what] of warned) {
      const programs = [{ path: echo, args: ['-n', pattern] }];
      const { warnings } = await lookAtCommand(commandSettings.parse({ root, programs }));
      expect(warnings).to.deep.equal([
        `programs: ${echo} takes ${what} by the pattern ${pattern}: tasks choose them`,
      ]);
    }
    const programs = [{ path: echo, args: ['-a', '--delete', documented] }];
    const { warnings } = await lookAtCommand(commandSettings.parse({ root, programs }));
    expect(warnings).to.deep.equal([]);
    for (const fine of ['in/', 'a-b.txt', 'day.1/x']) {
      expect((await run({ command: [echo, fine] }, { programs })).error, fine).to.equal(undefined);
    }
    for (const odd of ['--rsh=sh', '-e', '/run/secrets/x', './x', '..', 'a/../../x', 'a\n/../x']) {
      const { error } = await run({ command: [echo, odd] }, { programs });
      expect(error, odd).to.be.instanceOf(NonRetryableError);
    }
  });

  it('stays inside its root, links included', async () => {
    symlinkSync(folder, join(root, 'out'));
    symlinkSync('/nowhere/at/all', join(root, 'dangling'));
    writeFileSync(join(root, 'file'), '');
    const refused = { '..': 'outside', '/': 'outside', out: 'outside', 'in/../..': 'outside' };
    for (const [cwd, why] of Object.entries({
      ...refused,
      dangling: 'exist',
      file: 'no directory',
    })) {
      const { error } = await script('true', { cwd });
      expect(error, cwd).to.be.instanceOf(NonRetryableError);
      expect((error as Error).message, cwd).to.include(why);
    }
  });

  it('gives nothing of its own environment but what is listed', async () => {
    process.env['SODA_TEST_SECRET'] = 'secret';
    const { result } = await script('env');
    expect((result as { stdout: string }).stdout).not.to.include('secret');
    const passed = await script('echo $SODA_TEST_SECRET', {}, { pass_env: ['SODA_TEST_SECRET'] });
    expect(passed.result).to.include({ stdout: 'secret\n' });
    const { error } = await script('true', { env: { LD_PRELOAD: '/tmp/a.so' } });
    expect((error as Error).message).to.include('LD_PRELOAD is not among task_env');
    const given = await script('echo $MODE', { env: { MODE: 'x y' } }, { task_env: ['MODE'] });
    expect(given.result).to.include({ stdout: 'x y\n' });
  });

  it('takes the exit code for what the task says it is', async () => {
    const exit = { success: [0, 3], non_retryable: [4] };
    expect((await script('exit 3', { exit })).result).to.include({ exit_code: 3 });
    expect((await script('exit 4', { exit })).error).to.be.instanceOf(NonRetryableError);
    const { error } = await script('echo no disk >&2; exit 5', { exit });
    expect(error).to.be.instanceOf(RetryableError);
    expect(error).to.have.property('message', `${sh} exited with code 5: no disk`);
    expect((error as RetryableError).details).to.deep.include({ exit_code: 5 });
  });

  it('ends what writes without end, and keeps no more of it than its end', async () => {
    const { error } = await script('yes', {}, { output_bytes_max: 100_000 });
    expect(error).to.be.instanceOf(NonRetryableError);
    expect((error as Error).message).to.include('wrote more than 100000 bytes');
    const { result } = await script('head -c 50000 /dev/zero | tr "\\0" x; echo; echo end');
    expect((result as { stdout: string }).stdout)
      .to.have.length.of.at.most(8192)
      .and.match(/end\n$/);
    expect(result).to.include({ output_bytes: 50_005 });
  });

  /** A child that ignores SIGTERM, with a grandchild that does too. */
  const stubborn = `trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! > pid; wait`;

  async function expectGone() {
    const pid = readFileSync(join(root, 'pid'), 'utf8').trim();
    await eventually('the grandchild is gone', () => {
      try {
        return Promise.resolve(/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
      } catch {
        return Promise.resolve(true);
      }
    });
  }

  it('ends what takes too long, with all that it has started', async function () {
    this.timeout(20_000);
    const { error } = await script(stubborn, { timeout_seconds: 0.5 });
    expect(error).to.be.instanceOf(RetryableError);
    expect((error as Error).message).to.include('ran for 0.5 s and was ended');
    await expectGone();
  });

  it('ends with its attempt', async function () {
    this.timeout(20_000);
    const abort = new AbortController();
    const running = run({ command: [sh, '-c', stubborn] }, {}, abort.signal);
    await eventually('it runs', () => Promise.resolve(existing(join(root, 'pid'))));
    abort.abort();
    expect((await running).error).to.be.instanceOf(TaskAborted);
    await expectGone();
  });

  it('does not wait for a grandchild that has left the group and holds the pipes', async function () {
    this.timeout(10_000);
    try {
      execFileSync('setsid', ['--version']);
    } catch {
      this.skip();
    }
    const { result } = await script('setsid sleep 60 & echo $! > pid; echo done');
    expect(result).to.include({ stdout: 'done\n' });
    process.kill(Number(readFileSync(join(root, 'pid'), 'utf8')), 'SIGKILL');
  });
});

function existing(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').trim() !== '';
  } catch {
    return false;
  }
}
