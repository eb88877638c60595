/**
 * How a schema comes to be: as a whole, again from wherever an earlier start was cut off, and never
 * upon tables of which nothing says what made them.
 */
import { expect } from 'chai';
import knex from 'knex';
import Libsql from 'libsql';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreUnusable } from '../../master/application/ports.ts';
import { NO_SETTINGS } from '../../master/domain/state/state.ts';
import { useMariadb } from '../helpers/mariadb.ts';
import { TcpProxy } from '../helpers/tcp-proxy.ts';
import { NOW, notificationOf } from '../helpers/task.ts';
import { commit, DAY_MS, failureOf, finish, finished, task } from './sample.ts';
import { type DefaultStore, openDefault } from './subjects.ts';

const STORE_2_0_0 = new URL('../fixtures/store-2.0.0.mysql.sql', import.meta.url);
const TODAY = 'task_history_20261120';
const TOMORROW = 'task_history_20261121';
const INDEXES = ['ns_id', 'state', 'ns_notify'];

describe('SQL schema: SQLite', function () {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-schema-'));
    file = join(folder, 'soda.db');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** A master's time on the file. */
  async function withStore<T>(work: (store: DefaultStore) => Promise<T>): Promise<T> {
    const store = await openDefault({ url: `sqlite:${file}`, allowWeakDurability: false });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  /** The file in other hands, between two masters. */
  function withFile<T>(work: (database: Libsql.Database) => T): T {
    const database = new Libsql(file);
    try {
      return work(database);
    } finally {
      database.close();
    }
  }

  /** Tables and indexes whose names begin so. */
  const names = (prefix: string) =>
    withFile((database) =>
      (
        database
          .prepare('SELECT name FROM sqlite_master WHERE substr(name, 1, ?) = ? ORDER BY name')
          .all([prefix.length, prefix]) as { name: string }[]
      ).map(({ name }) => name),
    );
  const whole = (table: string) => [table, ...INDEXES.map((index) => `${table}_${index}`)].sort();

  it('completes segments that a version before left without some of their indexes', async () => {
    const ended = finished(task(1, { notifyUrl: 'http://a.example/' }));
    await withStore(async (store) => {
      const { term } = await store.takeTerm('m-1', NOW);
      await store.prepareSegments(NOW - 9 * DAY_MS);
      await store.commit(commit(term, { finishes: [finish(ended, notificationOf(ended), false)] }));
      const brief = finished(task(2), { retention: 'short' });
      await store.commit(commit(term, { finishes: [finish(brief, null, false)] }));
    });
    // As it was left by a process that ended after the table, and after each of the indexes.
    const lost = [
      ['task_history_20261112', ['ns_notify']],
      [TODAY, ['state', 'ns_notify']],
      ['task_history_short_20261120', ['state', 'ns_notify']],
      [TOMORROW, INDEXES],
    ] as const;
    for (const [table, indexes] of lost) {
      withFile((database) => {
        for (const index of indexes) database.exec(`DROP INDEX ${table}_${index}`);
      });
    }
    await withStore(async (store) => {
      expect((await store.takeTerm('m-2', NOW)).term).to.equal(2);
      expect((await store.readTask('t-2'))?.task.retention).to.equal('short');
      expect((await store.loadNotifications(null, 9)).map(({ taskId }) => taskId)).to.deep.equal([
        't-1',
      ]);
    });
    for (const [table] of lost) expect(names(table)).to.deep.equal(whole(table));
  });

  it('makes a segment as a whole or not at all, and makes it later', async () => {
    await withStore((store) => store.takeTerm('m-1', NOW));
    const day = 'task_history_20261130';
    // Of the name of its last index: making that fails, as it would on a full disk.
    withFile((database) => database.exec(`CREATE TABLE ${day}_ns_notify (a)`));
    const then = NOW + 10 * DAY_MS;
    await withStore(async (store) => {
      const failure = await failureOf(store.prepareSegments(then));
      expect(failure.message).to.match(/already a table/);
      await store.takeTerm('m-2', NOW);
      expect(await store.loadNotifications(null, 9)).to.deep.equal([]);
    });
    expect(names(day)).to.deep.equal([`${day}_ns_notify`]);
    withFile((database) => database.exec(`DROP TABLE ${day}_ns_notify`));
    await withStore((store) => store.prepareSegments(then));
    expect(names(day)).to.deep.equal(whole(day));
  });

  it('makes segments ahead of the classes that namespaces have', async () => {
    const short = (day: number) => `task_history_short_${day}`;
    await withStore(async (store) => {
      await store.open(NOW);
      const films = { ...NO_SETTINGS, name: 'films', createdAt: NOW, retention: 'short' } as const;
      const { id } = await store.createNamespace(films);
      await store.prepareSegments(NOW);
      await store.deleteNamespace(id);
      await store.prepareSegments(NOW + DAY_MS);
    });
    for (const day of [20261120, 20261121])
      expect(names(short(day))).to.deep.equal(whole(short(day)));
    expect(names(short(20261122))).to.deep.equal([]);
    expect(names('task_history_20261122')).to.deep.equal(whole('task_history_20261122'));
  });

  it('makes nothing at a start where nothing is missing, however long the history', async () => {
    await withStore(async (store) => {
      await store.takeTerm('m-1', NOW);
      for (let day = 1; day <= 50; day++) await store.prepareSegments(NOW - day * DAY_MS);
    });
    // The file counts the changes of its schema.
    const changes = () => withFile((database) => database.pragma('schema_version'));
    const before = changes();
    await withStore((store) => store.takeTerm('m-2', NOW));
    expect(changes()).to.deep.equal(before);
  });

  it('takes no step of the schema by halves', async () => {
    // Of the name of an index that the first step makes last but one.
    withFile((database) =>
      database.exec(`CREATE TABLE schema_version (id, version); CREATE TABLE task_deadline (a);
        INSERT INTO schema_version VALUES (1, 0)`),
    );
    await withStore(async (store) => {
      const failure = await failureOf(store.takeTerm('m-1', NOW));
      expect(failure.message).to.match(/already a table/);
    });
    expect(names('task')).to.deep.equal(['task_deadline']);
    withFile((database) => database.exec('DROP TABLE task_deadline'));
    await withStore(async (store) => {
      expect((await store.takeTerm('m-1', NOW)).term).to.equal(1);
    });
  });

  it('begins no count of terms again where the first step is taken twice', async () => {
    await withStore((store) => store.takeTerm('m-1', NOW));
    withFile((database) => database.exec('UPDATE schema_version SET version = 0'));
    await withStore(async (store) => {
      expect((await store.takeTerm('m-2', NOW)).term).to.equal(2);
    });
  });

  it('refuses tables without a column that it needs, and takes them once they have it', async () => {
    await withStore((store) => store.takeTerm('m-1', NOW));
    const refusal = () =>
      withStore(async (store) => {
        const failure = await failureOf(store.takeTerm('m-2', NOW));
        expect(failure).to.be.instanceOf(StoreUnusable);
        return failure.message;
      });
    for (const [loss, what] of [
      ['ALTER TABLE task DROP COLUMN hidden_ms', 'no column hidden_ms in task'],
      [`ALTER TABLE ${TODAY} DROP COLUMN notify_since`, `no column notify_since in ${TODAY}`],
      ['DROP TABLE installation', 'no table installation'],
      ['DROP TABLE usage_day', 'no table usage_day'],
    ] as const) {
      withFile((database) => database.exec(loss));
      const message = await refusal();
      expect(message).to.contain(what);
      const remedy = /UPDATE schema_version SET version = \d+/.exec(message)?.[0] ?? '';
      withFile((database) => database.exec(remedy));
      await withStore((store) => store.takeTerm('m-2', NOW));
    }
    withFile((database) => database.exec('ALTER TABLE namespace DROP COLUMN owner'));
    expect(await refusal()).to.match(/no column owner in namespace: .* restore a backup/);
    expect(await refusal()).not.to.contain('UPDATE');
  });

  it('refuses tables of which nothing says what version made them', async () => {
    await withStore((store) => store.takeTerm('m-1', NOW));
    for (const loss of ['DELETE FROM schema_version', 'DROP TABLE schema_version']) {
      withFile((database) => database.exec(loss));
      await withStore(async (store) => {
        const failure = await failureOf(store.takeTerm('m-2', NOW));
        expect(failure).to.be.instanceOf(StoreUnusable);
        expect(failure.message).to.match(
          /has .*namespace, occurrence, pause, rate, saved_view, shared_limit, task, .*no row in schema_version.*backup/,
        );
      });
      const [row] = withFile((database) =>
        database.prepare('SELECT term, owner FROM namespace').all([]),
      );
      expect(row).to.deep.equal({ term: 1, owner: 'm-1' });
    }
  });
});

describe('SQL schema: MariaDB', function () {
  const server = useMariadb();

  /** Two masters, and another client of their database. */
  async function withBoth(
    work: (store: DefaultStore, client: knex.Knex, later: DefaultStore) => Promise<void>,
  ) {
    const url = await server.url();
    const client = knex({ client: 'mysql2', connection: url, pool: { min: 0, max: 1 } });
    const store = await openDefault({ url, allowWeakDurability: false });
    const later = await openDefault({ url, allowWeakDurability: false });
    try {
      await work(store, client, later);
    } finally {
      await store.close();
      await later.close();
      await client.destroy();
    }
  }

  it('refuses tables of which nothing says what version made them', () =>
    withBoth(async (store, client, later) => {
      await store.takeTerm('m-1', NOW);
      await client('schema_version').delete();
      const failure = await failureOf(later.takeTerm('m-2', NOW));
      expect(failure).to.be.instanceOf(StoreUnusable);
      expect(failure.message).to.match(
        /has .*namespace, occurrence, pause, rate, saved_view, shared_limit, task, .*no row in schema_version.*backup/,
      );
      expect(await client('namespace').first('term')).to.deep.equal({ term: 1 });
    }));

  it('refuses tables without a column that it needs, but not of one that has served', () =>
    withBoth(async (store, client, later) => {
      const { term } = await store.takeTerm('m-1', NOW);
      await client.raw(`ALTER TABLE ${TODAY} DROP COLUMN notify_since`);
      const failure = await failureOf(later.takeTerm('m-2', NOW));
      expect(failure).to.be.instanceOf(StoreUnusable);
      expect(failure.message).to.contain(`no column notify_since in ${TODAY}`);
      expect((await store.takeTerm('m-1', NOW, term)).term).to.equal(term + 1);
      await client('schema_version').update({ version: 1 });
      expect((await later.takeTerm('m-2', NOW)).term).to.equal(term + 2);
    }));

  it('takes a row of the term that is missing for no other master', () =>
    withBoth(async (store, client, later) => {
      const { term } = await store.takeTerm('m-1', NOW);
      await client('namespace').delete();
      for (const ask of [
        () => store.commit(commit(term, {})),
        () => store.commit(commit(term, { inserts: [task(1)] })),
        () => store.takeTerm('m-1', NOW, term),
      ]) {
        const failure = await failureOf(ask());
        expect(failure.name, 'it waits for the row').to.equal('Error');
        expect(failure.message).to.match(/namespace has no row/);
      }
      expect(await failureOf(later.takeTerm('m-2', NOW))).to.be.instanceOf(StoreUnusable);
    }));

  it('begins no count of terms again where the first step is taken twice', () =>
    withBoth(async (store, client, later) => {
      await store.takeTerm('m-1', NOW);
      await client('schema_version').update({ version: 0 });
      expect((await later.takeTerm('m-2', NOW)).term).to.equal(2);
    }));

  it('keeps the lock of a migration however long a step takes', () =>
    withBoth(async (store, client, later) => {
      await store.takeTerm('m-1', NOW);
      await client.raw('ALTER TABLE task DROP COLUMN hidden_ms');
      await client('schema_version').update({ version: 1 });
      const lock = `CONCAT('soda_scheduler:', MD5(DATABASE()))`;
      const others = `SELECT ID AS id, COMMAND AS command, INFO AS info
        FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()`;
      // Whoever reads a table keeps it from being altered.
      const reading = await client.transaction();
      await reading('task').select();
      const taken = later.takeTerm('m-2', NOW);
      for (;;) {
        const [rows] = await reading.raw(others);
        if (!rows.some(({ info }: { info: string | null }) => info?.startsWith('ALTER'))) continue;
        // What the server does with those that have said nothing for long.
        for (const { id, command } of rows)
          if (command === 'Sleep') await reading.raw(`KILL ${id}`);
        break;
      }
      const [[rival]] = await reading.raw(`SELECT GET_LOCK(${lock}, 0) AS taken`);
      await reading.commit();
      await taken.catch(() => undefined);
      expect(rival, 'no other master is let in').to.deep.equal({ taken: 0 });
    }));

  it('drops at its next try what could not be dropped at first', () =>
    withBoth(async (store, client) => {
      await store.takeTerm('m-1', NOW);
      await client.raw(
        `CREATE TABLE holder (seq BIGINT, FOREIGN KEY (seq) REFERENCES ${TODAY} (seq))`,
      );
      const later = NOW + 9 * DAY_MS;
      expect((await failureOf(store.dropSegments('normal', later))).message).to.match(
        /foreign key/,
      );
      expect((await store.findIds(['t-1'])).size, 'it can be read without').to.equal(0);
      await client.raw('DROP TABLE holder');
      expect(await store.dropSegments('normal', later)).to.be.at.least(1);
      expect(await store.dropSegments('normal', later)).to.equal(0);
    }));

  /** A master's start that is over at the first write that none before it has come to; whether there was one. */
  async function cutOff(url: string, known: Set<string>): Promise<boolean> {
    const proxy = await TcpProxy.start(Number(new URL(url).port));
    proxy.cutAtNewWrite(known);
    const way = new URL(url);
    way.port = String(proxy.port);
    const store = await openDefault({ url: way.href, allowWeakDurability: false });
    try {
      await store.takeTerm('m-cut', NOW);
      return false;
    } catch (error) {
      if (!proxy.wasReached) throw error;
      return true;
    } finally {
      await store.close();
      await proxy.close();
    }
  }

  /** Of starts in a row, each cut off one write behind the one before it, until one comes to its end; how many there were. */
  async function cutOffAtEach(url: string): Promise<number> {
    const known = new Set<string>();
    while (await cutOff(url, known));
    return known.size;
  }

  /** Tables, with their columns and indexes. */
  async function namesIn(url: string): Promise<string[]> {
    const client = knex({ client: 'mysql2', connection: url });
    const [rows] = await client.raw(`SELECT TABLE_NAME AS made, COLUMN_NAME AS name
      FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()
      UNION ALL SELECT TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS
      WHERE TABLE_SCHEMA = DATABASE()`);
    await client.destroy();
    return rows.map(({ made, name }: Record<string, string>) => `${made} ${name}`).sort();
  }

  it('is begun again by the next master when one is cut off after any statement of its first start', async () => {
    const [url, whole] = [await server.url(), await server.url()];
    expect(await cutOffAtEach(url), 'all its statements were tried').to.be.above(80);
    for (const each of [url, whole]) {
      const store = await openDefault({ url: each, allowWeakDurability: false });
      const { term } = await store.takeTerm('m-next', NOW);
      await store.commit(commit(term, { inserts: [task(1)] }));
      expect((await store.readTask('t-1'))?.task).to.deep.equal(task(1));
      expect(await store.loadNotifications(null, 1)).to.deep.equal([]);
      await store.close();
    }

    expect(await namesIn(url)).to.deep.equal(await namesIn(whole));
  });

  it('goes on with a store of 2.0.0 when one is cut off after any statement of its migration', async () => {
    const script = await readFile(STORE_2_0_0, 'utf8');
    const [url, whole] = [await server.url(), await server.url()];
    for (const each of [url, whole]) {
      const client = knex({ client: 'mysql2', connection: `${each}?multipleStatements=true` });
      await client.raw(script);
      // Higher than the starts of this test raise it: one that fell in between would come to it again.
      await client.raw('UPDATE master SET term = 1000');
      await client.destroy();
    }
    const cutCount = await cutOffAtEach(url);
    expect(cutCount, 'all its statements were tried').to.be.above(100);
    for (const each of [url, whole]) {
      const store = await openDefault({ url: each, allowWeakDurability: false });
      // Each start raises it at most twice, as long as there is a row of 2.0.0.
      expect((await store.takeTerm('m-next', NOW)).term).to.be.within(1_001, 1_002 + 2 * cutCount);
      expect((await store.readTask('kept'))?.task.state).to.equal('waiting');
      expect((await store.readTask('ended'))?.task.state).to.equal('succeeded');
      await store.close();
    }

    expect(await namesIn(url)).to.deep.equal(await namesIn(whole));
  });
});
