/** What every store must do with lists: bring what is asked for, in order, and end a page in time. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { TaskQuery, TaskStore } from '../../master/application/ports.ts';
import { isTerminal, type Task } from '../../master/domain/task.ts';
import { NOW } from '../helpers/task.ts';
import { attemptOf, commit, DAY_MS, everything, finish, finished, task } from './sample.ts';
import { describeStores } from './subjects.ts';

const COUNT = 90;
const RUNS = 25;

/** Where a task is: live, or ended so many days ago. */
const place = fc.constantFrom('waiting', 'running', 0, 1, 2);
const kind = fc.constantFrom('a', 'b');
const row = fc.record({ gap: fc.constantFrom(1, 1, 1, 50_000), place, type: kind, label: kind });
const filter = fc.record({
  state: fc.constantFrom<TaskQuery['state'][]>(null, 'waiting', 'running', 'succeeded'),
  type: fc.constantFrom(null, 'a'),
  group: fc.constantFrom(null, 'media', 'other'),
  label: fc.constantFrom(null, 'b'),
});
const size = fc.record({
  limit: fc.integer({ min: 1, max: 80 }),
  lookCount: fc.integer({ min: 1, max: 200 }),
});

function tasksOf(rows: readonly (typeof row extends fc.Arbitrary<infer T> ? T : never)[]): Task[] {
  let seq = 0;
  return rows.map(({ gap, place: where, type, label }) => {
    seq += gap;
    const one = task(seq, { type, labels: [label] });
    if (where === 'running') return { ...one, state: 'running', executorId: 'x', attempt: 1 };
    if (typeof where === 'string') return one;
    return finished(one, { finishedAt: NOW - where * DAY_MS });
  });
}

describeStores('lists', (open) => {
  let store: TaskStore;
  let term: number;

  async function begin(): Promise<void> {
    store = await open();
    ({ term } = await store.takeTerm('m-1', NOW));
  }

  async function insert(tasks: readonly Task[]): Promise<void> {
    const live = tasks.filter(({ state }) => !isTerminal(state));
    const ended = tasks.filter(({ state }) => isTerminal(state));
    const finishes = ended.map((one) => finish(one, null, false));
    await store.commit(commit(term, { inserts: live, finishes }));
  }

  /** Every page to the end. */
  async function pagesOf(query: TaskQuery): Promise<number[][]> {
    const all: number[][] = [];
    for (let { beforeSeq } = query; ; ) {
      const page = await store.listTasks({ ...query, beforeSeq });
      expect(page.tasks.length).to.be.at.most(query.limit);
      all.push(page.tasks.map(({ seq }) => seq));
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
        await insert(tasks);
        for (const [wanted, pages] of queries) {
          const { state, type, group, label } = wanted;
          const fits = tasks.filter(
            (one) =>
              (state === null || one.state === state) &&
              (type === null || one.type === type) &&
              (group === null || one.user.group === group) &&
              (label === null || one.labels.includes(label)),
          );
          const seqs = fits.map(({ seq }) => seq).reverse();
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

  it('leave out what is large of errors, where there are many', async () => {
    await begin();
    const details = { log: '\u5f71"\n'.repeat(5000) };
    const error = { message: 'no "such" file\u5f71', name: 'Error', details };
    const ended = finished(task(1), { state: 'failed', error });
    const attempts = [1, 2].map((attempt) => attemptOf(task(1), { attempt, error }));
    const long = attemptOf(task(1), { attempt: 3, error: { message: '\\"\u5f71'.repeat(2000) } });
    const finishes = [finish(ended, null, false)];
    await store.commit(commit(term, { finishes, attempts: [...attempts, long] }));
    const [listed] = (await store.listTasks(everything)).tasks;
    expect(listed?.error).to.include({ message: error.message, name: 'Error' });
    const shown = await store.showTask('t-1', 'all');
    expect(shown?.task.error, 'that of the task is one').to.deep.equal(error);
    const [first, , last] = shown?.attempts ?? [];
    expect(first?.error).to.include({ message: error.message, name: 'Error' });
    if (first?.error?.details === undefined) {
      expect(first?.detailsBytes).to.equal(Buffer.byteLength(JSON.stringify(details)));
    } else expect(first.error.details).to.deep.equal(details);
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
    expect(tasks.map(({ seq }) => seq)).to.deep.equal([5e8, 4e8, 3e8, 2e8, 1]);
    expect(beforeSeq).to.equal(null);
  });
});
