/**
 * The rows of every table in memory. Takes writes as a database does: it knows of a table only what
 * its writes say, and keeps copies of what they hold.
 */
import type { Position } from '../../application/ports.ts';
import { CommitConflict } from '../../application/ports.ts';
import type { RowWrite, StoredRow, TableName, Tables } from '../../domain/changes.ts';
import { copyOf, idOf, LARGE_FIELDS, taskIn } from '../../domain/changes.ts';
import { isBookingOver } from '../../domain/booking/booking.ts';
import { isOver } from '../../domain/long-work/work.ts';

export class Rows {
  readonly #tables = new Map<TableName, Map<number | string, StoredRow>>();

  /** By `idOf` their keys. */
  of<N extends TableName>(table: N): Map<number | string, Tables[N]['row']> {
    const rows = this.#tables.get(table) ?? new Map<number | string, StoredRow>();
    this.#tables.set(table, rows);
    return rows;
  }

  /** @throws {CommitConflict} a row is not as the write expects it. */
  check(write: RowWrite): void {
    const stored = this.of(write.table).get(idOf(write.key));
    const name = `${write.table} ${idOf(write.key)}`;
    if (write.op === 'insert' && stored !== undefined) {
      throw new CommitConflict(`${name} is there already`);
    }
    if (write.op === 'insert' || write.op === 'put' || write.expect === 'any') return;
    const version = (stored && taskIn(stored)?.version) ?? 'none';
    if (version === write.expect) return;
    throw new CommitConflict(`${name} is at version ${version} instead of ${write.expect}`);
  }

  write(write: RowWrite): void {
    const rows: Map<number | string, StoredRow> = this.of(write.table);
    const id = idOf(write.key);
    if (write.op === 'remove') rows.delete(id);
    else if (write.op !== 'set') rows.set(id, copyOf(write.row));
    else {
      const stored = rows.get(id);
      if (stored !== undefined)
        rows.set(id, { ...stored, ...copyOf(write.row), ...kept(write, stored) });
    }
  }
}

function kept({ table, large }: RowWrite<TableName, 'set'>, stored: StoredRow): object {
  const names: readonly string[] = (large ? undefined : LARGE_FIELDS[table]) ?? [];
  return Object.fromEntries(names.map((name) => [name, Reflect.get(stored, name)]));
}

/** Of long work and bookings: some are not over. */
export function hasOpenRows(rows: Rows): boolean {
  const works = [...rows.of('work').values()];
  return !works.every(isOver) || ![...rows.of('booking').values()].every(isBookingOver);
}

/** The first so many beyond a position, in order. */
export function page<T>(
  list: readonly T[],
  key: (item: T) => Position,
  after: Position | null,
  limit: number,
): T[] {
  const compare = (a: Position, b: Position): number => a.time - b.time || a.seq - b.seq;
  return list
    .filter((item) => after === null || compare(key(item), after) > 0)
    .sort((a, b) => compare(key(a), key(b)))
    .slice(0, limit);
}
