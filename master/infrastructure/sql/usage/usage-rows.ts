/**
 * Adds up by day what commits have counted: in one transaction the rows of the commits go and those of the days
 * grow, so that each counts once, whoever else does the same. Reads days, and removes old ones.
 */
import type { UsageQuery, UsageSum } from '../../../application/reports/usage-query.ts';
import {
  addCount,
  boundedTo,
  FIGURES,
  type Figures,
  hasRoomFor,
  type UsageCount,
  usageId,
  type UsageKey,
} from '../../../domain/usage/usage.ts';
import { type Database, isAmong, type Read } from '../database.ts';
import type { Connection, Statement } from '../dialects/dialect.ts';
import { plain } from '../dialects/dialect.ts';
import type { Row, Value } from '../rows.ts';
import { deltaKey, fieldColumns, figureColumns, usageKey } from './usage-table.ts';

/** Rows of commits that one transaction reads. */
const DELTA_COUNT = 50;
/** Who is told apart in them: the last row may have more. */
const KEY_COUNT = 1_000;
/**
 * Keys of a day that one statement on a file adds up: commits wait for it, and where each key is told apart, to read
 * them takes longest. A server is asked for the whole day: to go on from a key it would read the day from its first.
 */
const PIECE_COUNT = 500;
/** Rows of days that one removes. */
const DROP_COUNT = 1_000;

const keyList = usageKey.map(({ name }) => name).join(', ');
/** What tells the keys of a day apart, in their order. */
const places = Object.values(fieldColumns);
const placeList = places.join(', ');
const placeMarks = places.map(() => '?').join(', ');
const sums = FIGURES.map((name) => `SUM(${name}) AS ${name}`).join(', ');

/** Of one namespace and day. */
interface Day {
  readonly ns: number;
  readonly day: string;
  readonly counts: Map<string, UsageCount>;
}

export class UsageRows {
  readonly #database: Database;
  #folding: Promise<unknown> = Promise.resolve();

  /** @param database not the engine's: nobody waits for it there. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** One after another. @see Store.foldUsage */
  fold(): Promise<number> {
    const folded = this.#folding.then(() => this.#foldAll());
    this.#folding = folded.catch(() => undefined);
    return folded;
  }

  /** All that there is when it begins; what is committed meanwhile may be left, since that need not end. */
  async #foldAll(): Promise<number> {
    const database = this.#database;
    const waiting = await database.rows('SELECT ns FROM usage_delta LIMIT 1');
    let count = 0;
    for (let isAll = waiting.length === 0; !isAll; ) {
      const folded = await database.aside(() => database.transaction((one) => this.#foldSome(one)));
      count += folded.count;
      isAll = folded.isAll;
    }
    return count;
  }

  /** `isAll`: there was no more. */
  async #foldSome(
    connection: Connection,
  ): Promise<{ readonly count: number; readonly isAll: boolean }> {
    const { dialect } = this.#database;
    const sql = `SELECT ns, term, delta, counts FROM usage_delta LIMIT ${DELTA_COUNT}${dialect.lockRow}`;
    const read: Statement = { sql, runs: [[]], touches: null };
    const [, found] = await dialect.run(connection, [plain(dialect.begin), read]);
    const rows = found?.rows ?? [];
    const { days, taken } = addedUp(rows);
    const added: Value[][] = [];
    for (const day of days) {
      const counts = await this.#bounded(connection, day);
      for (const one of counts.values()) added.push([...keyOf(day.ns, one), ...figuresOf(one)]);
    }
    const removes = dialect.remove('usage_delta', deltaKey, taken);
    const adds = dialect.add('usage_day', usageKey, figureColumns, added);
    const outcomes = await dialect.run(connection, taken.length === 0 ? [] : [...removes, ...adds]);
    const goneCount = outcomes
      .slice(0, removes.length)
      .reduce((sum, { touched }) => sum + touched, 0);
    if (goneCount !== taken.length) throw new Error('usage was added up by another master');
    return {
      count: taken.length,
      isAll: rows.length === taken.length && rows.length < DELTA_COUNT,
    };
  }

  /** What of them there is room for; of the rest each group has one. */
  async #bounded(connection: Connection, { ns, day, counts }: Day): Promise<Day['counts']> {
    const { dialect } = this.#database;
    const ask = async (sql: string, runs: Value[][]): Promise<readonly Row[]> => {
      const [found] = await dialect.run(connection, [{ sql, runs, touches: null }]);
      return found?.rows ?? [];
    };
    const ofDay = 'FROM usage_day WHERE ns = ? AND day = ?';
    const [counted] = await ask(`SELECT COUNT(*) AS key_count ${ofDay}`, [[ns, day]]);
    const count = Number(counted?.['key_count'] ?? 0);
    if (hasRoomFor(counts.size, { count })) return counts;
    const groups = isAmong('user_group', [
      ...new Set([...counts.values()].map((one) => one.group)),
    ]);
    const countedByGroup = await ask(
      `SELECT user_group, COUNT(*) AS key_count ${ofDay} AND ${groups.sql} GROUP BY user_group`,
      [[ns, day, ...groups.values]],
    );
    const equal = usageKey.map(({ name }) => `${name} = ?`).join(' AND ');
    const known = await ask(
      `SELECT ${keyList} FROM usage_day WHERE ${equal}`,
      [...counts.values()].map((one) => keyOf(ns, one)),
    );
    const ofGroups = new Map(
      countedByGroup.map((row) => [textOf(row, 'user_group'), Number(row['key_count'])]),
    );
    return boundedTo(counts, new Set(known.map(idOf)), { count, ofGroups });
  }

  /** Of each key once; what is added meanwhile may be of some of them only. @see TaskStore.readUsage */
  async read(ns: number, query: UsageQuery): Promise<readonly UsageSum[]> {
    const { pace } = this.#database;
    const { by } = query;
    const sumsOfDay = new Map<string, UsageSum>();
    for (let after: readonly Value[] | null = null; ; ) {
      const { rows, last } = await this.#database.aside(() => this.#piece(ns, query, after));
      for (const row of rows) {
        if (pace.isOver) await pace.pause();
        const values = by.map((field) => textOf(row, fieldColumns[field]) || null);
        const id = JSON.stringify(values);
        const { figures } = sumsOfDay.get(id) ?? { figures: {} };
        sumsOfDay.set(id, { values, figures: addedTo(figures, row) });
      }
      if (last === null) return [...sumsOfDay.values()];
      after = last;
    }
  }

  /** What the next keys come to. `last`: with which of them it ends; null: there are no more. */
  async #piece(ns: number, query: UsageQuery, after: readonly Value[] | null) {
    const { day, by } = query;
    const filter = filterOf(query);
    const from = after === null ? '' : ` AND (${placeList}) > (${placeMarks})`;
    const where = `FROM usage_day WHERE ns = ? AND day = ?${filter.sql}${from}`;
    const values = [ns, day, ...filter.values, ...(after ?? [])];
    const [end] = this.#database.dialect.isInProcess
      ? await this.#database.rows(
          `SELECT ${placeList} ${where} ORDER BY ${placeList} LIMIT 1 OFFSET ${PIECE_COUNT - 1}`,
          values,
        )
      : [];
    const last = end === undefined ? null : places.map((name) => textOf(end, name));
    const to = last === null ? '' : ` AND (${placeList}) <= (${placeMarks})`;
    const list = ['ns', ...by.map((field) => fieldColumns[field])].join(', ');
    const rows = await this.#database.rows(
      `SELECT ${list}, ${sums} ${where}${to} GROUP BY ${list}`,
      [...values, ...(last ?? [])],
    );
    return { rows, last };
  }

  /** @see Store.dropUsage */
  async drop(before: string): Promise<number> {
    const database = this.#database;
    const namespaces = await database.rows('SELECT id FROM namespace');
    let count = 0;
    for (const { id } of namespaces) {
      count += await database.aside(() => this.#dropOf(id as number, before));
    }
    return count;
  }

  async #dropOf(ns: number, before: string): Promise<number> {
    const database = this.#database;
    const old = await database.rows(
      `SELECT ${keyList} FROM usage_day WHERE ns = ? AND day < ? LIMIT ${DROP_COUNT}`,
      [ns, before],
    );
    if (old.length === 0) return 0;
    const keys = old.map((row) => [ns, ...usageKey.slice(1).map(({ name }) => textOf(row, name))]);
    await database.transaction(async (connection) => {
      const { dialect } = database;
      const remove = dialect.remove('usage_day', usageKey, keys);
      await dialect.run(connection, [plain(dialect.begin), ...remove]);
    });
    return old.length;
  }
}

/** Rows of commits by the day that they are of; as many of them as one transaction is to write. */
function addedUp(rows: readonly Row[]): { readonly days: Day[]; readonly taken: Value[][] } {
  const days = new Map<string, Day>();
  const taken: Value[][] = [];
  let keyCount = 0;
  for (const row of rows) {
    if (keyCount >= KEY_COUNT) break;
    const ns = row['ns'] as number;
    taken.push(deltaKey.map(({ name }) => row[name] as Value));
    for (const one of JSON.parse(row['counts'] as string) as UsageCount[]) {
      const id = `${ns} ${one.day}`;
      const day = days.get(id) ?? { ns, day: one.day, counts: new Map<string, UsageCount>() };
      days.set(id, day);
      addCount(day.counts, one);
      keyCount += 1;
    }
  }
  return { days: [...days.values()], taken };
}

function keyOf(ns: number, { day, group, project, env, user, type }: UsageKey): Value[] {
  return [ns, day, group, project ?? '', env ?? '', user ?? '', type];
}

function figuresOf({ figures }: UsageCount): Value[] {
  return FIGURES.map((name) => figures[name] ?? 0);
}

function idOf(row: Row): string {
  return usageId({
    day: textOf(row, 'day'),
    group: textOf(row, 'user_group'),
    project: textOf(row, 'user_project'),
    env: textOf(row, 'user_env'),
    user: textOf(row, 'user_name'),
    type: textOf(row, 'type'),
  });
}

function addedTo(figures: Figures, row: Row): Figures {
  return Object.fromEntries(
    FIGURES.map((name) => [name, (figures[name] ?? 0) + Number(row[name])]),
  ) as Figures;
}

/** Names come as bytes from some databases. */
const textOf = (row: Row, column: string): string => String(row[column]);

function filterOf({ type, group, within }: UsageQuery): Read {
  const asked = [
    ['type', type],
    ['user_group', group],
    ['type', within?.types ?? null],
    ['user_group', within?.groups ?? null],
  ] as const;
  const filters = asked.flatMap(([column, some]) => (some === null ? [] : [isAmong(column, some)]));
  return {
    sql: filters.map(({ sql }) => ` AND ${sql}`).join(''),
    values: filters.flatMap(({ values }) => [...values]),
  };
}
