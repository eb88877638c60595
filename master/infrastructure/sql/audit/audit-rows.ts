/** The rows of the audit: lists them, verifies that they are as they were written, removes the oldest. */
import type {
  AuditCheck,
  AuditPage,
  AuditQuery,
  AuditStore,
  Position,
} from '../../../application/ports.ts';
import type { AuditRecord } from '../../../domain/model/audit.ts';
import { type Database, isBefore, isNamed, type Read } from '../database.ts';
import { plain } from '../dialects/dialect.ts';
import type { Pace } from '../pace.ts';
import type { Row, Value } from '../rows.ts';
import {
  appendAudit,
  auditColumns,
  CHAIN,
  type Chain,
  chainOf,
  HASHED_COUNT_MAX,
  headWritten,
  keyOf,
  lockChain,
} from './append.ts';
import { hashOf, type Head, type Link } from './chain.ts';

/** Rows that one statement brings to be verified: more than one hash is of. */
const SLICE_COUNT = 2 * HASHED_COUNT_MAX;
/** Rows that are verified for one request. */
const REQUEST_COUNT = 1_000;
/** Rows that one transaction removes, while nobody else can write any: more than one hash is of. */
const DROPPED_COUNT = 2 * HASHED_COUNT_MAX;
/** Rows of a clock that was ahead that are passed over. */
const AHEAD_COUNT_MAX = 10_000;
/** Rows that one statement looks at for a list: they may be large. */
const LOOKED_COUNT = 500;
const NAMES = ['seq', ...auditColumns.map(({ name }) => name), 'hash'];
const LIST = NAMES.join(', ');
/** In the order in which they are hashed. */
const HASHED = NAMES.slice(0, -1);

export class AuditRows implements AuditStore {
  readonly #database: Database;

  /** @param database not the engine's: nobody waits for it there. */
  constructor(database: Database) {
    this.#database = database;
  }

  append(record: AuditRecord): Promise<void> {
    const { dialect } = this.#database;
    return this.#database.transaction(async (connection) => {
      await dialect.run(connection, [plain(dialect.begin)]);
      await appendAudit(dialect, connection, [record]);
    });
  }

  async list(query: AuditQuery): Promise<AuditPage> {
    const records: AuditRecord[] = [];
    let { before, lookCount: left } = query;
    for (;;) {
      const limit = query.limit - records.length;
      const piece = { ...query, before, limit, lookCount: Math.min(left, LOOKED_COUNT) };
      const found = await this.#database.aside(() => this.#list(piece));
      records.push(...found.records);
      before = found.before;
      left -= LOOKED_COUNT;
      if (before === null || left <= 0 || records.length === query.limit) {
        return { records, before };
      }
    }
  }

  async #list(query: AuditQuery): Promise<AuditPage> {
    const { limit, lookCount } = query;
    const source = this.#database.dialect.readBy('audit', 'audit_made');
    const order = 'ORDER BY made_at DESC, seq DESC';
    const range = rangeOf(query);
    const asked = filterOf(query);
    const [floor] = await this.#database.rows(
      `SELECT made_at, seq FROM ${source} WHERE ${range.sql} ${order} LIMIT 1 OFFSET ?`,
      [...range.values, lookCount - 1],
    );
    const above = floor === undefined ? { sql: '', values: [] } : isFrom(positionOf(floor));
    const rows = await this.#database.rows(
      `SELECT ${LIST} FROM ${source} WHERE ${range.sql}${above.sql}${asked.sql} ${order} LIMIT ?`,
      [...range.values, ...above.values, ...asked.values, limit + 1],
    );
    const page = rows.slice(0, limit);
    const end = rows.length > limit ? page.at(-1) : floor;
    return { records: page.map(recordOf), before: end === undefined ? null : positionOf(end) };
  }

  async verify(after: number | null): Promise<AuditCheck> {
    let whole = await this.#verifyPiece(after);
    while (whole.next !== null && whole.count < REQUEST_COUNT) {
      const { count, from, to, next } = whole;
      const more = await this.#verifyPiece(next);
      whole = { ...more, count: count + more.count, from, to: more.to ?? to };
    }
    return whole;
  }

  async #verifyPiece(after: number | null): Promise<AuditCheck> {
    for (;;) {
      const chain = await this.#chain();
      const { head } = chain;
      if (head === null) return unreadable;
      const found = await this.#database.aside(() => this.#verify(chain, head, after));
      // The oldest may have gone meanwhile, as they should.
      const isSame = (await this.#chain()).head?.first.seq === head.first.seq;
      if (found.misfit === null || isSame) return found;
    }
  }

  async #chain(): Promise<Chain> {
    return chainOf(await this.#database.rows(CHAIN));
  }

  async #verify(chain: Chain, head: Head, after: number | null): Promise<AuditCheck> {
    const start = Math.max(after ?? 0, head.first.seq);
    const rows = await this.#database.rows(
      `SELECT ${LIST} FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?`,
      [start, SLICE_COUNT + 1],
    );
    const [before] = rows;
    const link =
      start === head.first.seq
        ? head.first
        : { seq: start, hash: before?.['seq'] === start ? String(before['hash']) : '' };
    const slice = rows.filter((row) => (row['seq'] as number) > start).slice(0, SLICE_COUNT);
    const isLast = slice.length < SLICE_COUNT;
    const seen = await follow(this.#database.pace, chain.keys, head, link, slice);
    const end = slice[seen.count - 1];
    const count = { count: seen.count, from: timeOf(slice[0]), to: timeOf(end) };
    const misfit = seen.misfit ?? (isLast ? endOf(head, seen.link, slice[seen.count]) : null);
    if (misfit !== null) return { ...count, next: null, misfit };
    return { ...count, next: isLast ? null : seen.link.seq, misfit: null };
  }

  async drop(before: number, now: number): Promise<number> {
    const { dialect } = this.#database;
    const last = await this.#lastBefore(before, now);
    if (last === null) return 0;
    return this.#database.transaction(async (connection) => {
      await dialect.run(connection, [plain(dialect.begin)]);
      const chain = await lockChain(dialect, connection);
      if (chain.head === null) throw new Error(unreadable.misfit.why);
      const sql = 'SELECT seq, hash FROM audit WHERE seq <= ? ORDER BY seq LIMIT ?';
      const read = { sql, runs: [[last, DROPPED_COUNT]], touches: null };
      const [oldest] = await dialect.run(connection, [read]);
      const link = lastLink(oldest?.rows ?? []);
      if (link === null) return 0;
      const remove = { sql: 'DELETE FROM audit WHERE seq <= ?', runs: [[link.seq]], touches: null };
      const { brokenSeq } = chain.head;
      const isOver = brokenSeq !== null && brokenSeq <= link.seq;
      const head = { first: link, last: chain.head.last, brokenSeq: isOver ? null : brokenSeq };
      const written = headWritten(chain, keyOf(chain), head);
      const [removed] = await dialect.run(connection, [remove, ...written]);
      return removed?.touched ?? 0;
    });
  }

  /** What is of a time to come was written by a clock that was ahead: it is no newer than what follows it. */
  async #lastBefore(before: number, now: number): Promise<number | null> {
    const sql = 'SELECT seq, made_at FROM audit WHERE seq > ? ORDER BY seq LIMIT ?';
    let last: number | null = null;
    let from = 0;
    for (let left = AHEAD_COUNT_MAX; left > 0 && last === null; left -= LOOKED_COUNT) {
      const rows = await this.#database.aside(() => this.#database.rows(sql, [from, LOOKED_COUNT]));
      for (const row of rows) {
        from = row['seq'] as number;
        const at = row['made_at'] as number;
        if (at >= before && at <= now) return last;
        if (at < before) last = from;
      }
      if (rows.length < LOOKED_COUNT) break;
    }
    return last;
  }
}

const unreadable = {
  ...{ count: 0, from: null, to: null, next: null },
  misfit: {
    seq: 0,
    at: null,
    why: 'the row audit_head of the table installation is not as it was written',
  },
} as const satisfies AuditCheck;

type Misfit = NonNullable<AuditCheck['misfit']>;

/** How far these rows follow from that link. `count`: of those that do. */
async function follow(
  pace: Pace,
  keys: readonly string[],
  { brokenSeq }: Head,
  before: Link,
  rows: readonly Row[],
): Promise<{ readonly count: number; readonly link: Link; readonly misfit: Misfit | null }> {
  let link = before;
  let count = 0;
  let group: Row[] = [];
  const failed = (seq: number, row: Row | undefined, why: string) => {
    return { count, link, misfit: { seq, at: timeOf(row), why } };
  };
  for (const row of rows) {
    const { seq, hash } = row as { readonly seq: number; readonly hash: string | null };
    const expected = link.seq + group.length + 1;
    if (seq !== expected)
      return failed(expected, row, 'it is missing; the next one is of this time');
    if (seq === brokenSeq)
      return failed(seq, row, 'before it, the row audit_head of installation was changed');
    group.push(row);
    if (hash === null && group.length < HASHED_COUNT_MAX) continue;
    const texts = group.map((one) => HASHED.map((name) => one[name] as Value));
    if (hash === null || keys.every((key) => hashOf(key, link.hash, texts) !== hash)) {
      const others =
        group.length === 1 ? '' : `, or one of the ${group.length - 1} that follow it,`;
      return failed(link.seq + 1, group[0], `it${others} is not as it was written`);
    }
    count += group.length;
    link = { seq, hash };
    group = [];
    if (pace.isOver) await pace.pause();
  }
  return { count, link, misfit: null };
}

/** Of the last piece: why it is not the end of the chain; null: it is. `rest`: a row behind it, of no link. */
function endOf({ last }: Head, { seq, hash }: Link, rest: Row | undefined): Misfit | null {
  const misfit = (why: string) => ({ seq: seq + 1, at: timeOf(rest), why });
  if (rest !== undefined) return misfit('it was not written by a master');
  if (seq < last.seq) return misfit('it is missing, with all that followed it');
  // Some may have come meanwhile.
  if (seq > last.seq || hash === last.hash) return null;
  return { ...misfit('it is not the one that was written last'), seq };
}

function lastLink(rows: readonly Row[]): Link | null {
  const row = rows.findLast(({ hash }) => hash !== null);
  return row === undefined ? null : { seq: row['seq'] as number, hash: row['hash'] as string };
}

function rangeOf({ from, to, before }: AuditQuery): Read {
  const older = before === null ? { sql: '', values: [] } : isBefore('made_at', before);
  return {
    sql: `made_at >= ? AND made_at < ?${older.sql}`,
    values: [from ?? 0, to ?? Number.MAX_SAFE_INTEGER, ...older.values],
  };
}

function isFrom({ time, seq }: Position): Read {
  const sql = ' AND made_at >= ? AND (made_at > ? OR seq >= ?)';
  return { sql, values: [time, time, seq] };
}

function filterOf({ actor, action, target }: AuditQuery): Read {
  const parts: Read[] = [];
  if (actor !== null) parts.push(isNamed('actor', actor));
  if (target !== null) parts.push(isNamed('target', target));
  if (action !== null) {
    const sql = '(action = ? OR action LIKE ?)';
    parts.push({ sql, values: [action, `${action}.%`] });
  }
  return {
    sql: parts.map(({ sql }) => ` AND ${sql}`).join(''),
    values: parts.flatMap(({ values }) => [...values]),
  };
}

const timeOf = (row: Row | undefined): number | null =>
  (row?.['made_at'] as number | undefined) ?? null;

function positionOf(row: Row): Position {
  return { time: row['made_at'] as number, seq: row['seq'] as number };
}

function recordOf(row: Row): AuditRecord {
  const get = <T>(name: string): T => row[name] as T;
  return {
    at: get('made_at'),
    actor: get('actor'),
    role: get('role'),
    address: get('address'),
    action: get('action'),
    namespace: get('namespace'),
    target: get('target'),
    outcome: get('outcome'),
    filter: get('filter_text'),
    count: get('item_count'),
    before: get('state_before'),
    after: get('state_after'),
    reason: get('reason'),
  };
}
