/** Why a master could not start: one line of its log says so, whatever it was. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { loadConfig, runMaster } from '@soda-scheduler/master';
import Libsql from 'libsql';
import { expect } from 'chai';
import { type Mariadb, startMariadb } from '../helpers/mariadb.ts';

describe('a master that cannot start', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'soda-start-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  /** What its log says, and what it threw. */
  async function failedStart(env: Record<string, string>) {
    const outcome = loadConfig({
      env: { SODA_PORT: '0', SODA_DATA_DIR: folder, ...env },
      flags: {},
    });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('\n'));
    const logTo = new PassThrough();
    const error: unknown = await runMaster(outcome.config, { logTo }).then(
      async (master) => {
        await master.stop();
        return null;
      },
      (thrown: unknown) => thrown,
    );
    const lines = String(logTo.read() ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ event }) => event)).not.to.include('ready');
    const ended = lines.filter(({ event }) => event === 'ended');
    expect(ended, 'one line').to.have.length(1);
    expect(ended[0]).to.include({ level: 'error', reason: (error as Error).message });
    return String(ended[0]?.['reason']);
  }

  it('says that its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await failedStart({ SODA_PORT: String(port) })).to.contain(`port ${port} of 127.0.0.1`);
    other.close();
    await once(other, 'close');
  });

  it('says that its data directory is none', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(await failedStart({ SODA_DATA_DIR: file })).to.contain(file);
  });

  it('says that its secret is none', async () => {
    writeFileSync(join(folder, 'notify-secret'), 'nonsense');
    expect(await failedStart({})).to.contain('does not hold a whsec_ secret');
  });

  it('says that the schema is newer than it is', async () => {
    const outcome = loadConfig({ env: { SODA_PORT: '0', SODA_DATA_DIR: folder }, flags: {} });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('\n'));
    await (await runMaster(outcome.config, { logTo: new PassThrough().resume() })).stop();
    const database = new Libsql(join(folder, 'soda.db'));
    database.exec('UPDATE schema_version SET version = 1000');
    database.close();
    expect(await failedStart({})).to.match(/1000/);
  });

  describe('on MariaDB', function () {
    this.timeout(60_000);
    let server: Mariadb | null;

    before(async function () {
      server = await startMariadb();
      if (server === null) this.skip();
    });

    after(() => server?.stop());

    it('says that the password is wrong', async () => {
      const url = new URL((await server?.url()) ?? '');
      url.username = 'nobody';
      url.password = 'wrong-password';
      const reason = await failedStart({ SODA_DATABASE_URL: url.href });
      expect(reason)
        .to.match(/refuses: Access denied/)
        .and.not.to.contain('wrong-password');
    });
  });
});
