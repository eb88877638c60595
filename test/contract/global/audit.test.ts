/** What every store must do with the audit; and that those in SQL find whatever somebody has done to its rows. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import mysql from 'mysql2/promise';
import type { AuditCheck, AuditQuery, Store } from '../../../master/application/ports.ts';
import type { AuditRecord } from '../../../master/domain/model/audit.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { openSqlStore } from '../../../master/infrastructure/sql/open.ts';
import { useMariadb } from '../../helpers/mariadb.ts';
import { NOW, sampleTask } from '../../helpers/task.ts';
import { taskInserted } from '../../../master/domain/changes.ts';
import { fold } from '../../../master/application/engine/fold.ts';
import { describeStores } from '../subjects.ts';

const changeOf = (n: number, change: Partial<AuditRecord> = {}): AuditRecord => ({
  at: NOW + n,
  actor: 'ann',
  role: 'operate',
  address: '127.0.0.1',
  action: 'type.pause',
  namespace: 'default',
  target: `type-${n}`,
  outcome: 'done',
  filter: null,
  count: null,
  before: null,
  after: '{"paused_reason":"späti 🙂"}',
  reason: 'hot "&\n',
  ...change,
});

const everything: AuditQuery = {
  from: null,
  to: null,
  actor: null,
  action: null,
  target: null,
  before: null,
  limit: 100,
  lookCount: 1_000,
};

/** All pieces of it, as one. */
async function verified({ audit }: Store): Promise<AuditCheck> {
  let count = 0;
  for (let after: number | null = null; ; ) {
    const piece = await audit.verify(after);
    count += piece.count;
    if (piece.next === null) return { ...piece, count };
    after = piece.next;
  }
}

/** One commit for those, as engines make it. */
async function commit(store: Store, records: readonly AuditRecord[], seq: number): Promise<void> {
  const tasks = store.tasks(0);
  const { term } = await tasks.takeTerm('test', NOW);
  const changes = records.map((record) => ({ op: 'audit', table: 'task', record }) as const);
  const task = taskInserted(sampleTask({ seq, id: `job-${seq}` }));
  await tasks.commit(fold([task, ...changes], { term, lastSeq: seq }, NOW));
}

describeStores('the audit', (open) => {
  let store: Store;

  beforeEach(async () => {
    store = await open();
    await store.open(NOW);
  });

  it('has what each commit says that somebody has changed, and lists it newest first', async () => {
    expect(await store.audit.list(everything)).to.deep.equal({ records: [], before: null });
    expect(await verified(store)).to.include({ count: 0, misfit: null });
    const [first, second, third] = [changeOf(1), changeOf(2), changeOf(3, { filter: '{"a":1}' })];
    await commit(store, [first, second], 1);
    await store.audit.append(third);
    const { records } = await store.audit.list(everything);
    expect(records).to.deep.equal([third, second, first]);
    const whole = { count: 3, from: NOW + 1, to: NOW + 3, next: null, misfit: null };
    expect(await verified(store)).to.deep.equal(whole);
  });

  it('has what a commit of nothing else says, also one that waits for another', async () => {
    const tasks = store.tasks(0);
    const { term } = await tasks.takeTerm('test', NOW);
    const commitOf = (...ns: number[]) => {
      const noted = ns.map((n) => {
        return { op: 'audit', table: 'executor', record: changeOf(n) } as const;
      });
      return tasks.commit(fold(noted, { term, lastSeq: 0 }, NOW));
    };
    await commitOf(1);
    await Promise.all([commitOf(), commitOf(2)]);
    const { records } = await store.audit.list(everything);
    expect(records).to.deep.equal([changeOf(2), changeOf(1)]);
    expect(await verified(store)).to.include({ count: 2, misfit: null });
  });

  it('has nothing of a commit that fails, and goes on behind what was there before', async () => {
    await commit(store, [changeOf(1)], 1);
    const again = await commit(store, [changeOf(2)], 1).catch(() => 'refused');
    expect(again, 'its task is there').to.equal('refused');
    await commit(store, [changeOf(3)], 2);
    const { records } = await store.audit.list(everything);
    expect(records).to.deep.equal([changeOf(3), changeOf(1)]);
    expect(await verified(store)).to.include({ count: 2, misfit: null });
  });

  it('brings what was asked for, page by page, and looks at so many rows for each', async () => {
    const of = [
      { actor: null },
      { action: 'task.cancel' },
      { target: 'x' },
      {},
      { action: 'typeset' },
    ];
    const all = of.map((change, n) => changeOf(n, change));
    for (const record of all) await store.audit.append(record);
    const [a, b, c, d, e] = all;
    const found = async (query: Partial<AuditQuery>) =>
      (await store.audit.list({ ...everything, ...query })).records;
    expect(await found({ action: 'type' })).to.deep.equal([d, c, a]);
    expect(await found({ action: 'task.cancel' })).to.deep.equal([b]);
    expect(await found({ target: 'x', actor: 'ann' })).to.deep.equal([c]);
    expect(await found({ from: NOW + 1, to: NOW + 3 })).to.deep.equal([c, b]);
    const page = await store.audit.list({ ...everything, limit: 2 });
    expect(page.records).to.deep.equal([e, d]);
    expect(await found({ before: page.before })).to.deep.equal([c, b, a]);
    const few = { ...everything, action: 'task.cancel', lookCount: 2 };
    const empty = await store.audit.list(few);
    expect(empty.records).to.deep.equal([]);
    const next = await store.audit.list({ ...few, before: empty.before });
    expect(next.records).to.deep.equal([b]);
    const last = await store.audit.list({ ...few, before: next.before });
    expect(last).to.deep.equal({ records: [], before: null });
  });

  it('is kept with tokens and namespaces by the transaction that changes them, and else not', async () => {
    const token = {
      digest: 'd',
      role: 'read',
      scope: null,
      createdAt: NOW,
      createdBy: null,
    } as const;
    const record = { ...token, name: 'ann', expiresAt: null, lastUsedAt: null };
    expect(await store.tokens.add(record, changeOf(1))).to.equal(true);
    expect(await store.tokens.add(record, changeOf(2))).to.equal(false);
    await store.tokens.remove('bob', changeOf(3));
    await store.tokens.remove('ann', changeOf(4));
    const live = { ...NO_SETTINGS, name: 'live', createdAt: NOW };
    const { id } = await store.createNamespace(live, changeOf(5));
    await store.createNamespace(live, changeOf(6));
    expect(await store.deleteNamespace(id, changeOf(7))).to.equal(true);
    expect(await store.deleteNamespace(id, changeOf(8))).to.equal(true);
    await store.createNamespace(live, changeOf(9));
    const { records } = await store.audit.list(everything);
    expect(records.map(({ at }) => at - NOW)).to.deep.equal([9, 7, 5, 4, 1]);
    expect(await verified(store)).to.include({ count: 5, misfit: null });
  });

  it('loses to retention what a clock has written that was ahead, with what follows it', async () => {
    await store.audit.append(changeOf(1));
    await store.audit.append(changeOf(90_000));
    await store.audit.append(changeOf(2));
    await store.audit.append(changeOf(95_000));
    await store.audit.append(changeOf(5));
    expect(await store.audit.drop(NOW + 4, NOW + 20_000)).to.equal(3);
    // Nothing tells yet how old that is.
    expect(await store.audit.drop(NOW + 4, NOW + 20_000)).to.equal(0);
    expect(await store.audit.drop(NOW + 9, NOW + 20_000)).to.equal(2);
    expect(await verified(store)).to.include({ count: 0, misfit: null });
  });

  it('loses its oldest rows to retention, and what is left still follows', async () => {
    await commit(store, [changeOf(1), changeOf(2)], 1);
    for (const n of [3, 4, 5]) await store.audit.append(changeOf(n));
    expect(await store.audit.drop(NOW, NOW + 20_000)).to.equal(0);
    expect(await store.audit.drop(NOW + 4, NOW + 20_000)).to.equal(3);
    expect(await store.audit.drop(NOW + 4, NOW + 20_000)).to.equal(0);
    const rest = { count: 2, from: NOW + 4, to: NOW + 5, next: null, misfit: null };
    expect(await verified(store)).to.deep.equal(rest);
    expect(await store.audit.drop(NOW + 9, NOW + 20_000)).to.equal(2);
    expect(await verified(store)).to.include({ count: 0, misfit: null });
    await store.audit.append(changeOf(6));
    expect(await verified(store)).to.include({ count: 1, misfit: null });
  });
});

interface Row {
  readonly [column: string]: string | number | null;
}

/** The database, without a master. */
interface Hand {
  run(sql: string, values?: readonly (string | number | null)[]): Promise<readonly Row[]>;
  end(): Promise<unknown> | void;
}

async function insert(hand: Hand, table: string, row: Row): Promise<void> {
  const places = Object.keys(row).map(() => '?');
  const sql = `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${places.join(', ')})`;
  await hand.run(sql, Object.values(row));
}

async function copyLast(hand: Hand, change: Row): Promise<void> {
  const [row] = await hand.run('SELECT * FROM audit WHERE seq = 5');
  await insert(hand, 'audit', { ...row, ...change });
}

const cutTail = 'DELETE FROM audit WHERE seq > 3';

/** What somebody does who has the database, and not the key; and the first row that gives it away. */
const TAMPERING: Readonly<Record<string, readonly [(hand: Hand) => Promise<unknown>, number]>> = {
  'a row is changed': [({ run }) => run("UPDATE audit SET actor = 'bob' WHERE seq = 3"), 3],
  'the first row of a commit is changed': [
    ({ run }) => run('UPDATE audit SET reason = NULL WHERE seq = 1'),
    1,
  ],
  'a row is deleted': [({ run }) => run('DELETE FROM audit WHERE seq = 3'), 3],
  'the oldest is deleted': [({ run }) => run('DELETE FROM audit WHERE seq = 1'), 1],
  'the tail is cut': [({ run }) => run(cutTail), 4],
  'a row is put in': [(hand) => copyLast(hand, { seq: 6 }), 6],
  'a row without a hash is put in': [(hand) => copyLast(hand, { seq: 6, hash: null }), 6],
  'two rows change places': [
    async ({ run }) => {
      await run('UPDATE audit SET seq = 99 WHERE seq = 3');
      await run('UPDATE audit SET seq = 3 WHERE seq = 4');
      await run('UPDATE audit SET seq = 4 WHERE seq = 99');
    },
    3,
  ],
  'the tail is cut, and the head said to be there': [
    async ({ run }) => {
      await run(cutTail);
      const [end] = await run('SELECT hash FROM audit WHERE seq = 3');
      const [head] = await run("SELECT value FROM installation WHERE name = 'audit_head'");
      const last = `"last":{"seq":3,"hash":"${end?.['hash']}"}`;
      const value = String(head?.['value']).replace(/"last":\{.*?\}/, last);
      expect(value).to.include(last);
      await run("UPDATE installation SET value = ? WHERE name = 'audit_head'", [value]);
    },
    0,
  ],
};

function findsTampering(
  urlOf: () => Promise<string>,
  handOn: (url: string) => Promise<Hand>,
): void {
  /** Five rows, of four commits. */
  async function written(): Promise<string> {
    const url = await urlOf();
    await during(url, async (store) => {
      await commit(store, [changeOf(1), changeOf(2)], 1);
      for (const n of [3, 4, 5]) await store.audit.append(changeOf(n));
      expect(await verified(store)).to.include({ count: 5, misfit: null });
    });
    return url;
  }

  async function during<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
    const store = await openSqlStore({ url, allowWeakDurability: false });
    try {
      await store.open(NOW);
      return await work(store);
    } finally {
      await store.close();
    }
  }

  async function by<T>(url: string, work: (hand: Hand) => Promise<T>): Promise<T> {
    const hand = await handOn(url);
    try {
      return await work(hand);
    } finally {
      await hand.end();
    }
  }

  it('says which is the first row that is not as it was written', async () => {
    const url = await written();
    const [rows, installation] = await by(url, async ({ run }) => [
      await run('SELECT * FROM audit'),
      await run('SELECT * FROM installation'),
    ]);
    for (const [what, [tamper, seq]] of Object.entries(TAMPERING)) {
      await by(url, tamper);
      await during(url, async (store) => {
        expect((await verified(store)).misfit?.seq, what).to.equal(seq);
        // What is changed from then on does not hide it, nor is it refused.
        await store.audit.append(changeOf(9));
        expect((await verified(store)).misfit, `${what}, and changes go on`).to.not.equal(null);
      });
      await by(url, async (hand) => {
        await hand.run('DELETE FROM audit');
        await hand.run('DELETE FROM installation');
        for (const row of installation) await insert(hand, 'installation', row);
        for (const row of rows) await insert(hand, 'audit', row);
      });
    }
    expect(await during(url, verified)).to.include({ count: 5, misfit: null });
  });

  it('goes on with another key once an operator has put the old one aside', async () => {
    const url = await written();
    const rename = (name: string) =>
      by(url, ({ run }) =>
        run("UPDATE installation SET name = ? WHERE name = 'audit_key'", [name]),
      );
    await rename('audit_key_before');
    expect(await during(url, verified)).to.include({ count: 5, misfit: null });
    await during(url, (store) => store.audit.append(changeOf(6)));
    await rename('audit_key_before_2');
    await during(url, async (store) => {
      await store.audit.append(changeOf(7));
      expect(await verified(store)).to.include({ count: 7, misfit: null });
      expect(await store.audit.drop(NOW + 4, NOW + 20_000)).to.equal(3);
      expect(await verified(store)).to.include({ count: 4, misfit: null });
    });
    await by(url, async ({ run }) => {
      const names = (await run('SELECT name FROM installation')).map(({ name }) => name);
      expect(names).to.include.members(['audit_key', 'audit_key_before', 'audit_key_before_2']);
      await run("DELETE FROM installation WHERE name = 'audit_key_before'");
    });
    const { misfit } = await during(url, verified);
    expect(misfit, 'nobody can say any more').to.include({ seq: 4 });
  });

  it('is verified in pieces, of which each comes to the end of a hash', async () => {
    const url = await urlOf();
    await during(url, async (store) => {
      await store.audit.append(changeOf(0));
      const many = Array.from({ length: 1_800 }, (_, n) => changeOf(n + 1));
      await commit(store, many, 1);
      expect((await store.audit.verify(null)).next).to.be.greaterThan(500);
      expect(await verified(store)).to.include({ count: 1_801, misfit: null });
      const query = { ...everything, lookCount: 10_000 };
      const found = await store.audit.list({ ...query, target: 'type-3' });
      expect(found).to.deep.equal({ records: [changeOf(3)], before: null });
      const newest = await store.audit.list({ ...query, limit: 700 });
      const rest = await store.audit.list({ ...query, limit: 2_000, before: newest.before });
      expect(newest.records).to.have.length(700);
      expect(rest.records.map(({ at }) => at - NOW)).to.deep.equal(
        Array.from({ length: 1_101 }, (_, n) => 1_100 - n),
      );
      let count = 0;
      for (let n = 1; n > 0; count += n) n = await store.audit.drop(NOW + 10_000, NOW + 20_000);
      expect(count).to.equal(1_801);
      expect(await verified(store)).to.include({ count: 0, misfit: null });
    });
  });
}

describe('an audit that somebody has changed: SQLite', () => {
  let folder: string;
  let count = 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-audit-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  findsTampering(
    async () => `sqlite:${join(folder, `${++count}.db`)}`,
    async (url) => {
      const database = new Libsql(url.slice('sqlite:'.length));
      return {
        async run(sql, values = []) {
          const statement = database.prepare(sql);
          if (statement.reader) return statement.all(values) as Row[];
          statement.run(values);
          return [];
        },
        end: () => void database.close(),
      };
    },
  );
});

describe('an audit that somebody has changed: MariaDB', () => {
  const server = useMariadb();

  findsTampering(
    () => server.url(),
    async (url) => {
      const connection = await mysql.createConnection(url);
      return {
        async run(sql, values = []) {
          const [rows] = await connection.query(sql, [...values]);
          return Array.isArray(rows) ? (rows as Row[]) : [];
        },
        end: () => connection.end(),
      };
    },
  );
});
