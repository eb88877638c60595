/** What every store must do with lists: bring what is asked for, in order, and end a page in time. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { StoredTask, TaskQuery } from '../../master/application/ports.ts';
import { isTerminal, type Notification, type Task } from '../../master/domain/model/task.ts';
import { NOW } from '../helpers/task.ts';
import { attemptOf, commit, DAY_MS, everything, finish, finished, task } from './sample.ts';
import { type DefaultStore, describeStores } from './subjects.ts';

const COUNT = 90;
const RUNS = 25;

/** Where a task is: live, or ended so many days ago. */
const place = fc.constantFrom('waiting', 'running', 0, 1, 2);
const kind = fc.constantFrom('a', 'b');
const callback = fc.constantFrom<Notification['state'][]>('pending', 'delivered', 'gave_up');
const row = fc.record({
  gap: fc.constantFrom(1, 1, 1, 50_000),
  place,
  type: kind,
  label: kind,
  callback: fc.option(callback),
});
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;
const filter = fc.record({
  state: fc.constantFrom<TaskQuery['state'][]>(null, 'waiting', 'running', 'succeeded'),
  type: fc.constantFrom(null, 'a'),
  group: fc.constantFrom(null, 'media', 'other'),
  label: fc.constantFrom(null, 'b'),
  notification: fc.constantFrom(null, null, 'pending', 'gave_up', 'delivered'),
});
const size = fc.record({
  limit: fc.integer({ min: 1, max: 80 }),
  lookCount: fc.integer({ min: 1, max: 200 }),
});

function tasksOf(rows: readonly Row[]): StoredTask[] {
  let seq = 0;
  return rows.map(({ gap, place: where, type, label, callback: state }) => {
    seq += gap;
    const one = task(seq, { type, labels: [label] });
    if (where === 'running') {
      return {
        task: { ...one, state: 'running', executorId: 'x', attempt: 1 },
        notification: null,
      };
    }
    if (typeof where === 'string') return { task: one, notification: null };
    return ended(one, NOW - where * DAY_MS, state);
  });
}

function ended(before: Task, finishedAt: number, state: Notification['state'] | null): StoredTask {
  const notifyUrl = state === null ? null : 'https://example.org/done';
  const after = finished({ ...before, notifyUrl }, { finishedAt });
  if (notifyUrl === null || state === null) return { task: after, notification: null };
  const notification = {
    ...{ taskSeq: after.seq, taskId: after.id, url: notifyUrl, finishedAt, state, tries: 1 },
    // Tries are due in another order than tasks were accepted in.
    triesSince: finishedAt,
    retention: 'normal' as const,
    ...{ nextTryAt: NOW - after.seq, lastStatus: null, lastError: null, deliveredAt: null },
  };
  return { task: after, notification };
}

describeStores('lists', (open) => {
  let store: DefaultStore;
  let term: number;

  async function begin(): Promise<void> {
    store = await open();
    ({ term } = await store.takeTerm('m-1', NOW));
  }

  async function keep(rows: readonly StoredTask[]): Promise<void> {
    const live = rows.map((one) => one.task).filter(({ state }) => !isTerminal(state));
    const finishes = rows
      .filter((one) => isTerminal(one.task.state))
      .map((one) => finish(one.task, one.notification, false));
    await store.commit(commit(term, { inserts: live, finishes }));
  }

  const insert = (tasks: readonly Task[]): Promise<void> =>
    keep(tasks.map((one) => ({ task: one, notification: null })));

  /** Every page to the end. */
  async function pagesOf(query: TaskQuery): Promise<number[][]> {
    const all: number[][] = [];
    for (let { beforeSeq } = query; ; ) {
      const page = await store.listTasks({ ...query, beforeSeq });
      expect(page.tasks.length).to.be.at.most(query.limit);
      all.push(page.tasks.map((one) => one.task.seq));
      if (page.beforeSeq === null) return all;
      expect(page.beforeSeq, 'each page goes on further').to.be.below(beforeSeq ?? Infinity);
      ({ beforeSeq } = page);
    }
  }

  it('bring by any filter, page by page, all that fits it, in order and once', async () => {
    const property = fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: COUNT, size: 'max' }),
      fc.array(fc.tuple(filter, size), { minLength: 4, maxLength: 4 }),
      async (rows, queries) => {
        await begin();
        const tasks = tasksOf(rows);
        await keep(tasks);
        for (const [wanted, pages] of queries) {
          const { state, type, group, label, notification } = wanted;
          const fits = tasks.filter(
            ({ task: one, notification: callbackOf }) =>
              (notification === null || callbackOf?.state === notification) &&
              (state === null || one.state === state) &&
              (type === null || one.type === type) &&
              (group === null || one.user.group === group) &&
              (label === null || one.labels.includes(label)),
          );
          const seqs = fits.map((one) => one.task.seq).reverse();
          const query = { ...wanted, ...pages, beforeSeq: null };
          expect((await pagesOf(query)).flat(), JSON.stringify(query)).to.deep.equal(seqs);
        }
        await store.close();
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });

  it('end a page that finds nothing once enough rows were looked at', async () => {
    await begin();
    await insert(Array.from({ length: 1000 }, (_, index) => task(index + 1)));
    await insert(Array.from({ length: 1000 }, (_, index) => finished(task(index + 1001))));
    for (const query of [{ type: 'none' }, { group: 'nobody' }, { label: 'none' }]) {
      const page = await store.listTasks({ ...everything, ...query, lookCount: 100 });
      expect(page.tasks).to.deep.equal([]);
      expect(page.beforeSeq).to.be.within(1901, 1999);
      const seen = await pagesOf({ ...everything, ...query, lookCount: 100 });
      expect(seen.length).to.be.within(20, 60);
    }
  });

  it('bring the few callbacks that gave up among many tasks at once, and with each its callback', async () => {
    await begin();
    const many = Array.from({ length: 3000 }, (_, index) =>
      ended(task(index + 1), NOW, index % 1000 === 7 ? 'gave_up' : 'delivered'),
    );
    await keep(many);
    const query = { ...everything, notification: 'gave_up', limit: 2, lookCount: 500 } as const;
    if ((await store.listTasks({ ...query, lookCount: 1 })).tasks.length === 0) {
      // The store in memory has no index.
      expect((await pagesOf(query)).flat()).to.deep.equal([2008, 1008, 8]);
    } else expect(await pagesOf(query)).to.deep.equal([[2008, 1008], [8]]);
    const { tasks } = await store.listTasks({ ...everything, notification: 'gave_up' });
    expect(tasks.map(({ notification }) => notification)).to.deep.equal(
      [many[2007], many[1007], many[7]].map((one) => one?.notification),
    );
    const live = { ...everything, notification: 'gave_up', state: 'waiting' } as const;
    expect(await pagesOf(live), 'a task that has not ended has none').to.deep.equal([[]]);
  });

  it('bring callbacks that gave up also where there are more than a piece', async () => {
    await begin();
    const many = Array.from({ length: 2500 }, (_, index) =>
      ended(task(index + 1), NOW - (index % 2) * DAY_MS, index % 5 === 0 ? 'delivered' : 'gave_up'),
    );
    await keep(many);
    const gaveUp = many.filter(({ notification }) => notification?.state === 'gave_up');
    const query = { ...everything, notification: 'gave_up', lookCount: 300 } as const;
    const seqs = gaveUp.map((one) => one.task.seq).reverse();
    expect((await pagesOf(query)).flat()).to.deep.equal(seqs);
  });

  it('leave out what is large of errors, where there are many', async () => {
    await begin();
    const details = JSON.stringify({ log: '\u5f71"\n'.repeat(5000) });
    const error = { message: 'no "such" file\u5f71', name: 'Error', details };
    const ended = finished(task(1), { state: 'failed', error });
    const attempts = [1, 2].map((attempt) => attemptOf(task(1), { attempt, error }));
    const long = attemptOf(task(1), { attempt: 3, error: { message: '\\"\u5f71'.repeat(2000) } });
    const finishes = [finish(ended, null, false)];
    await store.commit(commit(term, { finishes, attempts: [...attempts, long] }));
    const [listed] = (await store.listTasks(everything)).tasks;
    expect(listed?.task.error).to.include({ message: error.message, name: 'Error' });
    const shown = await store.showTask('t-1', 'all');
    expect(shown?.task.error, 'that of the task is one').to.deep.equal(error);
    const [first, , last] = shown?.attempts ?? [];
    expect(first?.error).to.include({ message: error.message, name: 'Error' });
    if (first?.error?.details === undefined) {
      expect(first?.detailsBytes).to.equal(Buffer.byteLength(details));
    } else expect(first.error.details).to.equal(details);
    expect(long.error?.message.startsWith(last?.error?.message ?? '?')).to.equal(true);
    expect(last?.error?.message).to.have.length.greaterThan(1024);
    const whole = await store.showTask('t-1', 2);
    expect(whole?.attempts).to.deep.equal([{ ...attempts[1], detailsBytes: 0 }]);
    const wholeLong = await store.showTask('t-1', 3);
    expect(wholeLong?.attempts[0]?.error).to.deep.equal(long.error);
  });

  it('count the rows that they look at, not the numbers between them', async () => {
    await begin();
    const [old, ...recent] = [1, 2e8, 3e8, 4e8, 5e8].map((seq) => task(seq, { type: 'rare' }));
    await insert([old as Task, ...recent]);
    const { tasks, beforeSeq } = await store.listTasks({
      ...everything,
      type: 'rare',
      lookCount: 500,
    });
    expect(tasks.map((one) => one.task.seq)).to.deep.equal([5e8, 4e8, 3e8, 2e8, 1]);
    expect(beforeSeq).to.equal(null);
  });
});
