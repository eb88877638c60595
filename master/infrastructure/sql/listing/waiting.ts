/**
 * Lists waiting tasks in their order: the first of each lane by the index of the lanes, and of all of these the
 * first. What lanes do not tell is asked of the rows, of so many at most.
 */
import type { Position, WaitingQuery } from '../../../application/ports.ts';
import { type Database, isBeyond, type Read } from '../database.ts';
import { padded, placeholders } from '../dialects/dialect.ts';
import type { Row } from '../rows.ts';
import { selectList } from '../tables/history.ts';
import { unionOf } from '../union.ts';
import { conditionsOf } from './conditions.ts';
import { SEARCH_MS_MAX } from './newest.ts';

/** Tasks of which the rows are asked. */
const LOOK_COUNT = 200;
/** Entries of the index that one statement looks at, and lanes that it asks. */
const ENTRY_COUNT = 4_000;
const LANE_COUNT = 64;
/** The same once most entries are known to come too late. */
const LATE_ENTRY_COUNT = 16_000;
/** Lanes whose first task one statement finds: about a millisecond of SQLite. */
const HEAD_COUNT = 256;
/** Rows that one statement brings. */
const FOUND_COUNT = 64;

export interface WaitingRows {
  readonly rows: readonly Row[];
  readonly after: Position | null;
}

export async function waitingRows(database: Database, query: WaitingQuery): Promise<WaitingRows> {
  const until = database.pace.now() + SEARCH_MS_MAX;
  // That of the lanes is known.
  const { within: _, ...rest } = { ...query, type: null, group: null, label: null, requires: null };
  const conditions = conditionsOf({ ...rest, notification: null, failureReason: null }, null);
  const isSearch = conditions.sql !== '';
  // One more than asked for tells whether there is another page.
  const wanted = isSearch ? LOOK_COUNT : query.limit + 1;
  const places = await firstOf(database, query, wanted);
  const rows: Row[] = [];
  for (let at = 0; at < places.length && rows.length <= query.limit; at += FOUND_COUNT) {
    const isLate = at > 0 && database.pace.now() >= until;
    if (isLate) return { rows, after: places[at - 1] ?? null };
    const some = places.slice(at, at + FOUND_COUNT).map(({ seq }) => seq);
    rows.push(...(await readRows(database, some, conditions)));
  }
  if (rows.length > query.limit) {
    const page = rows.slice(0, query.limit);
    return { rows: page, after: placeOf(page.at(-1)) };
  }
  return { rows, after: places.length < wanted ? null : (places.at(-1) ?? null) };
}

/** The first so many of these lanes, in order: of as many lanes at most, those whose first one comes first. */
async function firstOf(
  database: Database,
  { lanes: all, after }: WaitingQuery,
  wanted: number,
): Promise<Position[]> {
  const from = database.dialect.readBy('task', 'task_queue');
  const beyond = isBeyond('queue_time', after);
  const lanes = all.length > LANE_COUNT ? await firstLanes(database, all, after, wanted) : all;
  let first: Position[] = [];
  for (let at = 0, laneCount = 0; at < lanes.length; at += laneCount) {
    // What comes behind these need not be looked at.
    const last = first.length < wanted ? undefined : first.at(-1);
    const entryCount = last === undefined ? ENTRY_COUNT : LATE_ENTRY_COUNT;
    laneCount = Math.max(1, Math.min(LANE_COUNT, Math.floor(entryCount / wanted)));
    const upTo = last === undefined ? '' : ' AND queue_time <= ?';
    const selects = lanes.slice(at, at + laneCount).map((lane): Read => {
      const sql = `SELECT queue_time, seq FROM ${from} WHERE state = 'waiting' AND lane_seq = ?
        ${beyond.sql}${upTo} ORDER BY queue_time, seq LIMIT ?`;
      const bounds = last === undefined ? [] : [last.time];
      return { sql, values: [lane, ...beyond.values, ...bounds, wanted] };
    });
    const page = { sql: 'ORDER BY queue_time, seq LIMIT ?', values: [wanted] };
    const { sql, values } = unionOf(selects, page);
    const rows = await database.aside(() => database.rows(sql, values));
    first.push(...rows.map(placeOf));
    first = first.sort(byPlace).slice(0, wanted);
  }
  return first;
}

/** Of these so many: those that have the first tasks. */
async function firstLanes(
  database: Database,
  lanes: readonly number[],
  after: Position | null,
  wanted: number,
): Promise<number[]> {
  const beyond = isBeyond('queue_time', after);
  const first = (column: string): string => `(SELECT ${column}
    FROM ${database.dialect.readBy('task', 'task_queue')} WHERE state = 'waiting'
    AND lane_seq = lane.seq${beyond.sql} ORDER BY queue_time, seq LIMIT 1)`;
  const heads: (Position & { readonly lane: number })[] = [];
  for (let at = 0; at < lanes.length; at += HEAD_COUNT) {
    const asked = padded(lanes.slice(at, at + HEAD_COUNT));
    const sql = `SELECT lane.seq AS lane, ${first('queue_time')} AS queue_time, ${first('seq')} AS seq
      FROM lane WHERE lane.seq IN ${placeholders(1, asked.length)}`;
    const values = [...beyond.values, ...beyond.values, ...asked];
    const rows = await database.aside(() => database.rows(sql, values));
    // None of a lane in which no more tasks wait.
    const some = rows.filter((row) => row['seq'] !== null);
    heads.push(...some.map((row) => ({ ...placeOf(row), lane: row['lane'] as number })));
  }
  return heads
    .sort(byPlace)
    .slice(0, wanted)
    .map(({ lane }) => lane);
}

/** Those that still wait, in order. */
async function readRows(
  database: Database,
  seqs: readonly number[],
  conditions: Read,
): Promise<readonly Row[]> {
  const asked = padded(seqs);
  const sql = `SELECT ${selectList('live', 'light')} FROM ${database.dialect.readByKey('task')}
    WHERE seq IN ${placeholders(1, asked.length)} AND state = 'waiting'${conditions.sql}
    ORDER BY queue_time, seq`;
  return database.aside(() => database.rows(sql, [...asked, ...conditions.values]));
}

function placeOf(row: Row | undefined): Position {
  return { time: row?.['queue_time'] as number, seq: row?.['seq'] as number };
}

const byPlace = (a: Position, b: Position): number => a.time - b.time || a.seq - b.seq;
