/** What only stores of SQL must do: outlive crashes, refuse rivals, old versions and weak settings. */
import { expect } from 'chai';
import knex from 'knex';
import Libsql from 'libsql';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log, Position } from '../../master/application/ports.ts';
import { CommitConflict, StoreUnusable, TermLost } from '../../master/application/ports.ts';
import type { Mariadb } from '../helpers/mariadb.ts';
import { MARIADB_MISSING, startMariadb } from '../helpers/mariadb.ts';
import { copySegments } from '../helpers/store/segments.ts';
import { NOW, notificationOf } from '../helpers/task.ts';
import {
  commit,
  DAY_MS,
  everything,
  failureOf,
  finish,
  finished,
  lanePage,
  next,
  task,
} from './sample.ts';
import { type DefaultStore, openDefault } from './subjects.ts';

const opened: DefaultStore[] = [];

async function open(
  url: string,
  options: { readonly allowWeakDurability?: boolean; readonly log?: Log } = {},
): Promise<DefaultStore> {
  const store = await openDefault({ url, allowWeakDurability: false, ...options });
  opened.push(store);
  return store;
}

/** Keeps what an operator would read. */
class Lines implements Log {
  readonly lines: string[] = [];
  debug(): void {}
  info(): void {}
  warn(line: string): void {
    this.lines.push(line);
  }
  error(line: string): void {
    this.lines.push(line);
  }
}

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

describe('SQL store: URL', () => {
  it('is refused unless it names a file, or a database of a server', async () => {
    const wrong = ['', 'sqlite:', 'postgres://h/d', 'soda.db', 'mysql://u:p@h', 'mysql://u:p@h/'];
    for (const url of wrong) {
      expect(await failureOf(openDefault({ url, allowWeakDurability: false }))).to.be.instanceOf(
        StoreUnusable,
      );
    }
  });

  it('is refused with parameters that mean nothing, or name no certificates', async () => {
    const refusals = [
      ['timeout=5&ssl=true&tz=UTC', /no parameter but ssl in the URL, not timeout, tz$/],
      ['ssl=/no/such/ca.pem', /certificates of CAs: .*ENOENT/],
    ] as const;
    for (const [query, message] of refusals) {
      const url = `mysql://u:secret@h/d?${query}`;
      const failure = await failureOf(openDefault({ url, allowWeakDurability: false }));
      expect(failure).to.be.instanceOf(StoreUnusable);
      expect(failure.message).to.match(message).and.not.include('secret');
    }
  });
});

describe('SQL store: SQLite', function () {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-sqlite-'));
    file = join(folder, 'soda.db');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('finds after a crash what was committed before it', async () => {
    const store = await open(`sqlite:${file}`);
    const { term } = await store.takeTerm('m-1', NOW);
    await store.commit(commit(term, { inserts: [task(1), task(2)] }));
    await store.commit(commit(term, { finishes: [finish(finished(task(2)))] }));
    // What a killed process leaves behind: the file and its log, as they are now.
    const copy = join(folder, 'copy.db');
    await copyFile(file, copy);
    await copyFile(`${file}-wal`, `${copy}-wal`);
    const next = await open(`sqlite:${copy}`);
    expect(await next.takeTerm('m-2', NOW)).to.include({ term: 2, lastSeq: 2 });
    expect((await next.readTask('t-1'))?.task).to.deep.equal(task(1));
    expect((await next.readTask('t-2'))?.task).to.deep.equal(finished(task(2)));
  });

  it('can be opened again once it is closed', async () => {
    for (const term of [1, 2, 3]) {
      const store = await openDefault({ url: `sqlite:${file}`, allowWeakDurability: false });
      expect((await store.takeTerm('m', NOW)).term).to.equal(term);
      await store.close();
    }
  });

  it('refuses a second master for the same file', async () => {
    const store = await open(`sqlite:${file}`);
    await store.takeTerm('m-1', NOW);
    const log = new Lines();
    const rival = await open(`sqlite:${file}`, { log });
    const failure = await failureOf(rival.takeTerm('m-2', NOW));
    expect(failure).to.be.instanceOf(StoreUnusable);
    expect(failure.message).to.equal(`another master owns this file: ${file}`);
    expect(log.lines, 'whoever asked says it').to.deep.equal([]);
    await store.loadActive();
  });

  it('refuses a file that cannot be made, and one of a newer version', async () => {
    const nowhere = await open(`sqlite:${join(folder, 'no', 'such', 'folder.db')}`);
    expect(await failureOf(nowhere.takeTerm('m', NOW))).to.be.instanceOf(StoreUnusable);
  });

  it('leaves out rows that someone has spoilt, names them, and reads all others', async () => {
    const first = await open(`sqlite:${file}`);
    const { term } = await first.takeTerm('m-1', NOW);
    const active = task(6, { state: 'running', executorId: 'x', attempt: 1 });
    const inserts = [1, 2, 3, 4, 5].map((seq) => task(seq));
    await first.commit(commit(term, { inserts: [...inserts, active] }));
    await opened.pop()?.close();
    const database = new Libsql(file);
    const spoil = ['labels', 'retry_interval', 'params', 'error'];
    for (const [index, column] of spoil.entries()) {
      database.exec(`UPDATE task SET ${column} = '{"a' WHERE seq = ${index === 3 ? 6 : index + 1}`);
    }
    database.close();

    const log = new Lines();
    const store = await open(`sqlite:${file}`, { log });
    await store.takeTerm('m-1', NOW);
    expect(await store.loadActive()).to.deep.equal([]);
    expect((await store.countLanes()).map(({ count }) => count)).to.deep.equal([5]);
    const { lane } = task(1);
    const page = async (limit: number) =>
      (await lanePage(store, lane, null, NOW, limit)).map(({ seq }) => seq);
    expect(await page(1), 'a short page would be the last').to.deep.equal([4]);
    expect(await page(9)).to.deep.equal([4, 5]);
    expect((await store.loadDelayed(null, 1)).map(({ seq }) => seq)).to.deep.equal([4]);
    expect(await store.readTask('t-3')).to.equal(null);
    const listed = (await store.listTasks(everything)).tasks.map(({ task: { seq } }) => seq);
    expect(listed, 'a list has no params').to.deep.equal([5, 4, 3]);
    expect(log.lines).to.include('the row of a task cannot be read');
  });

  it('reads years of history, of which one statement may not name all', async () => {
    const first = await open(`sqlite:${file}`);
    await first.takeTerm('m-0', NOW);
    await first.close();
    const last = 600;
    copySegments(file, NOW, last);
    const store = await open(`sqlite:${file}`);
    const { term } = await store.takeTerm('m-1', NOW);
    const ended = [0, last].map((day, index) =>
      finished(task(index + 1, { notifyUrl: 'http://a.example/' }), {
        finishedAt: NOW - day * DAY_MS,
      }),
    );
    const finishes = ended.map((one) => finish(one, notificationOf(one), false));
    await store.commit(commit(term, { finishes }));
    const ids = Array.from({ length: 1000 }, (_, index) => `t-${index + 1}`);
    expect([...(await store.findIds(ids)).keys()].sort()).to.deep.equal(['t-1', 't-2']);
    expect((await store.readTask('t-2'))?.task).to.deep.equal(ended[1]);
    const due = async (after: Position | null, limit: number) =>
      (await store.loadNotifications(after, limit)).map(({ taskId }) => taskId);
    expect(await due(null, 10)).to.deep.equal(['t-2', 't-1']);
    expect(await due(null, 1)).to.deep.equal(['t-2']);
    expect((await store.takeTerm('m-2', NOW)).lastSeq).to.equal(2);
  });

  it('goes on after a commit that failed for a reason of its own', async () => {
    const store = await open(`sqlite:${file}`);
    const { term } = await store.takeTerm('m-1', NOW);
    const broken = task(1, { orderTime: 0.5 });
    const failure = await failureOf(store.commit(commit(term, { inserts: [task(2), broken] })));
    expect(failure).not.to.be.instanceOf(CommitConflict);
    await store.commit(commit(term, { inserts: [task(3)] }));
    expect([...(await store.findIds(['t-1', 't-2', 't-3'])).keys()]).to.deep.equal(['t-3']);
  });
});

describe('SQL store: MariaDB', function () {
  let server: Mariadb;
  let url: string;

  before(async function () {
    const started = await startMariadb(['--log-bin', '--sync-binlog=1']);
    if (started === null) {
      console.log(`    skipped: ${MARIADB_MISSING}`);
      this.skip();
    }
    server = started;
  });
  beforeEach(async () => {
    url = await server.url();
  });
  after(() => server?.stop());

  /** Another client of the same database. */
  async function withKnex(work: (client: knex.Knex) => Promise<void>): Promise<void> {
    const client = knex({ client: 'mysql2', connection: url, pool: { min: 0, max: 1 } });
    try {
      await work(client);
    } finally {
      await client.destroy();
    }
  }

  it('lets masters that start at the same time migrate once, each with a term of its own', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => open(url)));
    const taken = await Promise.all(
      stores.map((store, index) => store.takeTerm(`m-${index}`, NOW)),
    );
    expect(taken.map(({ term }) => term).sort((a, b) => a - b)).to.deep.equal([1, 2, 3]);
  });

  it('refuses the deposed master while the newer one writes', async () => {
    const [older, newer] = [await open(url), await open(url)];
    const first = await older.takeTerm('m-1', NOW);
    const second = await newer.takeTerm('m-2', NOW);
    await newer.commit(commit(second.term, { inserts: [task(1)] }));
    const late = failureOf(older.commit(commit(first.term, { updates: [next(task(1), {})] })));
    expect(await late).to.be.instanceOf(TermLost);
    expect((await newer.readTask('t-1'))?.task).to.deep.equal(task(1));
  });

  it('begins a term although a master stands still in a transaction', async () => {
    const [older, newer] = [await open(url), await open(url)];
    const { term } = await older.takeTerm('m-1', NOW);
    await older.commit(commit(term, { inserts: [task(1)] }));
    await withKnex(async (client) => {
      // As a commit begins; then its process is stopped.
      const frozen = await client.transaction();
      await frozen('namespace').forUpdate().select();
      await frozen('namespace').update({ writer: client.raw('CONNECTION_ID()') });
      await frozen('task').update({ priority: 7 });
      expect((await newer.takeTerm('m-2', NOW)).term).to.equal(term + 1);
      await frozen.commit().catch(() => undefined);
      expect((await newer.readTask('t-1'))?.task.priority).to.equal(task(1).priority);
    });
  });

  it('takes a store of 2.0.0, and its newest task for the time when it was last alive', async () => {
    const store = await open(url);
    const { term } = await store.takeTerm('m-1', NOW);
    await store.commit(commit(term, { inserts: [task(1, { submittedAt: NOW, dueAt: NOW })] }));
    await withKnex((client) => client('namespace').update({ alive_at: null }));
    await store.takeTerm('m-1', NOW - DAY_MS);
    expect((await store.readTask('t-1'))?.task.dueAt).to.be.below(NOW);
  });

  it('refuses a database of a newer version', async () => {
    const store = await open(url);
    await store.takeTerm('m-1', NOW);
    await withKnex((client) => client('schema_version').update({ version: 999 }));
    const failure = await failureOf((await open(url)).takeTerm('m-1', NOW));
    expect(failure).to.be.instanceOf(StoreUnusable);
    expect(failure.message).to.match(/schema version 999/);
  });

  it('repeats a commit that lost a deadlock', async () => {
    const store = await open(url);
    const { term } = await store.takeTerm('m-1', NOW);
    const tasks = Array.from({ length: 50 }, (_, index) => task(index + 1));
    await store.commit(commit(term, { inserts: tasks }));
    await withKnex(async (client) => {
      const rival = await client.transaction();
      // Much written: the server then picks the store as the victim.
      await rival('task').update({ priority: 1 });
      const waiting = store.commit(commit(term, { updates: [next(task(1), { attempt: 7 })] }));
      await untilBlocked(rival);
      await rival('namespace').forUpdate().select();
      await rival.rollback();
      await waiting;
    });
    expect((await store.readTask('t-1'))?.task.attempt).to.equal(7);
  });

  /** Until some transaction waits for a lock. */
  async function untilBlocked(rival: knex.Knex.Transaction): Promise<void> {
    for (;;) {
      const [rows] = await rival.raw(`SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'`);
      if (Number(rows[0].Value) > 0) return;
    }
  }

  it('refuses settings that could lose a commit, unless it is told to bear them', async () => {
    const log = new Lines();
    await withKnex(async (client) => {
      await client.raw('SET GLOBAL innodb_flush_log_at_trx_commit = 2');
      try {
        const strict = await open(url);
        const failure = await failureOf(strict.takeTerm('m-1', NOW));
        expect(failure).to.be.instanceOf(StoreUnusable);
        expect(failure.message).to.match(/innodb_flush_log_at_trx_commit=1/);
        const lax = await open(url, { allowWeakDurability: true, log });
        expect((await lax.takeTerm('m-1', NOW)).term).to.equal(1);
        expect(log.lines.join()).to.match(/innodb_flush_log_at_trx_commit=1/);
      } finally {
        await client.raw('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
      }
    });
  });

  it('refuses a binary log that cannot hold what it writes', async function () {
    await withKnex(async (client) => {
      const [[row]] = await client.raw('SELECT @@log_bin AS log_bin, @@binlog_format AS format');
      if (row.log_bin !== 1) this.skip();
      await client.raw(`SET GLOBAL binlog_format = 'STATEMENT'`);
      try {
        const failure = await failureOf((await open(url)).takeTerm('m-1', NOW));
        expect(failure).to.be.instanceOf(StoreUnusable);
        expect(failure.message).to.match(/binlog_format=STATEMENT.*ROW or MIXED/);
      } finally {
        await client.raw('SET GLOBAL binlog_format = ?', [row.format]);
      }
    });
  });

  it('says what the server refuses it at its start; later it waits to be let in again', async () => {
    const reader = `reader_${url.slice(-8)}`;
    const as = (user: string, password: string, database = '') => {
      const other = Object.assign(new URL(url), { username: user, password });
      other.pathname += database;
      return other.href;
    };
    await withKnex(async (client) => {
      await client.raw(`CREATE USER ${reader}@'%' IDENTIFIED BY 'reader'`);
      try {
        await client.raw(`GRANT SELECT ON ${new URL(url).pathname.slice(1)}.* TO ${reader}@'%'`);
        const refusals = [
          [as(reader, 'wrong'), /Access denied for user/],
          [as(reader, 'reader', '_none'), /(Access denied for user|Unknown database)/],
          [as(new URL(url).username, new URL(url).password, '_none'), /Unknown database/],
          [as(reader, 'reader'), /command denied to user/],
        ] as const;
        for (const [other, message] of refusals) {
          const log = new Lines();
          const failure = await failureOf((await open(other, { log })).takeTerm('m-1', NOW));
          expect(failure).to.be.instanceOf(StoreUnusable);
          expect(failure.message).to.match(message);
          expect(log.lines).to.deep.equal([]);
          const later = await failureOf((await open(other)).takeTerm('m-1', NOW, 1));
          expect(later).not.to.be.instanceOf(StoreUnusable);
        }
      } finally {
        await client.raw(`DROP USER ${reader}@'%'`);
      }
    });
  });

  it('does not speak to a server without TLS where the URL asks for it', async function () {
    await withKnex(async (client) => {
      const [[row]] = await client.raw(`SHOW VARIABLES LIKE 'have_ssl'`);
      if (row?.Value !== 'DISABLED') this.skip();
    });
    const failure = await failureOf((await open(`${url}?ssl=true`)).takeTerm('m-1', NOW));
    expect(failure).to.be.instanceOf(StoreUnusable);
    expect(failure.message).to.match(/it has no TLS, which ssl in the database URL asks for/);
    const later = await failureOf((await open(`${url}?ssl=true`)).takeTerm('m-1', NOW, 1));
    expect(later, 'it may be given TLS').not.to.be.instanceOf(StoreUnusable);
  });

  it('goes on when the server is back after a crash, with all that was committed', async function () {
    const { kill, restart } = server;
    if (kill === null || restart === null) this.skip();
    const store = await open(url);
    const { term } = await store.takeTerm('m-1', NOW);
    await store.commit(commit(term, { inserts: [task(1)] }));
    await kill();
    const unstarted = await failureOf((await open(url)).takeTerm('m-2', NOW));
    expect(unstarted, 'it may come').not.to.be.instanceOf(StoreUnusable);
    const failure = await failureOf(store.commit(commit(term, { inserts: [task(2)] })));
    expect(failure).not.to.be.instanceOf(TermLost);
    expect(failure).not.to.be.instanceOf(CommitConflict);
    expect(await failureOf(store.loadActive())).to.be.instanceOf(Error);
    await restart();
    await store.loadActive();
    await store.commit(commit(term, { inserts: [task(3)] }));
    expect([...(await store.findIds(['t-1', 't-2', 't-3'])).keys()]).to.deep.equal(['t-1', 't-3']);
  });
});
