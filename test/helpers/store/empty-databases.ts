/**
 * Databases as the first start of a master leaves them. One that was used is emptied and used again, also by other files
 * of tests, for a server takes thirty times as long to make all tables. What a first start does has tests of its own.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import mysql from 'mysql2/promise';
import { openSqlStore } from '../../../master/infrastructure/sql/open.ts';
import { SEGMENT_PREFIX } from '../../../master/infrastructure/sql/segments.ts';
import type { Mariadb } from '../mariadb.ts';
import { NOW } from '../task.ts';
import { runFolder } from './once-per-run.ts';

interface Made {
  readonly url: string;
  /** What was in its tables at first. */
  readonly rows: ReadonlyMap<string, readonly object[]>;
}

/** Of those that a file of tests has left to others. */
const LEFT = '.left';

export class EmptyDatabases {
  readonly #server: Mariadb;
  readonly #empty: Made[] = [];
  readonly #taken: Made[] = [];

  constructor(server: Mariadb) {
    this.#server = server;
  }

  async take(): Promise<string> {
    const database = this.#empty.pop() ?? (await takeLeft()) ?? (await this.#make());
    this.#taken.push(database);
    return database.url;
  }

  /** Nobody uses it any more. */
  async giveBack(url: string): Promise<void> {
    const at = this.#taken.findIndex((taken) => taken.url === url);
    for (const database of at < 0 ? [] : this.#taken.splice(at, 1)) {
      await withConnection(url, (connection) => empty(connection, database.rows));
      this.#empty.push(database);
    }
  }

  /** To other files of tests of this run: all that were given back. */
  async leave(): Promise<void> {
    if (this.#server.outlivesRun) return;
    await mkdir(leftFolder(), { recursive: true });
    for (const database of this.#empty.splice(0)) {
      const file = join(leftFolder(), randomUUID());
      await writeFile(file, serialize(database));
      await rename(file, `${file}${LEFT}`);
    }
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

const leftFolder = (): string => join(runFolder(), 'empty-databases');

/** Whoever renames its file has it. */
async function takeLeft(): Promise<Made | null> {
  const files = await readdir(leftFolder()).catch(() => []);
  for (const file of files.filter((name) => name.endsWith(LEFT))) {
    const mine = join(leftFolder(), `${file}.taken`);
    const isMine = await rename(join(leftFolder(), file), mine).then(
      () => true,
      () => false,
    );
    if (isMine) return deserialize(await readFile(mine)) as Made;
  }
  return null;
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
