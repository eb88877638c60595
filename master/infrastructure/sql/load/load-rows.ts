/** Writes how busy types were, minute by minute: each is added to its hour as it comes. Reads spans, and removes old ones. */
import type {
  LoadPoint,
  LoadQuery,
  LoadSamples,
  LoadSpan,
  RecentQuery,
} from '../../../application/reports/load-query.ts';
import {
  ALL_TYPES,
  type Load,
  LOAD_PEAKS,
  LOAD_SUMS,
  type LoadSample,
} from '../../../domain/load/figures.ts';
import type { Database, Read } from '../database.ts';
import { placeholders, plain } from '../dialects/dialect.ts';
import type { Row, Value } from '../rows.ts';
import { LOAD_TABLE, loadKey, loadPeaks, loadSums } from './load-table.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Rows that one transaction writes, or removes. */
const WRITE_COUNT = 300;
const DROP_COUNT = 1_000;
/** Rows that one statement looks at. */
const LOOK_COUNT = 1_000;
/** Types of which an hour of minutes is so much. */
const TYPE_COUNT = 16;

/** What is told of the last hour. */
const lately = ['accepted', 'started', 'succeeded', 'failed'] as const;

const figures = [
  ...LOAD_SUMS.map((name) => `SUM(${name}) AS ${name}`),
  ...LOAD_PEAKS.map((name) => `MAX(${name}) AS ${name}`),
].join(', ');
const keyList = loadKey.map(({ name }) => name).join(', ');

export class LoadRows {
  readonly #database: Database;

  /** @param database not the engine's: nobody waits for it there. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** @see LoadUpkeep.addLoad */
  async add(at: number, of: readonly LoadSamples[]): Promise<void> {
    const rows = of.flatMap(({ namespaceId, samples }) =>
      samples.flatMap(({ type, load }) => {
        const values = [...LOAD_SUMS, ...LOAD_PEAKS].map((name) => load[name] ?? 0);
        const hour = at - (at % HOUR_MS);
        return [
          [namespaceId, 1, type, at, ...values],
          [namespaceId, 60, type, hour, ...values],
          [namespaceId, 0, type, 0, ...values],
        ];
      }),
    );
    // Without its sum nobody knows of a minute: as long as only some of it is written, it has none.
    const isSum = (row: readonly Value[]) => Number(row[2] === ALL_TYPES);
    rows.sort((one, other) => isSum(one) - isSum(other));
    for (let first = 0; first < rows.length; first += WRITE_COUNT) {
      await this.#addSome(rows.slice(first, first + WRITE_COUNT));
    }
  }

  #addSome(rows: readonly Value[][]): Promise<void> {
    const database = this.#database;
    const { dialect } = database;
    return database.aside(() =>
      database.transaction(async (connection) => {
        const add = dialect.add(LOAD_TABLE, loadKey, loadSums, rows, loadPeaks);
        await dialect.run(connection, [plain(dialect.begin), ...add]);
      }),
    );
  }

  /** @see LoadReads.readLoad */
  async read(ns: number, query: LoadQuery): Promise<readonly LoadPoint[]> {
    const { types, span, stepMs, from, to } = query;
    if (types.length === 0) return [];
    const stepCount = Math.floor((LOOK_COUNT * span * MINUTE_MS) / types.length / stepMs);
    const pieceMs = Math.max(1, stepCount) * stepMs;
    const points: LoadPoint[] = [];
    for (let begin = from - (from % stepMs); begin < to; begin += pieceMs) {
      const range = [Math.max(from, begin), Math.min(to, begin + pieceMs)];
      const rows = await this.#database.aside(() =>
        this.#database.rows(
          `SELECT begin_at - begin_at % ${stepMs} AS point_at, ${figures} FROM ${LOAD_TABLE}
           WHERE ns = ? AND span = ? AND type IN ${placeholders(1, types.length)}
             AND begin_at >= ? AND begin_at < ? GROUP BY point_at ORDER BY point_at`,
          [ns, span, ...types, ...range],
        ),
      );
      for (const row of rows) points.push({ at: Number(row['point_at']), load: loadOf(row) });
    }
    return points;
  }

  /** @see LoadReads.readRecent */
  async readRecent(ns: number, query: RecentQuery): Promise<readonly LoadSample[]> {
    const { after, limit, among, since } = query;
    if (among?.length === 0) return [];
    const some = oneOf(among);
    const ever = await this.#ofEach(
      `SELECT type, last_started_at, last_ended_at FROM ${LOAD_TABLE}
       WHERE ns = ? AND span = 0 AND type > ?${some.sql} ORDER BY type LIMIT ?`,
      [ns, after, ...some.values, limit],
    );
    if (ever.length === 0) return [];
    const loads = new Map<string, Load>();
    for (const row of ever) {
      const { type, last_started_at, last_ended_at } = row as Record<string, string>;
      const last = {
        last_started_at: Number(last_started_at),
        last_ended_at: Number(last_ended_at),
      };
      loads.set(String(type), last);
    }
    const sums = lately.map((name) => `SUM(${name}) AS ${name}`).join(', ');
    const types = [...loads.keys()];
    for (let first = 0; first < types.length; first += TYPE_COUNT) {
      const some = oneOf(types.slice(first, first + TYPE_COUNT));
      const rows = await this.#ofEach(
        `SELECT type, ${sums} FROM ${LOAD_TABLE}
         WHERE ns = ? AND span = 1${some.sql} AND begin_at >= ? GROUP BY type`,
        [ns, ...some.values, since],
      );
      for (const row of rows) {
        const load = loads.get(row['type'] as string) ?? {};
        for (const name of lately) load[name] = Number(row[name]);
      }
    }
    return [...loads].map(([type, load]) => ({ type, load }));
  }

  #ofEach(sql: string, values: readonly Value[]): Promise<readonly Row[]> {
    return this.#database.aside(() => this.#database.rows(sql, values));
  }

  /** @see LoadUpkeep.dropLoad */
  async drop(span: LoadSpan, before: number): Promise<number> {
    const namespaces = await this.#database.rows('SELECT id FROM namespace');
    const old = { sql: 'span = ? AND begin_at < ?', values: [span, before] };
    const quiet = {
      sql: 'span = 0 AND last_started_at < ? AND last_ended_at < ?',
      values: [before, before],
    };
    let count = 0;
    for (const { id } of namespaces) {
      for (const which of span === 60 ? [old, quiet] : [old]) {
        count += await this.#database.aside(() => this.#dropSome(id as number, which));
      }
    }
    return count;
  }

  async #dropSome(ns: number, { sql, values }: Read): Promise<number> {
    const database = this.#database;
    const rows = await database.rows(
      `SELECT ${keyList} FROM ${LOAD_TABLE} WHERE ns = ? AND ${sql} LIMIT ${DROP_COUNT}`,
      [ns, ...values],
    );
    if (rows.length === 0) return 0;
    const keys = rows.map((row) => loadKey.map(({ name }) => row[name] as Value));
    await database.transaction(async (connection) => {
      const { dialect } = database;
      // Another master may have removed some.
      const removes = dialect.remove(LOAD_TABLE, loadKey, keys);
      const remove = removes.map((statement) => ({ ...statement, touches: null }));
      await dialect.run(connection, [plain(dialect.begin), ...remove]);
    });
    return rows.length;
  }
}

function oneOf(types: readonly string[] | null): Read {
  if (types === null) return { sql: '', values: [] };
  return { sql: ` AND type IN ${placeholders(1, types.length)}`, values: types };
}

function loadOf(row: Row): Load {
  const load: Load = {};
  for (const name of [...LOAD_SUMS, ...LOAD_PEAKS]) {
    const value = Number(row[name]);
    if (value !== 0) load[name] = value;
  }
  return load;
}
