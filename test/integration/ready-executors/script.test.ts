/** `script` with real interpreters, and with files that are not what they were. */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { NonRetryableError, RetryableError } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { scriptHandler, scriptSettings, Scratch } from '@soda-scheduler/executors';

const NOBODY = 65_534;

describe('script', () => {
  let root: string;
  let folder: string;
  let scratch: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'soda-script-'));
    folder = join(root, 'scripts');
    scratch = join(root, 'scratch');
    mkdirSync(folder);
    mkdirSync(scratch);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function put(name: string, content: string): string {
    writeFileSync(join(folder, name), content);
    return createHash('sha256').update(content).digest('hex');
  }
  function run(params: object, settings: object = {}) {
    const interpreters = { '.sh': ['/bin/sh'], '.js': [process.execPath] };
    const given = { folder, scratch, interpreters, ...settings };
    return runHandler(scriptHandler(scriptSettings.parse(given)), { params, id: 'task-1' });
  }
  async function refusal(params: object, settings: object = {}): Promise<string> {
    const { error } = await run(params, settings);
    expect(error, JSON.stringify(params)).to.be.instanceOf(NonRetryableError);
    return (error as Error).message;
  }

  it('gives params on stdin, takes the last line for the result, and leaves nothing', async () => {
    const sha256 = put(
      'double.js',
      `let text = ''; process.stdin.on('data', (d) => { text += d; }).on('end', () => {
        console.log('working in ' + process.cwd());
        console.log(JSON.stringify({ twice: JSON.parse(text).n * 2, task: process.env.SODA_TASK_ID }));
      });`,
    );
    const { result, log } = await run({ name: 'double.js', sha256, params: { n: 21 } });
    expect(result).to.deep.include({ exit_code: 0, result: { twice: 42, task: 'task-1' } });
    expect(log[0]?.text).to.include(`working in ${scratch}`);
    expect(readdirSync(scratch)).to.deep.equal([]);
  });

  it('runs nothing whose content is not what was asked for', async () => {
    const sha256 = put('a.sh', 'echo 1');
    put('a.sh', 'echo 2');
    expect(await refusal({ name: 'a.sh', sha256 })).to.match(/has the content \w{64}, not \w{64}$/);
    expect(await refusal({ name: 'a.sh' })).to.include('sha256: needed');
    const pinned = { 'a.sh': sha256 };
    expect(await refusal({ name: 'a.sh' }, { pinned })).to.include('has the content');
    const now = createHash('sha256').update('echo 2').digest('hex');
    expect(await refusal({ name: 'a.sh', sha256: now }, { pinned })).to.include('has pinned');
  });

  it('runs what it has hashed, though the file is swapped meanwhile', async function () {
    this.timeout(20_000);
    const honest = 'echo honest';
    const sha256 = put('a.sh', honest);
    const over = new AbortController();
    const swapping = (async () => {
      for (let turn = 0; !over.signal.aborted; turn++) {
        writeFileSync(join(folder, 'a.sh'), turn % 2 === 0 ? 'echo swapped' : honest);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const seen = new Set<unknown>();
    for (let n = 0; n < 60; n++) {
      const { result } = await run({ name: 'a.sh', sha256 });
      if (result !== undefined) seen.add((result as { result: unknown }).result);
    }
    over.abort();
    await swapping;
    expect([...seen]).to.deep.equal(['honest']);
  });

  it('runs no link, no folder, no path, and nothing without an interpreter', async () => {
    writeFileSync(join(root, 'outside.sh'), 'echo outside');
    const sha256 = createHash('sha256').update('echo outside').digest('hex');
    symlinkSync(join(root, 'outside.sh'), join(folder, 'link.sh'));
    mkdirSync(join(folder, 'dir.sh'));
    expect(await refusal({ name: 'link.sh', sha256 })).to.include('is a link');
    expect(await refusal({ name: 'dir.sh', sha256 })).to.include('is no file');
    expect(await refusal({ name: 'gone.sh', sha256 })).to.include('does not exist');
    for (const name of [
      '../outside.sh',
      '/etc/passwd',
      '.hidden.sh',
      'a/b.sh',
      'a\0.sh',
      '-c.sh',
    ]) {
      expect(await refusal({ name, sha256 })).to.include('without a path');
    }
    put('a.py', '');
    expect(await refusal({ name: 'a.py', sha256 })).to.include('.sh, .js');
    expect(await refusal({ name: 'a.constructor', sha256 })).to.include('.sh, .js');
  });

  it('keeps its environment to itself, and says what an exit code was', async () => {
    process.env['SODA_TEST_SECRET'] = 'secret';
    const { error } = await run({ name: 'a.sh', sha256: put('a.sh', 'env; exit 9') });
    delete process.env['SODA_TEST_SECRET'];
    expect(error)
      .to.be.instanceOf(RetryableError)
      .with.property('message', 'a.sh exited with code 9');
    const { log } = await run({ name: 'a.sh', sha256: put('a.sh', 'env') });
    expect(log.map(({ text }) => text).join('\n')).not.to.include('secret');
  });

  it('removes what earlier attempts and dead processes have left', async () => {
    const store = new Scratch(scratch, 'script');
    const [mine, living] = ['gone', 'living'];
    const left = await store.use({ namespace: 'default', id: mine }, (path) =>
      Promise.resolve(path),
    );
    // As if it had been killed: the folder is there again, under the pid of nobody.
    mkdirSync(left.replace(`~${process.pid}~`, '~4194399~'));
    mkdirSync(left.replace(`~${process.pid}~`, `~${process.ppid}~`).replace('gone', living));
    writeFileSync(join(scratch, 'somebody-elses'), '');
    await run({ name: 'a.sh', sha256: put('a.sh', 'true') });
    expect(
      readdirSync(scratch)
        .map((name) => name.split('~')[3] ?? name)
        .sort(),
    ).to.deep.equal([living, 'somebody-elses']);
    await store.use({ namespace: 'default', id: living }, () => Promise.resolve());
    expect(readdirSync(scratch)).to.deep.equal(['somebody-elses']);
  });

  describe('where a folder cannot be removed', () => {
    const said: string[] = [];
    const { warn } = console;

    beforeEach(function () {
      // Nothing stops root.
      if (process.geteuid?.() !== 0) return;
      for (const path of [root, folder, scratch]) chownSync(path, NOBODY, NOBODY);
      chmodSync(root, 0o755);
    });
    beforeEach(() => {
      console.warn = (text: string) => said.push(text);
    });
    afterEach(() => {
      console.warn = warn;
      said.length = 0;
      if (process.getuid?.() === 0) process.seteuid?.(0);
    });
    const asNobody = () => process.geteuid?.() === 0 && process.seteuid?.(NOBODY);

    it('opens what a script has closed', async () => {
      asNobody();
      // A shell would be root again.
      const closes = `const fs = require('fs'); fs.mkdirSync('d/e', { recursive: true });
        fs.writeFileSync('d/e/f', ''); fs.chmodSync('d/e', 0); fs.chmodSync('d', 0); console.log(7);`;
      const sha256 = put('a.js', closes);
      expect((await run({ name: 'a.js', sha256 })).result).to.include({ result: 7 });
      expect(readdirSync(scratch)).to.deep.equal([]);
      expect(said).to.deep.equal([]);
    });

    it('leaves what belongs to others, says so once, and works', async function () {
      if (process.getuid?.() !== 0) this.skip();
      const store = new Scratch(scratch, 'script');
      const key = { namespace: 'default', id: 'task-1' };
      const left = await store.use(key, (path) => Promise.resolve(path));
      const theirs = [1, 2].map((n) => left.replace(`~${process.pid}~`, `~${4194390 + n}~`));
      for (const path of theirs) mkdirSync(path);
      chownSync(scratch, 0, 0);
      chmodSync(scratch, 0o1777);
      asNobody();
      const handler = scriptHandler(
        scriptSettings.parse({ folder, scratch, interpreters: { '.sh': ['/bin/sh'] } }),
      );
      const params = { name: 'a.sh', sha256: put('a.sh', 'echo 7') };
      for (let turn = 0; turn < 2; turn++) {
        const { result } = await runHandler(handler, { params, id: 'task-1' });
        expect(result).to.include({ result: 7 });
      }
      expect(readdirSync(scratch)).to.have.members(theirs.map((path) => basename(path)));
      expect(said).to.have.length(1);
      expect(said[0]).to.include('cannot be removed, and is left').and.to.include(scratch);
    });
  });

  it('leaves what another container of the same host name runs, for a week', async () => {
    const store = new Scratch(scratch, 'script');
    const key = { namespace: 'default', id: 'other' };
    const own = await store.use(key, (path) => Promise.resolve(path));
    const host = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);
    const names = basename(own).split('~');
    // Its pids are those of its own namespace: here nobody has this one.
    const [elsewhere, old] = ['1', '2'].map((unique) => {
      const name = [...names.slice(0, 4), host(hostname()), '4194399', unique].join('~');
      mkdirSync(join(scratch, name));
      return join(scratch, name);
    }) as [string, string];
    const eightDaysAgo = Date.now() / 1000 - 8 * 86_400;
    utimesSync(old, eightDaysAgo, eightDaysAgo);
    await store.removeOfTheDead();
    expect(readdirSync(scratch)).to.deep.equal([basename(elsewhere)]);
  });

  it('is private while it runs', async () => {
    chmodSync(scratch, 0o755);
    const script = 'stat -c %a . ; stat -c %a "$0"';
    const { log } = await run({ name: 'a.sh', sha256: put('a.sh', script) });
    expect(log.map(({ text }) => text)).to.deep.equal(['700', '400']);
  });
});
