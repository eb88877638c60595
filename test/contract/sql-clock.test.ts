/** A clock that was set back, and masters that are cut off, or deposed, while due times follow it. */
import { expect } from 'chai';
import knex from 'knex';
import { TermLost } from '../../master/application/ports.ts';
import { QUICK, startMariadb, useMariadb } from '../helpers/mariadb.ts';
import { TcpProxy } from '../helpers/tcp-proxy.ts';
import { NOW, notificationOf } from '../helpers/task.ts';
import { commit, DAY_MS, failureOf, finish, finished, task } from './sample.ts';
import { type DefaultStore, openDefault } from './subjects.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const THEN = NOW - HOUR_MS;
/** More than a slice of each. */
const COUNT = 1_100;

describe('a clock that was set back: MariaDB', function () {
  // Whether anybody waits for a lock the server says of all its databases at once.
  const server = useMariadb(() => startMariadb(QUICK));
  const opened: DefaultStore[] = [];

  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  async function open(url: string): Promise<DefaultStore> {
    const store = await openDefault({ url, allowWeakDurability: false });
    opened.push(store);
    return store;
  }

  /** Retries in ten minutes, and callbacks of two days in five, each of them at a time of its own. */
  async function fill(store: DefaultStore): Promise<void> {
    const { term } = await store.takeTerm('m-1', NOW - DAY_MS);
    const seqs = Array.from({ length: COUNT }, (_, index) => index + 1);
    const inserts = seqs.map((seq) => {
      const dueAt = NOW + 10 * MINUTE_MS + seq;
      return task(seq, { dueAt, orderTime: dueAt, lastOutcome: 'failed', attempt: 1 });
    });
    const finishes = seqs.map((seq) => {
      const finishedAt = seq % 2 === 0 ? NOW : NOW - DAY_MS;
      const ended = finished(task(COUNT + seq, { notifyUrl: 'http://a.example/' }), { finishedAt });
      const change = { nextTryAt: NOW + 5 * MINUTE_MS + seq };
      return finish(ended, notificationOf(ended, change), false);
    });
    await store.commit(commit(term, { inserts, finishes }));
  }

  /** In minutes from the time that the clock was set back to, each once. */
  async function waits(store: DefaultStore): Promise<{ retries: number[]; callbacks: number[] }> {
    const minutes = (times: readonly number[]) => [
      ...new Set(times.map((at) => Math.floor((at - THEN) / MINUTE_MS))),
    ];
    const retries = await store.loadDelayed(null, COUNT + 1);
    const callbacks = await store.loadNotifications(null, COUNT + 1);
    expect([retries.length, callbacks.length]).to.deep.equal([COUNT, COUNT]);
    return {
      retries: minutes(retries.map(({ dueAt }) => dueAt)),
      callbacks: minutes(callbacks.map(({ nextTryAt }) => nextTryAt)),
    };
  }

  /** A master that is over when that answer should come; whether it was to come. */
  async function cutOff(url: string, answer: number): Promise<boolean> {
    const proxy = await TcpProxy.start(Number(new URL(url).port));
    proxy.cutAtWrite(answer);
    const cut = await open(Object.assign(new URL(url), { port: String(proxy.port) }).href);
    try {
      await cut.takeTerm('m-cut', THEN);
      return false;
    } catch (error) {
      if (!proxy.wasReached) throw error;
      return true;
    } finally {
      for (const store of opened.splice(0)) await store.close();
      await proxy.close();
    }
  }

  it('is followed once, whoever is cut off after any statement of that', async () => {
    const url = await server.url();
    await fill(await open(url));
    const client = knex({ client: 'mysql2', connection: url, pool: { min: 0, max: 1 } });
    const leftIn = async () => (await client('namespace').first('unfinished')).unfinished;
    // Each goes on where the one before has left it: from there every statement up to the next that counts is tried.
    const lefts = [await leftIn()];
    let [answer, cutCount] = [1, 0];
    while (await cutOff(url, answer)) {
      cutCount += 1;
      const left = await leftIn();
      answer = left === lefts.at(-1) ? answer + 1 : 1;
      if (answer === 1) lefts.push(left);
    }
    await client.destroy();
    const next = await open(url);
    await next.takeTerm('m-next', THEN + 100);
    expect(await waits(next)).to.deep.equal({ retries: [10], callbacks: [5] });
    expect(lefts.length, 'all that counts was left to another').to.be.above(6);
    expect(cutCount, 'all its statements were tried').to.be.above(25);
  });

  it('is followed by limits a slice at a time, and once, by whoever goes on', async () => {
    const url = await server.url();
    const first = await open(url);
    const { term } = await first.takeTerm('m-1', NOW);
    const count = 2 * COUNT;
    const inserts = Array.from({ length: count }, (_, index) =>
      task(index + 1, { dueAt: NOW, startTimeoutMs: HOUR_MS, startBy: NOW + HOUR_MS + index }),
    );
    await first.commit(commit(term, { inserts }));
    const [slow, newest] = [await open(url), await open(url)];
    const client = knex({ client: 'mysql2', connection: url, pool: { min: 0, max: 2 } });
    const minuteOf = (at: number | null | undefined) => Math.floor(((at ?? 0) - THEN) / MINUTE_MS);
    const limitOf = async (seq: number) => (await first.readTask(`t-${seq}`))?.task.startBy;
    try {
      // It stands still in a slice that is not the first.
      const holder = await client.transaction();
      await holder('task').where({ seq: count }).forUpdate().select();
      const following = slow.takeTerm('m-2', THEN).catch(() => undefined);
      const isBlocked = async (): Promise<boolean> => {
        const [rows] = await client.raw(`SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'`);
        return Number(rows[0].Value) > 0;
      };
      while (!(await isBlocked()));
      const [moved, yetToMove] = [await limitOf(1), await limitOf(count)];
      const taken = newest.takeTerm('m-3', THEN + 100);
      await holder.rollback();
      await Promise.all([following, taken]);
      expect(minuteOf(moved), 'a slice that is done').to.equal(60);
      expect(minuteOf(yetToMove)).to.equal(120);
      const later = THEN + 2 * HOUR_MS;
      const { tasks: limited } = await newest.loadOverdue(later, later, count + 1);
      expect(limited).to.have.length(count);
      expect(new Set(limited.map(({ startBy }) => minuteOf(startBy)))).to.deep.equal(new Set([60]));
    } finally {
      await client.destroy();
    }
  });

  it('is not followed by a master whose term has ended', async () => {
    const url = await server.url();
    const first = await open(url);
    const { term } = await first.takeTerm('m-1', NOW);
    await first.commit(commit(term, { inserts: [task(1, { dueAt: NOW - 1_000 })] }));
    const [slow, newest] = [await open(url), await open(url)];
    const client = knex({ client: 'mysql2', connection: url, pool: { min: 0, max: 2 } });
    try {
      // It stands still before its first write.
      const holder = await client.transaction();
      await holder('task').forUpdate().select();
      const following = slow.takeTerm('m-2', THEN).catch((error: unknown) => error);
      const blocked = async (): Promise<number> => {
        const [rows] = await client.raw(`SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'`);
        return Number(rows[0].Value);
      };
      while ((await blocked()) < 1);
      const read = newest.takeTerm('m-3', NOW + 1).then(() => newest.readTask('t-1'));
      // It waits for what the other writes, or has begun its term before.
      const taken = read.then(() => true);
      const isWaiting = async (): Promise<boolean> => (await blocked()) >= 2;
      while (!(await Promise.race([taken, isWaiting()])));
      await holder.rollback();
      const asRead = await read;
      await following;
      expect(await newest.readTask('t-1'), 'what it has read stays').to.deep.equal(asRead);
      const late = failureOf(slow.commit(commit(term + 1, { inserts: [task(2)] })));
      expect(await late).to.be.instanceOf(TermLost);
    } finally {
      await client.destroy();
    }
  });
});
