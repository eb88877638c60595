/** What every store must do for several namespaces: keep them apart, and number them. */
import { expect } from 'chai';
import knex from 'knex';
import { NamespaceLimit, type Store, type TaskStore } from '../../master/application/ports.ts';
import { TermLost } from '../../master/application/ports.ts';
import { inNamespace, NAMESPACE_COUNT_MAX } from '../../master/application/namespace.ts';
import type { ExecutorRecord } from '../../master/domain/model/executor.ts';
import type { Task } from '../../master/domain/model/task.ts';
import { useMariadb } from '../helpers/mariadb.ts';
import { NOW, notificationOf } from '../helpers/task.ts';
import {
  attemptOf,
  commit,
  DAY_MS,
  everything,
  failureOf,
  finish,
  finished,
  lanePage,
  next,
  task,
  wholeRows,
} from './sample.ts';
import { describeStores, openDefault } from './subjects.ts';

const settings = { paused: null, retention: 'normal', maxWaiting: null, maxRunning: null } as const;

describeStores('namespaces', (open) => {
  let store: Store;
  /** `default` and another, with equal ids of tasks and executors. */
  let both: readonly [TaskStore, TaskStore];
  let other: number;
  let terms: [number, number];

  const make = (name: string, change = {}) =>
    store.createNamespace({ name, createdAt: NOW, ...settings, ...change });

  beforeEach(async () => {
    store = await open();
    await store.open(NOW);
    other = (await make('films')).id;
    both = [store.tasks(0), store.tasks(other)];
    terms = [0, 0];
    for (const [index, tasks] of both.entries()) {
      terms[index] = (await tasks.takeTerm(`m-${index}`, NOW)).term;
    }
  });

  /** The same tasks in both, told apart by their group. */
  const number = (index: number, n: number) => inNamespace(index === 0 ? 0 : other, n);
  const of = (index: number, n: number, change: Partial<Task> = {}): Task =>
    task(number(index, n), {
      id: `t-${n}`,
      lane: number(index, 9),
      user: { group: `g-${index}`, project: null, env: null, user: null },
      ...change,
    });
  async function fill(): Promise<void> {
    for (const [index, tasks] of both.entries()) {
      const ended = [3, 4].map((n) =>
        finished(of(index, n, { notifyUrl: 'http://a.example/' }), { finishedAt: NOW }),
      );
      const running = of(index, 2, { state: 'running', executorId: 'x', attempt: 1 });
      const record: ExecutorRecord = {
        executorId: 'x',
        lasting: true,
        drainedAt: NOW + index,
        drainedBy: 'ann',
        drainReason: null,
        drainDeadlineAt: null,
        labels: null,
        reserve: null,
        overrideBy: null,
      };
      await tasks.commit(
        commit(terms[index] ?? 0, {
          inserts: [of(index, 1), running, of(index, 5, { dueAt: NOW + 9, deadlineAt: NOW + 99 })],
          finishes: ended.map((one, at) =>
            finish(one, notificationOf(one, at === 0 ? {} : { state: 'gave_up' }), false),
          ),
          attempts: [attemptOf(running, { executorId: `x-${index}` })],
          writes: [
            { op: 'put', table: 'executor', key: 'x', row: record },
            { op: 'put', table: 'type', ...wholeRows.type(1, 1) },
          ],
        }),
      );
    }
  }

  it('begins with default, and gives each its own term and numbers', async () => {
    const { namespaces } = await store.open(NOW);
    expect(namespaces.map(({ id, name }) => [id, name])).to.deep.equal([
      [0, 'default'],
      [1, 'films'],
    ]);
    expect(terms).to.deep.equal([1, 1]);
    const [, films] = both;
    expect((await films.takeTerm('m-2', NOW)).lastSeq).to.equal(inNamespace(1, 0));
    await films.commit(commit(2, { inserts: [of(1, 8)] }));
    expect(await films.takeTerm('m-2', NOW, 2)).to.include({ term: 3, lastSeq: number(1, 8) });
    expect(await both[0].takeTerm('m-3', NOW)).to.include({ term: 2, lastSeq: 0 });
  });

  it('shows each only its own, whatever is equal in both', async () => {
    await fill();
    for (const [index, tasks] of both.entries()) {
      const n = (found: number) => found - number(index, 0);
      const seqs = (found: readonly Task[]) => found.map(({ seq }) => n(seq));
      const shown = await tasks.showTask('t-2', 'all');
      expect(shown?.task).to.include({ seq: number(index, 2), executorId: 'x' });
      expect(shown?.attempts.map(({ executorId }) => executorId)).to.deep.equal([`x-${index}`]);
      for (const id of ['t-1', 't-3']) {
        expect((await tasks.readTask(id))?.task.user.group).to.equal(`g-${index}`);
        expect((await tasks.readTask(id))?.task.user.group).to.equal(`g-${index}`);
      }
      const hashes = await tasks.findIds(['t-1', 't-3', 't-9']);
      expect([...hashes]).to.have.deep.members([
        ['t-1', `hash-${number(index, 1)}`],
        ['t-3', `hash-${number(index, 3)}`],
      ]);
      expect(seqs(await tasks.loadActive())).to.deep.equal([2]);
      const lane = number(index, 9);
      expect(await tasks.countLanes()).to.have.nested.property('[0].count', 2);
      expect(seqs(await lanePage(tasks, lane, null, NOW, 9))).to.deep.equal([1]);
      expect(seqs(await lanePage(tasks, lane, { time: 0, seq: 0 }, NOW + 9, 9))).to.deep.equal([
        1, 5,
      ]);
      expect(seqs(await tasks.loadDelayed({ time: NOW, seq: number(1, 9) }, 9))).to.deep.equal([5]);
      expect(seqs((await tasks.loadOverdue(NOW + 99, NOW + 99, 9)).tasks)).to.deep.equal([5]);
      const pending = await tasks.loadNotifications(null, 9);
      expect(pending.map(({ taskSeq }) => n(taskSeq))).to.deep.equal([3]);
      const { executor } = await tasks.loadWhole();
      expect(executor.map(({ drainedAt }) => drainedAt)).to.deep.equal([NOW + index]);
    }
  });

  it('lists only its own, page by page, by whatever is asked for', async () => {
    await fill();
    const queries = [
      [everything, [5, 4, 3, 2, 1]],
      [{ ...everything, state: 'waiting' }, [5, 1]],
      [{ ...everything, state: 'running' }, [2]],
      [{ ...everything, state: 'succeeded' }, [4, 3]],
      [{ ...everything, notification: 'gave_up' }, [4]],
      [{ ...everything, notification: 'pending' }, [3]],
      [{ ...everything, type: 'video.push' }, [5, 4, 3, 2, 1]],
      [{ ...everything, group: 'g-0' }, [5, 4, 3, 2, 1]],
    ] as const;
    for (const [index, tasks] of both.entries()) {
      for (const [query, all] of queries) {
        const expected = query.group === 'g-0' && index === 1 ? [] : all;
        for (const limit of [1, 9]) {
          const found: number[] = [];
          let beforeSeq: number | null = null;
          do {
            const page = await tasks.listTasks({ ...query, limit, beforeSeq });
            found.push(...page.tasks.map((one) => one.task.seq - number(index, 0)));
            beforeSeq = page.beforeSeq;
          } while (beforeSeq !== null);
          expect(found, JSON.stringify(query)).to.deep.equal(expected);
        }
      }
    }
  });

  it('deposes one without the other', async () => {
    await fill();
    await store.tasks(other).takeTerm('somebody else', NOW);
    const [mine, films] = both;
    const late = films.commit(commit(terms[1], { inserts: [of(1, 7)] }));
    expect(await failureOf(late)).to.be.instanceOf(TermLost);
    await mine.commit(commit(terms[0], { inserts: [of(0, 7)] }));
    expect((await mine.readTask('t-7'))?.task.user.group).to.equal('g-0');
    expect(await films.readTask('t-7')).to.equal(null);
    expect(await failureOf(films.takeTerm('m-1', NOW, 1))).to.be.instanceOf(TermLost);
  });

  it('takes only what has something against it out of commits that come together', async () => {
    const ids = [
      other,
      ...(await Promise.all(['c', 'd', 'e', 'f'].map((name) => make(name)))).map(({ id }) => id),
    ];
    const [deposed = 0, taken = 0, deleted = 0, asking = 0, over = 0] = ids;
    for (const id of ids.slice(1)) await store.tasks(id).takeTerm('m-1', NOW);
    const one = (id: number, n = 1) => task(inNamespace(id, n), { id: `t-${n}` });
    const put = (id: number, ...inserts: Task[]) => store.tasks(id).commit(commit(1, { inserts }));
    await put(taken, one(taken));
    for (const id of [deposed, over]) await store.tasks(id).takeTerm('somebody else', NOW);
    expect(await store.deleteNamespace(deleted)).to.equal(true);
    const answers = [
      put(0, one(0)),
      put(deposed, one(deposed)),
      put(taken, one(taken, 2), { ...one(taken, 3), id: 't-1' }),
      put(deleted, one(deleted)),
      store.tasks(asking).commit(commit(1, {})),
      store.tasks(over).commit(commit(1, {})),
    ];
    const outcomes = await Promise.allSettled(answers);
    expect(
      outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.name : '')),
    ).to.deep.equal(['', 'TermLost', 'CommitConflict', 'TermLost', '', 'TermLost']);
    expect((await store.tasks(0).readTask('t-1'))?.task.seq).to.equal(1);
    expect(await store.tasks(deposed).readTask('t-1')).to.equal(null);
    expect(await store.tasks(taken).readTask('t-2')).to.equal(null);
    expect(await store.tasks(deleted).readTask('t-1')).to.equal(null);
    await put(taken, one(taken, 4));
  });

  it('writes what many have at once, more than one transaction takes', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, (_, n) => make(`n-${n}`)));
    for (const { id } of made) await store.tasks(id).takeTerm('m-1', NOW);
    const absences = [{ from: NOW + 5, until: NOW + 8 }];
    const taskOf = (id: number, n: number, change: Partial<Task> = {}) =>
      task(inNamespace(id, n), { id: `t-${n}`, lane: inNamespace(id, 999), ...change });
    const rows = (id: number) => [
      taskOf(id, 1, { startTimeoutMs: 10, startBy: NOW + 10 }),
      ...Array.from({ length: 700 }, (_, n) => taskOf(id, n + 2)),
    ];
    const commitEach = (wish: (id: number) => Parameters<TaskStore['commit']>[0]) =>
      Promise.all(made.map(({ id }) => store.tasks(id).commit(wish(id))));
    await commitEach((id) => commit(1, { inserts: rows(id) }));
    await commitEach((id) =>
      commit(1, {
        absences: id % 2 === 0 ? absences : [],
        updates: rows(id)
          .slice(1)
          .map((row) => next(row, { attempt: 1 })),
      }),
    );
    for (const { id } of made) {
      const tasks = store.tasks(id);
      expect(await tasks.countLanes()).to.have.nested.property('[0].count', 701);
      const startBy = (await tasks.readTask('t-1'))?.task.startBy;
      expect(startBy).to.equal(id % 2 === 0 ? NOW + 13 : NOW + 10);
      expect((await tasks.readTask('t-701'))?.task.attempt).to.equal(1);
      expect((await tasks.takeTerm('m-1', NOW, 1)).lastSeq).to.equal(inNamespace(id, 701));
    }
  });

  it('puts off the limits of one, and has only its due times follow a clock', async () => {
    const limited = { startTimeoutMs: 10, startTimeoutAction: 'fail', startBy: NOW + 10 } as const;
    for (const [index, tasks] of both.entries()) {
      const retry = {
        dueAt: NOW + DAY_MS,
        orderTime: NOW + DAY_MS,
        lastOutcome: 'failed',
      } as const;
      const ended = finished(of(index, 3, { notifyUrl: 'http://a.example/' }));
      const waits = notificationOf(ended, { nextTryAt: NOW + DAY_MS });
      await tasks.commit(
        commit(terms[index] ?? 0, {
          inserts: [of(index, 1, limited), of(index, 2, retry)],
          finishes: [finish(ended, waits, false)],
        }),
      );
    }
    const [mine, films] = both;
    const absences = [{ from: NOW + 5, until: NOW + 8 }];
    await films.commit(commit(terms[1], { absences }));
    const limit = async (tasks: TaskStore) => (await tasks.readTask('t-1'))?.task.startBy;
    expect([await limit(mine), await limit(films)]).to.deep.equal([NOW + 10, NOW + 13]);
    await films.takeTerm('m-1', NOW - 60_000);
    const times = async (tasks: TaskStore) => [
      (await tasks.readTask('t-2'))?.task.dueAt ?? 0,
      (await tasks.loadNotifications(null, 9))[0]?.nextTryAt ?? 0,
    ];
    expect(await times(mine)).to.deep.equal([NOW + DAY_MS, NOW + DAY_MS]);
    for (const at of await times(films)) {
      expect(at).to.be.within(NOW + DAY_MS - 60_000, NOW + DAY_MS - 30_000);
    }
  });

  it('names those with live tasks or pending callbacks', async () => {
    await make('empty');
    const callbacks = (await make('callbacks')).id;
    const tasks = store.tasks(callbacks);
    const { term } = await tasks.takeTerm('m-1', NOW);
    expect(await store.withWork()).to.deep.equal([]);
    const ended = finished(
      task(inNamespace(callbacks, 1), { id: 't', notifyUrl: 'http://a.example/' }),
    );
    await tasks.commit(commit(term, { finishes: [finish(ended, notificationOf(ended), false)] }));
    await both[1].commit(commit(terms[1], { inserts: [of(1, 1)] }));
    expect(await store.withWork()).to.deep.equal([other, callbacks]);
    const notifications = [notificationOf(ended, { state: 'delivered' })];
    await tasks.commit(commit(term, { notifications }));
    await both[0].commit(commit(terms[0], { inserts: [of(0, 1)] }));
    expect(await store.withWork()).to.deep.equal([0, other]);
  });

  it('names those with bookings that are not over, and deletes none of them', async () => {
    const [mine, films] = both;
    const put = (n: number) =>
      ({ op: 'put', table: 'booking', ...wholeRows.booking(1, n) }) as const;
    await films.commit(commit(terms[1], { writes: [put(0)] }));
    await mine.commit(commit(terms[0], { writes: [put(1)] }));
    expect(await store.withWork()).to.deep.equal([0, other]);
    expect(await store.deleteNamespace(other)).to.equal(false);
    await films.commit(commit(terms[1], { writes: [put(2)] }));
    expect(await store.deleteNamespace(other), 'it has ended').to.equal(true);
  });

  it('keeps settings', async () => {
    const paused = { at: NOW, by: 'ann', reason: 'no disk: "\u00fc"', until: NOW + 5 };
    const changed = { paused, retention: 'long', maxWaiting: 0, maxRunning: 7 } as const;
    const made = await make('set', changed);
    expect(made).to.deep.equal({ id: 2, name: 'set', createdAt: NOW, ...changed });
    const again = async () => (await store.open(NOW)).namespaces[2];
    expect(await again()).to.deep.equal(made);
    expect(await make('set', settings), 'one that is there stays as it is').to.deep.equal(made);
  });

  it('gives a term the settings of its own namespace, as the newest commit left them', async () => {
    const [mine, films] = both;
    const changed = {
      paused: { at: NOW, by: 'ann', reason: null, until: null },
      maxWaiting: 3,
      maxRunning: 0,
      retention: 'short' as const,
    };
    await films.commit({ ...commit(terms[1], {}), settings: changed });
    expect((await films.takeTerm('m-1', NOW, terms[1])).settings).to.deep.equal(changed);
    expect((await mine.takeTerm('m-0', NOW, terms[0])).settings).to.include({ maxWaiting: null });
    expect((await store.open(NOW)).namespaces[1]).to.deep.include(changed);
  });

  it('deletes one without work, and gives the name its old numbers when it is made again', async () => {
    await fill();
    expect(await store.deleteNamespace(other)).to.equal(false);
    expect(await store.deleteNamespace(0)).to.equal(false);
    const [, films] = both;
    const ended = [1, 2, 5].map((n) => finished(of(1, n), { version: 2, finishedAt: NOW }));
    const pending = finished(of(1, 3, { notifyUrl: 'http://a.example/' }), { finishedAt: NOW });
    await films.commit(commit(terms[1], { finishes: ended.map((one) => finish(one)) }));
    expect(await store.deleteNamespace(other), 'a callback is pending').to.equal(false);
    const notifications = [notificationOf(pending, { state: 'delivered' })];
    await films.commit(commit(terms[1], { notifications }));
    expect(await store.deleteNamespace(other)).to.equal(true);
    expect(await store.deleteNamespace(other), 'it is gone').to.equal(true);
    expect((await store.open(NOW)).namespaces.map(({ id }) => id)).to.deep.equal([0]);
    const late = films.commit(commit(terms[1], { inserts: [of(1, 9)] }));
    expect(await failureOf(late)).to.be.instanceOf(TermLost);
    expect((await make('next')).id).to.equal(other + 1);
    const again = await make('films', { createdAt: NOW + 1, maxRunning: 3 });
    expect(again).to.include({ id: other, createdAt: NOW + 1, maxRunning: 3 });
    const { term, lastSeq } = await films.takeTerm('m-1', NOW);
    expect(term).to.be.above(terms[1]);
    expect(lastSeq).to.equal(number(1, 5));
    expect(Object.values(await films.loadWhole()).flat(), 'types and the like').to.deep.equal([]);
    expect((await both[0].loadWhole()).type).to.have.length(1);
    expect((await films.readTask('t-1'))?.task.state, 'history is kept').to.equal('succeeded');
  });

  it('drops segments of all of them at once', async () => {
    for (const [index, tasks] of both.entries()) {
      const old = finished(of(index, 1), { finishedAt: NOW - 9 * DAY_MS });
      await tasks.commit(commit(terms[index] ?? 0, { finishes: [finish(old, null, false)] }));
    }
    expect(await store.dropSegments('normal', NOW - DAY_MS)).to.equal(1);
    for (const tasks of both) expect(await tasks.readTask('t-1')).to.equal(null);
  });
});

describe('namespaces: MariaDB', function () {
  const server = useMariadb();

  const openUrl = (url: string) => openDefault({ url, allowWeakDurability: false });

  it('are made once each by masters that make them at the same time, up to the last number', async () => {
    const url = await server.url();
    const [first, second] = [await openUrl(url), await openUrl(url)];
    const plain = (name: string) => ({ name, createdAt: NOW, ...settings });
    const client = knex({ client: 'mysql2', connection: url, pool: { min: 0, max: 1 } });
    try {
      for (const store of [first, second]) await store.open(NOW);
      const wanted = ['a', 'b', 'a', 'c', 'b', 'a'];
      const made = await Promise.all(
        wanted.map((name, at) => (at % 2 === 0 ? first : second).createNamespace(plain(name))),
      );
      const ids = new Map(made.map(({ id, name }) => [name, id]));
      expect(made.map(({ id }) => id)).to.deep.equal(wanted.map((name) => ids.get(name)));
      expect([...ids.values()]).to.have.members([1, 2, 3]);
      await client('namespace')
        .where({ name: 'c' })
        .update({ id: NAMESPACE_COUNT_MAX - 1 });
      expect(await failureOf(first.createNamespace(plain('d')))).to.be.instanceOf(NamespaceLimit);
    } finally {
      for (const store of [first, second]) await store.close();
      await client.destroy();
    }
  });
});
