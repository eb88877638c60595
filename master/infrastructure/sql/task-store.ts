/**
 * The store of tasks in SQL. What it reads is in `queries.ts`, what a commit writes in `commit.ts`,
 * who may write in `terms.ts`, the tables of history in `history.ts`, what differs between databases
 * behind `dialects/`. It decides nothing about tasks.
 */
import type { Commit, Log, TaskStore } from '../../application/ports.ts';
import { StoreUnusable } from '../../application/ports.ts';
import type { Absence } from '../../domain/changes.ts';
import { NO_SETTINGS } from '../../domain/state.ts';
import { followClock } from './clock.ts';
import { creditAbsence, planCommit } from './commit.ts';
import type { Database } from './database.ts';
import type { Dialect, Statement } from './dialects/dialect.ts';
import { History } from './history.ts';
import { keepSecrets } from './installation.ts';
import { checkColumns, migrate } from './migrations.ts';
import { type Databases, Queries } from './queries.ts';
import { Terms } from './terms.ts';

/** Limits that are moved at once. */
const CREDIT_COUNT = 500;

export class SqlStore extends Queries implements TaskStore {
  readonly #engine: Database;
  readonly #readers: Database;
  readonly #dialect: Dialect;
  readonly #history: History;
  readonly #terms: Terms;
  readonly #allowWeakDurability: boolean;
  readonly #log: Log;

  constructor(
    databases: Databases,
    options: { readonly allowWeakDurability: boolean; readonly log: Log },
  ) {
    const history = new History(databases.readers);
    super(databases, history, options.log);
    this.#engine = databases.engine;
    this.#readers = databases.readers;
    this.#dialect = databases.engine.dialect;
    this.#history = history;
    this.#terms = new Terms(databases, options.log);
    this.#allowWeakDurability = options.allowWeakDurability;
    this.#log = options.log;
  }

  async takeTerm(owner: string, now: number, held?: number): ReturnType<TaskStore['takeTerm']> {
    const askedAt = performance.now();
    try {
      await this.#checkServer();
      await migrate(this.#readers);
      if (held === undefined) await checkColumns(this.#readers);
      await this.#history.find();
      await this.#history.prepare(now);
      const begun = await this.#terms.begin(owner, now, held);
      const { term, aliveAt } = begun;
      // A master of 2.0.0, which does not count here, may have gone on after the migration.
      const lastSeq = Math.max(begun.lastSeq, await this.newestSeq());
      // Until the row was free another master may have gone on writing, by the same clock.
      const waitedMs = Math.ceil(performance.now() - askedAt);
      await followClock(this.#engine, this.#history, this.#terms, this.#log, {
        term,
        lastSeq,
        now: now + waitedMs,
        aliveAt: aliveAt ?? (await this.#newestSubmit()),
      });
      const secrets = await keepSecrets(this.#readers);
      return { term, lastSeq, secrets, aliveAt, settings: NO_SETTINGS };
    } catch (error) {
      const refusal = this.#dialect.refusalOf(error);
      // One that has served before keeps its executors, and waits to be let in again.
      if (refusal === null || held !== undefined) throw error;
      throw new StoreUnusable(refusal, { cause: error });
    }
  }

  async commit(commit: Commit): Promise<void> {
    await this.#write(commit);
    // After it: what was written before the file was lost nobody has been told of yet.
    const loss = this.#dialect.findLoss();
    if (loss !== null) throw new StoreUnusable(loss);
  }

  async #write(commit: Commit): Promise<void> {
    const { statements, missing } = planCommit(this.#dialect, this.#history.segments, commit);
    const { term, absences, saysAlive } = commit;
    if (!saysAlive && statements.length + absences.length === 0) return this.#terms.confirm(term);
    const credits = await Promise.all(absences.map((absence) => this.#credit(absence)));
    // Making a table would end the transaction, so it comes before.
    for (const segment of missing) await this.#history.make(this.#engine, segment);
    await this.#terms.write(commit, [...credits, ...statements]);
  }

  /** The engine alone writes such rows, one commit after another: the bounds stay what they are. */
  async #credit(absence: Absence): Promise<Statement> {
    const bounds: number[] = [];
    const rows = this.#dialect.readBy('task', 'task_end');
    for (let after = absence.from; this.#dialect.isInProcess; ) {
      const [bound] = await this.#engine.rows(
        `SELECT end_by FROM ${rows} WHERE end_by > ? ORDER BY end_by LIMIT 1 OFFSET ${CREDIT_COUNT}`,
        [after],
      );
      if (bound === undefined) break;
      after = bound['end_by'] as number;
      bounds.push(after);
    }
    return creditAbsence(this.#dialect, absence, bounds);
  }

  async readClock(): Promise<number> {
    const [row] = await this.#readers.rows(`SELECT ${this.#dialect.clockSeconds} AS seconds`);
    return (row?.['seconds'] as number) * 1000;
  }

  prepareSegments(now: number): Promise<void> {
    return this.#history.prepare(now);
  }

  dropSegments(before: number): Promise<number> {
    return this.#history.drop(before, () => this.#terms.confirmOwner());
  }

  async close(): Promise<void> {
    await Promise.all(
      [...new Set([this.#engine, this.#readers])].map(({ knex }) => knex.destroy()),
    );
  }

  async #checkServer(): Promise<void> {
    const fault = await this.#dialect.findFault(this.#readers.knex);
    if (fault !== null) throw new StoreUnusable(fault);
    const weakness = await this.#dialect.findWeakness(this.#readers.knex);
    if (weakness === null) return;
    const message = `a power cut could lose accepted tasks: ${weakness}`;
    if (!this.#allowWeakDurability) throw new StoreUnusable(message);
    this.#log.warn(message);
  }

  /** A store of 2.0.0 does not say when its master was last alive: this late at least. */
  async #newestSubmit(): Promise<number> {
    const newest = `SELECT submitted_at FROM ${this.#dialect.readByKey('task')}`;
    const [row] = await this.#engine.rows(`${newest} ORDER BY seq DESC LIMIT 1`);
    return (row?.['submitted_at'] as number | undefined) ?? 0;
  }
}
