/** `schema.sql` says what the migrations make: on MariaDB to the letter, on SQLite by name. */
import { expect } from 'chai';
import knex from 'knex';
import Libsql from 'libsql';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_POOL } from '../../master/infrastructure/sql/dialects/dialect.ts';
import { mysqlDialect } from '../../master/infrastructure/sql/dialects/mysql.ts';
import { openSqlStore } from '../../master/infrastructure/sql/open.ts';
import { tables } from '../../master/infrastructure/sql/tables/all.ts';
import { usageKey } from '../../master/infrastructure/sql/usage/usage-table.ts';
import { useMariadb } from '../helpers/mariadb.ts';
import { NOW } from '../helpers/task.ts';

const file = new URL('../../schema.sql', import.meta.url);
const SEGMENT = 'task_history_20261120';

/** What statements bind to columns of these types. */
const KINDS: Readonly<Record<string, string>> = {
  INT: 'integer',
  BIGINT: 'integer',
  DOUBLE: 'real',
  VARCHAR: 'text',
  VARBINARY: 'bytes',
  MEDIUMTEXT: 'text',
};

/** The text of `schema.sql` for the segment that the test looks at. */
async function schema(): Promise<string> {
  return (await readFile(file, 'utf8')).replaceAll('task_history_YYYYMMDD', SEGMENT);
}

async function migrated(url: string): Promise<void> {
  const store = await openSqlStore({ url, allowWeakDurability: false });
  await store.open(NOW);
  await store.close();
}

/** Column names by table, in order, and the lines of each table. */
function tablesIn(text: string): Map<string, { columns: string[]; lines: string[] }> {
  const tables = new Map<string, { columns: string[]; lines: string[] }>();
  for (const [, name, body] of text.matchAll(/^CREATE TABLE (\w+) \(\n(.*?)\n\) ENGINE/gms)) {
    const lines = (body ?? '').split('\n');
    const columns = lines
      .map((line) => /^ {2}([a-z_]+) /.exec(line)?.[1])
      .filter((column) => column !== undefined);
    tables.set(name ?? '', { columns, lines });
  }
  return tables;
}

describe('schema.sql', function () {
  it('explains every column and index', async () => {
    const tables = tablesIn(await schema());
    expect([...tables.keys()]).to.deep.equal([
      'schema_version',
      'namespace',
      'lane',
      'executor',
      'leftover',
      'rate',
      'pause',
      'shared_limit',
      'holding',
      'task_type',
      'saved_view',
      'work',
      'job',
      'job_version',
      'job_trigger',
      'occurrence',
      'job_activity',
      'booking',
      'calendar',
      'task',
      'task_attempt',
      'installation',
      'token',
      'audit',
      'feed_event',
      'task_log',
      'usage_delta',
      'usage_day',
      'load_sample',
      SEGMENT,
      'alert',
      'alert_delivery',
      'alert_setting',
    ]);
    for (const [name, { lines }] of tables) {
      expect(lines.length % 2, name).to.equal(0);
      for (const [index, line] of lines.entries()) {
        const isComment = line.startsWith('  -- ');
        expect(isComment, `${name}: ${line}`).to.equal(index % 2 === 0);
      }
    }
  });

  it('has the columns that commits write, of the kinds that they bind', async () => {
    const made = tablesIn(await schema());
    for (const [name, { place, columns, key }] of Object.entries(tables)) {
      const table = typeof place === 'string' ? place : SEGMENT;
      const { lines = [] } = made.get(table) ?? {};
      const kinds = lines.flatMap((line) => {
        const [, column = '', type = ''] = /^ {2}([a-z_]+) ([A-Z]+)/.exec(line) ?? [];
        return column === '' ? [] : [`${column} ${KINDS[type]}`];
      });
      const bound = columns.map((column) => `${column.name} ${column.kind}`);
      expect(bound, name).to.have.members(kinds);
      expect(bound, name).to.include.members(key.map((column) => `${column.name} ${column.kind}`));
    }
  });

  it('names the tables and columns that the migrations make on SQLite', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'soda-schema-'));
    try {
      const path = join(folder, 'soda.db');
      await migrated(`sqlite:${path}`);
      const database = new Libsql(path);
      for (const [table, { columns }] of tablesIn(await schema())) {
        const rows = database.prepare(`PRAGMA table_info(${table})`).all() as { name: string }[];
        expect(
          rows.map(({ name }) => name),
          table,
        ).to.deep.equal(columns);
      }
      database.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  describe('on MariaDB', () => {
    const server = useMariadb();
    let made: string;

    before(async () => {
      made = await server.url();
      await migrated(made);
    });

    it('is what the migrations make', async () => {
      const described = await server.url();
      expect(await structure(described, await schema())).to.deep.equal(await structure(made));
    });

    it('has rows found by the whole of their keys', async () => {
      const client = knex({ client: 'mysql2', connection: made });
      const { insert, remove } = mysqlDialect(new URL(made), DEFAULT_POOL);
      const keys = Object.values(tables).map(({ place, key }) => [place, key] as const);
      for (const [table, key] of [...keys, ['usage_day', usageKey] as const]) {
        if (typeof table !== 'string') continue;
        const rowOf = (n: number) => key.map(({ kind }) => (kind === 'integer' ? n : `${n}`));
        // A table that has next to none is read by whichever index.
        const others = Array.from({ length: 100 }, (_, n) => [1, ...rowOf(n).slice(1)]);
        for (const { sql } of insert(table, key, key.length === 1 ? [] : others)) {
          await client.raw(sql.replace('INSERT', 'INSERT IGNORE'));
        }
        const rows = [rowOf(1), rowOf(2)];
        for (const { sql, runs } of remove(table, key, rows)) {
          const [[{ EXPLAIN: plan }]] = await client.raw(`EXPLAIN FORMAT=JSON ${sql}`, [
            ...(runs[0] ?? []),
          ]);
          const { query_block: found } = JSON.parse(plan);
          expect(found.table, table).to.include({ access_type: 'range', key: 'PRIMARY' });
          expect(found.table.used_key_parts).to.deep.equal(key.map(({ name }) => name));
        }
      }
      await client.destroy();
    });
  });
});

/** Tables, columns and indexes as the server sees them, after running the script. */
async function structure(url: string, script?: string): Promise<unknown> {
  const client = knex({ client: 'mysql2', connection: `${url}?multipleStatements=true` });
  try {
    if (script !== undefined) await client.raw(script);
    const ours = (column: string): string =>
      `${column} = DATABASE() AND (TABLE_NAME NOT LIKE 'task_history_%' OR TABLE_NAME = '${SEGMENT}')`;
    const [tables] = await client.raw(
      `SELECT TABLE_NAME, ENGINE, ROW_FORMAT, TABLE_COLLATION FROM information_schema.TABLES
       WHERE ${ours('TABLE_SCHEMA')} ORDER BY TABLE_NAME`,
    );
    const [columns] = await client.raw(
      `SELECT TABLE_NAME, COLUMN_NAME, COLUMN_DEFAULT, IS_NULLABLE, COLUMN_TYPE, COLLATION_NAME
       FROM information_schema.COLUMNS WHERE ${ours('TABLE_SCHEMA')} ORDER BY TABLE_NAME, ORDINAL_POSITION`,
    );
    const [indexes] = await client.raw(
      `SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, SEQ_IN_INDEX, COLUMN_NAME
       FROM information_schema.STATISTICS WHERE ${ours('TABLE_SCHEMA')}
       ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
    );
    expect(columns).not.to.be.empty;
    return { tables, columns, indexes };
  } finally {
    await client.destroy();
  }
}
