/**
 * The tables that a list comes from, each with the index that serves it: the state of ended tasks, a rare one of
 * live tasks or of callbacks, ids that begin alike. The rest is looked at row by row.
 */
import { inNamespace } from '../../../application/ports.ts';
import { isTerminal, type Retention, type TaskState } from '../../../domain/model/task.ts';
import type { Database, Read } from '../database.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Value } from '../rows.ts';
import type { ListedSegment } from '../segments.ts';
import { outboxOf } from '../tables/history.ts';
import {
  type Conditions,
  conditionsOf,
  idsWith,
  includesDay,
  joined,
  ranConditions,
  type Sought,
  stateOf,
} from './conditions.ts';

/** So many rows of an index are sorted by one statement: about a millisecond of SQLite. */
const FEW_COUNT = 1_000;
/** Tables asked by one statement. */
const TABLE_COUNT = 100;
/** The same, where some rows of each may have to be read. */
const FEW_TABLE_COUNT = 16;

/** One table on its way down. */
export interface Source {
  readonly table: string;
  /** The table in the order that it is to be read in: by `seq` within what `where` asks for. */
  readonly reading: string;
  /** What `reading` asks for first: ends with ` AND `, or is empty. */
  readonly where: string;
  readonly values: readonly Value[];
  /** `reading` brings few rows, though not by `seq`. */
  readonly isFew: boolean;
  readonly isLive: boolean;
  readonly columns: string;
  /** What is asked of a row besides. */
  readonly conditions: Conditions;
  /** Before the first `seq` of the namespace. */
  readonly bottom: number;
  /** The next row to look at; 0: there are no more. */
  top: number;
}

/** An index, and what it is read by. */
type Reading = Pick<Source, 'reading' | 'where' | 'values'>;
/** What is read of a row that is found, as a select list; `seq` among it. */
export type ColumnsOf = (source: 'live' | Retention) => string;
/** Runs one statement. */
export type Rows = Database['rows'];

export async function findSources(
  dialect: Dialect,
  rows: Rows,
  segments: readonly ListedSegment[],
  ns: number,
  filter: Sought,
  columnsOf: ColumnsOf,
): Promise<Source[]> {
  const tables = tablesOf(segments, filter);
  const narrow = tables.map((segment) => narrowOf(dialect, segment, ns, filter));
  const few = await findFew(rows, narrow);
  return tables.map((segment, at) => {
    const read = few.has(at) ? (narrow[at] ?? null) : null;
    const columns = columnsOf(segment?.retention ?? 'live');
    return { columns, ...sourceOf(dialect, segment, inNamespace(ns, 0), filter, read) };
  });
}

/** Null: the live one, which stands first. A task has no callback before its end, and has not failed. */
function tablesOf(
  segments: readonly ListedSegment[],
  filter: Sought,
): readonly (ListedSegment | null)[] {
  const state = stateOf(filter);
  const isOfEnded = filter.notification !== null || filter.failureReason !== null;
  const live = isOfEnded || (state !== null && isTerminal(state)) ? [] : [null];
  if (state !== null && !isTerminal(state)) return live;
  return [...live, ...segments.filter((segment) => includesDay(filter, segment))];
}

/** @param few an index that brings few rows; null: there is none. */
function sourceOf(
  dialect: Dialect,
  segment: ListedSegment | null,
  bottom: number,
  filter: Sought,
  few: Reading | null,
): Omit<Source, 'columns'> {
  const state = stateOf(filter);
  const table = segment?.table ?? 'task';
  const isLive = segment === null;
  const source = { table, isLive, isFew: few !== null, bottom, top: 0 };
  const asked = conditionsOf(filter, segment);
  const ran = filter.ran && ranConditions(dialect, filter.ran, segment);
  const conditions = ran === undefined ? asked : joined(asked, ran);
  // Most have succeeded: by their index each row would be looked for by itself.
  const isOfMost = state === 'succeeded' && conditions.sql !== '';
  if (few === null && state !== null && hasIndex(state) && !isOfMost) {
    const index = isLive ? 'task_queue' : `${table}_state`;
    const reading = dialect.readBy(table, index);
    return { ...source, reading, where: 'state = ? AND ', values: [state], conditions };
  }
  const ofState = { sql: state === null ? '' : ' AND state = ?', values: state ? [state] : [] };
  const byKey = { reading: dialect.readByKey(table), where: '', values: [] };
  return { ...source, ...(few ?? byKey), conditions: joined(ofState, conditions) };
}

/** Most live tasks wait: their index would bring them in the order of their lanes. */
function hasIndex(state: TaskState): boolean {
  return isTerminal(state) || state === 'offered' || state === 'running';
}

/** An index that may bring few of the rows; null: there is none. */
function narrowOf(
  dialect: Dialect,
  segment: ListedSegment | null,
  ns: number,
  filter: Sought,
): Reading | null {
  const { idPrefix, notification } = filter;
  const table = segment?.table ?? 'task';
  const isOld = segment?.isOld ?? false;
  if (idPrefix !== null) {
    const { sql, values } = idsWith(idPrefix);
    const reading = dialect.readBy(table, isOld ? `${table}_id` : `${table}_ns_id`);
    if (isOld) return { reading, where: `${sql} AND `, values };
    return { reading, where: `ns = ? AND ${sql} AND `, values: [ns, ...values] };
  }
  if (segment === null) return ofRestingState(dialect, stateOf(filter));
  // Most callbacks are delivered: that is known without counting.
  if (notification === null || notification === 'delivered') return null;
  const { from, where, values } = outboxOf(dialect, segment, ns);
  return {
    reading: from,
    where: `${where}notify_state = ? AND `,
    values: [...values, notification],
  };
}

/** Most live tasks wait, and others only where somebody has made it so. */
function ofRestingState(dialect: Dialect, state: TaskState | null): Reading | null {
  if (state !== 'held' && state !== 'suspended') return null;
  const reading = dialect.readBy('task', 'task_queue');
  return { reading, where: 'state = ? AND ', values: [state] };
}

/** Those by place that bring so few rows that they can be sorted. */
async function findFew(
  rows: Rows,
  indexes: readonly (Reading | null)[],
): Promise<ReadonlySet<number>> {
  const few = new Set<number>();
  const asked = indexes.flatMap((index, at) => (index === null ? [] : [{ at, ...index }]));
  for (let from = 0; from < asked.length; from += FEW_TABLE_COUNT) {
    const some = asked.slice(from, from + FEW_TABLE_COUNT);
    const selects = some.map(
      ({ at, reading, where }) => `SELECT ${at} AS source, COUNT(*) AS row_count FROM
        (SELECT seq FROM ${reading} WHERE ${where}seq > 0 LIMIT ?) AS part`,
    );
    const values = some.flatMap((one) => [...one.values, FEW_COUNT + 1]);
    for (const row of await rows(selects.join(' UNION ALL '), values)) {
      if ((row['row_count'] as number) <= FEW_COUNT) few.add(row['source'] as number);
    }
  }
  return few;
}

/** Moves each table to its newest row, from `top` down, that may be asked for. */
export async function findTops(rows: Rows, sources: readonly Source[], top: number): Promise<void> {
  const tableCount = sources.some(({ isFew }) => isFew) ? FEW_TABLE_COUNT : TABLE_COUNT;
  for (let from = 0; from < sources.length; from += tableCount) {
    const some = sources.slice(from, from + tableCount);
    const reads = some.map((source) => newestOf(source, top));
    const selects = reads.map(
      ({ sql }, index) => `SELECT ${index} AS source, MAX(seq) AS top ${sql}`,
    );
    const values = reads.flatMap((read) => read.values);
    for (const row of await rows(selects.join(' UNION ALL '), values)) {
      const source = some[row['source'] as number];
      const found = (row['top'] as number | null) ?? 0;
      // Below are rows of other namespaces.
      if (source !== undefined) source.top = found > source.bottom ? found : 0;
    }
  }
}

function newestOf({ table, reading, where, values, isLive, isFew }: Source, top: number): Read {
  // The live table has no index by state and age.
  if (isLive && !isFew) return { sql: `FROM ${table} WHERE seq <= ?`, values: [top] };
  return { sql: `FROM ${reading} WHERE ${where}seq <= ?`, values: [...values, top] };
}

/** Whether rows are looked at that may not be asked for. */
export function isSearch({ isFew, conditions }: Source): boolean {
  // All of the few are no more than a piece.
  return !isFew && conditions.sql !== '';
}
