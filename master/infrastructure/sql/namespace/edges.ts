/** Who is first, or last, in lanes of those that are due: by the index of the lanes alone. */
import type { Edges, EdgeWanted, Position } from '../../../application/ports.ts';
import type { QueueEnd } from '../../../domain/queue/window.ts';
import { type Database, isBefore, isBeyond, type Read } from '../database.ts';
import type { Row } from '../rows.ts';

/** Lanes that are asked together. */
const LANE_COUNT = 256;
/** Entries of a lane that are looked at at first, then at a time, and in all of them: few at their ends are not due. */
const FEW_COUNT = 4;
const SOME_COUNT = 1_000;
const LOOK_COUNT_MAX = 100_000;

export async function findEdges(
  database: Database,
  wanted: readonly EdgeWanted[],
  to: QueueEnd,
  now: number,
): Promise<Edges> {
  const edges: (Position | null)[] = [];
  const budget = { leftCount: LOOK_COUNT_MAX };
  for (let from = 0; from < wanted.length; from += LANE_COUNT) {
    const some = wanted.slice(from, from + LANE_COUNT);
    const ends = await database.rowsOfEach(
      some.map((one) => look(database, one, to, null, FEW_COUNT)),
    );
    for (const [at, one] of some.entries()) {
      edges.push(await edgeFrom(database, one, { to, now, budget }, ends[at] ?? []));
    }
  }
  return edges;
}

interface Search {
  readonly to: QueueEnd;
  readonly now: number;
  /** Entries that may still be looked at beyond the first few of each lane. */
  readonly budget: { leftCount: number };
}

/** Goes on inwards from there. Where it stops, all that is due is further in. */
async function edgeFrom(
  database: Database,
  wanted: EdgeWanted,
  { to, now, budget }: Search,
  end: readonly Row[],
): Promise<Position | null> {
  let rows = end;
  let limit = FEW_COUNT;
  for (;;) {
    const due = rows.find((row) => (row['due_at'] as number) <= now);
    if (due !== undefined) return placeOf(due);
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return null;
    if (budget.leftCount <= 0) return placeOf(last);
    budget.leftCount -= SOME_COUNT;
    limit = SOME_COUNT;
    const { sql, values } = look(database, wanted, to, placeOf(last), limit);
    rows = await database.rows(sql, values);
  }
}

function look(
  { dialect }: Database,
  { lane, state }: EdgeWanted,
  to: QueueEnd,
  after: Position | null,
  limit: number,
): Read {
  const isUp = to === 'first' || after === null;
  const { sql, values } = isUp ? isBeyond('queue_time', after) : isBefore('queue_time', after);
  const direction = to === 'first' ? 'ASC' : 'DESC';
  return {
    sql: `SELECT queue_time, seq, due_at FROM ${dialect.readBy('task', 'task_queue')}
      WHERE state = ? AND lane_seq = ?${sql}
      ORDER BY queue_time ${direction}, seq ${direction} LIMIT ?`,
    values: [state, lane, ...values, limit],
  };
}

const placeOf = (row: Row): Position => ({
  time: row['queue_time'] as number,
  seq: row['seq'] as number,
});
