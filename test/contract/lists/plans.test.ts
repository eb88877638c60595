/**
 * By which index lists are read: each statement that a list takes is explained by the database itself. A planner that
 * chose otherwise, or sorted what it has read, would be fast here and slow where there are millions.
 */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDatabaseUrl } from '../../../master/infrastructure/sql/database-url.ts';
import { Database, poolOf, type Read } from '../../../master/infrastructure/sql/database.ts';
import { DEFAULT_POOL, type Dialect } from '../../../master/infrastructure/sql/dialects/dialect.ts';
import { mysqlDialect } from '../../../master/infrastructure/sql/dialects/mysql.ts';
import { sqliteDialect } from '../../../master/infrastructure/sql/dialects/sqlite.ts';
import { Pace } from '../../../master/infrastructure/sql/pace.ts';
import type { Row } from '../../../master/infrastructure/sql/rows.ts';
import { SqlStore } from '../../../master/infrastructure/sql/store.ts';
import { ANY_TASK } from '../../../master/domain/model/task-filter.ts';
import { useMariadb } from '../../helpers/mariadb.ts';
import { NOW, notificationOf } from '../../helpers/task.ts';
import { commit, DAY_MS, everything, finish, finished, task } from '../sample.ts';
import { type DefaultStore, ofDefault } from '../subjects.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const LANE = 7;

const TRIGGER = { job: 'nightly', trigger: 'default' };
const RECORDS = {
  ...{ ...TRIGGER, state: null, from: null, to: null, noticedFrom: null },
  ...{ after: null, limit: 5 },
};
const RAN = { executorId: 'x-1', from: NOW - DAY_MS, to: NOW };
/** Of those that lists look at. */
const TABLES = /^(task|job|occurrence|alert\b)/;

const lists: Record<string, (store: DefaultStore) => Promise<unknown>> = {
  'no filter': (store) => store.listTasks(everything),
  'a type': (store) => store.listTasks({ ...everything, type: 'none' }),
  failed: (store) => store.listTasks({ ...everything, state: 'failed' }),
  'failed of a type': (store) => store.listTasks({ ...everything, state: 'failed', type: 'none' }),
  'why they failed': (store) => store.listFailures(everything),
  'why those of a type failed': (store) => store.listFailures({ ...everything, type: 'none' }),
  'succeeded of a type': (store) =>
    store.listTasks({ ...everything, state: 'succeeded', type: 'none' }),
  'gave up': (store) => store.listTasks({ ...everything, notification: 'gave_up' }),
  'ids that begin so': (store) => store.listTasks({ ...everything, idPrefix: 't-' }),
  'what an executor has had': (store) => store.listTasks({ ...everything, ran: RAN }),
  'in their order': (store) =>
    store.listWaiting({ ...ANY_TASK, lanes: [LANE], after: null, limit: 5 }),
  'how many have failed': (store) => store.countEnded('failed', 10_000),
  jobs: (store) =>
    store.jobs.listJobs({
      ...{ after: '', limit: 5, tag: null, text: null, isEnabled: null, within: null },
    }),
  'how many jobs': (store) => store.jobs.countJobs('', 5),
  'what goes by calendars': (store) => store.jobs.loadCalendared('nightly/default', 5),
  'records of some times': (store) => store.jobs.loadRecords(TRIGGER, 0, NOW, 5),
  'what has become of times': (store) => store.jobs.listOccurrences({ ...RECORDS, trigger: null }),
  'what has become of a trigger': (store) => store.jobs.listOccurrences(RECORDS),
  'what has become of times from then on': (store) =>
    store.jobs.listOccurrences({ ...RECORDS, from: NOW }),
  'alerts that go on': (store) => store.alerts.load(NOW),
  'what was skipped': (store) =>
    store.jobs.listOccurrences({ ...RECORDS, trigger: null, state: 'skipped' }),
};
/** Of live tasks and of history: the name of the index without that of the table. */
const wanted: Record<keyof typeof lists, string> = {
  'no filter': 'PRIMARY',
  'a type': 'PRIMARY',
  failed: 'state',
  'failed of a type': 'state',
  'why they failed': 'state',
  'why those of a type failed': 'state',
  'succeeded of a type': 'PRIMARY',
  // What few entries of an index lead to is then read by its key.
  'gave up': 'PRIMARY ns_notify',
  'ids that begin so': 'PRIMARY ns_id',
  'what an executor has had': 'PRIMARY',
  'in their order': 'PRIMARY queue',
  'how many have failed': 'state',
  jobs: 'PRIMARY',
  'how many jobs': 'PRIMARY',
  'what goes by calendars': 'calendared',
  'records of some times': 'PRIMARY',
  'what has become of times': 'nominal',
  'what has become of a trigger': 'PRIMARY',
  'what has become of times from then on': 'PRIMARY',
  'alerts that go on': 'alert_cleared alert_silenced',
  'what was skipped': 'state',
};
/** Few are sorted: some of an index, or the page of the lanes. */
const SORTED = ['gave up', 'ids that begin so', 'in their order'];

interface Plan {
  readonly keys: readonly string[];
  readonly isSorted: boolean;
}

/** What SQLite says of a statement. */
async function planOfFile(rowsOf: Database['rows'], { sql, values }: Read): Promise<Plan> {
  const details = (await rowsOf(`EXPLAIN QUERY PLAN ${sql}`, values)).map((row) =>
    String(row['detail']),
  );
  const reads = details.filter((detail) => TABLES.test(detail.replace(/^(SCAN|SEARCH) /, '')));
  const keys = reads.map((detail) => {
    const index = /USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1];
    return (
      index?.replace(/^sqlite_autoindex_\w+_1$/, 'PRIMARY') ??
      (detail.includes('PRIMARY KEY') ? 'PRIMARY' : detail)
    );
  });
  return { keys, isSorted: details.some((detail) => /TEMP B-TREE/.test(detail)) };
}

/** What a server says. */
async function planOnServer(rowsOf: Database['rows'], { sql, values }: Read): Promise<Plan> {
  const rows: readonly Row[] = await rowsOf(`EXPLAIN ${sql}`, values);
  const reads = rows.filter((row) => TABLES.test(String(row['table'])));
  const keys = reads.map((row) => (row['key'] as string | null) ?? 'no key');
  return { keys, isSorted: rows.some((row) => /filesort/.test(String(row['Extra']))) };
}

function describePlans(
  name: string,
  dialectFor: () => Promise<Dialect>,
  planOf: typeof planOnServer,
) {
  describe(`Plans of lists: ${name}`, () => {
    let database: Database;
    let store: DefaultStore;
    let asked: Read[] = [];

    before(async () => {
      const dialect = await dialectFor();
      const pace = new Pace(() => 0);
      const watched: Dialect = {
        ...dialect,
        run: (connection, statements) => {
          asked.push(...statements.map(({ sql, runs }) => ({ sql, values: runs[0] ?? [] })));
          return dialect.run(connection, statements);
        },
      };
      database = new Database(poolOf(dialect.connections), watched, pace);
      const databases = { engine: database, readers: database };
      store = ofDefault(new SqlStore(databases, { allowWeakDurability: false, log: silent }));
      const { term } = await store.takeTerm('m-1', NOW);
      const ended = Array.from({ length: 200 }, (_, at) => {
        const state = at % 10 === 0 ? 'failed' : 'succeeded';
        const notifyUrl = 'https://example.org/done';
        const finishedAt = NOW - (at % 2) * DAY_MS;
        return finished({ ...task(at + 1), notifyUrl }, { state, finishedAt });
      });
      const callback = (at: number) => (at % 50 === 0 ? 'gave_up' : 'delivered');
      const finishes = ended.map((one, at) =>
        finish(one, notificationOf(one, { state: callback(at) }), false),
      );
      const inserts = Array.from({ length: 50 }, (_, at) => task(at + 201, { lane: LANE }));
      await store.commit(commit(term, { finishes, inserts }));
    });
    after(() => store?.close());

    for (const [what, list] of Object.entries(lists)) {
      it(`${what}: ${wanted[what]}`, async () => {
        asked = [];
        await list(store);
        const reads = asked.filter(({ sql }) => /\b(task|job|occurrence|alert\b)/.test(sql));
        expect(reads).to.have.length.greaterThan(0);
        const keys = new Set<string>();
        for (const read of reads) {
          const plan = await planOf(database.rows.bind(database), read);
          for (const key of plan.keys)
            keys.add(key.replace(/^(task_(history_\d+_)?|occurrence_ns_|job_trigger_ns_)/, ''));
          if (!SORTED.includes(what)) expect(plan.isSorted, read.sql).to.equal(false);
        }
        expect([...keys].sort().join(' ')).to.equal(wanted[what]);
      });
    }
  });
}

describe('Plans', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-plans-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  const file = async () => sqliteDialect(join(folder, 'soda.db'), new Pace(() => 0));
  describePlans('SQLite', file, planOfFile);

  describe('on a server', () => {
    const mariadb = useMariadb();
    const onServer = async (): Promise<Dialect> => {
      const read = readDatabaseUrl(await mariadb.url());
      if (!('server' in read)) throw new Error('the URL names no server');
      return mysqlDialect(read.server, DEFAULT_POOL);
    };
    describePlans('MariaDB', onServer, planOnServer);
  });
});
