/** `soda doctor`: that what it says is so, and that its advice can be followed. */
import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FakeHttpApi, problem } from '../helpers/fake-http-api.ts';
import { SodaCommand, soda } from '../helpers/soda-command.ts';

describe('soda doctor', function () {
  let api: FakeHttpApi;
  let folder: string;
  let command: SodaCommand;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'soda-doctor-'));
    command = new SodaCommand(folder);
  });
  beforeEach(async () => {
    api = new FakeHttpApi();
    await api.start();
  });
  afterEach(async () => {
    command.killAll();
    await api.stop();
  });
  after(() => rm(folder, { recursive: true }));

  /** What it finds, as `check` -> `state: detail`. */
  async function examine(env: Record<string, string> = {}) {
    const { out, code } = await command.run(['doctor', '--json'], { SODA_URL: api.url, ...env });
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
    api.intercept = (_request, usual) => {
      const [status, body] = usual() as [number, unknown];
      return [status, body, { date: new Date(Date.now() - 120_000).toUTCString() }];
    };
    const ill = await examine({ SODA_DATABASE_URL: 'mysql://root:secret@127.0.0.1:1/soda' });
    for (const check of ['clock', 'database']) expect(ill.found[check]).to.match(/^failed: /);
    expect(ill.code).to.equal(1);
    expect(ill.out).to.not.include('secret');
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

  it('tells a master that is not there from a port that somebody else has', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const port = String((silent.address() as AddressInfo).port);
    const there = { SODA_URL: `http://127.0.0.1:${port}`, SODA_PORT: port };
    const other = await examine(there);
    silent.close();
    for (const socket of sockets) socket.destroy();
    await once(silent, 'close');
    const nobody = await examine(there);
    expect(nobody.found['master']).to.match(/^failed: .*ECONNREFUSED.*start one with: soda dev$/);
    expect(nobody.found['port']).to.match(/^ok: /);
    expect(other.found['master']).to.match(
      /^failed: .*\(none within 3 s\); something else listens/,
    );

    api.intercept = () => [200, { hello: 'world' }];
    expect((await examine()).found['master']).to.include('but not as a master does');
  });

  it('looks whether the data directory can be written to', async () => {
    const dataIn = async (directory: string) =>
      (await examine({ SODA_DATA_DIR: directory })).found['data'];
    expect(await dataIn(folder)).to.match(/^ok: /);
    expect(await dataIn(path.join(folder, 'none'))).to.match(/^warning: .* is not there yet$/);
    expect(await dataIn(path.join(soda, 'below-a-file'))).to.match(/^failed: .*set SODA_DATA_DIR/);
  });
});
