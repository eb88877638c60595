/** How many live rows there are of a kind, from an index alone: when a term begins, there may be millions. */
import type { Position, StoredLane } from '../../../application/ports.ts';
import type { LiveState } from '../../../domain/model/task.ts';
import { type Database, type Databases, isBefore, type Read } from '../database.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Row, Value } from '../rows.ts';

/** Rows counted by one statement where it would hold up all else. */
const COUNTED_COUNT = 5_000;

/** Rows that an index alone gives: by this column, from one value to another, then by order. */
export interface Counted {
  readonly index: 'task_queue' | 'task_ns_gate';
  readonly column: 'lane_seq' | 'gate';
  readonly where: Read;
  readonly least: number;
  readonly most: number;
}

interface CountedRows {
  readonly count: number;
  /** When the first of them is due; null: there is none, or the index does not say it. */
  readonly dueAt: number | null;
}

const NONE: CountedRows = { count: 0, dueAt: null };

/** Of each lane of a namespace, whose first and last number these are. */
export async function countLanes(
  databases: Databases,
  [least, most]: readonly [number, number],
): Promise<StoredLane[]> {
  const of = (state: LiveState) =>
    count(databases, {
      index: 'task_queue',
      column: 'lane_seq',
      where: { sql: 'state = ?', values: [state] },
      least,
      most,
    });
  const [waiting, held, suspended] = [await of('waiting'), await of('held'), await of('suspended')];
  const lanes = new Set([...waiting.keys(), ...held.keys(), ...suspended.keys()]);
  return [...lanes].map((lane) => {
    const { count: ownCount, dueAt } = waiting.get(lane) ?? NONE;
    const { count: heldCount } = held.get(lane) ?? NONE;
    const { count: suspendedCount } = suspended.get(lane) ?? NONE;
    return { lane, count: ownCount + heldCount, heldCount, suspendedCount, dueAt };
  });
}

/** Of the rows with each value of the column. */
export async function count(
  databases: Databases,
  counted: Counted,
): Promise<Map<number, CountedRows>> {
  const counts = new Map<number, CountedRows>();
  const { isInProcess } = databases.engine.dialect;
  const rows = isInProcess ? inPieces(databases, counted) : atOnce(databases, counted);
  for await (const row of rows) {
    const value = row['value'] as number;
    const known = counts.get(value) ?? NONE;
    const dueAt = row['first_due_at'] as number | null;
    counts.set(value, {
      count: known.count + (row['task_count'] as number),
      dueAt: dueAt && Math.min(known.dueAt ?? dueAt, dueAt),
    });
  }
  return counts;
}

/** The index alone gives them. */
function countWhere(dialect: Dialect, { index, column, where }: Counted, within: string): string {
  const dueAt = index === 'task_queue' ? 'MIN(due_at)' : 'NULL';
  return `SELECT ${column} AS value, COUNT(*) AS task_count, ${dueAt} AS first_due_at
    FROM ${dialect.readBy('task', index)}
    WHERE ${where.sql} AND ${within} GROUP BY ${column}`;
}

async function* atOnce({ readers }: Databases, counted: Counted): AsyncGenerator<Row> {
  const { column, where, least, most } = counted;
  // It may take seconds, and others commit meanwhile; nothing is written here before it has ended.
  const sql = countWhere(readers.dialect, counted, `${column} BETWEEN ? AND ?`);
  yield* await readers.rows(sql, [...where.values, least, most]);
}

/**
 * Comparing rows as wholes finds the place in the index with SQLite; with others it does not. Beside any
 * other bound SQLite would begin at that.
 */
async function* inPieces({ engine }: Databases, counted: Counted): AsyncGenerator<Row> {
  const { index, column, where, least, most } = counted;
  const place = `${column}, queue_time, seq`;
  const within = `(${place}) > (?, ?, ?) AND (${place}) <= (?, ?, ?)`;
  const last = [most, Number.MAX_SAFE_INTEGER, 0];
  for (let after: readonly Value[] = [least, 0, 0]; ; ) {
    const [end] = await engine.rows(
      `SELECT ${place} FROM ${engine.dialect.readBy('task', index)}
       WHERE ${where.sql} AND ${within} ORDER BY ${place} LIMIT 1 OFFSET ?`,
      [...where.values, ...after, ...last, COUNTED_COUNT - 1],
    );
    const upTo = end && ([column, 'queue_time', 'seq'].map((name) => end[name]) as Value[]);
    const values = [...where.values, ...after, ...(upTo ?? last)];
    yield* await engine.rows(countWhere(engine.dialect, counted, within), values);
    if (upTo === undefined) return;
    after = upTo;
  }
}

/** Of one gate, by its index alone: those that it lets in before that place. */
export async function countHeldBefore(
  database: Database,
  ns: number,
  gate: number,
  place: Position,
  max: number,
): Promise<number> {
  const { sql, values } = isBefore('queue_time', place);
  const [row] = await database.rows(
    `SELECT COUNT(*) AS count FROM (SELECT seq FROM ${database.dialect.readBy('task', 'task_ns_gate')}
     WHERE ns = ? AND gate = ?${sql} LIMIT ?) AS held`,
    [ns, gate, ...values, max],
  );
  return Number(row?.['count'] ?? 0);
}
