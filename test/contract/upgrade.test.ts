/** A store that an earlier version has made goes on working, also when its upgrade was cut off. */
import { expect } from 'chai';
import knex, { type Knex } from 'knex';
import Libsql from 'libsql';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useMariadb } from '../helpers/mariadb.ts';
import { inNamespace, type TaskStore } from '../../master/application/ports.ts';
import { sampleJob } from '../helpers/jobs/sample-job.ts';
import { NOW, notificationOf } from '../helpers/task.ts';
import { attemptOf, commit, DAY_MS, everything, finish, finished, task } from './sample.ts';
import { type DefaultStore, openDefault } from './subjects.ts';

/** Of a day that is over when it is upgraded. */
const OLD = 'task_history_20261111';
const SEGMENTS = [OLD, 'task_history_20261120', 'task_history_20261121'];

/** What the second step has made, undone: as 2.0.0 left it. */
const UNDO = [
  'CREATE UNIQUE INDEX task_id ON task (id)',
  'CREATE INDEX task_due ON task (due_at, seq)',
  'CREATE INDEX task_deadline ON task (deadline_at)',
  ...['id', 'due', 'end', 'gate', 'booking'].map((name) => `DROP INDEX task_ns_${name} ON task`),
  'ALTER TABLE task DROP COLUMN gate',
  'ALTER TABLE task DROP COLUMN suspended',
  'ALTER TABLE task DROP COLUMN event_count',
  ...SEGMENTS.flatMap((table) => [
    `CREATE UNIQUE INDEX ${table}_id ON ${table} (id)`,
    `CREATE INDEX ${table}_notify ON ${table} (notify_state, notify_next_at, seq)`,
    `DROP INDEX ${table}_ns_id ON ${table}`,
    `DROP INDEX ${table}_ns_notify ON ${table}`,
    `ALTER TABLE ${table} DROP COLUMN notify_since`,
  ]),
  ...['task', ...SEGMENTS].flatMap((table) =>
    [
      'ns',
      'incarnation',
      'contact_count',
      'hidden_ms',
      'stall_hidden_ms',
      'start_timeout_ms',
      'start_timeout_action',
      'end_by',
      'disk_bytes',
    ].map((name) => `ALTER TABLE ${table} DROP COLUMN ${name}`),
  ),
  'ALTER TABLE job DROP COLUMN owned_at',
  'ALTER TABLE task_attempt DROP COLUMN incarnation',
  'ALTER TABLE task_attempt DROP COLUMN session',
  `CREATE TABLE master (id INTEGER NOT NULL PRIMARY KEY, term INTEGER NOT NULL,
    owner VARCHAR(255) NOT NULL, started_at BIGINT NOT NULL)`,
  'INSERT INTO master SELECT 1, term, owner, started_at FROM namespace WHERE id = 0',
  'DROP TABLE namespace',
  'DROP TABLE executor',
  'DROP TABLE installation',
];
/** When the job was set last. */
const SET_AT = NOW + 5;
const FORGET = 'UPDATE schema_version SET version = 1';

async function withStore<T>(url: string, work: (store: DefaultStore) => Promise<T>): Promise<T> {
  const store = await openDefault({ url, allowWeakDurability: false });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** By its own indexes; of other namespaces it has nothing. */
async function readsOld(store: DefaultStore): Promise<void> {
  const seqs = async (tasks: TaskStore) => ({
    pending: (await tasks.loadNotifications(null, 9)).map(({ taskSeq }) => taskSeq),
    listed: (await tasks.listTasks({ ...everything, notification: 'pending' })).tasks.length,
    found: [...(await tasks.findIds(['t-4'])).keys()],
  });
  expect(await seqs(store)).to.deep.equal({ pending: [4], listed: 1, found: ['t-4'] });
  expect(await store.withWork()).to.deep.equal([0]);
  const films = { name: 'films', createdAt: NOW, paused: null, retention: 'normal' } as const;
  const { id } = await store.createNamespace({ ...films, maxWaiting: null, maxRunning: null });
  const tasks = store.tasks(id);
  await tasks.takeTerm('m-1', NOW - 60_000);
  expect(await seqs(tasks)).to.deep.equal({ pending: [], listed: 0, found: [] });
  // Into the old day, and with the id that `default` has there.
  const late = finished(task(inNamespace(id, 1), { id: 't-4' }), { finishedAt: NOW - 9 * DAY_MS });
  await tasks.commit(commit(1, { finishes: [finish(late, null, false)] }));
  expect((await seqs(tasks)).found).to.deep.equal(['t-4']);
  expect((await seqs(store)).pending).to.deep.equal([4]);
  await store.deleteNamespace(id);
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
    const old = finished(task(4, { notifyUrl: 'http://a.example/' }), {
      finishedAt: NOW - 9 * DAY_MS,
    });
    await store.commit(commit(term, { finishes: [finish(old, notificationOf(old), false)] }));
    const job = sampleJob({ changedAt: SET_AT });
    const put = { op: 'put', table: 'job', key: job.name, row: job } as const;
    await store.commit(commit(term, { writes: [put] }));
  });
  await run([...UNDO, FORGET]);
  const secrets = await withStore(url, async (store) => {
    const taken = await store.takeTerm('m-2', NOW);
    const [active] = await store.loadActive();
    expect(active).to.include({ id: 't-1', attempt: 2, incarnation: null });
    const { tasks: found } = await store.loadOverdue(NOW + 1, NOW + 1, 9);
    expect(found.map(({ id, startBy }) => [id, startBy])).to.deep.equal([['t-3', null]]);
    const [attempt] = (await store.showTask('t-1', 'all'))?.attempts ?? [];
    expect(attempt).to.include({ attempt: 1, incarnation: null, session: null });
    expect((await store.readTask('t-2'))?.task).to.include({ state: 'succeeded' });
    // Of which type and group it was before nobody has noted: that is not to be shown.
    expect((await store.jobs.showJob('nightly'))?.job.ownedAt).to.equal(SET_AT);
    await readsOld(store);
    if (active === undefined) throw new Error('nothing is active');
    const done = finished(active, { incarnation: 'i' });
    await store.commit(commit(taken.term, { finishes: [finish(done, null, true)] }));
    expect((await store.readTask('t-1'))?.task.incarnation).to.equal('i');
    return taken.secrets;
  });
  expect(secrets).to.have.length(1);
  expect(secrets[0]).to.match(/^[\w-]{43}$/);
  // The process ended between two statements of the step, where each is committed by itself.
  const partly =
    /INDEX task_deadline|DROP INDEX task_ns_(end|gate|booking)|task DROP COLUMN (ns|hidden_ms)/;
  await run(['DROP INDEX task_ns_id ON task', 'DROP INDEX task_ns_due ON task']);
  await run([...UNDO.filter((sql) => partly.test(sql)), FORGET]);
  await withStore(url, (store) => store.takeTerm('m-2', NOW));
  await withStore(url, async (store) => {
    const { term, secrets: kept } = await store.takeTerm('m-3', NOW);
    expect([term, kept], 'the secret is the same').to.deep.equal([5, secrets]);
  });
  await run([`UPDATE installation SET name = 'mac_secret_before' WHERE name = 'mac_secret'`]);
  await withStore(url, async (store) => {
    const { secrets: rotated } = await store.takeTerm('m-4', NOW);
    expect(rotated).to.have.length(2);
    expect(rotated[1]).to.equal(secrets[0]);
  });
  // 2.0.0 had no such rows.
  await run([`DELETE FROM ${OLD} WHERE ns <> 0`, ...UNDO, FORGET]);
  await withStore(url, async (store) => {
    await store.takeTerm('m-5', NOW);
    await store.dropSegments('normal', NOW + 9 * DAY_MS);
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
        for (const sql of statements) {
          database.exec(sql.replace(/^(DROP INDEX \w+) ON \w+/, '$1'));
        }
        database.close();
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  describe('on MariaDB', () => {
    const server = useMariadb();

    it('is upgraded with all that is in it', async () => {
      const url = await server.url();
      const client: Knex = knex({ client: 'mysql2', connection: url });
      try {
        await upgrades(url, async (statements) => {
          for (const sql of statements) await client.raw(sql);
        });
      } finally {
        await client.destroy();
      }
    });
  });
});
