/** The stores that must keep the contract, each ready to be opened on an empty database. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DEFAULT_NAMESPACE_ID,
  type Store,
  type TaskStore,
} from '../../master/application/ports.ts';
import { MemoryStore } from '../../master/infrastructure/memory/store.ts';
import { openSqlStore } from '../../master/infrastructure/sql/open.ts';
import { Pace } from '../../master/infrastructure/sql/pace.ts';
import type { Mariadb } from '../helpers/mariadb.ts';
import { MARIADB_MISSING, sharedMariadb } from '../helpers/mariadb.ts';
import { EmptyDatabases } from '../helpers/store/empty-databases.ts';
import { copyBareStore } from '../helpers/store/empty-store.ts';

export interface Subject {
  readonly name: string;
  /** Once, before the tests. Answers why the store cannot be had here, or null. */
  prepare(): Promise<string | null>;
  /** A store on a database of its own. */
  open(): Promise<Store>;
  /** Once, after the tests; every store must be closed by then. */
  clean(): Promise<void>;
}

/** No search ends before it has looked at all that it may, however busy the machine is. */
const timeless = (): Pace => new Pace(() => 0);

const memory: Subject = {
  name: 'memory',
  prepare: async () => null,
  open: async () => new MemoryStore(),
  clean: async () => {},
};

function sqlite(): Subject {
  let folder = '';
  let count = 0;
  return {
    name: 'SQLite',
    async prepare() {
      folder = await mkdtemp(join(tmpdir(), 'soda-store-'));
      return null;
    },
    async open() {
      count += 1;
      const file = join(folder, `${count}.db`);
      await copyBareStore(file);
      return openSqlStore({ url: `sqlite:${file}`, allowWeakDurability: false, pace: timeless() });
    },
    clean: () => rm(folder, { recursive: true, force: true }),
  };
}

function mariadb(): Subject {
  let server: Mariadb | null = null;
  let databases: EmptyDatabases | null = null;
  return {
    name: 'MariaDB',
    async prepare() {
      server = await sharedMariadb();
      if (server === null) return MARIADB_MISSING;
      databases = new EmptyDatabases(server);
      return null;
    },
    async open() {
      if (databases === null) throw new Error(MARIADB_MISSING);
      const own = databases;
      const url = await own.take();
      const store = await openSqlStore({ url, allowWeakDurability: false, pace: timeless() });
      const close = store.close.bind(store);
      // So that the next one of the same test can have its database.
      return Object.assign(store, {
        async close() {
          await close();
          await own.giveBack(url);
        },
      });
    },
    async clean() {
      await databases?.leave();
      await server?.stop();
    },
  };
}

/** A store, and in it the tasks of `default`: for tests that look at no other namespace. */
export type DefaultStore = TaskStore & Store;

export function ofDefault(store: Store): DefaultStore {
  const tasks: TaskStore = store.tasks(DEFAULT_NAMESPACE_ID);
  return new Proxy(store, {
    get: (_, name) => {
      const owner = Reflect.has(tasks, name) ? tasks : store;
      const member: unknown = Reflect.get(owner, name, owner);
      return typeof member === 'function' ? member.bind(owner) : member;
    },
  }) as DefaultStore;
}

/** Its clock stands, but where `options` bring another. */
export async function openDefault(
  options: Parameters<typeof openSqlStore>[0],
): Promise<DefaultStore> {
  return ofDefault(await openSqlStore({ pace: timeless(), ...options }));
}

/** A suite for each store; those that cannot be had are skipped by name, with the reason. */
export function describeStores(
  title: string,
  tests: (open: () => Promise<DefaultStore>) => void,
): void {
  for (const subject of [memory, sqlite(), mariadb()]) {
    describe(`${title}: ${subject.name}`, function () {
      const opened: Store[] = [];
      before(async function () {
        const reason = await subject.prepare();
        if (reason === null) return;
        console.log(`    skipped, ${subject.name}: ${reason}`);
        this.skip();
      });
      afterEach(async () => {
        for (const store of opened.splice(0)) await store.close();
      });
      after(() => subject.clean());
      tests(async () => {
        const store = await subject.open();
        opened.push(store);
        return ofDefault(store);
      });
    });
  }
}
