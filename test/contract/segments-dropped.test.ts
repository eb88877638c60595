/** Segments that go while others read: one master rebuilds its state, or another has taken over. */
import { expect } from 'chai';
import knex, { type Knex } from 'knex';
import { TermLost } from '../../master/application/ports.ts';
import { NO_SETTINGS } from '../../master/domain/state/state.ts';
import { segmentAt } from '../../master/infrastructure/sql/segments.ts';
import { useMariadb } from '../helpers/mariadb.ts';
import { NOW, notificationOf } from '../helpers/task.ts';
import { commit, DAY_MS, everything, failureOf, finish, finished, task } from './sample.ts';
import { type DefaultStore, describeStores, openDefault } from './subjects.ts';

const OLD = NOW - 20 * DAY_MS;
const OLDEST = OLD - DAY_MS;
const RETAINED = NOW - 7 * DAY_MS;
const OLD_TABLE = segmentAt('normal', OLD).table;
const OLDEST_TABLE = segmentAt('normal', OLDEST).table;
/** Some pages of them. */
const COUNT = 900;

async function end(store: DefaultStore, term: number, seqs: readonly number[], finishedAt: number) {
  const ended = seqs.map((seq) =>
    finished(task(seq, { notifyUrl: 'http://a.example/' }), { finishedAt }),
  );
  const state = finishedAt === NOW ? 'pending' : 'delivered';
  const finishes = ended.map((one) => finish(one, notificationOf(one, { state }), false));
  await store.commit(commit(term, { finishes }));
}

/** Everything that is read from all segments, and finds only the task that is retained. */
async function readsTheRest(store: DefaultStore): Promise<void> {
  expect([...(await store.findIds(['t-1', 't-2', 't-9999'])).keys()]).to.deep.equal(['t-9999']);
  const found = await store.findTasks(['t-1'], Number.POSITIVE_INFINITY);
  expect(found).to.deep.equal(new Map([['t-1', null]]));
  expect(await store.readTask('t-1')).to.equal(null);
  expect(await store.showTask('t-1', 'all')).to.equal(null);
  const pending = await store.loadNotifications(null, 10);
  expect(pending.map(({ taskSeq }) => taskSeq)).to.deep.equal([9999]);
  const { tasks } = await store.listTasks(everything);
  expect(tasks.map((one) => one.task.seq)).to.deep.equal([9999]);
  const waiting = { ...everything, notification: 'pending' } as const;
  expect((await store.listTasks(waiting)).tasks).to.have.length(1);
}

describeStores('a segment that is being dropped', (open) => {
  it('goes also where the newest term was that of a namespace that is deleted', async () => {
    const store = await open();
    const { term } = await store.takeTerm('m-1', NOW);
    await end(store, term, [1], OLD);
    const wanted = { ...NO_SETTINGS, name: 'films', createdAt: NOW, retention: 'normal' } as const;
    const { id } = await store.createNamespace(wanted);
    await store.tasks(id).takeTerm('m-1', NOW);
    expect(await store.deleteNamespace(id)).to.equal(true);
    expect(await store.dropSegments('normal', RETAINED)).to.equal(1);
  });

  it('does not come back when the state is rebuilt meanwhile', async () => {
    const store = await open();
    const { term } = await store.takeTerm('m-1', NOW);
    await end(
      store,
      term,
      Array.from({ length: COUNT }, (_, index) => index + 1),
      OLD,
    );
    await end(store, term, [9999], NOW);
    const dropping = store.dropSegments('normal', RETAINED);
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const { term: newer } = await store.takeTerm('m-1', NOW, term);
    expect(await dropping).to.equal(1);
    await readsTheRest(store);
    expect(await store.dropSegments('normal', RETAINED)).to.equal(0);
    await store.commit(commit(newer, { inserts: [task(10_000)] }));
    expect((await store.takeTerm('m-1', NOW, newer)).lastSeq).to.equal(10_000);
  });
});

describe('segments that another master drops: MariaDB', function () {
  const server = useMariadb();
  let url: string;
  let older: DefaultStore;
  let newer: DefaultStore;

  beforeEach(async () => {
    url = await server.url();
    older = await openDefault({ url, allowWeakDurability: false });
    newer = await openDefault({ url, allowWeakDurability: false });
    const { term } = await older.takeTerm('m-1', NOW);
    await end(older, term, [1], OLD);
    await end(older, term, [2], OLDEST);
    await end(older, term, [9999], NOW);
  });
  afterEach(async () => {
    await older.close();
    await newer.close();
  });

  async function withClient(work: (client: Knex) => Promise<void>): Promise<void> {
    const client = knex({ client: 'mysql2', connection: url, pool: { min: 0, max: 2 } });
    try {
      await work(client);
    } finally {
      await client.destroy();
    }
  }

  /** What the older master had begun to drop when the newer one took over. */
  const drop = (...tables: readonly string[]) =>
    withClient(async (client) => {
      for (const table of tables) await client.schema.dropTable(table);
    });

  /** Somebody reads the oldest segment while the older master drops it; answers what became of that. */
  async function whileDropping(work: (client: Knex) => Promise<unknown>): Promise<number | Error> {
    let outcome: number | Error = 0;
    await withClient(async (client) => {
      const reading = await client.transaction();
      await reading(OLDEST_TABLE).select();
      const dropping = older.dropSegments('normal', RETAINED).catch((error: Error) => error);
      for (let isWaiting = false; !isWaiting; ) {
        const [rows] = await client.raw(
          `SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND INFO LIKE 'ALTER%'`,
        );
        isWaiting = rows.length > 0;
      }
      await work(client);
      await reading.rollback();
      outcome = await dropping;
    });
    return outcome;
  }

  it('are missed by nobody who took over before', async () => {
    await newer.takeTerm('m-2', NOW);
    await drop(OLD_TABLE, OLDEST_TABLE);
    await readsTheRest(newer);
  });

  it('are dropped by nobody whose term has ended', async () => {
    await newer.takeTerm('m-2', NOW);
    expect(await failureOf(older.dropSegments('normal', RETAINED))).to.be.instanceOf(TermLost);
    expect([...(await newer.findIds(['t-1', 't-2'])).keys()].sort()).to.deep.equal(['t-1', 't-2']);
  });

  it('are dropped no further once another term has begun', async () => {
    const failure = await whileDropping((client) =>
      client.raw(`UPDATE namespace SET term = term + 1, owner = 'm-2'`),
    );
    expect(failure).to.be.instanceOf(TermLost);
    await newer.takeTerm('m-2', NOW);
    expect([...(await newer.findIds(['t-1', 't-2'])).keys()]).to.deep.equal(['t-1']);
  });

  for (const what of [
    'findIds',
    'findTasks',
    'loadNotifications',
    'listTasks',
    'takeTerm',
  ] as const) {
    it(`are missed by no ${what} that is the first to read`, async () => {
      const { term } = await newer.takeTerm('m-2', NOW);
      await drop(OLD_TABLE, OLDEST_TABLE);
      const reads = {
        findIds: () => newer.findIds(['t-1']),
        findTasks: () => newer.findTasks(['t-1'], Number.POSITIVE_INFINITY),
        loadNotifications: () => newer.loadNotifications(null, 10),
        listTasks: () => newer.listTasks({ ...everything, notification: 'pending' }),
        takeTerm: () => newer.takeTerm('m-2', NOW - DAY_MS, term),
      };
      await reads[what]();
      await readsTheRest(newer);
    });
  }

  it('are dropped by the rest of its own retention', async () => {
    await newer.takeTerm('m-2', NOW);
    await drop(OLDEST_TABLE);
    expect(await newer.dropSegments('normal', RETAINED)).to.equal(1);
    await readsTheRest(newer);
  });

  it('stay away from a rebuild while somebody reads them', async () => {
    expect(await whileDropping(() => older.takeTerm('m-1', NOW, 1))).to.equal(2);
    await readsTheRest(older);
  });

  it('cost a commit that needs one a conflict at most', async () => {
    const { term } = await newer.takeTerm('m-2', NOW);
    await drop(OLD_TABLE, OLDEST_TABLE);
    const [late] = [finished(task(1, { notifyUrl: 'http://a.example/' }), { finishedAt: OLD })];
    const notifications = [notificationOf(late, { state: 'delivered' })];
    await failureOf(newer.commit(commit(term, { notifications })));
    const again = await newer.takeTerm('m-2', NOW, term);
    await newer.commit(commit(again.term, { notifications }));
    await readsTheRest(newer);
  });
});
