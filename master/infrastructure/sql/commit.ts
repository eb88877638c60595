/**
 * Turns a commit into statements, with the values of its rows. What the rows of a table are made of stands
 * in `tables/`.
 */
import type { Commit } from '../../application/ports.ts';
import { CommitConflict, DEFAULT_NAMESPACE_ID } from '../../application/ports.ts';
import { deletedBy } from '../../domain/changes.ts';
import type { Expected, Key, RowWrite, TableName } from '../../domain/changes.ts';
import type { Columns, Dialect, Statement } from './dialects/dialect.ts';
import type { Column, Value } from './rows.ts';
import { eventsWritten } from './feed/event-table.ts';
import { logsMarked } from './logs/log-table.ts';
import type { Segment, Segments } from './segments.ts';
import { tables } from './tables/all.ts';

const VERSION = { name: 'version', kind: 'integer' } as const;

export interface Plan {
  readonly statements: readonly Statement[];
  /** Segments that the statements need and that have yet to be made. */
  readonly missing: readonly Segment[];
}

/** A `Table`, whatever its rows are: they come from writes that name it. */
interface AnyTable {
  readonly place: string | ((key: Key) => Segment);
  readonly key: Columns;
  readonly along?: string;
  readonly columns: readonly Column<unknown>[];
  readonly changing?: readonly Column<unknown>[];
  readonly large?: readonly Column<unknown>[];
  readonly fixed?: readonly Column<unknown>[];
}

const ORDER = Object.values(tables) as unknown as AnyTable[];

/** What is written to one table of the database. */
interface Part {
  readonly name: string;
  readonly table: AnyTable;
  readonly segment: Segment | null;
  readonly inserts: Inserted[];
  /** Few, and seldom: each row is replaced as a whole. */
  readonly puts: Inserted[];
  readonly removes: Matching[];
  readonly sets: (Matching & Pick<RowWrite<TableName, 'set'>, 'row' | 'large' | 'whole'>)[];
}

interface Inserted {
  readonly ns: number;
  readonly row: unknown;
}

interface Matching {
  readonly ns: number;
  readonly key: Key;
  readonly expect: Expected;
}

/** The writes of one namespace. */
export interface Turn {
  readonly ns: number;
  readonly commit: Commit;
}

/**
 * Order matters where one commit moves a row out of a table and another row in.
 * @throws {CommitConflict} a row is to be taken out of a segment that has been dropped.
 */
export function planCommit(dialect: Dialect, segments: Segments, turns: readonly Turn[]): Plan {
  const missing: Segment[] = [];
  // A server removes logs beside whatever else it does.
  const gone = dialect.isInProcess ? turns.map(({ commit }) => deletedBy(commit.writes)) : [];
  const doomed = new Set(gone.flatMap((taskSeqs) => [...taskSeqs]));
  const removed = logsMarked(doomed);
  const written: Statement[] = [];
  for (const part of partsOf(turns)) {
    const { segment, inserts } = part;
    if (segment !== null && !segments.has(segment)) {
      if (part.removes.some(isExact)) throw new CommitConflict(`${part.name} has been dropped`);
      // It took its rows along: there is nothing left to be set.
      if (inserts.length === 0) continue;
      missing.push(segment);
    } else if (segment !== null && !segments.serves(segment)) {
      if (inserts.some(({ ns }) => ns !== DEFAULT_NAMESPACE_ID)) missing.push(segment);
    }
    if (segment !== null) segments.touch(segment);
    removed.push(...remove(dialect, part, doomed));
    written.push(
      ...inserted(dialect, part, 'inserts'),
      ...inserted(dialect, part, 'puts'),
      ...set(dialect, part),
    );
  }
  return { statements: [...removed, ...written, ...eventsWritten(dialect, turns)], missing };
}

/** In the order of `tables`. */
function partsOf(turns: readonly Turn[]): Part[] {
  const parts = new Map<string, Part>();
  for (const { ns, commit } of turns) {
    for (const write of commit.writes) put(parts, ns, write);
  }
  return [...parts.values()].sort((a, b) => ORDER.indexOf(a.table) - ORDER.indexOf(b.table));
}

function put(parts: Map<string, Part>, ns: number, write: RowWrite): void {
  const table = tables[write.table] as unknown as AnyTable;
  const place = typeof table.place === 'string' ? table.place : table.place(write.key);
  const name = typeof place === 'string' ? place : place.table;
  let part = parts.get(name);
  if (part === undefined) {
    const segment = typeof place === 'string' ? null : place;
    part = { name, table, segment, inserts: [], puts: [], removes: [], sets: [] };
    parts.set(name, part);
  }
  const { key } = write;
  if (write.op === 'set') {
    const { expect, row, large, whole } = write;
    part.sets.push({ ns, key, expect, row, large, ...(whole && { whole }) });
    return;
  }
  if (write.op === 'remove') part.removes.push({ ns, key, expect: write.expect });
  else (write.op === 'put' ? part.puts : part.inserts).push({ ns, row: write.row });
}

/** Columns that no row says anything of are left out: they are half of a new task. */
function inserted(dialect: Dialect, part: Part, which: 'inserts' | 'puts'): Statement[] {
  const { name, table, [which]: writes } = part;
  if (writes.length === 0) return [];
  const named: Column<unknown>[] = [];
  const said: Value[][] = [];
  // Each task goes through here, column by column, twice.
  for (const column of table.columns) {
    const values = writes.map(({ row, ns }) => column.of(row, ns));
    if (values.every((value) => value === column.unsaid)) continue;
    named.push(column);
    said.push(values);
  }
  const rows = writes.map((_, at) => said.map((values) => values[at] as Value));
  return which === 'puts' ? dialect.replace(name, named, rows) : dialect.insert(name, named, rows);
}

/** @param doomed Tasks of which what goes along goes by itself. */
function remove(
  dialect: Dialect,
  { name, table, removes }: Part,
  doomed: ReadonlySet<unknown>,
): Statement[] {
  const { along } = table;
  return matched(table, removes, (some, columns) => {
    const keys = some.map((one) => valuesOf(table, one));
    const left = along === undefined ? [] : keys.filter(([taskSeq]) => !doomed.has(taskSeq));
    const rest =
      along === undefined || left.length === 0 ? [] : dialect.remove(along, columns, left);
    return [...dialect.remove(name, columns, keys), ...rest];
  });
}

function set(dialect: Dialect, part: Part): Statement[] {
  const { changing = [], large = [], fixed = [] } = part.table;
  return matched(part.table, part.sets, (some, columns) => {
    const rows = some.map((write) => {
      const values = valuesOf(part.table, write);
      for (const { of } of changing) values.push(of(write.row, write.ns));
      return values;
    });
    const setting = (list: readonly Column<unknown>[], writes: Part['sets']) =>
      setEach(part, list, writes, columns);
    return [
      // First: what follows raises the version.
      ...setting(
        large,
        some.filter((write) => write.large),
      ),
      ...setting(
        fixed,
        some.filter((write) => write.whole),
      ),
      ...dialect.update(part.name, columns, changing, rows),
    ];
  });
}

function setEach(
  { name, table }: Part,
  list: readonly Column<unknown>[],
  writes: Part['sets'],
  columns: Columns,
): Statement[] {
  if (writes.length === 0) return [];
  const equal = (some: Columns): string[] => some.map((column) => `${column.name} = ?`);
  const runs = writes.map((write) => [
    ...list.map(({ of }) => of(write.row, write.ns)),
    ...valuesOf(table, write),
  ]);
  const where = equal(columns).join(' AND ');
  const sql = `UPDATE ${name} SET ${equal(list).join(', ')} WHERE ${where}`;
  return [{ sql, runs, touches: runs.length }];
}

/** Writes that expect a version must all find their row; others pass over what has gone. */
function matched<W extends Matching>(
  { key }: AnyTable,
  writes: readonly W[],
  plan: (some: readonly W[], columns: Columns) => readonly Statement[],
): Statement[] {
  const exact = writes.filter(isExact);
  const others = exact.length === writes.length ? [] : writes.filter((write) => !isExact(write));
  return [
    ...(exact.length === 0 ? [] : plan(exact, [...key, VERSION])),
    ...(others.length === 0 ? [] : plan(others, key)).map((one) => ({ ...one, touches: null })),
  ];
}

const isExact = ({ expect }: Matching): boolean => expect !== 'any';

/** What the row is matched by. */
function valuesOf(table: AnyTable, { ns, key, expect }: Matching): Value[] {
  const hasNs = table.key[0]?.name === 'ns';
  const values: Value[] = hasNs ? [ns] : [];
  if (typeof key !== 'object') values.push(key);
  else values.push(...key.slice(0, table.key.length - values.length));
  if (expect !== 'any') values.push(expect);
  return values;
}
