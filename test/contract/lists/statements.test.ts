/**
 * How many statements a list takes. A server is asked by a way there and back for each, so they are counted; SQLite
 * stands in for one, by the very dialect, but that what it does is not said to hold up the process.
 */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, poolOf } from '../../../master/infrastructure/sql/database.ts';
import { sqliteDialect } from '../../../master/infrastructure/sql/dialects/sqlite.ts';
import { Pace } from '../../../master/infrastructure/sql/pace.ts';
import { SqlStore } from '../../../master/infrastructure/sql/store.ts';
import { ANY_TASK } from '../../../master/domain/model/task-filter.ts';
import { NOW } from '../../helpers/task.ts';
import { commit, everything, finish, finished, task } from '../sample.ts';
import { type DefaultStore, ofDefault } from '../subjects.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const COUNT = 4_000;
const LANE_COUNT = 600;

describe('Statements of lists', () => {
  let folder: string;
  let store: DefaultStore;
  let count = 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-lists-'));
    const pace = new Pace(() => 0);
    const file = sqliteDialect(join(folder, 'soda.db'), pace);
    const dialect: typeof file = {
      ...file,
      isInProcess: false,
      run: (connection, statements) => {
        count += statements.length;
        return file.run(connection, statements);
      },
    };
    const database = new Database(poolOf(dialect.connections), dialect, pace);
    const databases = { engine: database, readers: database };
    store = ofDefault(new SqlStore(databases, { allowWeakDurability: false, log: silent }));
    const { term } = await store.takeTerm('m-1', NOW);
    const ended = Array.from({ length: COUNT }, (_, at) =>
      finished(task(at + 1, { type: at % 10 === 0 ? 'some' : 'other' })),
    );
    await store.commit(commit(term, { finishes: ended.map((one) => finish(one, null, false)) }));
    const lanes = Array.from({ length: LANE_COUNT }, (_, at) => COUNT + 1 + at);
    await store.commit(
      commit(term, {
        inserts: lanes.flatMap((lane, at) => [
          task(lane, { lane, orderTime: NOW - at }),
          task(lane + LANE_COUNT, { lane, orderTime: NOW - at }),
        ]),
        writes: lanes.map((lane) => ({
          op: 'put',
          table: 'lane',
          key: lane,
          row: { id: lane, kind: `kind-${lane}`, group: 'g' },
        })),
      }),
    );
  });
  after(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function statementsOf(work: () => Promise<unknown>): Promise<number> {
    count = 0;
    await work();
    return count;
  }

  it('a search that finds nothing asks a server for more and more rows at a time', async () => {
    const query = { ...everything, state: 'succeeded', type: 'none', lookCount: COUNT } as const;
    expect(await statementsOf(() => store.listTasks(query))).to.be.at.most(5);
  });

  it('a page that is full asks no further', async () => {
    const query = { ...everything, state: 'succeeded', limit: 50 } as const;
    expect(await statementsOf(() => store.listTasks(query))).to.equal(2);
    const some = { ...query, type: 'some' } as const;
    expect(await statementsOf(() => store.listTasks(some))).to.equal(3);
  });

  it('a list of many rows asks for many at a time', async () => {
    const query = { ...everything, state: 'succeeded', limit: 1_000 } as const;
    expect(await statementsOf(() => store.listTasks(query))).to.be.at.most(6);
  });

  it('those that wait in many lanes come from the lanes whose first tasks come first', async () => {
    const lanes = Array.from({ length: LANE_COUNT }, (_, at) => COUNT + 1 + at);
    const query = { ...ANY_TASK, lanes, after: null, limit: 5 };
    const found: number[] = [];
    const statements = await statementsOf(async () => {
      const { tasks, after } = await store.listWaiting(query);
      found.push(...tasks.map(({ task: one }) => one.seq));
      const next = await store.listWaiting({ ...query, after });
      found.push(...next.tasks.map(({ task: one }) => one.seq));
    });
    const last = COUNT + LANE_COUNT;
    const expected = [0, 1, 2, 3, 4].flatMap((at) => [last - at, last - at + LANE_COUNT]);
    expect(found).to.deep.equal(expected);
    expect(statements).to.be.at.most(2 * 5);
  });
});
