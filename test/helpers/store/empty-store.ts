/**
 * A store on SQLite as the first start of a master leaves it, made once in a run: to make its tables takes as long as all
 * else of a start. What a first start does has tests of its own.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqlStore } from '../../../master/infrastructure/sql/open.ts';
import { oncePerRun } from './once-per-run.ts';

/** @param to the file of the database. */
export async function copyEmptyStore(to: string): Promise<void> {
  const file = await oncePerRun('empty-store', async (folder) => {
    const made = join(folder, 'soda.db');
    const store = await openSqlStore({ url: `sqlite:${made}`, allowWeakDurability: false });
    await store.open(Date.now());
    await store.close();
    return made;
  });
  await copyFile(file, to);
}
