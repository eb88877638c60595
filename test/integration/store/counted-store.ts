/** A store in SQL that counts what it asks of its database. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, poolOf } from '../../../master/infrastructure/sql/database.ts';
import type { Connections, Dialect } from '../../../master/infrastructure/sql/dialects/dialect.ts';
import { DEFAULT_POOL } from '../../../master/infrastructure/sql/dialects/dialect.ts';
import { mysqlDialect } from '../../../master/infrastructure/sql/dialects/mysql.ts';
import { sqliteDialect } from '../../../master/infrastructure/sql/dialects/sqlite.ts';
import { Pace } from '../../../master/infrastructure/sql/pace.ts';
import { SqlStore } from '../../../master/infrastructure/sql/store.ts';
import { type DefaultStore, ofDefault } from '../../contract/subjects.ts';
import { useMariadb } from '../../helpers/mariadb.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export class Counts {
  /** What transactions begin and end with is left out. */
  statementCount = 0;
  commitCount = 0;
  /** How often statements were run: each may be for many rows in one database, and is for one in another. */
  runCount = 0;
  /** That were bound. */
  valueCount = 0;
  /** Tables that were read by ids. */
  lookedUp: string[] = [];
  /** Transactions begin once it resolves. */
  gate: Promise<void> | null = null;

  reset(): void {
    this.statementCount = 0;
    this.commitCount = 0;
    this.runCount = 0;
    this.valueCount = 0;
    this.lookedUp = [];
  }
}

export interface CountedStore {
  readonly url: string;
  readonly store: DefaultStore;
  readonly counts: Counts;
  /** The database that all but the engine use. */
  readonly readers: Database;
}

/** Tests on each database; `open` makes a store in a new one, once for each test. */
export function describeCountedStores(
  what: string,
  tests: (open: () => Promise<CountedStore>, name: 'SQLite' | 'MariaDB') => void,
): void {
  for (const name of ['SQLite', 'MariaDB'] as const) {
    describe(`${what}: ${name}`, function () {
      const server = name === 'MariaDB' ? useMariadb() : null;
      let folder: string;
      let opened: CountedStore | null = null;

      tests(async () => {
        folder = await mkdtemp(join(tmpdir(), 'soda-counted-'));
        const url = server === null ? `sqlite:${join(folder, 'soda.db')}` : await server.url();
        opened = openCountedStore(url);
        return opened;
      }, name);
      // Behind those of the tests, which may still use it.
      afterEach(async () => {
        await opened?.store.close();
        opened = null;
        await rm(folder, { recursive: true, force: true });
      });
    });
  }
}

export function openCountedStore(url: string): CountedStore {
  const counts = new Counts();
  const pace = new Pace();
  const isFile = url.startsWith('sqlite:');
  const plain = isFile
    ? sqliteDialect(url.slice('sqlite:'.length), pace)
    : mysqlDialect(new URL(url), DEFAULT_POOL);
  const dialect: Dialect = {
    ...plain,
    async run(connection, statements) {
      for (const { sql, runs } of statements) {
        if (sql === 'COMMIT') counts.commitCount += 1;
        else if (sql !== plain.begin) {
          counts.statementCount += 1;
          counts.runCount += runs.length;
          for (const values of runs) counts.valueCount += values.length;
        }
        for (const [, table = ''] of sql.matchAll(/FROM (\w+) WHERE ns = \? AND id IN/g)) {
          counts.lookedUp.push(table);
        }
      }
      if (statements.some(({ sql }) => sql === plain.begin)) await counts.gate;
      return plain.run(connection, statements);
    },
  };
  const open = (connections: Connections): Database =>
    new Database(poolOf(connections), dialect, pace);
  const engine = open(plain.connections);
  const readers = plain.readers === null ? engine : open(plain.readers);
  const options = { allowWeakDurability: false, log: silent };
  return { url, store: ofDefault(new SqlStore({ engine, readers }, options)), counts, readers };
}
