/**
 * Lists tasks newest first, over the live table and every segment of history. Type, group and
 * label have no index: such a search goes through the tables piece by piece, so that no question
 * from outside holds up the commits, however little it finds.
 */
import type { TaskQuery } from '../../application/ports.ts';
import type { TaskState } from '../../domain/task.ts';
import { isTerminal } from '../../domain/task.ts';
import type { Database } from './database.ts';
import type { Dialect } from './dialect.ts';
import type { Row, Value } from './rows.ts';
import { selectList } from './rows.ts';
import type { Segments } from './segments.ts';

/** Rows that one statement looks at while it searches: some 20 ms of SQLite. */
const SEARCH_COUNT = 20_000;

interface Source {
  readonly table: string;
  /** The table in the order that it is to be read in: by `seq` within what `state` asks for. */
  readonly reading: string;
  readonly columns: string;
}

export async function listRows(
  database: Database,
  segments: Segments,
  query: TaskQuery,
): Promise<Row[]> {
  let newest: Row[] = [];
  for (const source of sourcesOf(database.dialect, segments, query.state)) {
    // A full page leaves room only for what is newer than its last.
    const above = newest.length < query.limit ? 0 : seqOf(newest.at(-1));
    const found = await search(database, source, query, above);
    // A task that ended meanwhile is found twice; the later look is right.
    const again = new Set(found.map(seqOf));
    newest = [...newest.filter((row) => !again.has(seqOf(row))), ...found]
      .sort((a, b) => seqOf(b) - seqOf(a))
      .slice(0, query.limit);
  }
  return newest;
}

const light = { withLarge: false } as const;

function sourcesOf(dialect: Dialect, segments: Segments, state: TaskState | null): Source[] {
  const sources: Source[] = [];
  if (state === null || !isTerminal(state)) {
    // Most live tasks wait; the index would bring them in the order of their lanes.
    const few = state === 'offered' || state === 'running';
    const reading = few ? dialect.readBy('task', 'task_lane') : dialect.readByKey('task');
    sources.push({ table: 'task', reading, columns: selectList('live', light) });
  }
  if (state === null || isTerminal(state)) {
    for (const { table } of segments.newestFirst) {
      const reading =
        state === null ? dialect.readByKey(table) : dialect.readBy(table, `${table}_state`);
      sources.push({ table, reading, columns: selectList('history', light) });
    }
  }
  return sources;
}

/** The newest tasks of one table that match, as many as a page holds. */
async function search(
  database: Database,
  { table, reading, columns }: Source,
  query: TaskQuery,
  above: number,
): Promise<Row[]> {
  const [sql, values] = conditionsOf(query);
  const indexed = query.type === null && query.group === null && query.label === null;
  const width = indexed ? Number.MAX_SAFE_INTEGER : SEARCH_COUNT;
  const ends = indexed ? null : await endsOf(database, table);
  const bottom = Math.max(above + 1, ends?.first ?? 0);
  let top = Math.min((query.beforeSeq ?? Number.MAX_SAFE_INTEGER) - 1, ends?.last ?? Infinity);

  const found: Row[] = [];
  while (top >= bottom && found.length < query.limit) {
    const from = Math.max(bottom, top - width + 1);
    const rows = await database.rows(
      `SELECT ${columns} FROM ${reading} WHERE seq BETWEEN ? AND ?${sql} ORDER BY seq DESC LIMIT ?`,
      [from, top, ...values, query.limit - found.length],
    );
    found.push(...rows);
    top = from - 1;
  }
  return found;
}

function conditionsOf(query: TaskQuery): [sql: string, values: Value[]] {
  const conditions: [sql: string, value: Value | null][] = [
    [' AND state = ?', query.state],
    [' AND type = ?', query.type],
    [' AND user_group = ?', query.group],
    // Labels are kept as a JSON array; their alphabet has no quote.
    [' AND INSTR(labels, ?) > 0', query.label === null ? null : `"${query.label}"`],
  ];
  const asked = conditions.filter(([, value]) => value !== null);
  return [asked.map(([sql]) => sql).join(''), asked.map(([, value]) => value)];
}

async function endsOf(
  database: Database,
  table: string,
): Promise<{ readonly first: number; readonly last: number }> {
  // Two questions in one: asked together, `MIN` and `MAX` would read the whole table.
  const [row] = await database.rows(
    `SELECT (SELECT MIN(seq) FROM ${table}) AS first_seq, (SELECT MAX(seq) FROM ${table}) AS last_seq`,
  );
  const last = (row?.['last_seq'] as number | null | undefined) ?? 0;
  return { first: (row?.['first_seq'] as number | null | undefined) ?? 1, last };
}

const seqOf = (row: Row | undefined): number => (row?.['seq'] as number | undefined) ?? 0;
