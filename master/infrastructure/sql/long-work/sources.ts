/** Where the tasks are that long work is about: tables, and what is asked of their rows. Knows no cursor. */
import { inNamespace, type TaskSearch } from '../../../application/ports.ts';
import { isTerminal } from '../../../domain/model/task.ts';
import { type Database, isAmong, type Read } from '../database.ts';
import { conditionsOf, includesDay, joined } from '../listing/conditions.ts';
import type { Row } from '../rows.ts';
import { hasEndedBefore, type ListedSegment, segmentAt } from '../segments.ts';
import { bytesOf, selectList } from '../tables/history.ts';

/** Rows that one statement looks at: about a millisecond of SQLite. */
export const PIECE_COUNT = 1_000;
/** The same where an index leads to each of them: the next one is somewhere else. */
export const LED_PIECE_COUNT = 250;
/** The part of a database that a search asks. */
export type Asked = Pick<Database, 'dialect' | 'rows'>;

/** What there is to look at. */
export interface Tables {
  readonly segments: readonly ListedSegment[];
  readonly ns: number;
}

/** One table, with what is asked of its rows. */
export interface Source {
  readonly table: string;
  /** The table in the order of `seq`, or of those in one state. */
  readonly reading: string;
  /** What `reading` asks for first. */
  readonly first: Read;
  readonly conditions: Read;
  readonly columns: { readonly whole: string; readonly light: string; readonly bytes: string };
  /** Its rows are above the first and not above the second. */
  readonly range: readonly [number, number];
  readonly isBackwards: boolean;
}

/** Whether its rows are looked for one by one. */
export const isLed = ({ first }: Source): boolean => first.sql !== '';

/** In the order in which they are gone through. */
export function sourcesOf(
  { dialect }: Asked,
  { segments, ns }: Tables,
  search: TaskSearch,
): Source[] {
  const { filter, states, seqMax, endedBefore, isBackwards } = search;
  const range = [inNamespace(ns, 0), Math.min(seqMax, inNamespace(ns + 1, 0) - 1)] as const;
  const [state, ...others] = states;
  if (state === undefined) return [];
  const nothing = { sql: '', values: [] };
  if (!isTerminal(state)) {
    const conditions = joined(amongOf(states), conditionsOf(filter, null));
    const reading = dialect.readByKey('task');
    const live = { reading, first: nothing, conditions, range, isBackwards };
    return [{ table: 'task', columns: columnsOf('live'), ...live }];
  }
  const isOne = others.length === 0;
  const before = { sql: ' AND finished_at < ?', values: [endedBefore] };
  const newest = segmentAt('normal', endedBefore).day;
  return segments
    .filter((segment) => segment.day <= newest && includesDay(filter, segment))
    .toSorted((a, b) => (isBefore(a.table, b.table) ? -1 : 1))
    .map((segment): Source => {
      const { table, retention } = segment;
      // Of a day that was over nothing has to be asked but the index, where that says all.
      const isBeforeAll = hasEndedBefore(segment, endedBefore);
      const asked = joined(isBeforeAll ? nothing : before, conditionsOf(filter, segment));
      const byState = dialect.readBy(table, `${table}_state`);
      return {
        table,
        reading: isOne ? byState : dialect.readByKey(table),
        first: isOne ? { sql: 'state = ? AND ', values: [state] } : nothing,
        conditions: isOne ? asked : joined(amongOf(states), asked),
        columns: columnsOf(retention),
        range,
        isBackwards: false,
      };
    });
}

function amongOf(states: TaskSearch['states']): Read {
  const { sql, values } = isAmong('state', states);
  return { sql: ` AND ${sql}`, values };
}

/** Each begins with ` AND `. */
function columnsOf(source: Parameters<typeof selectList>[0]): Source['columns'] {
  return {
    whole: selectList(source, 'whole'),
    light: selectList(source, 'light'),
    bytes: bytesOf(source),
  };
}

/** As segments are gone through: by day, and then by name. */
export function isBefore(table: string, other: string): boolean {
  const [day, otherDay] = [table.slice(-8), other.slice(-8)];
  return day < otherDay || (day === otherDay && table < other);
}

/** Those asked for from the first `seq` up to the second. */
export function rowsOf(
  database: Asked,
  { reading, first, conditions, columns }: Source,
  [least, most]: readonly [number, number],
  limit: number,
  size: 'whole' | 'light' = 'whole',
): Promise<readonly Row[]> {
  return database.rows(
    `SELECT ${columns[size]} FROM ${reading}
     WHERE ${first.sql}seq BETWEEN ? AND ?${conditions.sql} ORDER BY seq LIMIT ?`,
    [...first.values, least, most, ...conditions.values, limit],
  );
}
