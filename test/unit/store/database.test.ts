/** Connections of a database, and whoever needs one. */
import { expect } from 'chai';
import type {
  Connection,
  Connections,
  Dialect,
} from '../../../master/infrastructure/sql/dialects/dialect.ts';
import { Database, poolOf } from '../../../master/infrastructure/sql/database.ts';
import { Pace } from '../../../master/infrastructure/sql/pace.ts';

describe('a database that is closed', () => {
  it('refuses at once, and lets nobody wait for a connection', async () => {
    const never = () => Promise.reject(new Error('it is not to be opened'));
    const connections = { min: 0, max: 1, idleMs: 1, waitMs: 2 ** 31 - 1, open: never };
    const pool = poolOf(connections as Partial<Connections> as Connections);
    const database = new Database(pool, {} as Dialect, new Pace());
    await database.close();
    const outcome = await database.rows('SELECT 1').then(String, String);
    expect(outcome).to.equal('Error: the database is closed');
  });
});

describe('the connection of a database in this process', () => {
  interface Opened {
    readonly database: Database;
    /** How often the pool was asked for a connection. */
    askedCount(): number;
    /** What has happened to connections, in order. */
    readonly happened: string[];
  }

  function open(): Opened {
    const happened: string[] = [];
    const spoiled = new Set<Connection>();
    const connections: Connections = {
      ...{ min: 1, max: 1, idleMs: 60_000, waitMs: 60_000 },
      async open() {
        happened.push('opened');
        return {};
      },
      async close() {
        happened.push('closed');
      },
      isSound: (connection) => !spoiled.has(connection),
    };
    const dialect: Partial<Dialect> = {
      isInProcess: true,
      isPassing: () => false,
      discard: (connection) => void spoiled.add(connection),
      async run(_connection, statements) {
        const sql = statements[0]?.sql ?? '';
        if (sql === 'wrong') throw new Error('it is wrong');
        happened.push(sql);
        return [{ rows: [], touched: 0 }];
      },
    };
    const pool = poolOf(connections);
    let askedCount = 0;
    pool.on('acquireRequest', () => (askedCount += 1));
    const database = new Database(pool, dialect as Dialect, new Pace());
    return { database, happened, askedCount: () => askedCount };
  }

  it('is at hand for the next statement, without asking the pool', async () => {
    const { database, happened, askedCount } = open();
    for (const sql of ['a', 'b', 'c']) await database.rows(sql);
    expect(happened).to.deep.equal(['opened', 'a', 'b', 'c']);
    expect(askedCount()).to.equal(1);
    await database.close();
    expect(happened.at(-1)).to.equal('closed');
  });

  it('goes to those who wait for it, in the order in which they came', async () => {
    const { database, happened } = open();
    await database.rows('first');
    const order = ['a', 'b', 'c', 'd'];
    let last: Promise<unknown> | undefined;
    const asked = order.map((sql) => database.rows(sql));
    void asked[0]?.then(() => (last = database.rows('late')));
    await Promise.all(asked);
    await last;
    expect(happened).to.deep.equal(['opened', 'first', ...order, 'late']);
    await database.close();
  });

  it('is another one where the one before failed', async () => {
    const { database, happened } = open();
    await database.rows('a');
    expect(await database.rows('wrong').then(String, String)).to.equal('Error: it is wrong');
    await database.rows('b');
    expect(happened.filter((what) => what !== 'closed')).to.deep.equal([
      ...['opened', 'a', 'opened', 'b'],
    ]);
    await database.close();
    expect(happened.filter((what) => what === 'closed')).to.have.length(2);
  });

  it('is closed once whoever has it has ended', async () => {
    const { database, happened } = open();
    await database.rows('a');
    const last = database.rows('last');
    await Promise.all([last, database.close()]);
    expect(happened).to.deep.equal(['opened', 'a', 'last', 'closed']);
  });
});
