/**
 * A master's connection to the store: the memory store behind latency and faults. What reaches
 * the store takes place there whatever becomes of the master; the ledger hears of every commit.
 */
import type {
  Commit,
  JobReads,
  LaneEnd,
  OverduePage,
  Position,
  ShownTask,
  Store,
  StoredTask,
  TaskPage,
  TaskQuery,
  TaskStore,
} from '../../master/application/ports.ts';
import { copyOf, type RowWrite } from '../../master/domain/changes.ts';
import type { Notification, Task } from '../../master/domain/model/task.ts';
import type { LogChecks } from './checks/observing/logs.ts';
import type { Faults } from './faults.ts';
import type { Ledger } from './ledger.ts';
import { Random } from './random.ts';
import type { Process } from './world.ts';

/** A fault of the simulation, to tell it from a fault of the code under test. */
class StoreFault extends Error {
  override readonly name = 'StoreFault';
}

/** So many are found at once whatever is small: one by one they would take the whole run. */
const MANY_COUNT = 100;

type CommitFate = 'done' | 'refused' | 'answer_lost' | 'done_late';

export class SimStore implements TaskStore, Pick<Store, 'readClock'> {
  readonly #process: Process;
  readonly #rows: TaskStore;
  readonly #ledger: Ledger;
  readonly #faults: Faults;
  readonly #latencyMsMax: number;
  readonly #sliceCount: number;
  readonly #asked: (commit: Commit) => void;
  readonly #logs: LogChecks | null;
  /** For what is asked beside the engine: the rest of a run is drawn as without that. */
  readonly #beside: Random;

  constructor(options: {
    process: Process;
    rows: TaskStore;
    ledger: Ledger;
    faults: Faults;
    latencyMsMax: number;
    /** Tasks that it finds for long work at most: a search may bring less than it was asked for. */
    sliceCount: number;
    /** Told of every commit, whatever becomes of it. */
    asked: (commit: Commit) => void;
    /** Null: nobody logs. */
    logs: LogChecks | null;
    seed: number;
  }) {
    this.#process = options.process;
    this.#rows = options.rows;
    this.#ledger = options.ledger;
    this.#faults = options.faults;
    this.#latencyMsMax = options.latencyMsMax;
    this.#sliceCount = options.sliceCount;
    this.#asked = options.asked;
    this.#logs = options.logs;
    this.#beside = new Random(options.seed ^ 0xbe51de);
  }

  owedMs(): number {
    return Number.POSITIVE_INFINITY;
  }

  commit(commit: Commit): Promise<void> {
    this.#asked(commit);
    // As late as it may: rows that change while it is under way would be found by the ledger.
    const take = async (sent: Commit) => {
      const written = copyOfCommit(sent);
      await this.#rows.commit(written);
      // Before the rows of the ledger are those of the commit.
      this.#logs?.committed(written);
      this.#ledger.committed(written);
    };
    const { random } = this.#process.world;
    const fate: CommitFate = this.#faults.has('store')
      ? random.weighted({ done: 60, refused: 1, answer_lost: 1, done_late: 1 })
      : 'done';
    if (fate !== 'done') this.#process.world.log(`${this.#process.name}: a commit is ${fate}`);
    if (fate === 'refused') return this.#call(() => Promise.reject(new StoreFault('refused')));
    if (fate === 'done_late') {
      // The connection is gone, the server has not noticed yet.
      const sent = copyOfCommit(commit);
      const arrive = (): void => void take(sent).catch(() => undefined);
      this.#process.world.after(random.between(1, 3000), arrive);
      return this.#call(() => Promise.reject(new StoreFault('connection lost')));
    }
    return this.#call(async () => {
      await take(commit);
      if (fate === 'answer_lost') throw new StoreFault('connection lost after the commit');
    });
  }

  takeTerm(owner: string, _now: number, held?: number): ReturnType<TaskStore['takeTerm']> {
    return this.#read(async () => {
      // A store counts how long it was waited for: its clock is not taken for one that was set back.
      const begun = await this.#rows.takeTerm(owner, this.#process.now(), held);
      const waiting = await this.#rows.loadDelayed(null, Number.MAX_SAFE_INTEGER);
      const gates = (await this.#rows.countGates()).map(({ gate, count }) => ({
        gate,
        limit: count,
      }));
      const gated = (await this.#rows.loadHeld(gates)).flat();
      this.#ledger.termBegan(begun.term, [
        ...(await this.#rows.loadActive()),
        ...waiting,
        ...gated,
      ]);
      return begun;
    });
  }

  get jobs(): JobReads {
    const asked = <A extends unknown[], T>(ask: (...of: A) => Promise<T>) => {
      return (...of: A): Promise<T> => this.#read(() => ask(...of));
    };
    const { jobs } = this.#rows;
    return {
      firstTriggerAt: asked((...of) => jobs.firstTriggerAt(...of)),
      loadDueTriggers: asked((...of) => jobs.loadDueTriggers(...of)),
      loadJobs: asked((...of) => jobs.loadJobs(...of)),
      countJobs: asked((...of) => jobs.countJobs(...of)),
      loadTriggers: asked((...of) => jobs.loadTriggers(...of)),
      loadListeners: asked((...of) => jobs.loadListeners(...of)),
      loadCalendared: asked((...of) => jobs.loadCalendared(...of)),
      loadRecords: asked((...of) => jobs.loadRecords(...of)),
      listRecords: asked((...of) => jobs.listRecords(...of)),
      listJobs: asked((...of) => jobs.listJobs(...of)),
      showJob: asked((...of) => jobs.showJob(...of)),
      listVersions: asked((...of) => jobs.listVersions(...of)),
      readVersion: asked((...of) => jobs.readVersion(...of)),
      listOccurrences: asked((...of) => jobs.listOccurrences(...of)),
    };
  }

  readClock(): Promise<number> {
    return this.#read(async () => this.#process.world.wall);
  }

  loadActive(): Promise<Task[]> {
    return this.#read(() => this.#rows.loadActive());
  }

  loadWhole(): ReturnType<TaskStore['loadWhole']> {
    return this.#read(() => this.#rows.loadWhole());
  }

  countLanes(): ReturnType<TaskStore['countLanes']> {
    return this.#read(() => this.#rows.countLanes());
  }

  loadLanes(lanes: readonly LaneEnd[], now: number, limit: number): Promise<Task[][]> {
    return this.#read(() => this.#rows.loadLanes(lanes, now, limit));
  }

  countGates(): ReturnType<TaskStore['countGates']> {
    return this.#read(() => this.#rows.countGates());
  }

  loadBooked(...asked: Parameters<TaskStore['loadBooked']>): Promise<Task[][]> {
    return this.#read(() => this.#rows.loadBooked(...asked));
  }

  loadHeld(wanted: Parameters<TaskStore['loadHeld']>[0]): Promise<Task[][]> {
    return this.#read(() => this.#rows.loadHeld(wanted));
  }

  countHeldBefore(...of: Parameters<TaskStore['countHeldBefore']>): Promise<number> {
    return this.#read(() => this.#rows.countHeldBefore(...of));
  }

  findEdges(...of: Parameters<TaskStore['findEdges']>): ReturnType<TaskStore['findEdges']> {
    return this.#read(() => this.#rows.findEdges(...of));
  }

  loadDelayed(after: Position | null, limit: number): Promise<Task[]> {
    return this.#read(() => this.#rows.loadDelayed(after, limit));
  }

  loadOverdue(...of: Parameters<TaskStore['loadOverdue']>): Promise<OverduePage> {
    return this.#read(() => this.#rows.loadOverdue(...of));
  }

  loadNotifications(after: Position | null, limit: number): Promise<Notification[]> {
    return this.#read(() => this.#rows.loadNotifications(after, limit));
  }

  findTasks(
    ...[ids, bytesMax]: Parameters<TaskStore['findTasks']>
  ): ReturnType<TaskStore['findTasks']> {
    const some = ids.length > MANY_COUNT ? ids : ids.slice(0, this.#sliceCount);
    return this.#read(() => this.#rows.findTasks(some, bytesMax));
  }

  readTask(id: string): Promise<StoredTask | null> {
    return this.#read(() => this.#rows.readTask(id));
  }

  showTask(id: string, attempt: 'all' | number): Promise<ShownTask | null> {
    return this.#read(() => this.#rows.showTask(id, attempt));
  }

  findIds(ids: readonly string[]): Promise<Map<string, string>> {
    return this.#read(() => this.#rows.findIds(ids));
  }

  searchTasks(
    ...[search, cursor, limit, bytesMax]: Parameters<TaskStore['searchTasks']>
  ): ReturnType<TaskStore['searchTasks']> {
    const count = Math.min(limit, this.#sliceCount);
    return this.#read(() => this.#rows.searchTasks(search, cursor, count, bytesMax));
  }

  countTasks(...args: Parameters<TaskStore['countTasks']>): ReturnType<TaskStore['countTasks']> {
    return this.#read(() => this.#rows.countTasks(...args));
  }

  listTasks(query: TaskQuery): Promise<TaskPage> {
    return this.#read(() => this.#rows.listTasks(query));
  }

  listFailures(query: TaskQuery): ReturnType<TaskStore['listFailures']> {
    return this.#read(() => this.#rows.listFailures(query));
  }

  listWaiting(...of: Parameters<TaskStore['listWaiting']>): ReturnType<TaskStore['listWaiting']> {
    return this.#read(() => this.#rows.listWaiting(...of));
  }

  readHistory(...of: Parameters<TaskStore['readHistory']>): ReturnType<TaskStore['readHistory']> {
    return this.#read(() => this.#rows.readHistory(...of));
  }

  countEnded(...of: Parameters<TaskStore['countEnded']>): Promise<number> {
    return this.#read(() => this.#rows.countEnded(...of));
  }

  foldUsage(): Promise<void> {
    return this.#read(() => this.#rows.foldUsage());
  }

  readUsage(...of: Parameters<TaskStore['readUsage']>): ReturnType<TaskStore['readUsage']> {
    return this.#read(() => this.#rows.readUsage(...of));
  }

  readLoad(...of: Parameters<TaskStore['readLoad']>): ReturnType<TaskStore['readLoad']> {
    return this.#read(() => this.#rows.readLoad(...of));
  }

  readRecent(...of: Parameters<TaskStore['readRecent']>): ReturnType<TaskStore['readRecent']> {
    return this.#read(() => this.#rows.readRecent(...of));
  }

  readEvents(...of: Parameters<TaskStore['readEvents']>): ReturnType<TaskStore['readEvents']> {
    return this.#read(() => this.#rows.readEvents(...of));
  }

  writeLogs(...[writes]: Parameters<TaskStore['writeLogs']>): Promise<void> {
    return this.beside(async () => {
      await this.#rows.writeLogs(writes);
      this.#logs?.written(writes);
    });
  }

  readLogHeads(
    ...of: Parameters<TaskStore['readLogHeads']>
  ): ReturnType<TaskStore['readLogHeads']> {
    return this.beside(() => this.#rows.readLogHeads(...of));
  }

  readLogChunks(
    ...of: Parameters<TaskStore['readLogChunks']>
  ): ReturnType<TaskStore['readLogChunks']> {
    return this.#read(() => this.#rows.readLogChunks(...of));
  }

  /** What does not go through the engine: it fails before it takes place, or its answer is lost. */
  beside<T>(work: () => Promise<T>): Promise<T> {
    const random = this.#beside;
    const fate: CommitFate = this.#faults.has('store')
      ? random.weighted({ done: 20, refused: 1, answer_lost: 1 })
      : 'done';
    if (fate === 'refused') {
      return this.#call(() => Promise.reject(new StoreFault('refused')), random);
    }
    return this.#call(async () => {
      const answer = await work();
      if (fate === 'answer_lost') throw new StoreFault('connection lost after it was done');
      return answer;
    }, random);
  }

  #read<T>(read: () => Promise<T>): Promise<T> {
    const fails = this.#faults.has('store') && this.#process.world.random.chance(0.02);
    return this.#call(() => (fails ? Promise.reject(new StoreFault('a read failed')) : read()));
  }

  /** There, the work, and back. */
  #call<T>(work: () => Promise<T>, random = this.#process.world.random): Promise<T> {
    const { world } = this.#process;
    return new Promise((resolve, reject) => {
      const frozenMs = Math.max(0, this.#faults.storeFrozenUntil - world.now);
      world.after(this.#latencyMs(random) + frozenMs, () => {
        const isDown = world.now < this.#faults.storeDownUntil;
        const done = isDown ? Promise.reject(new StoreFault('the store is down')) : work();
        const back = (answer: () => void) => this.#process.after(this.#latencyMs(random), answer);
        done.then(
          (value) => back(() => resolve(value)),
          (error: Error) => back(() => reject(error)),
        );
      });
    });
  }

  #latencyMs(random: Random): number {
    const isSlow = this.#faults.has('store') && random.chance(0.01);
    return isSlow ? random.between(500, 8_000) : random.between(0, this.#latencyMsMax);
  }
}

/** The contract lets the rows change as soon as the call has settled. */
function copyOfCommit(commit: Commit): Commit {
  const copyOfWrite = (write: RowWrite): RowWrite =>
    write.op === 'remove' ? write : ({ ...write, row: copyOf(write.row) } as RowWrite);
  return { ...commit, writes: commit.writes.map(copyOfWrite) };
}
