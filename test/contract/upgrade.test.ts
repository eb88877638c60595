/** A store that an earlier version has made goes on working, also when its upgrade was cut off. */
import { expect } from 'chai';
import knex, { type Knex } from 'knex';
import Libsql from 'libsql';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskStore } from '../../master/application/ports.ts';
import { openSqlStore } from '../../master/infrastructure/sql/open.ts';
import { type Mariadb, MARIADB_MISSING, sharedMariadb } from '../helpers/mariadb.ts';
import { NOW } from '../helpers/task.ts';
import { attemptOf, commit, DAY_MS, finish, finished, task } from './sample.ts';

const SEGMENTS = ['task_history_20261120', 'task_history_20261121'];

/** What the second step has made, undone: as 2.0.0 left it. */
const UNDO = [
  'CREATE INDEX task_deadline ON task (deadline_at)',
  'DROP INDEX task_end',
  ...['task', 'task_attempt', ...SEGMENTS].map(
    (table) => `ALTER TABLE ${table} DROP COLUMN incarnation`,
  ),
  ...['task', ...SEGMENTS].flatMap((table) =>
    [
      'contact_count',
      'hidden_ms',
      'stall_hidden_ms',
      'start_timeout_ms',
      'start_timeout_action',
      'end_by',
    ].map((name) => `ALTER TABLE ${table} DROP COLUMN ${name}`),
  ),
  ...SEGMENTS.map((table) => `ALTER TABLE ${table} DROP COLUMN notify_since`),
  'ALTER TABLE task_attempt DROP COLUMN session',
  'DROP TABLE installation',
  'ALTER TABLE master DROP COLUMN next_seq',
];
const FORGET = 'UPDATE schema_version SET version = 1';

async function withStore<T>(url: string, work: (store: TaskStore) => Promise<T>): Promise<T> {
  const store = await openSqlStore({ url, allowWeakDurability: false });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function upgrades(url: string, run: (sql: readonly string[]) => Promise<void>) {
  await withStore(url, async (store) => {
    const { term } = await store.takeTerm('m-1', NOW);
    const running = task(1, { state: 'running', attempt: 2, executorId: 'x' });
    const ended = finished({ ...task(2), seq: 9 });
    const attempts = [attemptOf(running, { incarnation: null, session: null })];
    const finishes = [finish({ ...ended, incarnation: null }, null, false)];
    const overdue = task(3, { deadlineAt: NOW + 1 });
    await store.commit(commit(term, { inserts: [running, overdue], finishes, attempts }));
  });
  await run([...UNDO, FORGET]);
  const secrets = await withStore(url, async (store) => {
    const taken = await store.takeTerm('m-2', NOW);
    const [active] = await store.loadActive();
    expect(active).to.include({ id: 't-1', attempt: 2, incarnation: null });
    const found = await store.loadOverdue(NOW + 1, NOW + 1, 9);
    expect(found.map(({ id, startBy }) => [id, startBy])).to.deep.equal([['t-3', null]]);
    const [attempt] = (await store.showTask('t-1', 'all'))?.attempts ?? [];
    expect(attempt).to.include({ attempt: 1, incarnation: null, session: null });
    expect((await store.readTask('t-2'))?.task).to.include({ state: 'succeeded' });
    if (active === undefined) throw new Error('nothing is active');
    const done = finished(active, { incarnation: 'i' });
    await store.commit(commit(taken.term, { finishes: [finish(done, null, true)] }));
    expect((await store.readTask('t-1'))?.task.incarnation).to.equal('i');
    return taken.secrets;
  });
  expect(secrets).to.have.length(1);
  expect(secrets[0]).to.match(/^[\w-]{43}$/);
  // The process ended between two statements of the step, where each is committed by itself.
  await run([...UNDO.slice(0, 1), ...UNDO.slice(3, 9), FORGET]);
  await withStore(url, (store) => store.takeTerm('m-2', NOW));
  await run([UNDO[1] ?? '', FORGET]);
  await withStore(url, async (store) => {
    const { term, secrets: kept } = await store.takeTerm('m-3', NOW);
    expect([term, kept], 'the secret is the same').to.deep.equal([4, secrets]);
  });
  await run([`UPDATE installation SET name = 'mac_secret_before'`]);
  await withStore(url, async (store) => {
    const { secrets: rotated } = await store.takeTerm('m-4', NOW);
    expect(rotated).to.have.length(2);
    expect(rotated[1]).to.equal(secrets[0]);
  });
  await run([UNDO.at(-1) ?? '', FORGET]);
  await withStore(url, async (store) => {
    await store.takeTerm('m-5', NOW);
    await store.dropSegments(NOW + 9 * DAY_MS);
    const { lastSeq } = await store.takeTerm('m-6', NOW);
    expect(lastSeq, 'what was dropped since counts').to.equal(9);
  });
}

describe('a store of version 2.0.0', function () {
  it('is upgraded with all that is in it: SQLite', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'soda-upgrade-'));
    const file = join(folder, 'soda.db');
    try {
      await upgrades(`sqlite:${file}`, async (statements) => {
        const database = new Libsql(file);
        for (const sql of statements) database.exec(sql);
        database.close();
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('is upgraded with all that is in it: MariaDB', async function () {
    const server: Mariadb | null = await sharedMariadb();
    if (server === null) {
      console.log(`    skipped: ${MARIADB_MISSING}`);
      return this.skip();
    }
    const url = await server.url();
    const client: Knex = knex({ client: 'mysql2', connection: url });
    try {
      await upgrades(url, async (statements) => {
        // An index has no name of its own here.
        for (const sql of statements)
          await client.raw(sql.replace(/^(DROP INDEX \w+)/, '$1 ON task'));
      });
    } finally {
      await client.destroy();
      await server.stop();
    }
  });
});
