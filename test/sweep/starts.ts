/**
 * Starts of a master that change its schema, each with the store it finds. Everything that these
 * stores hold was accepted: it must be there whatever goes wrong at the start.
 */
import Libsql from 'libsql';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_NAMESPACE_ID } from '../../master/application/ports.ts';
import { kindKeyOf } from '../../master/domain/model/task.ts';
import { openSqlStore } from '../../master/infrastructure/sql/open.ts';
import { commit, DAY_MS } from '../contract/sample.ts';
import { sampleTask } from '../helpers/task.ts';

export interface Start {
  readonly name: string;
  /** Makes what the master finds in its data directory. */
  prepare(folder: string): Promise<void>;
  /** The tasks in it that wait. */
  readonly kept: readonly string[];
}

const firstStart: Start = {
  name: 'first start',
  kept: [],
  prepare: async () => undefined,
};

/** The store as the master left it yesterday: the segment of tomorrow has yet to be made. */
const nextDay: Start = {
  name: 'next day',
  kept: ['kept'],
  async prepare(folder) {
    await mkdir(folder);
    const yesterday = Date.now() - DAY_MS;
    const store = await openSqlStore({
      url: `sqlite:${join(folder, 'soda.db')}`,
      allowWeakDurability: false,
    });
    const tasks = store.tasks(DEFAULT_NAMESPACE_ID);
    const { term } = await tasks.takeTerm('yesterday', yesterday);
    const kept = sampleTask({ id: 'kept', type: 'work', dueAt: yesterday, orderTime: yesterday });
    const row = { id: kept.lane, kind: kindKeyOf('work', [], []), group: kept.user.group };
    const lane = { op: 'insert', table: 'lane', key: row.id, row } as const;
    await tasks.commit(commit(term, { inserts: [kept], writes: [lane] }));
    await store.close();
  },
};

const STORE_2_0_0 = new URL('../fixtures/store-2.0.0.sqlite.sql', import.meta.url);

async function make2_0_0(folder: string, ...more: readonly string[]): Promise<void> {
  await mkdir(folder);
  const database = new Libsql(join(folder, 'soda.db'));
  database.exec(await readFile(STORE_2_0_0, 'utf8'));
  for (const sql of more) database.exec(sql);
  database.close();
}

const migration: Start = {
  name: 'migration from 2.0.0',
  kept: ['kept'],
  prepare: (folder) => make2_0_0(folder),
};

/** 2.0.0 could be cut off between a segment and its indexes. */
const repair: Start = {
  name: 'repair of a segment that 2.0.0 left half made',
  kept: ['kept'],
  prepare: (folder) =>
    make2_0_0(
      folder,
      'DROP INDEX task_history_20240103_state',
      'DROP INDEX task_history_20240103_notify',
    ),
};

export const starts: readonly Start[] = [firstStart, nextDay, migration, repair];
