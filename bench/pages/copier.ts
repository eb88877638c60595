/**
 * Copies rows within a database, by SQL and as fast as it can: while it does so a power cut may cost the database.
 * Nobody else uses that meanwhile.
 */
import Libsql from 'libsql';
import mysql from 'mysql2/promise';

export interface Copier {
  rows(sql: string): Promise<readonly Record<string, unknown>[]>;
  run(sql: string): Promise<void>;
  /** A text that no row has, behind a prefix: an expression. */
  readonly freshId: (prefix: string) => string;
  /** The same, behind those with a lower number, as what a master makes is behind what it has made before. */
  readonly laterId: (number: number) => string;
  close(): Promise<void>;
}

const FILE = 'sqlite:';

export function openCopier(url: string): Promise<Copier> {
  return url.startsWith(FILE) ? openFile(url.slice(FILE.length)) : openServer(url);
}

async function openFile(path: string): Promise<Copier> {
  const database = new Libsql(path);
  database.exec('PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA cache_size=-500000');
  return {
    rows: async (sql) => database.prepare(sql).all() as Record<string, unknown>[],
    run: async (sql) => void database.exec(sql),
    freshId: (prefix) => `'${prefix}' || lower(hex(randomblob(12)))`,
    laterId: (number) => `printf('%012x', ${number}) || lower(hex(randomblob(10)))`,
    close: async () => void database.close(),
  };
}

async function openServer(url: string): Promise<Copier> {
  const connection = await mysql.createConnection(url);
  await connection.query('SET SESSION unique_checks = 0');
  return {
    rows: async (sql) => (await connection.query(sql))[0] as Record<string, unknown>[],
    run: async (sql) => void (await connection.query(sql)),
    freshId: (prefix) => `CONCAT('${prefix}', LEFT(MD5(UUID()), 24))`,
    laterId: (number) => `CONCAT(LPAD(LOWER(HEX(${number})), 12, '0'), LEFT(MD5(UUID()), 20))`,
    close: () => connection.end(),
  };
}

/** What changes from a row to its copy, by column; an expression. Columns that a table lacks are left out. */
export type Changed = Readonly<Record<string, string>>;

/** A statement that copies these rows of one table to another one, or to the same. */
export async function copyOf(
  { rows }: Copier,
  tables: { readonly from: string; readonly to: string },
  changed: Changed,
  where: string,
): Promise<string> {
  const [sample] = await rows(`SELECT * FROM ${tables.from} LIMIT 1`);
  if (sample === undefined) throw new Error(`${tables.from} has no row to copy`);
  const names = Object.keys(sample);
  const values = names.map((name) => changed[name] ?? name);
  return `INSERT INTO ${tables.to} (${names.join(', ')})
    SELECT ${values.join(', ')} FROM ${tables.from} WHERE ${where} ORDER BY 1`;
}
