/**
 * A store on SQLite as the first start of a master leaves it, made once in a run: to make its tables takes as long as all
 * else of a start. What a first start does has tests of its own.
 */
import Libsql from 'libsql';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqlStore } from '../../../master/infrastructure/sql/open.ts';
import { SEGMENT_PREFIX } from '../../../master/infrastructure/sql/segments.ts';
import { NOW } from '../task.ts';
import { oncePerRun } from './once-per-run.ts';

/** @param to the file of the database. */
export async function copyEmptyStore(to: string): Promise<void> {
  const file = await oncePerRun('empty-store', (folder) => make(folder, Date.now()));
  await copyFile(file, to);
}

/** One that was made at the time of the samples, and has no segments yet. */
export async function copyBareStore(to: string): Promise<void> {
  const file = await oncePerRun('bare-store', async (folder) => {
    const made = await make(folder, NOW);
    const database = new Libsql(made);
    const tables = database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all([]);
    for (const { name } of tables as { name: string }[]) {
      if (name.startsWith(SEGMENT_PREFIX)) database.exec(`DROP TABLE ${name}`);
    }
    database.close();
    return made;
  });
  await copyFile(file, to);
}

async function make(folder: string, now: number): Promise<string> {
  const made = join(folder, 'soda.db');
  const store = await openSqlStore({ url: `sqlite:${made}`, allowWeakDurability: false });
  await store.open(now);
  await store.close();
  return made;
}
