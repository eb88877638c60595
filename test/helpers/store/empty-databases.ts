/**
 * Databases as the first start of a master leaves them. One that was used is emptied and used again, for a
 * server takes thirty times as long to make all tables. What a first start does has tests of its own.
 */
import mysql from 'mysql2/promise';
import { openSqlStore } from '../../../master/infrastructure/sql/open.ts';
import { SEGMENT_PREFIX } from '../../../master/infrastructure/sql/segments.ts';
import type { Mariadb } from '../mariadb.ts';
import { NOW } from '../task.ts';

interface Made {
  readonly url: string;
  /** What was in its tables at first. */
  readonly rows: ReadonlyMap<string, readonly object[]>;
}

export class EmptyDatabases {
  readonly #server: Mariadb;
  readonly #empty: Made[] = [];
  readonly #taken: Made[] = [];

  constructor(server: Mariadb) {
    this.#server = server;
  }

  async take(): Promise<string> {
    const database = this.#empty.pop() ?? (await this.#make());
    this.#taken.push(database);
    return database.url;
  }

  /** All that were taken; nobody uses them any more. */
  async giveBack(): Promise<void> {
    for (const { url, rows } of this.#taken) await withConnection(url, (to) => empty(to, rows));
    this.#empty.push(...this.#taken.splice(0));
  }

  async #make(): Promise<Made> {
    const url = await this.#server.url();
    const store = await openSqlStore({ url, allowWeakDurability: false });
    await store.open(NOW);
    await store.close();
    return withConnection(url, async (connection) => {
      const rows = new Map<string, readonly object[]>();
      for (const table of await tablesOf(connection)) {
        if (table.startsWith(SEGMENT_PREFIX)) continue;
        const [found] = await connection.query(`SELECT * FROM ${table}`);
        rows.set(table, found as object[]);
      }
      await empty(connection, rows);
      return { url, rows };
    });
  }
}

async function empty(connection: mysql.Connection, rows: Made['rows']): Promise<void> {
  const statements = (await tablesOf(connection)).flatMap((table) => {
    const first = rows.get(table);
    if (first === undefined) return [`DROP TABLE ${table}`];
    const inserts = first.map((row) => mysql.format(`INSERT INTO ${table} SET ?`, [{ ...row }]));
    return [`DELETE FROM ${table}`, ...inserts];
  });
  await connection.query(statements.join(';'));
}

async function tablesOf(connection: mysql.Connection): Promise<string[]> {
  const [rows] = await connection.query('SHOW TABLES');
  return (rows as Record<string, string>[]).flatMap((row) => Object.values(row));
}

async function withConnection<T>(
  url: string,
  work: (connection: mysql.Connection) => Promise<T>,
): Promise<T> {
  const connection = await mysql.createConnection(`${url}?multipleStatements=true`);
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}
