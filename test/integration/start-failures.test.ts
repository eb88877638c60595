/** Why a master could not start: one line of its log says so, whatever it was. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { loadConfig, runMaster } from '@soda-scheduler/master';
import Libsql from 'libsql';
import { expect } from 'chai';
import { startMariadb, useMariadb } from '../helpers/mariadb.ts';
import { SodaCommand } from '../helpers/soda/command.ts';

describe('a master that cannot start', () => {
  let folder: string;
  let commands: SodaCommand;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'soda-start-'));
    commands = new SodaCommand(folder);
  });

  afterEach(() => {
    commands.killAll();
    rmSync(folder, { recursive: true });
  });

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

  it('says that no data directory can be made where it is to be', async () => {
    // In a process of its own, which can be killed should it not end.
    const dataDir = '/proc/soda/data';
    const ended = await commands.spawned(['master', '--port', '0', '--data-dir', dataDir]);
    expect(ended.code, ended.err).to.equal(1);
    expect(ended.err).to.match(
      /data directory \/proc\/soda\/data cannot be made \(E\w+\): set SODA/,
    );
  });

  it('says that its secret is none', async () => {
    writeFileSync(join(folder, 'notify-secret'), 'nonsense');
    expect(await failedStart({})).to.contain('does not hold a whsec_ secret');
  });

  /** After a master had it. */
  async function changeDatabase(sql: string) {
    const outcome = loadConfig({ env: { SODA_PORT: '0', SODA_DATA_DIR: folder }, flags: {} });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('\n'));
    await (await runMaster(outcome.config, { logTo: new PassThrough().resume() })).stop();
    const database = new Libsql(join(folder, 'soda.db'));
    database.exec(sql);
    database.close();
  }

  it('says that the schema is newer than it is', async () => {
    await changeDatabase('UPDATE schema_version SET version = 1000');
    expect(await failedStart({})).to.match(/1000/);
  });

  it('says which column its database has not', async () => {
    await changeDatabase('ALTER TABLE task DROP COLUMN hidden_ms');
    expect(await failedStart({})).to.contain('no column hidden_ms in task');
  });

  it('says that tasks wait where nothing tells what they need', async () => {
    await changeDatabase(`INSERT INTO task (seq, id, type, lane, labels, requires, request_hash,
      submitted_at, params, state, order_time, due_at, lane_seq, user_group, max_attempts,
      retry_interval, assign_timeout_ms, version, priority, attempt, attempts_used, crash_count)
      VALUES (1, 'a', 't', '', '[]', '[]', '',
      0, '{}', 'waiting', 0, 0, 77, 'g', 1, '1', 1, 1, 0, 0, 0, 0)`);
    expect(await failedStart({})).to.match(/lane 77.*no row: restore a backup/);
  });

  it('says that nothing tells whose term it is', async () => {
    await changeDatabase('DELETE FROM namespace');
    expect(await failedStart({})).to.match(/no row of its first namespace/);
  });

  const file = () => join(folder, 'soda.db');
  const spoilt: readonly (readonly [what: string, make: () => void, says: RegExp])[] = [
    ['a directory', () => mkdirSync(file()), /soda\.db is a directory/],
    ['a pipe', () => void spawnSync('mkfifo', [file()]), /soda\.db is no regular file/],
    ['no database', () => writeFileSync(file(), 'words, '.repeat(999)), /no SQLite.*restore a ba/],
  ];
  for (const [what, make, says] of spoilt) {
    it(`says that its database is ${what}`, async () => {
      make();
      expect(await failedStart({})).to.match(says);
    });
  }

  it('says that its database is damaged', async () => {
    await changeDatabase('VACUUM');
    const bytes = readFileSync(file());
    writeFileSync(file(), bytes.fill('x', 4096));
    expect(await failedStart({})).to.match(/soda\.db is damaged.*restore a backup/);
  });

  it('says that its database is of another program, and makes nothing in it', async () => {
    const other = new Libsql(file());
    other.exec('CREATE TABLE bookmarks (url TEXT)');
    other.close();
    expect(await failedStart({})).to.match(/another program, with bookmarks/);
    const database = new Libsql(file());
    const names = database.prepare('SELECT name FROM sqlite_master').pluck().all();
    database.close();
    expect(names).to.deep.equal(['bookmarks']);
  });

  describe('on MariaDB', function () {
    const server = useMariadb();

    it('says that the password is wrong', async () => {
      const url = new URL(await server.url());
      url.username = 'nobody';
      url.password = 'wrong-password';
      const reason = await failedStart({ SODA_DATABASE_URL: url.href });
      expect(reason)
        .to.match(/refuses: Access denied/)
        .and.not.to.contain('wrong-password');
    });

    it('says that the certificate of the server is not trusted', async function () {
      const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
      const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost'];
      const made = spawnSync('openssl', [...request, '-keyout', key, '-out', certificate]);
      if (made.status !== 0) this.skip();
      const secure = await startMariadb([`--ssl-key=${key}`, `--ssl-cert=${certificate}`]);
      try {
        const url = new URL((await secure?.url()) ?? '');
        url.search = '?ssl=true';
        expect(await failedStart({ SODA_DATABASE_URL: url.href })).to.match(
          /certificate is not trusted \(self.signed certificate.*\): .*\?ssl=<file>/,
        );
      } finally {
        await secure?.stop();
      }
    });
  });
});
