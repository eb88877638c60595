/** Limits for starts that move after a time without offers: other namespaces commit in between, and each moves once. */
import { expect } from 'chai';
import knex from 'knex';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DEFAULT_NAMESPACE_ID,
  inNamespace,
  type Store,
} from '../../../master/application/ports.ts';
import { openSqlStore } from '../../../master/infrastructure/sql/open.ts';
import { useMariadb } from '../../helpers/mariadb.ts';
import { NOW } from '../../helpers/task.ts';
import { TcpProxy } from '../../helpers/tcp-proxy.ts';
import { commit, task, wholeRows } from '../../contract/sample.ts';

const HOUR_MS = 3_600_000;
/** More than a slice. */
const COUNT = 1_200;
const others = [
  { scope: 'type', value: 'other', at: NOW - 1 },
  { scope: 'group', value: 'nobody', at: NOW - 1 },
] as const;
const absences = [{ from: NOW, until: NOW + HOUR_MS, besides: others }];

const limited = Array.from({ length: COUNT }, (_, index) => {
  const startBy = NOW + 1 + Math.floor(index / 2);
  return task(index + 1, { dueAt: NOW - 1, startTimeoutMs: 1, startBy });
});

/** How far the limits have moved, each distance once. */
async function movedBy(store: Store): Promise<number[]> {
  const end = NOW + 9 * HOUR_MS;
  const { tasks } = await store.tasks(DEFAULT_NAMESPACE_ID).loadOverdue(end, end, COUNT + 1);
  expect(tasks).to.have.length(COUNT);
  return [
    ...new Set(tasks.map(({ seq, startBy }) => (startBy ?? 0) - (limited[seq - 1]?.startBy ?? 0))),
  ];
}

for (const name of ['SQLite', 'MariaDB'] as const) {
  describe(`a credit of limits: ${name}`, () => {
    const server = name === 'MariaDB' ? useMariadb() : null;
    let folder: string;
    let store: Store;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'soda-credit-'));
      const url = server === null ? `sqlite:${join(folder, 'soda.db')}` : await server.url();
      store = await openSqlStore({ url, allowWeakDurability: false });
      await store.open(NOW);
    });
    afterEach(async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    });

    it('lets other namespaces commit in between', async () => {
      const mine = store.tasks(DEFAULT_NAMESPACE_ID);
      const { term } = await mine.takeTerm('m-1', NOW);
      await mine.commit(commit(term, { inserts: limited }));
      const { id } = await store.createNamespace({
        name: 'films',
        createdAt: NOW,
        paused: null,
        maxWaiting: null,
        maxRunning: null,
        retention: 'normal',
      });
      const films = store.tasks(id);
      const begun = await films.takeTerm('m-1', NOW);
      const order: string[] = [];
      const credited = mine.commit(commit(term, { absences })).then(() => order.push('credited'));
      const one = task(inNamespace(id, 1));
      await films.commit(commit(begun.term, { inserts: [one] })).then(() => order.push('films'));
      await credited;
      expect(order).to.deep.equal(['films', 'credited']);
      expect(await movedBy(store)).to.deep.equal([HOUR_MS]);
    });

    it('leaves alone what the same commit writes, and ends the pause that it is of', async () => {
      const mine = store.tasks(DEFAULT_NAMESPACE_ID);
      const { key, row } = wholeRows.type(1, 2);
      const { term } = await mine.takeTerm('m-1', NOW);
      await mine.commit(commit(term, { inserts: limited }));
      const fresh = task(COUNT + 1, { dueAt: NOW, startTimeoutMs: 1, startBy: NOW + 7 });
      const writes = [{ op: 'put', table: 'type', key, row }] as const;
      await mine.commit(commit(term, { absences, inserts: [fresh], writes }));
      expect((await mine.readTask(fresh.id))?.task.startBy).to.equal(NOW + 7);
      expect((await mine.loadWhole()).type).to.deep.equal([row]);
    });
  });
}

describe('a credit of limits that is cut off: MariaDB', () => {
  const server = useMariadb();
  const opened: Store[] = [];
  const open = async (url: string): Promise<Store> => {
    const store = await openSqlStore({ url, allowWeakDurability: false });
    opened.push(store);
    await store.open(NOW);
    return store;
  };
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  it('moves each limit once, whoever is cut off after any statement of it', async () => {
    const url = await server.url();
    const first = await open(url);
    const { term } = await first.tasks(DEFAULT_NAMESPACE_ID).takeTerm('m-1', NOW);
    await first.tasks(DEFAULT_NAMESPACE_ID).commit(commit(term, { inserts: limited }));
    const client = knex({ client: 'mysql2', connection: url, pool: { min: 0, max: 1 } });
    const seen = new Set<number>();
    try {
      for (let answer = 1, wasCut = true; wasCut; answer++) {
        await client.raw('UPDATE task SET end_by = ? + 1 + FLOOR((seq - 1) / 2)', [NOW]);
        const proxy = await TcpProxy.start(Number(new URL(url).port));
        const cut = await open(Object.assign(new URL(url), { port: String(proxy.port) }).href);
        const mine = cut.tasks(DEFAULT_NAMESPACE_ID);
        const begun = await mine.takeTerm('m-cut', NOW);
        proxy.cutAtWrite(answer);
        const committed = mine.commit(commit(begun.term, { absences }));
        wasCut = await committed.then(
          () => false,
          () => true,
        );
        await proxy.close();
        const next = await open(url);
        await next.tasks(DEFAULT_NAMESPACE_ID).takeTerm('m-next', NOW);
        const moved = await movedBy(next);
        expect(moved, `cut at answer ${answer}`).to.have.length(1);
        seen.add(moved[0] ?? -1);
        for (const store of opened.splice(1)) await store.close();
      }
    } finally {
      await client.destroy();
    }
    expect([...seen].sort((a, b) => a - b)).to.deep.equal([0, HOUR_MS]);
  });
});
