/**
 * The tasks of one namespace in SQL. What it reads is in `queries.ts`, what long work looks for in `long-work/`, what a
 * commit writes in `commit.ts`, who may write in `namespace/`. It decides nothing about tasks.
 */
import type {
  Commit,
  HistoryPage,
  Log,
  SearchCount,
  SearchPage,
  TaskSearch,
  TaskStore,
} from '../../application/ports.ts';
import { CommitConflict, inNamespace, StoreUnusable, TermLost } from '../../application/ports.ts';
import type {
  ChunkQuery,
  EventPage,
  EventQuery,
  LogWrite,
  Position,
  StoredChunk,
} from '../../application/ports.ts';
import { deletedBy } from '../../domain/changes.ts';
import type { LogHead } from '../../domain/logs/attempt-log.ts';
import type { LoadPoint, LoadQuery, RecentQuery } from '../../application/reports/load-query.ts';
import type { UsageQuery, UsageSum } from '../../application/reports/usage-query.ts';
import type { LoadSample } from '../../domain/load/figures.ts';
import { pauseMoved } from '../../domain/model/pause.ts';
import type { Dialect } from './dialects/dialect.ts';
import { followClock, type Following } from './namespace/clock.ts';
import { creditFirst, type Crediting, goOnCrediting } from './namespace/credit.ts';
import type { Databases } from './database.ts';
import { readEvents } from './feed/event-rows.ts';
import type { LogRows } from './logs/log-rows.ts';
import { JobRows } from './jobs/job-rows.ts';
import { Queries } from './queries.ts';
import type { History } from './history.ts';
import { attemptsOfEach } from './listing/attempts.ts';
import { countRows } from './long-work/count.ts';
import { searchRows } from './long-work/search.ts';
import type { Asked } from './long-work/sources.ts';
import type { Committer } from './namespace/committer.ts';
import { countHeldBefore } from './namespace/counts.ts';
import type { Terms } from './namespace/terms.ts';
import type { LoadRows } from './load/load-rows.ts';
import type { UsageRows } from './usage/usage-rows.ts';

/** What the stores of all namespaces have in common. */
export interface Shared {
  readonly databases: Databases;
  readonly history: History;
  readonly terms: Terms;
  readonly committer: Committer;
  readonly usage: UsageRows;
  readonly load: LoadRows;
  readonly log: Log;
  readonly logs: LogRows;
  /** What comes before everything else, once; answers the secrets of this installation. */
  readonly prepare: (now: number) => Promise<readonly string[]>;
  /** Something failed that is not understood: whoever is next looks again what is there. */
  readonly doubt: () => void;
}

export class SqlTaskStore extends Queries implements TaskStore {
  readonly #shared: Shared;
  readonly #ns: number;
  readonly jobs: JobRows;

  constructor(shared: Shared, ns: number) {
    super(shared.databases, shared.history, shared.log, ns);
    this.#shared = shared;
    this.#ns = ns;
    this.jobs = new JobRows(shared.databases, ns);
  }

  async takeTerm(owner: string, now: number, held?: number): ReturnType<TaskStore['takeTerm']> {
    try {
      return await this.#takeTerm(owner, now, held);
    } catch (error) {
      this.#shared.doubt();
      // One that has served before keeps its executors, and waits to be let in again.
      throw held === undefined ? refused(this.#shared.databases.engine.dialect, error) : error;
    }
  }

  async #takeTerm(owner: string, now: number, held?: number): ReturnType<TaskStore['takeTerm']> {
    const { databases, history, terms, log, prepare } = this.#shared;
    const askedAt = performance.now();
    const secrets = await prepare(now);
    const begun = await terms.begin(this.#ns, owner, now, held);
    const { term, lastSeq, lastEventSeq, aliveAt, settings } = begun;
    // Until the row was free another master may have gone on writing, by the same clock.
    const waitedMs = Math.ceil(performance.now() - askedAt);
    const heading = { ...begun, ns: this.#ns, now: now + waitedMs };
    const left = JSON.parse(begun.unfinished ?? 'null') as Crediting | Following | null;
    const isCrediting = left !== null && 'absences' in left;
    if (isCrediting) {
      // Whoever is cut off here must leave the absence, or a clock that was set back, to be seen.
      const asBefore = { ...heading, now: aliveAt ?? heading.now };
      await goOnCrediting(databases.engine, terms, asBefore, left);
    }
    const backMs = await followClock(databases.engine, history, terms, log, {
      ...heading,
      aliveAt: aliveAt ?? (await this.#newestSubmit()),
      left: isCrediting ? null : left,
    });
    const paused = pauseMoved(settings.paused, backMs);
    const numbers = { term, lastSeq, lastEventSeq };
    return { ...numbers, secrets, aliveAt, settings: { ...settings, paused } };
  }

  owedMs(): number {
    return this.#shared.databases.engine.dialect.owedMs();
  }

  async commit(commit: Commit): Promise<void> {
    const { history } = this.#shared;
    try {
      await history.ids.during({ ns: this.#ns, commit }, () => this.#commit(commit));
    } catch (error) {
      const isAnswer = error instanceof TermLost || error instanceof CommitConflict;
      if (!isAnswer) this.#shared.doubt();
      throw error;
    }
    this.#shared.logs.noteDeleted(deletedBy(commit.writes));
  }

  async searchTasks(
    search: TaskSearch,
    cursor: string | null,
    limit: number,
    bytesMax: number,
  ): Promise<SearchPage> {
    const { databases, history } = this.#shared;
    const found = await history.reading(() => {
      const tables = { segments: history.segments.of(this.#ns), ns: this.#ns };
      return searchRows(databases.engine, tables, search, { cursor, limit, bytesMax });
    });
    return { tasks: await this.stored(found.rows), cursor: found.cursor };
  }

  async readHistory(
    search: TaskSearch,
    cursor: string | null,
    limit: number,
    bytesMax: number,
  ): Promise<HistoryPage> {
    const { databases, history } = this.#shared;
    const { readers } = databases;
    const asked: Asked = {
      dialect: readers.dialect,
      rows: (sql, values) => readers.aside(() => readers.rows(sql, values)),
    };
    const found = await history.reading(() => {
      const tables = { segments: history.segments.of(this.#ns), ns: this.#ns };
      return searchRows(asked, tables, search, { cursor, limit, bytesMax });
    });
    const stored = await this.stored(found.rows);
    const attempts = await attemptsOfEach(
      asked,
      stored.map(({ task }) => task.seq),
    );
    const tasks = stored.map((one) => ({ ...one, attempts: attempts.get(one.task.seq) ?? [] }));
    return { tasks, cursor: found.cursor };
  }

  async countTasks(
    search: TaskSearch,
    limits: Parameters<TaskStore['countTasks']>[1],
  ): Promise<SearchCount> {
    const { databases, history } = this.#shared;
    const { sample, ...counted } = await history.reading(() => {
      const tables = { segments: history.segments.of(this.#ns), ns: this.#ns };
      return countRows(databases.readers, tables, search, limits);
    });
    return { ...counted, sample: await this.stored(sample) };
  }

  countHeldBefore(gate: number, place: Position, max: number): Promise<number> {
    return countHeldBefore(this.#shared.databases.readers, this.#ns, gate, place, max);
  }

  readEvents(query: EventQuery): Promise<EventPage> {
    return readEvents(this.#shared.databases.readers, this.#ns, query);
  }

  writeLogs(writes: readonly LogWrite[]): Promise<void> {
    return this.#shared.logs.writeLogs(writes);
  }

  readLogHeads(taskSeq: number, attempt: number): Promise<readonly LogHead[]> {
    return this.#shared.logs.readLogHeads(taskSeq, attempt);
  }

  readLogChunks(query: ChunkQuery): Promise<readonly StoredChunk[]> {
    return this.#shared.logs.readLogChunks(query);
  }

  async foldUsage(): Promise<void> {
    await this.#shared.usage.fold();
  }

  readUsage(query: UsageQuery): Promise<readonly UsageSum[]> {
    return this.#shared.usage.read(this.#ns, query);
  }

  readLoad(query: LoadQuery): Promise<readonly LoadPoint[]> {
    return this.#shared.load.read(this.#ns, query);
  }

  readRecent(query: RecentQuery): Promise<readonly LoadSample[]> {
    return this.#shared.load.readRecent(this.#ns, query);
  }

  /** Where there is nothing to be credited it adds no turn: the engines of many namespaces share transactions. */
  #commit(commit: Commit): Promise<void> {
    const { committer, databases, history, terms } = this.#shared;
    const ns = this.#ns;
    if (commit.absences.length === 0) return committer.commit({ ns, commit });
    const heading = { ...commit, ns };
    return creditFirst(databases.engine, history, terms, heading, commit).then((rest) =>
      committer.commit({ ns, commit: rest }),
    );
  }

  /** A store of 2.0.0 does not say when its master was last alive: this late at least. */
  async #newestSubmit(): Promise<number> {
    const { engine } = this.#shared.databases;
    const [row] = await engine.rows(
      `SELECT submitted_at FROM ${engine.dialect.readByKey('task')}
       WHERE seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT 1`,
      [inNamespace(this.#ns, 1), inNamespace(this.#ns + 1, 0)],
    );
    return (row?.['submitted_at'] as number | undefined) ?? 0;
  }
}

/** The same error, or that no try will help, where the database says so. */
export function refused(dialect: Dialect, error: unknown): unknown {
  const refusal = dialect.refusalOf(error);
  return refusal === null ? error : new StoreUnusable(refusal, { cause: error });
}
