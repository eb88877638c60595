/** All tasks of one segment, whole and with their attempts, a few at a time: for whoever keeps them beyond it. Leaves out none. */
import type { EndedPage, ShownTask } from '../../../application/ports.ts';
import { HISTORY_PAGE_BYTES_MAX } from '../../../domain/bounds.ts';
import type { Database } from '../database.ts';
import type { Row } from '../rows.ts';
import type { Segment } from '../segments.ts';
import { bytesOf, notificationOf, selectList } from '../tables/history.ts';
import { taskOf } from '../tables/task.ts';
import { attemptsOf, withAttempts } from './attempts.ts';

/** Some milliseconds of work, in pieces of less than one. */
const PAGE_COUNT = 100;

/**
 * By `seq`, and so one namespace after another. A task at a time, as its attempts may be many times as much as the
 * rest of it: whoever works on one before he asks for the next holds the event loop for no longer than that.
 * @throws {Error} a row is not as the master has written it.
 */
export async function* pagesOf(
  database: Database,
  { table, retention }: Pick<Segment, 'table' | 'retention'>,
): AsyncGenerator<EndedPage> {
  const { dialect, pace } = database;
  const rows: Database['rows'] = (sql, values) => database.aside(() => database.rows(sql, values));
  const named = await rows('SELECT id, name FROM namespace');
  const names = new Map(named.map((row) => [row['id'], row['name'] as string]));
  const from = dialect.readByKey(table);
  const sizes = `SELECT seq, ${bytesOf(retention)} AS bytes FROM ${from} WHERE seq > ? ORDER BY seq LIMIT ?`;
  const whole = `SELECT ${selectList(retention, 'whole')} FROM ${from} WHERE seq > ? AND seq <= ? ORDER BY seq`;
  for (let after = 0; ; ) {
    const last = lastFitting(await rows(sizes, [after, PAGE_COUNT]));
    if (last === null) return;
    const found = await rows(whole, [after, last]);
    const tried = await withAttempts({ rows }, found.map(seqOf));
    for (const row of found) {
      if (pace.isOver) await pace.pause();
      const namespace = names.get(row['ns']);
      if (namespace === undefined) throw new Error(`task ${String(row['id'])} is of no namespace`);
      const seq = seqOf(row);
      const attempts = tried.has(seq) ? await attemptsOf({ rows }, seq) : [];
      yield { namespace, tasks: [{ ...endedOf(row), attempts }] };
    }
    after = last;
  }
}

/** Up to where they are not too many bytes, the first in any case; null: there are none. */
function lastFitting(rows: readonly Row[]): number | null {
  let bytes = 0;
  const end = rows.findIndex((row) => (bytes += Number(row['bytes'])) > HISTORY_PAGE_BYTES_MAX);
  const last = end < 0 ? rows.at(-1) : rows[Math.max(end - 1, 0)];
  return last === undefined ? null : seqOf(last);
}

const seqOf = (row: Row): number => row['seq'] as number;

function endedOf(row: Row): Omit<ShownTask, 'attempts'> {
  try {
    return { task: taskOf(row), notification: notificationOf(row) };
  } catch (error) {
    throw new Error(`the row of task ${String(row['id'])} cannot be read: ${String(error)}`, {
      cause: error,
    });
  }
}
