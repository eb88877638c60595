/** Ended tasks and their callbacks, as rows: of one table for each day and class of retention. */
import type { Ended } from '../../../domain/changes.ts';
import type { Notification, Retention, Task } from '../../../domain/model/task.ts';
import type { Dialect, Index } from '../dialects/dialect.ts';
import { type Column, columns, type Row, type Value } from '../rows.ts';
import { type ListedSegment, segmentAt } from '../segments.ts';
import { lightError } from './error.ts';
import type { Table } from './table.ts';
import { liveColumns, taskColumns, userOf } from './task.ts';

/** Known only once the task has ended: a live row has no such columns. */
const endColumns = columns<Task>(
  ['finished_at', 'integer', (task) => task.finishedAt],
  ['failure_reason', 'text', (task) => task.failureReason],
  ['result', 'text', (task) => task.result],
);

const callbackColumns = columns<Notification>(
  ['notify_state', 'text', (notification) => notification.state],
  ['notify_tries', 'integer', (notification) => notification.tries],
  ['notify_next_at', 'integer', (notification) => notification.nextTryAt],
  ['notify_status', 'integer', (notification) => notification.lastStatus],
  ['notify_error', 'text', (notification) => notification.lastError],
  ['delivered_at', 'integer', (notification) => notification.deliveredAt],
  ['notify_since', 'integer', (notification) => notification.triesSince],
).map((column) => ({
  ...column,
  of: ({ notification }: Pick<Ended, 'notification'>, ns: number) =>
    notification === null ? null : column.of(notification, ns),
}));

const historyColumns: readonly Column<Ended>[] = [
  ...[...taskColumns, ...endColumns].map((column) => ({
    ...column,
    of: ({ task }: Ended, ns: number) => column.of(task, ns),
  })),
  ...callbackColumns,
];

export const history: Table<'history'> = {
  place: ([, finishedAt, retention]) => segmentAt(retention, finishedAt),
  key: [
    { name: 'seq', kind: 'integer' },
    { name: 'finished_at', kind: 'integer' },
  ],
  columns: historyColumns,
  changing: callbackColumns,
};

export const historyIndexes: readonly Index[] = [
  { name: 'ns_id', columns: 'ns, id', unique: true },
  { name: 'state', columns: 'state, seq' },
  {
    name: 'ns_notify',
    columns: 'ns, notify_state, notify_next_at, seq',
    where: 'notify_state IS NOT NULL',
  },
];

/** Those of segments that 2.0.0 made, where they have no others. */
export const oldHistoryIndexes: readonly string[] = ['id', 'state', 'notify'];

/**
 * The callbacks of a namespace in one segment, in the order of their index.
 * @param place what stands for the namespace: a value that is bound, or a column.
 */
export function outboxOf(
  dialect: Dialect,
  { table, isOld }: ListedSegment,
  ns: number,
  place = '?',
): Outbox {
  const index = isOld ? `${table}_notify` : `${table}_ns_notify`;
  const from = dialect.readBy(table, index);
  return isOld
    ? { from, where: '', values: [] }
    : { from, where: `ns = ${place} AND `, values: [ns] };
}

interface Outbox {
  readonly from: string;
  /** Stands before `notify_state = ?`. */
  readonly where: string;
  readonly values: readonly Value[];
}

const onlyInHistory = new Set([...endColumns, ...callbackColumns].map(({ name }) => name));
const large = new Set(['params', 'checkpoint', 'result']);
/** What else may be of any size, below that of these. */
const larger = [...large, 'progress_state', 'progress_detail', 'error'];

const listed = new Map<string, string>();

/**
 * The columns of a task as a select list, NULL where the table has no such column; the class of a
 * segment stands for its rows. `light`: without what may be large, and with the beginning of a large
 * error.
 */
export function selectList(source: 'live' | Retention, size: 'whole' | 'light'): string {
  const name = `${source} ${size}`;
  const list = listed.get(name) ?? listOf(source, size);
  listed.set(name, list);
  return list;
}

function listOf(source: 'live' | Retention, size: 'whole' | 'light'): string {
  const list = historyColumns.map(({ name }) => {
    if (source === 'live' && onlyInHistory.has(name)) return `NULL AS ${name}`;
    if (size === 'whole') return name;
    if (name === 'error') return lightError;
    return large.has(name) ? `NULL AS ${name}` : name;
  });
  const live = liveColumns.map(({ name }) => (source === 'live' ? name : `NULL AS ${name}`));
  return [...list, ...live, `${source === 'live' ? 'NULL' : `'${source}'`} AS retention`].join(
    ', ',
  );
}

/** Whose task, and how many bytes its texts have, as a select list. */
export function selectBytes(source: 'live' | Retention): string {
  return `id, ${bytesOf(source)} AS bytes`;
}

/** How many bytes the texts of a task have: a value. */
export function bytesOf(source: 'live' | Retention): string {
  return larger
    .filter((name) => source !== 'live' || !onlyInHistory.has(name))
    .map((name) => `COALESCE(OCTET_LENGTH(${name}), 0)`)
    .join(' + ');
}

/** Null where the task has no callback. The row is one of history. */
export function notificationOf(row: Row): Notification | null {
  const get = <T>(name: string): T => row[name] as T;
  if (get('notify_state') === null) return null;
  return {
    taskSeq: get('seq'),
    taskId: get('id'),
    type: get('type'),
    user: userOf(row),
    url: get('notify_url'),
    finishedAt: get('finished_at'),
    retention: get('retention'),
    state: get('notify_state'),
    tries: get('notify_tries'),
    // Null in rows of 2.0.0.
    triesSince: get('notify_since') ?? get('finished_at'),
    nextTryAt: get('notify_next_at'),
    lastStatus: get('notify_status'),
    lastError: get('notify_error'),
    deliveredAt: get('delivered_at'),
  };
}
