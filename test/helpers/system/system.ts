/**
 * The whole system as real processes: a master on a store of its own, executors, and a receiver of
 * callbacks. Whatever was started is killed by its id in the end, and nothing is left on disk.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createClient,
  type ExecutorView,
  type SodaClient,
  type TaskInfo,
  type TaskView,
} from '@soda-scheduler/client';
import { apiBaseOf, DEFAULT_NAMESPACE } from '@soda-scheduler/protocol';
import { MARIADB_MISSING, type Mariadb, sharedMariadb, startMariadb } from '../mariadb.ts';
import { copyEmptyStore } from '../store/empty-store.ts';
import { eitherStore } from './either-store.ts';
import { bundledExecutors, type ExecutorName } from './executors.ts';
import { type Delivery, Receiver } from './receiver.ts';
import { type Line, SystemProcess } from './process.ts';
import { eventually } from './wait.ts';

/** Signs the callbacks of every master here. */
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const SODA = fileURLToPath(new URL('../../../cli/bin/soda.js', import.meta.url));

export const user = { group: 'tests' };

/** What `processes/executor.mjs` does, in order; a list of lists is one for each attempt. */
export type Step =
  | { readonly hold: true }
  | { readonly ignore: true }
  | { readonly work: number }
  | { readonly block: number }
  | { readonly tick: true }
  | { readonly checkpoint: unknown }
  | { readonly fail: { retryable?: boolean; retryAfterMs?: number; message?: string } }
  | { readonly crash: true };

export interface ExecutorSettings {
  readonly id: string;
  readonly types?: readonly string[];
  readonly version?: string;
  readonly labels?: readonly string[];
  readonly reserve?: readonly string[];
  readonly accepts?: 'never' | 'silent' | 'late';
  readonly drainTimeoutMs?: number;
  readonly token?: string;
  /** Where it dials; the master unless told otherwise. */
  readonly url?: string;
  /** `processes/executor.mjs`, or a copy of it beside another SDK. */
  readonly script?: string;
}

/** A handler began or ended, as its process told it; or what it has started is alive. */
export interface Mark {
  readonly mark: 'start' | 'end' | 'offered' | 'tick';
  readonly executor: string;
  readonly task: string;
  readonly attempt: number;
  readonly at: number;
  readonly checkpoint?: unknown;
  readonly how?: 'done' | 'failed';
  readonly aborted?: string | null;
}

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface SystemOptions {
  readonly databaseUrl: string;
  readonly env?: Readonly<Record<string, string>>;
}

export class System {
  static #executors = '';
  readonly receiver = new Receiver(SECRET);
  readonly marks: Mark[] = [];
  readonly processes: SystemProcess[] = [];
  readonly folder: string;
  /** Set once it is stopped: what a test that has failed left going on ends by it. */
  isOver = false;
  readonly #options: SystemOptions;
  readonly #namespace: string;
  #port = 0;
  #masterCount = 0;
  #master: SystemProcess | null = null;
  #client: SodaClient | null = null;

  private constructor(folder: string, options: SystemOptions, namespace = DEFAULT_NAMESPACE) {
    this.folder = folder;
    this.#options = options;
    this.#namespace = namespace;
  }

  static async start(options: SystemOptions): Promise<System> {
    const system = new System(await mkdtemp(join(tmpdir(), 'soda-system-')), options);
    System.#executors = await bundledExecutors();
    try {
      await system.receiver.listen();
      await system.startMaster();
    } catch (error) {
      await system.stop();
      throw error;
    }
    return system;
  }

  /** One with nothing in it on the same master, which goes on when that one is stopped. */
  async beside(namespace: string): Promise<System> {
    const folder = await mkdtemp(join(tmpdir(), 'soda-system-'));
    const system = new System(folder, this.#options, namespace);
    system.#port = this.#port;
    system.#master = this.#master;
    system.#client = createClient({ url: this.url, namespace, retryCount: 0 });
    await system.receiver.listen();
    await system.client.setNamespace(namespace);
    return system;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The newest one. */
  get master(): SystemProcess {
    if (this.#master === null) throw new Error('no master was started');
    return this.#master;
  }

  /** Does not repeat calls: a test sees what the master said. */
  get client(): SodaClient {
    if (this.#client === null) throw new Error('no master was started');
    return this.#client;
  }

  /** On the store, and from the second time on the port, of this system. */
  async startMaster(): Promise<SystemProcess> {
    const master = this.spawnMaster({ SODA_PORT: String(this.#port) });
    this.#master = master;
    const { fields } = await master.said('that it takes work', (line) => {
      return line.fields['event'] === 'ready';
    });
    this.#port = Number(new URL(String(fields['url'])).port);
    this.#client ??= createClient({ url: this.url, retryCount: 0 });
    return master;
  }

  /** A master that may well fail to start. */
  spawnMaster(env: Readonly<Record<string, string>>): SystemProcess {
    this.#masterCount += 1;
    return this.spawn(`master ${this.#masterCount}`, [SODA, 'master'], {
      SODA_DATABASE_URL: this.#options.databaseUrl,
      SODA_DATA_DIR: join(this.folder, 'data'),
      SODA_LEASE: '6',
      SODA_NOTIFY_ALLOW: '127.0.0.1',
      SODA_NOTIFY_SECRET: SECRET,
      SODA_LOG_LEVEL: 'debug',
      ...this.#options.env,
      ...env,
    });
  }

  spawn(
    name: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    onLine?: (line: Line) => void,
  ): SystemProcess {
    // What executors remember of one another stays here.
    const own = { XDG_RUNTIME_DIR: this.folder, ...env };
    const started = new SystemProcess({ name, args, env: own, ...(onLine && { onLine }) });
    this.processes.push(started);
    return started;
  }

  /** An executor with scripted handlers, known to the master. */
  async executor(settings: ExecutorSettings): Promise<SystemProcess> {
    const executor = this.spawnExecutor(settings);
    // Its own word costs nobody anything; the master is asked only then.
    await executor.said('that it is connected', ({ fields }) => fields['event'] === 'connected');
    await this.connected(executor);
    return executor;
  }

  /** An executor that may be gone before the master can say that it knew it. */
  spawnExecutor({ script, ...settings }: ExecutorSettings): SystemProcess {
    const options = { url: this.url, namespace: this.#namespace, types: ['work'], ...settings };
    const args = [script ?? join(System.#executors, 'scripted.js'), JSON.stringify(options)];
    return this.spawn(settings.id, args, {}, ({ fields }) => {
      if ('mark' in fields) this.marks.push({ ...fields, executor: settings.id } as Mark);
    });
  }

  /** An executor of the examples, in its own process, on a directory of media files. */
  async ffmpegExecutor(
    name: string,
    mediaRoot: string,
    env: Readonly<Record<string, string>> = {},
    example: ExecutorName = 'ffmpeg',
  ): Promise<SystemProcess> {
    const executor = this.spawn(name, [join(System.#executors, `${example}.js`)], {
      SODA_URL: this.url + apiBaseOf(this.#namespace),
      MEDIA_ROOT: mediaRoot,
      FFMPEG_THREADS: '1',
      DRAIN_SECONDS: '0',
      ...env,
    });
    await this.connected(executor);
    return executor;
  }

  /** Its process says so, and the master does: a task submitted now may be given to it. */
  async connected(executor: SystemProcess): Promise<void> {
    await eventually(`${executor.name} is known to the master`, async () => {
      executor.expectAlive();
      const known = await this.client.executors();
      return known.some(({ pid, connected }) => pid === executor.pid && connected);
    });
  }

  /** Submits a task whose attempts take these steps; resolves with its id once it is accepted. */
  async submit(
    attempts: readonly (readonly Step[])[] = [[]],
    task: Partial<TaskInfo> = {},
  ): Promise<string> {
    const { task_id } = await this.client.submit(
      { type: 'work', params: { attempts }, ...task },
      user,
    );
    return task_id;
  }

  /** One HTTP exchange, without a client that repeats or gathers. */
  async post(path: string, body: unknown, url = this.url): Promise<HttpAnswer> {
    const response = await fetch(`${url}${apiBaseOf(this.#namespace)}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      body: (await response.json()) as HttpAnswer['body'],
    };
  }

  task(taskId: string): Promise<TaskView> {
    return this.client.get(taskId);
  }

  /** The task once it has ended, however it ended. */
  ended(taskId: string, withinMs?: number): Promise<TaskView> {
    const ended = async () => {
      const task = await this.task(taskId);
      return task.finished_at !== null && task;
    };
    return eventually(`task ${taskId} has ended`, ended, withinMs);
  }

  /** What the handlers of a task have said, oldest first. */
  runs(taskId: string, mark: Mark['mark'] = 'start'): readonly Mark[] {
    return this.marks.filter((other) => other.task === taskId && other.mark === mark);
  }

  /** The handler of an attempt has begun. */
  started(taskId: string, attempt = 1): Promise<Mark> {
    return eventually(`attempt ${attempt} of ${taskId} has started`, () =>
      this.runs(taskId).find((mark) => mark.attempt === attempt),
    );
  }

  /** The master knows the executor in this state. */
  executorIs(id: string, state: ExecutorView['state']): Promise<ExecutorView> {
    return eventually(`executor ${id} is ${state}`, async () =>
      (await this.client.executors()).find(
        (view) => view.executor_id === id && view.state === state,
      ),
    );
  }

  /** What the receiver got at this path, once there is something. */
  delivered(path: string, count = 1): Promise<readonly Delivery[]> {
    return eventually(`${count} callbacks at ${path}`, () => {
      const deliveries = this.receiver.at(path);
      return deliveries.length >= count && deliveries;
    });
  }

  /** Everything that was said, for a test that failed. */
  report(): string {
    const said = new Set([this.master, ...this.processes]);
    return [...said].map((started) => started.tail()).join('\n');
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.processes.map((started) => started.end('SIGKILL')));
    await this.receiver.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export const outcomesOf = (task: TaskView) => task.timeline.map(({ outcome }) => outcome);

export interface SystemTests {
  readonly store: 'SQLite' | 'MariaDB';
  /** A system with nothing in it; stopped after the test. */
  start(env?: Readonly<Record<string, string>>): Promise<System>;
  /** The server, which can be killed where `harms` said so; null on SQLite. */
  mariadb(): Mariadb | null;
}

export interface SystemTestOptions {
  /** SQLite, unless the store has a part in it that its contract does not hold. */
  readonly stores?: readonly SystemTests['store'][];
  /** The tests kill or freeze MariaDB: they get a server of their own. */
  readonly harms?: boolean;
  /** Each test that sets nothing of the master has a namespace of one that all of them have. */
  readonly sharesMaster?: boolean;
  /** Of that one. */
  readonly env?: Readonly<Record<string, string>>;
}

/** As `describeSystem`, of tests that leave their master alone: those that set nothing of it have one together. */
export function describeOnOneMaster(title: string, tests: (setup: SystemTests) => void): void {
  describeSystem(title, tests, { sharesMaster: true });
}

/** As `describeSystem`, on the store of this run. */
export function describeOnEither(title: string, tests: (setup: SystemTests) => void): void {
  describeSystem(title, tests, { stores: [eitherStore()] });
}

/** A suite for each store; where there is no MariaDB it is skipped by name, with the reason. */
export function describeSystem(
  title: string,
  tests: (setup: SystemTests) => void,
  { stores = ['SQLite'], harms = false, sharesMaster = false, env: common }: SystemTestOptions = {},
): void {
  for (const store of stores) {
    describe(`${title}: ${store}`, function () {
      this.slow(10_000);
      const systems: System[] = [];
      let shared: System | null = null;
      let mariadb: Mariadb | null = null;
      let folder = '';
      before(async function () {
        folder = await mkdtemp(join(tmpdir(), 'soda-system-store-'));
        if (store === 'SQLite') return;
        mariadb = await (harms ? startMariadb() : sharedMariadb());
        if (mariadb !== null) return;
        console.log(`    skipped, MariaDB: ${MARIADB_MISSING}`);
        this.skip();
      });
      afterEach(async function () {
        if (this.currentTest?.state === 'failed') {
          for (const system of systems) console.log(system.report());
        }
        for (const system of systems.splice(0)) await system.stop();
      });
      after(async () => {
        await shared?.stop();
        await mariadb?.stop();
        await rm(folder, { recursive: true, force: true });
      });
      let count = 0;
      const withMaster = async (env: SystemOptions['env'] = {}): Promise<System> => {
        const file = join(folder, `${count}.db`);
        if (mariadb === null) await copyEmptyStore(file);
        return System.start({ databaseUrl: (await mariadb?.url()) ?? `sqlite:${file}`, env });
      };
      tests({
        store,
        mariadb: () => mariadb,
        async start(env) {
          count += 1;
          const system = await (sharesMaster && env === undefined
            ? (shared ??= await withMaster(common)).beside(`test-${count}`)
            : withMaster(env));
          systems.push(system);
          return system;
        },
      });
    });
  }
}
