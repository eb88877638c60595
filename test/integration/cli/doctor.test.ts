/** `soda doctor`: that what it says is so, and that its advice can be followed. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { problem } from '../../helpers/fake-http-api.ts';
import { sharedMariadb } from '../../helpers/mariadb.ts';
import { commandSuite, soda } from '../../helpers/soda/command.ts';

describe('soda doctor', function () {
  const { api, folder, spawned, run } = commandSuite();

  let bin: string;
  before(() => {
    // A real ffmpeg takes longer to start than all else of an examination.
    bin = mkdtempSync(path.join(tmpdir(), 'soda-bin-'));
    const says = "#!/bin/sh\necho 'ffmpeg version 0.0 of this test'\necho more\n";
    writeFileSync(path.join(bin, 'ffmpeg'), says, { mode: 0o755 });
  });
  after(() => rmSync(bin, { recursive: true }));

  /** What it finds, as `check` -> `state: detail`. */
  async function examine(env: Record<string, string> = {}, by = run) {
    const { out, code } = await by(['doctor', '--json'], { PATH: bin, ...env });
    const findings = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<'check' | 'state' | 'detail', string>);
    const found = Object.fromEntries(
      findings.map(({ check, state, detail }) => [check, `${state}: ${detail}`]),
    );
    return { code, out, found };
  }

  it('finds what is wrong', async () => {
    const well = await examine();
    for (const check of ['node', 'master', 'clock']) expect(well.found[check]).to.match(/^ok: /);
    expect(well.code).to.equal(0);
    expect(well.found['ffmpeg']).to.equal('ok: ffmpeg version 0.0 of this test');
    const without = await examine({ PATH: path.join(bin, 'none') });
    expect(without.found['ffmpeg']).to.match(/^warning: not found; the video examples need it/);
    api.intercept = (_request, usual) => {
      const [status, body] = usual() as [number, unknown];
      return [status, body, { date: new Date(Date.now() - 120_000).toUTCString() }];
    };
    const ill = await examine({ SODA_DATABASE_URL: 'mysql://root:secret@127.0.0.1:1/soda' });
    for (const check of ['clock', 'database']) expect(ill.found[check]).to.match(/^failed: /);
    expect(ill.code).to.equal(1);
    expect(ill.out).to.not.include('secret');
    const odd = await examine({ SODA_DATABASE_URL: 'mysql://root:sec/ret@127.0.0.1:1/soda' });
    expect(odd.found['database'])
      .to.match(/^failed: .*%2F for \//)
      .and.not.to.include('ret');
  });

  it('says why a master is not ready, and of which version it is', async () => {
    const detail = 'The master is recovering: the store has not answered (its disk is full).';
    api.intercept = ({ path: route }, usual) => {
      if (route === '/openapi.json') return [200, { info: { version: '2.1.0' } }];
      return route === '/readyz' ? problem(503, detail) : usual();
    };
    const { found, code } = await examine();
    expect(found['master']).to.equal(`failed: ${api.url}, ${detail.slice(0, -1)}, version 2.1.0`);
    expect(code).to.equal(1);
  });

  it('says what the token opens', async () => {
    const open = (...tokens: (string | undefined)[]) => {
      api.intercept = ({ path: route, headers }, usual) => {
        const token = headers.authorization?.slice('Bearer '.length);
        if (route === '/readyz' || route === '/openapi.json') return usual();
        if (!tokens.includes(token)) return problem(401, 'no');
        return token === 'submit' && route === '/executors' ? problem(403, 'no') : usual();
      };
    };
    const tokenIn = async (env: Record<string, string>) => (await examine(env)).found['token'];
    open('admin', 'submit');
    expect(await tokenIn({ SODA_TOKEN: 'admin' })).to.equal('ok: the admin token');
    expect(await tokenIn({ SODA_TOKEN: 'submit' })).to.equal('ok: the submit token');
    expect(await tokenIn({ SODA_TOKEN: 'other' })).to.match(/^failed: .* does not know the one/);
    expect(await tokenIn({})).to.match(/^failed: this master wants one: set SODA_TOKEN/);
    expect((await examine()).code).to.equal(1);
    open(undefined);
    expect(await tokenIn({})).to.match(/^ok: none is needed/);
  });

  it('says which duties of the master fail, or are not done in time', async () => {
    const dutiesOf = async (...duties: object[]) => {
      api.intercept = ({ path: route }, usual) =>
        route === '/governance' ? [200, { duties }] : usual();
      return (await examine()).found['duties'];
    };
    const well = { name: 'a', interval: 10, overdue: false, runs: 0, last: null };
    const last = { at: '2027-01-15T08:00:00.000Z', took: 1, found: 0, done: 0, error: 'Error: no' };
    expect(await dutiesOf(well, { ...well, interval: null })).to.equal(
      'ok: all 2 are done in time',
    );
    expect(await dutiesOf(well, { ...well, name: 'b', last })).to.equal(
      'warning: b has failed: Error: no; docs/operations.md says what it is for',
    );
    const late = { ...well, overdue: true };
    expect(await dutiesOf(late)).to.match(/^warning: a was not done since the master has started/);
    expect(await dutiesOf({ ...late, last: { ...last, error: null } })).to.match(
      /^warning: a was done at 2027-01-15T08:00:00.000Z last, and is due every 10 s/,
    );
  });

  it('says what of the master is nearly full', async () => {
    const boundsOf = async (used: Record<string, number>) => {
      const samples = Object.entries(used).flatMap(([bound, value]) => [
        `scheduler_bound_used{bound="${bound}"} ${value}`,
        `scheduler_bound_limit{bound="${bound}"} 1e+6`,
      ]);
      api.intercept = ({ path: route }, usual) =>
        route === '/metrics'
          ? [200, `${samples.join('\n')}\n`, { 'content-type': 'text/plain' }]
          : usual();
      const { found, code } = await examine();
      expect(code, 'a warning is no failure').to.equal(0);
      return found['bounds'];
    };
    expect(await boundsOf({ a_bytes: 790_000, b_count: 0 })).to.equal(
      'ok: all 2 are less than 80 % full',
    );
    expect(await boundsOf({ a_bytes: 800_000, b_count: 0 })).to.match(
      /^warning: a_bytes is 80 % full/,
    );
    expect(await boundsOf({}), 'of an older master nothing is known').to.equal(undefined);
  });

  it('tells a master that is not there from a port that somebody else has', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const there = { SODA_URL: `http://127.0.0.1:${port}` };
    const other = await examine(there);
    silent.close();
    for (const socket of sockets) socket.destroy();
    await once(silent, 'close');
    // By a process that has no connection left from before.
    const nobody = await examine(there, spawned);
    expect(nobody.found['master']).to.match(/^failed: .*ECONNREFUSED.*: soda dev --port \d+$/);
    expect(nobody.found['port']).to.equal(`ok: ${port} is free`);
    const away = await examine({ SODA_URL: 'http://master.invalid:1' });
    expect(away.found['master']).to.match(/^failed: .*is this its address\?/);
    expect(away.found).to.not.have.property('port');
    expect(other.found['master']).to.match(
      /^failed: .*\(none within 3 s\); something listens there and does not answer: perhaps a master that/,
    );

    for (const said of [{ hello: 'world' }, { status: 'ok' }, null]) {
      api.intercept = () => [200, said];
      expect((await examine()).found['master']).to.include('but not as a master does');
    }
  });

  it('lets itself into the database that is named', async function () {
    const mariadb = await sharedMariadb();
    if (mariadb === null) return this.skip();
    const databaseAt = async (url: string) =>
      (await examine({ SODA_DATABASE_URL: url })).found['database'];
    const url = await mariadb.url();
    try {
      expect(await databaseAt(url)).to.match(/^ok: soda_test_\w+ at 127\.0\.0\.1:\d+ answers$/);
      expect(await databaseAt(`${url}_none`)).to.match(/^failed: .*Unknown database/);
      expect(await databaseAt(url.replace(':soda@', ':wrong@'))).to.match(/^failed: .*denied/);
    } finally {
      await mariadb.stop();
    }
  });

  it('looks whether the data directory can be written to', async () => {
    const dataIn = async (directory: string) =>
      (await examine({ SODA_DATA_DIR: directory })).found['data'];
    expect(await dataIn(folder)).to.match(/^ok: /);
    expect(await dataIn(path.join(folder, 'none'))).to.match(/^warning: .* is not there yet$/);
    expect(await dataIn(path.join(soda, 'below-a-file'))).to.match(/^failed: .*set SODA_DATA_DIR/);
    expect(readdirSync(folder), 'nothing is left of it').to.deep.equal([]);
  });

  it('notices that nothing can be written any more, as on a full disk', async function () {
    if (process.platform === 'win32') return this.skip();
    const script = 'ulimit -f 0; exec "$@"';
    const child = spawn('sh', ['-c', script, 'sh', process.execPath, soda, 'doctor', '--json'], {
      env: {
        ...process.env,
        SODA_URL: api.url,
        SODA_DATA_DIR: folder,
        SODA_DATABASE_URL: `sqlite:${folder}/soda.db`,
      },
    });
    const out = await text(child.stdout);
    for (const check of ['data', 'database']) {
      expect(out).to.match(
        new RegExp(
          `"check":"${check}","state":"failed","detail":"[^"]*cannot be written to \\(EFBIG`,
        ),
      );
    }
    expect(readdirSync(folder)).to.deep.equal([]);
  });
});
