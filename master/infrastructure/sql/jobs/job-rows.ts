/** What is read of jobs in SQL: by the engine in the order of indexes, by people page by page. */
import type {
  DueQuestion,
  DueTriggers,
  JobCount,
  JobPage,
  JobQuery,
  JobReads,
  ListedJob,
  LoadedJobs,
  OccurrencePage,
  OccurrenceQuery,
} from '../../../application/ports.ts';
import { OCCURRENCE_LOOK_COUNT_MAX } from '../../../domain/bounds.ts';
import type { Job, JobVersion, Occurrence, Trigger } from '../../../domain/model/job.ts';
import {
  isAsked,
  isTimeAsked,
  jobsOfPage,
  newestFirst,
  placeOf,
} from '../../../domain/model/job-query.ts';
import type { Database, Databases, Read } from '../database.ts';
import { padded, placeholders } from '../dialects/dialect.ts';
import type { Row, Value } from '../rows.ts';
import { job as jobTable, jobOf, jobVersionOf, occurrenceOf, triggerOf } from './job-tables.ts';

/** So few jobs are read without asking first how large they are: together they are no more than one turn reads. */
const FEW_COUNT = 3;
/** Jobs that one page of the list looks at, and records that are looked at in one piece. */
const LOOK_COUNT = 1_000;
/** Of these so many are read at a time, with their triggers. */
const PIECE_COUNT = 16;
/** Rows that one statement removes. */
const DROP_COUNT = 1_000;

const LISTED = jobTable.columns
  .map(({ name }) => name)
  .filter((name) => name !== 'ns' && name !== 'template')
  .join(', ');

export class JobRows implements JobReads {
  readonly #engine: Database;
  readonly #readers: Database;
  readonly #ns: number;

  constructor({ engine, readers }: Databases, ns: number) {
    this.#engine = engine;
    this.#readers = readers;
    this.#ns = ns;
  }

  async firstTriggerAt(after: number): Promise<number | null> {
    const { sql, values } = this.#firstAfter(after);
    return nextAtOf(await this.#engine.rows(sql, values));
  }

  async loadDueTriggers({ now, since, dueCount, missedCount }: DueQuestion): Promise<DueTriggers> {
    const [due = [], missed = [], next = []] = await this.#engine.rowsOfEach([
      this.#dueIn(since, now, dueCount),
      this.#dueIn(Number.MIN_SAFE_INTEGER, since, missedCount),
      this.#firstAfter(now),
    ]);
    return { due: due.map(triggerOf), missed: missed.map(triggerOf), nextAt: nextAtOf(next) };
  }

  #firstAfter(after: number): Read {
    const from = this.#engine.dialect.readBy('job_trigger', 'job_trigger_ns_next');
    const sql = `SELECT next_at FROM ${from} WHERE ns = ? AND next_at IS NOT NULL AND next_at > ?
      ORDER BY next_at LIMIT 1`;
    return { sql, values: [this.#ns, after] };
  }

  #dueIn(from: number, to: number, limit: number): Read {
    const table = this.#engine.dialect.readBy('job_trigger', 'job_trigger_ns_next');
    const sql = `SELECT * FROM ${table} WHERE ns = ? AND next_at IS NOT NULL AND next_at > ? AND next_at <= ?
      ORDER BY next_at, job, name LIMIT ?`;
    return { sql, values: [this.#ns, from, to, limit] };
  }

  async loadJobs(names: readonly string[], bytesMax: number): Promise<LoadedJobs> {
    if (names.length === 0) return { jobs: [], rest: [] };
    const some = names.length <= FEW_COUNT ? names : await this.#fitting(names, bytesMax);
    const rows = await this.#named(this.#engine, 'SELECT * FROM job', 'name', some);
    const byName = new Map(rows.map((row) => [row['name'] as string, row]));
    const jobs = some.flatMap((name) => {
      const row = byName.get(name);
      return row === undefined ? [] : [jobOf(row)];
    });
    return { jobs, rest: names.slice(some.length) };
  }

  /** The first of them, as many as have no more than so many bytes together; one at least. */
  async #fitting(names: readonly string[], bytesMax: number): Promise<readonly string[]> {
    const select = 'SELECT name, OCTET_LENGTH(spec) + OCTET_LENGTH(template) AS bytes FROM job';
    const rows = await this.#named(this.#engine, select, 'name', names);
    const bytesOf = new Map(rows.map((row) => [row['name'], Number(row['bytes'])]));
    let bytes = 0;
    const end = names.findIndex((name) => (bytes += bytesOf.get(name) ?? 0) > bytesMax);
    return end < 0 ? names : names.slice(0, Math.max(end, 1));
  }

  #named(
    database: Database,
    select: string,
    column: 'name' | 'job',
    names: readonly string[],
  ): Promise<readonly Row[]> {
    const values = padded(names);
    const sql = `${select} WHERE ns = ? AND ${column} IN ${placeholders(1, values.length)}`;
    return database.rows(sql, [this.#ns, ...values]);
  }

  async countJobs(after: string, limit: number): Promise<JobCount> {
    const [row] = await this.#engine.rows(
      `SELECT COUNT(*) AS job_count, MAX(name) AS last_name FROM
         (SELECT name FROM ${this.#engine.dialect.readByLongKey('job')}
          WHERE ns = ? AND name > ? ORDER BY name LIMIT ?) AS page`,
      [this.#ns, after, limit],
    );
    const last = (row?.['last_name'] as string | null | undefined) ?? null;
    return { count: Number(row?.['job_count'] ?? 0), last };
  }

  loadTriggers(jobs: readonly string[]): Promise<readonly Trigger[]> {
    return this.#triggersOf(this.#engine, jobs);
  }

  async #triggersOf(database: Database, jobs: readonly string[]): Promise<readonly Trigger[]> {
    if (jobs.length === 0) return [];
    const rows = await this.#named(database, 'SELECT * FROM job_trigger', 'job', jobs);
    return rows.map(triggerOf).sort(byPlace);
  }

  async loadListeners(job: string, limit: number): Promise<readonly Trigger[]> {
    const from = this.#engine.dialect.readBy('job_trigger', 'job_trigger_ns_source');
    const rows = await this.#engine.rows(
      `SELECT * FROM ${from} WHERE ns = ? AND source IS NOT NULL AND source = ?
       ORDER BY job, name LIMIT ?`,
      [this.#ns, job, limit],
    );
    return rows.map(triggerOf);
  }

  async loadCalendared(after: string, limit: number): Promise<readonly Trigger[]> {
    const [job = '', name = ''] = after.split('/');
    const from = this.#engine.dialect.readBy('job_trigger', 'job_trigger_ns_calendared');
    const rows = await this.#engine.rows(
      `SELECT * FROM ${from}
       WHERE ns = ? AND is_calendared = 1 AND job >= ? AND (job > ? OR name > ?)
       ORDER BY job, name LIMIT ?`,
      [this.#ns, job, job, name, limit],
    );
    return rows.map(triggerOf);
  }

  loadRecords(...of: Parameters<JobReads['loadRecords']>): Promise<readonly Occurrence[]> {
    return this.#recordsOf(this.#engine, ...of);
  }

  listRecords(...of: Parameters<JobReads['loadRecords']>): Promise<readonly Occurrence[]> {
    return this.#recordsOf(this.#readers, ...of);
  }

  async #recordsOf(
    database: Database,
    { job, trigger }: { readonly job: string; readonly trigger: string },
    from: number,
    to: number,
    limit: number,
  ): Promise<readonly Occurrence[]> {
    const table = database.dialect.readByLongKey('occurrence');
    const of = [this.#ns, job, trigger];
    const select = `SELECT * FROM ${table} WHERE ns = ? AND job = ? AND trigger_name = ?`;
    const before = await database.rows(
      `${select} AND nominal < ? AND rerun = 0 ORDER BY nominal DESC LIMIT 1`,
      [...of, from],
    );
    const within = await database.rows(
      `${select} AND nominal >= ? AND nominal <= ? ORDER BY nominal, rerun LIMIT ?`,
      [...of, from, to, limit],
    );
    return [...before, ...within].map(occurrenceOf);
  }

  /** Looks at so many rows, of which it reads little, and goes on behind them with the next page. */
  async listJobs(query: JobQuery): Promise<JobPage> {
    const { after, limit } = query;
    const rows = await this.#readers.rows(
      `SELECT name, is_enabled, type, user_group, tags, description, OCTET_LENGTH(spec) AS bytes
       FROM ${this.#readers.dialect.readByLongKey('job')}
       WHERE ns = ? AND name > ? ORDER BY name LIMIT ?`,
      [this.#ns, after, LOOK_COUNT],
    );
    const found = rows.filter((row) => isAsked(jobOf(row), query));
    const page = jobsOfPage(found, limit, (row) => Number(row['bytes']));
    const last = found.length > page.length ? page.at(-1) : rows.at(-1);
    const isLast = rows.length < LOOK_COUNT && found.length === page.length;
    const jobs: ListedJob[] = [];
    const triggers: Trigger[] = [];
    for (let at = 0; at < page.length; at += PIECE_COUNT) {
      const names = page.slice(at, at + PIECE_COUNT).map((row) => row['name'] as string);
      const read = await this.#named(this.#readers, `SELECT ${LISTED} FROM job`, 'name', names);
      // One may have become another's since.
      const own = read.map(jobOf).filter((job) => isAsked(job, query));
      own.sort((a, b) => (a.name < b.name ? -1 : 1));
      jobs.push(...own.map(({ template: _, ...job }) => job));
      const left = own.map(({ name }) => name);
      if (left.length > 0) triggers.push(...(await this.#triggersOf(this.#readers, left)));
    }
    return { jobs, triggers, after: isLast ? null : ((last?.['name'] as string) ?? null) };
  }

  async showJob(name: string): Promise<{ job: Job; triggers: readonly Trigger[] } | null> {
    const [row] = await this.#named(this.#readers, 'SELECT * FROM job', 'name', [name]);
    if (row === undefined) return null;
    return { job: jobOf(row), triggers: await this.#triggersOf(this.#readers, [name]) };
  }

  async listVersions(job: string): Promise<readonly JobVersion[]> {
    const rows = await this.#readers.rows(
      'SELECT version FROM job_version WHERE ns = ? AND job = ? ORDER BY version DESC',
      [this.#ns, job],
    );
    const versions: JobVersion[] = [];
    // Each may be large: others have their turn in between.
    for (const { version } of rows) {
      const one = await this.readVersion(job, Number(version));
      if (one !== null) versions.push(one);
    }
    return versions;
  }

  async readVersion(job: string, version: number): Promise<JobVersion | null> {
    const [row] = await this.#readers.rows(
      'SELECT * FROM job_version WHERE ns = ? AND job = ? AND version = ?',
      [this.#ns, job, version],
    );
    return row === undefined ? null : jobVersionOf(row);
  }

  async listOccurrences(query: OccurrenceQuery): Promise<OccurrencePage> {
    const { from, limit } = query;
    const page = await this.#lookedFor(query);
    if (from === null || page.lookedTo !== null || page.occurrences.length >= limit) return page;
    const reaching = await this.#reaching(from, query);
    return { ...page, occurrences: [...page.occurrences, ...reaching].slice(0, limit) };
  }

  /** Two filters have no index with the others: they are looked for among what these lead to. */
  async #lookedFor(query: OccurrenceQuery): Promise<OccurrencePage> {
    const { trigger, noticedFrom, limit } = query;
    const state = trigger === null ? query.state : null;
    const isSearch = noticedFrom !== null || state !== query.state;
    const occurrences: Occurrence[] = [];
    let { after } = query;
    for (let lookedCount = 0; lookedCount < OCCURRENCE_LOOK_COUNT_MAX; ) {
      // Most often all that is there is asked for.
      const count = lookedCount === 0 ? limit : LOOK_COUNT;
      const rows = await this.#occurrencesOf({ ...query, state, after, limit: count });
      occurrences.push(...rows.filter((one) => !isSearch || isTimeAsked(one, query)));
      const last = rows.at(-1);
      const isFull = occurrences.length >= limit;
      if (!isSearch || isFull || last === undefined || rows.length < count) {
        return { occurrences: occurrences.slice(0, limit), lookedTo: null };
      }
      lookedCount += count;
      after = placeOf(last);
    }
    return { occurrences, lookedTo: after };
  }

  /** Whenever they were noticed. */
  async #occurrencesOf(query: OccurrenceQuery): Promise<readonly Occurrence[]> {
    const { job, trigger, state, from, to, after, limit } = query;
    const where: string[] = ['ns = ?', 'job = ?'];
    const values: Value[] = [this.#ns, job];
    const add = (sql: string, ...of: Value[]): void => {
      where.push(sql);
      values.push(...of);
    };
    if (state !== null) add('state = ?', state);
    if (trigger !== null) add('trigger_name = ?', trigger);
    if (from !== null) add('nominal >= ?', from);
    if (to !== null) add('nominal < ?', to);
    if (after !== null) {
      const [nominal, name, rerun] = after;
      add(
        'nominal <= ? AND (nominal < ? OR trigger_name < ? OR (trigger_name = ? AND rerun < ?))',
        ...[nominal, nominal, name, name, rerun],
      );
    }
    const { dialect } = this.#readers;
    const table =
      trigger !== null
        ? dialect.readByLongKey('occurrence')
        : dialect.readBy('occurrence', `occurrence_ns_${state === null ? 'nominal' : 'state'}`);
    const rows = await this.#readers.rows(
      `SELECT * FROM ${table} WHERE ${where.join(' AND ')}
       ORDER BY nominal DESC, trigger_name DESC, rerun DESC LIMIT ?`,
      [...values, limit],
    );
    return rows.map(occurrenceOf);
  }

  /** What has begun before that instant and goes on behind it: of each trigger the last before it may. */
  async #reaching(from: number, query: OccurrenceQuery): Promise<readonly Occurrence[]> {
    const { job, trigger } = query;
    const triggers =
      trigger === null
        ? (await this.#triggersOf(this.#readers, [job])).map(({ name }) => name)
        : [trigger];
    const table = this.#readers.dialect.readByLongKey('occurrence');
    const sql = `SELECT * FROM ${table} WHERE ns = ? AND job = ? AND trigger_name = ? AND nominal < ? AND rerun = 0
      ORDER BY nominal DESC LIMIT 1`;
    const reads = triggers.map((name) => ({ sql, values: [this.#ns, job, name, from] }));
    const found = (await this.#readers.rowsOfEach(reads)).flat().map(occurrenceOf);
    return found.filter((one) => isTimeAsked(one, query)).sort(newestFirst);
  }
}

function byPlace(a: Trigger, b: Trigger): number {
  if (a.job !== b.job) return a.job < b.job ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

/** Of all namespaces: some of the oldest, but for those that wait. Returns how many. */
export async function dropOccurrences(database: Database, before: number): Promise<number> {
  const from = database.dialect.readBy('occurrence', 'occurrence_noticed');
  const rows = await database.rows(
    `SELECT ns, job, trigger_name, nominal, rerun FROM ${from}
     WHERE noticed_at < ? AND state <> 'pending' ORDER BY noticed_at LIMIT ?`,
    [before, DROP_COUNT],
  );
  if (rows.length === 0) return 0;
  const columns = [
    { name: 'ns', kind: 'integer' },
    { name: 'job', kind: 'text' },
    { name: 'trigger_name', kind: 'text' },
    { name: 'nominal', kind: 'integer' },
    { name: 'rerun', kind: 'integer' },
  ] as const;
  const keys = rows.map((row) => columns.map(({ name }) => row[name] as Value));
  await database.transaction(async (connection) => {
    const { dialect } = database;
    const begin = { sql: dialect.begin, runs: [[]], touches: null };
    await dialect.run(connection, [begin, ...dialect.remove('occurrence', columns, keys)]);
  });
  return rows.length;
}

const nextAtOf = ([row]: readonly Row[]): number | null =>
  (row?.['next_at'] as number | undefined) ?? null;
