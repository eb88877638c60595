/** What every store must do with lists: bring what is asked for, in order, and end a page in time. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { FailedTask, Ran, StoredTask, TaskQuery } from '../../../master/application/ports.ts';
import { ANY_TASK, type TaskFilter } from '../../../master/domain/model/task-filter.ts';
import { isTerminal, type Notification, type Task } from '../../../master/domain/model/task.ts';
import { NOW, notificationOf } from '../../helpers/task.ts';
import { attemptOf, commit, DAY_MS, everything, finish, finished, task } from '../sample.ts';
import { type DefaultStore, describeStores } from '../subjects.ts';

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
  requires: kind,
  // What differs in blanks at its end is another one.
  group: fc.constantFrom('media', 'media '),
  project: fc.option(fc.constantFrom('a', 'b', 'a ')),
  id: fc.constantFrom('t-', 't-1', 'job.', 'Job.'),
  attempt: fc.constantFrom(0, 1, 2, 7),
  had: fc.option(fc.constantFrom('x', 'y')),
  error: fc.option(fc.constantFrom('no "such" file', 'NO \u5f71 file', 'message')),
  failureReason: fc.option(fc.constantFrom('attempts_exhausted' as const, 'deadline' as const)),
  callback: fc.option(callback),
  job: fc.option(fc.constantFrom('nightly', 'night')),
});
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;
const today = Math.floor(NOW / DAY_MS) * DAY_MS;
const instant = fc.constantFrom(null, null, NOW - DAY_MS, NOW - DAY_MS + 1, today, today - DAY_MS);
const filter = fc.record({
  state: fc.constantFrom<TaskQuery['state'][]>(null, 'waiting', 'running', 'succeeded', 'failed'),
  type: fc.constantFrom(null, 'a'),
  group: fc.constantFrom(null, 'media', 'other'),
  label: fc.constantFrom(null, 'b'),
  notification: fc.constantFrom(null, null, 'pending', 'gave_up', 'delivered'),
});
const who = fc.option(fc.constantFrom('x', 'x-1', 'y'));
/** Each by itself, with any of the above: together they would find nothing. */
const other = fc.oneof(
  fc.record({ requires: kind }),
  fc.record({ project: kind }),
  fc.record({ env: fc.constant('prod') }),
  fc.record({ user: fc.constantFrom('ann', 'ben') }),
  fc.record({ executorId: fc.constantFrom('x', 'x-1') }),
  fc.record({ idPrefix: fc.constantFrom('t', 't-', 't-1', 'job', 'J', 'x') }),
  fc.record({ error: fc.constantFrom('such', '"such" f', '\u5f71', 'none') }),
  fc.record({ failureReason: fc.constantFrom('attempts_exhausted', 'deadline') }),
  fc.record({ minAttempts: fc.constantFrom(2, 7, 8) }),
  fc.record({ job: fc.constantFrom('nightly', 'night', 'Nightly') }),
  fc.record({ from: instant, to: instant }),
  fc.record({ ran: fc.record({ executorId: who, from: instant, to: instant }) }),
  fc.record({ within: fc.constant({ types: null, groups: ['media', 'other'] }) }),
) as fc.Arbitrary<Partial<TaskQuery>>;
const size = fc.record({
  limit: fc.integer({ min: 1, max: 80 }),
  lookCount: fc.integer({ min: 10, max: 200 }),
});

interface Kept extends StoredTask {
  /** Who had the attempt before the newest. */
  readonly had: string | null;
}

function tasksOf(rows: readonly Row[]): Kept[] {
  let seq = 0;
  return rows.map((one) => {
    seq += one.gap;
    const { place: where, type, label, requires, attempt, error: message } = one;
    const { group, project } = one;
    const user = { group, project, env: project && 'prod', user: 'ann' };
    const error = message === null ? null : { message };
    const of = { version: 1, trigger: 'nightly', nominal: seq, backfill: null };
    const job = one.job === null ? null : { name: one.job, ...of };
    const base = { type, labels: [label], requires: [requires], user, attempt, error, job };
    const daysAgo = typeof where === 'string' ? 0 : where;
    const submittedAt = NOW - (daysAgo + (seq % 2)) * DAY_MS;
    const before = task(seq, { ...base, submittedAt, id: `${one.id}-${seq}` });
    const had = attempt > 1 ? one.had : null;
    if (where === 'running') {
      return { task: { ...before, state: 'running', executorId: 'x' }, notification: null, had };
    }
    if (typeof where === 'string') return { task: before, notification: null, had };
    const { failureReason } = one;
    const { task: after, notification } = ended(before, NOW - where * DAY_MS, one.callback);
    const state =
      failureReason === null ? 'succeeded' : failureReason === 'deadline' ? 'expired' : 'failed';
    return { task: { ...after, state, failureReason, attempt }, notification, had };
  });
}

/** Whether it is one that is looked for. */
function fits(wanted: TaskFilter & Pick<TaskQuery, 'ran'>, kept: Kept): boolean {
  const { task: one, notification } = kept;
  const { user, state, error, finishedAt, submittedAt } = one;
  const isText = (text: string) => error?.message.includes(text) === true && state !== 'succeeded';
  const at = finishedAt ?? submittedAt;
  const found: Record<keyof TaskFilter, boolean> = {
    state: state === wanted.state,
    type: one.type === wanted.type,
    group: user.group === wanted.group,
    project: user.project === wanted.project,
    env: user.env === wanted.env,
    user: user.user === wanted.user,
    label: one.labels.includes(wanted.label ?? ''),
    requires: one.requires.includes(wanted.requires ?? ''),
    executorId: one.executorId === wanted.executorId,
    idPrefix: one.id.startsWith(wanted.idPrefix ?? ''),
    error: isText(wanted.error ?? ''),
    failureReason: one.failureReason === wanted.failureReason,
    notification: notification?.state === wanted.notification,
    from: at >= (wanted.from ?? 0),
    to: at < (wanted.to ?? 0),
    minAttempts: one.attempt >= (wanted.minAttempts ?? 0),
    job: one.job?.name === wanted.job,
    within: wanted.within?.groups?.includes(user.group) ?? true,
  };
  const isFound = Object.entries(found).every(
    ([name, is]) => is || wanted[name as keyof TaskFilter] === null,
  );
  return isFound && (wanted.ran === undefined || hasRan(wanted.ran, kept));
}

function hasRan({ executorId, from, to }: Ran, { task: one, had }: Kept): boolean {
  return (
    one.attempt > 0 &&
    (executorId === null || [one.executorId, had].includes(executorId)) &&
    (from === null || (one.finishedAt ?? Infinity) >= from) &&
    (to === null || one.submittedAt < to)
  );
}

function ended(before: Task, finishedAt: number, state: Notification['state'] | null): StoredTask {
  const notifyUrl = state === null ? null : 'https://example.org/done';
  const after = finished({ ...before, notifyUrl }, { finishedAt });
  if (notifyUrl === null || state === null) return { task: after, notification: null };
  // Tries are due in another order than tasks were accepted in.
  const notification = notificationOf(after, { state, tries: 1, nextTryAt: NOW - after.seq });
  return { task: after, notification };
}

const daysAgo = (days: number) => ({ finishedAt: NOW - days * DAY_MS });

function failureOf({
  task: { seq, id, type, user, error, failureReason },
}: StoredTask): FailedTask {
  return { seq, id, type, group: user.group, message: error?.message ?? null, failureReason };
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

  async function failuresOf(query: TaskQuery): Promise<FailedTask[]> {
    const all: FailedTask[] = [];
    for (let { beforeSeq } = query; ; ) {
      const page = await store.listFailures({ ...query, beforeSeq });
      expect(page.failures.length).to.be.at.most(query.limit);
      all.push(...page.failures);
      if (page.beforeSeq === null) return all;
      ({ beforeSeq } = page);
    }
  }

  it('bring by any filter, page by page, all that fits it, in order and once', async () => {
    const property = fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: COUNT, size: 'max' }),
      fc.array(fc.tuple(filter, fc.option(other), size), { minLength: 4, maxLength: 4 }),
      async (rows, queries) => {
        await begin();
        const tasks = tasksOf(rows);
        await keep(tasks);
        const attempts = tasks.flatMap(({ task: one, had }) =>
          had === null ? [] : [attemptOf(one, { attempt: one.attempt - 1, executorId: had })],
        );
        await store.commit(commit(term, { attempts }));
        for (const [some, more, pages] of queries) {
          const wanted = { ...ANY_TASK, ...some, ...more };
          const found = tasks.filter((one) => fits(wanted, one));
          const seqs = found.map((one) => one.task.seq).reverse();
          const query = { ...wanted, ...pages, beforeSeq: null };
          expect((await pagesOf(query)).flat(), JSON.stringify(query)).to.deep.equal(seqs);
          if (wanted.state !== 'failed') continue;
          const why = found.map(failureOf).reverse();
          expect(await failuresOf(query), JSON.stringify(query)).to.deep.equal(why);
        }
        await store.close();
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });

  it('find by the beginning of ids at once where few begin so, among many', async () => {
    await begin();
    const idOf = (n: number) => ({ id: n % 400 === 3 ? `rare-${n}` : `t-${n}` });
    await insert(Array.from({ length: 1200 }, (_, index) => task(index + 1, idOf(index))));
    await insert(Array.from({ length: 400 }, (_, i) => finished(task(i + 1201, idOf(i + 1200)))));
    const query = { ...everything, idPrefix: 'rare-', limit: 2, lookCount: 100 };
    const pages = await pagesOf(query);
    expect(pages.flat()).to.deep.equal([1204, 804, 404, 4]);
    // The store in memory has no index.
    if (pages.length < 9) expect(pages.map((page) => page.length)).to.deep.equal([2, 2]);
    const many = await pagesOf({ ...everything, idPrefix: 't-' });
    expect(many.flat()).to.have.length(1596);
  });

  it('find those that are held or suspended at once where they are few', async () => {
    await begin();
    const states = { 3: { state: 'suspended' as const }, 4: { state: 'held' as const, gate: 7 } };
    const stateOf = (n: number) => states[(n % 400) as 3 | 4] ?? {};
    await insert(Array.from({ length: 1200 }, (_, index) => task(index + 1, stateOf(index + 1))));
    for (const [state, seqs] of [
      ['suspended', [803, 403, 3]],
      ['held', [804, 404, 4]],
    ] as const) {
      const pages = await pagesOf({ ...everything, state, limit: 2, lookCount: 100 });
      expect(pages.flat()).to.deep.equal(seqs);
      // The store in memory has no index.
      if (pages.length < 9) expect(pages).to.deep.equal([seqs.slice(0, 2), seqs.slice(2)]);
    }
  });

  it('count ended tasks of a state up to a bound', async () => {
    await begin();
    const of = (seq: number, state: 'succeeded' | 'failed', daysAgo: number) =>
      finished(task(seq), { state, finishedAt: NOW - daysAgo * DAY_MS });
    await insert([
      task(1),
      ...[2, 3, 4].map((seq) => of(seq, 'failed', seq - 2)),
      of(5, 'succeeded', 0),
    ]);
    expect(await store.countEnded('failed', 10)).to.equal(3);
    expect(await store.countEnded('failed', 2)).to.equal(2);
    expect(await store.countEnded('canceled', 2)).to.equal(0);
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

  it('look at no day that had ended when those began that are asked for', async () => {
    await begin();
    await insert(Array.from({ length: 1000 }, (_, at) => finished(task(at + 1), daysAgo(3))));
    await insert([4, 3, 2, 1].map((days, at) => finished(task(at + 1001), daysAgo(days))));
    const ran = { executorId: 'x-1', from: today - 2 * DAY_MS, to: null };
    expect(await pagesOf({ ...everything, ran, lookCount: 100 })).to.deep.equal([[1004, 1003]]);
    const other = { ...ran, executorId: 'x-2' };
    expect(await pagesOf({ ...everything, ran: other, lookCount: 100 })).to.deep.equal([[]]);
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
    const { failures } = await store.listFailures(everything);
    expect(failures.map(({ message }) => message)).to.deep.equal([error.message]);
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
