/** `soda-executors` as a process, at a real master: what it says, what it refuses, and what a kill costs. */
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';
import { SystemProcess } from '../../helpers/system/process.ts';
import { eventually } from '../../helpers/system/wait.ts';

const program = fileURLToPath(new URL('../../../executors/bin/soda-executors.js', import.meta.url));

describe('soda-executors', function () {
  this.timeout(60_000);
  const master = masterSuite();
  let folder: string;
  const running: SystemProcess[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'soda-ready-'));
    for (const name of ['scripts', 'scratch', 'root']) mkdirSync(join(folder, name));
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await one.end();
    rmSync(folder, { recursive: true });
  });

  function start(args: readonly string[], env: Record<string, string> = {}): SystemProcess {
    const started = new SystemProcess({ name: 'ready', args: [program, ...args], env });
    running.push(started);
    return started;
  }
  function configure(config: object): string {
    const path = join(folder, 'executors.yaml');
    writeFileSync(path, JSON.stringify(config));
    return path;
  }
  async function said(args: readonly string[], env: Record<string, string> = {}) {
    const one = start(args, env);
    const { code } = await one.exited;
    return { code, text: one.lines.map(({ text }) => text).join('\n') };
  }
  const all = (more: object = {}) => ({
    url: master.url(),
    id: 'ready-1',
    allow_root: true,
    'shell.command': { root: join(folder, 'root'), programs: ['/bin/echo'] },
    'http.request': { hosts: ['127.0.0.1:1'] },
    script: {
      folder: join(folder, 'scripts'),
      scratch: join(folder, 'scratch'),
      interpreters: { '.sh': ['/bin/sh'] },
    },
    ...more,
  });
  async function ended(id: string): Promise<Record<string, unknown>> {
    return eventually(`${id} has ended`, async () => {
      const { body } = await master.call('GET', `/task/${id}`);
      return ['succeeded', 'failed'].includes(String(body['state'])) ? body : null;
    });
  }

  it('explains itself, and refuses what it cannot use', async () => {
    expect(await said(['--help'])).to.deep.include({ code: 0 });
    expect((await said([])).text).to.include('name a --config');
    expect(await said(['--nonsense'])).to.deep.include({ code: 2 });
    const gone = await said(['--config', join(folder, 'gone')]);
    expect(gone.code).to.equal(1);
    expect(gone.text).to.include('cannot be read');
    const odd = await said(['--config', configure({ shell: {}, id: 7 })]);
    expect(odd.text).to.include('Unrecognized key: "shell"').and.to.include('id: ');
  });

  it('says what is enabled, what is wrong, and what is dangerous', async () => {
    const path = configure(all({ 'http.request': undefined }));
    const fine = await said(['--check', '--config', path]);
    expect(fine.code).to.equal(0);
    expect(fine.text).to.include('shell.command: enabled\nhttp.request: off\nscript: enabled');
    expect(fine.text).to.match(/ok$/);
    const wrong = configure({
      allow_root: true,
      token_file: join(folder, 'gone'),
      'shell.command': {
        ...{ root: join(folder, 'gone'), programs: ['/bin/sh', '/bin/gone'] },
        task_env: ['MODE', 'LD_PRELOAD'],
      },
      'http.request': { hosts: ['a'], credentials: [{ host: 'a', env: 'NOT_SET' }] },
    });
    const { code, text } = await said(['--check', '--config', wrong]);
    expect(code).to.equal(1);
    expect(text).to.include('warning: shell.command: programs: /bin/sh runs whatever');
    expect(text).to.include('warning: shell.command: task_env: LD_PRELOAD decides what programs');
    expect(text).not.to.include('MODE decides');
    expect(text).to.include('wrong: shell.command: root: ');
    expect(text).to.include('wrong: shell.command: programs: /bin/gone is no program');
    expect(text).to.include('wrong: http.request: credentials.0: NOT_SET is empty');
    expect(text).to.include('wrong: token_file: ');
    expect((await said(['--config', configure({ allow_root: true })])).text).to.include(
      'nothing is enabled',
    );
  });

  it('does not run as root unless it is told to', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const { code, text } = await said(['--config', configure(all({ allow_root: undefined }))]);
    expect(code).to.equal(1);
    expect(text).to.include('this is root');
  });

  it('runs tasks of its types, and stops when it is told to', async () => {
    const executor = start(['--config', configure(all())]);
    const content = 'read params; echo "{\\"got\\":$params}"';
    writeFileSync(join(folder, 'scripts/a.sh'), content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    await master.submit({
      id: 'c',
      type: 'shell.command',
      params: { command: ['/bin/echo', 'hi'] },
    });
    const params = { name: 'a.sh', sha256, params: { n: [1] } };
    await master.submit({ id: 's', type: 'script', params });
    const url = 'http://127.0.0.1:2/';
    await master.submit({ id: 'h', type: 'http.request', params: { url } });
    expect((await ended('c'))['result']).to.include({ stdout: 'hi\n' });
    expect((await ended('s'))['result']).to.deep.include({ result: { got: { n: [1] } } });
    const refused = await ended('h');
    expect(refused).to.include({ failure_reason: 'non_retryable' });
    expect(refused['error']).to.deep.include({
      message:
        'refused: 127.0.0.1 is a loopback address; to allow it, add the host or its range to http.request.addresses',
    });
    // Written beside the commits: a moment behind the end, where the machine is quick.
    let log: Record<string, unknown>;
    do log = (await master.call('GET', '/task/c/logs')).body;
    while (log['ended'] !== true);
    expect(JSON.stringify(log)).to.include('hi');
    executor.signal('SIGTERM');
    expect(await executor.exited).to.deep.include({ code: 0 });
  });

  it('has definitions of its types that a master takes, and refuses by', async () => {
    const { text } = await said(['--types']);
    for (const document of parseAllDocuments(text)) {
      const { type, ...definition } = document.toJS() as { type: string };
      expect(await master.putType(type, definition), type).to.include({ status: 201 });
    }
    const odd = await master.submit({ type: 'shell.command', params: { command: 'rm -rf /' } });
    expect(odd.status).to.equal(400);
    expect(errorsOf(odd)[0]).to.include('command');
  });

  describe('that asks a server', () => {
    let server: Server;
    let begun: number;
    let isDone: boolean;
    let askedCount: number;

    beforeEach(async () => {
      [begun, isDone, askedCount] = [0, false, 0];
      server = createServer((request, response) => {
        if (request.method === 'POST') begun++;
        else askedCount++;
        response.end(JSON.stringify({ id: begun, state: isDone ? 'done' : 'working' }));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    afterEach(() => {
      server.close();
      server.closeAllConnections();
    });

    it('asks on after a kill, and begins nothing twice', async () => {
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const hosts = { hosts: [new URL(base).host], addresses: ['127.0.0.1'] };
      const path = configure(all({ 'http.request': hosts }));
      const first = start(['--config', path]);
      const done = { at: '/state', equals: ['done'] };
      const poll = { url: `${base}/job/{id}`, id_at: '/id', interval_seconds: 0.2, done };
      const params = { method: 'POST', url: base, poll };
      await master.submit({ id: 'p', type: 'http.request', params });
      await eventually('the master has the checkpoint', async () => {
        const { body } = await master.call('GET', '/task/p');
        return body['checkpoint'] !== null && askedCount > 0;
      });
      await first.end();
      const before = askedCount;
      start(['--config', path]);
      await eventually('it is asked on', () => askedCount > before);
      isDone = true;
      expect(await ended('p')).to.deep.include({ state: 'succeeded', attempt: 2 });
      expect(begun).to.equal(1);
    });
  });
});
