/** What every store of tasks must do, whatever it is made of. */
import { expect } from 'chai';
import type { Position, TaskStore } from '../../master/application/ports.ts';
import { CommitConflict, TermLost } from '../../master/application/ports.ts';
import type { Notification, Task } from '../../master/domain/task.ts';
import { NOW, notificationOf } from '../helpers/task.ts';
import { attemptOf, commit, DAY_MS, finish, finished, next, task } from './sample.ts';
import { describeStores } from './subjects.ts';

const everything = {
  state: null,
  type: null,
  group: null,
  label: null,
  beforeSeq: null,
  limit: 200,
} as const;

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

/** Reads to the end, page by page. */
async function pages<T>(
  read: (after: Position | null, limit: number) => Promise<T[]>,
  position: (item: T) => Position,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await read(last === undefined ? null : position(last), 3);
    all.push(...page);
    if (page.length < 3) return all;
  }
}

describeStores('task store', (open) => {
  let store: TaskStore;
  let term: number;

  beforeEach(async () => {
    store = await open();
    ({ term } = await store.takeTerm('m-1', NOW));
  });

  const insert = (...inserts: Task[]): Promise<void> => store.commit(commit(term, { inserts }));
  const stored = async (id: string): Promise<Task | undefined> => (await store.findTask(id))?.task;
  const listed = async (): Promise<string[]> =>
    (await store.listTasks(everything)).map(({ id }) => id);

  describe('terms', () => {
    it('begins the first term of an empty store with no task accepted', async () => {
      expect(term).to.equal(1);
      expect((await store.takeTerm('m-2', NOW)).lastSeq).to.equal(0);
    });

    it('finds the last accept number, live or ended', async () => {
      await insert(task(5), task(9));
      await store.commit(commit(term, { finishes: [finish(finished(task(9)))] }));
      expect(await store.takeTerm('m-2', NOW)).to.deep.equal({ term: 2, lastSeq: 9 });
    });

    it('refuses a commit of an older term, and writes nothing of it', async () => {
      await store.takeTerm('m-2', NOW);
      expect(await failureOf(insert(task(1)))).to.be.instanceOf(TermLost);
      expect(await listed()).to.deep.equal([]);
    });

    it('gives no further term to an owner that another one has deposed', async () => {
      expect((await store.takeTerm('m-1', NOW, term)).term).to.equal(2);
      await store.takeTerm('m-2', NOW);
      expect(await failureOf(store.takeTerm('m-1', NOW, 2))).to.be.instanceOf(TermLost);
      expect((await store.takeTerm('m-3', NOW)).term).to.equal(4);
    });

    it('says that the term is lost even where the rows have changed as well', async () => {
      await insert(task(1));
      await store.takeTerm('m-2', NOW);
      expect(await failureOf(insert(task(1)))).to.be.instanceOf(TermLost);
    });
  });

  describe('a live task', () => {
    const full = task(1, {
      id: 'A.b:c-_1',
      type: 'video.push',
      params: '{"name":"\u{1F600} caf\u00e9 \\"quoted\\" \'single\' ? \\\\ \\n"}',
      labels: ['urgent', 'zone=eu/1'],
      requires: ['gpu'],
      lane: 'video.push|gpu|urgent,zone=eu/1',
      user: { group: '\u{20000}\u5f71', project: 'p', env: 'e', user: "o'hara" },
      notifyUrl: 'https://example.com/?a=b&c=\u00fc',
      retry: { maxAttempts: 0, interval: [1, 2.5, 600] },
      executionTimeoutMs: 1_000,
      stallTimeoutMs: 2_000,
      deadlineAt: NOW + 3_000,
      priority: -31_536_000,
      orderTime: NOW + 31_536_000_000,
      dueAt: 8_640_000_000_000_000,
      checkpoint: '{"at":1}',
    });

    it('comes back as it was stored', async () => {
      await insert(full);
      expect(await store.findTask(full.id)).to.deep.equal({
        task: full,
        notification: null,
        attempts: [],
      });
    });

    it('comes back as it was updated, in every column that changes', async () => {
      const changed = next(full, {
        state: 'running',
        priority: 7,
        orderTime: NOW - 7_000,
        dueAt: NOW + 1,
        attempt: 3,
        attemptsUsed: 2,
        crashCount: 1,
        executorId: 'x-1',
        offeredAt: NOW + 2,
        startedAt: NOW + 3,
        cancelRequestedAt: NOW + 4,
        cancelReason: 'execution_timeout',
        progressPercent: 12.5,
        progressState: '{"frame":"\u{1F3AC}\\u0000"}',
        progressAt: NOW + 5,
        error: { message: 'tab\tand "quote" \u2028', details: [1, null, { deep: '\u{1F600}' }] },
        lastOutcome: 'timed_out',
      });
      await insert(full);
      await store.commit(commit(term, { updates: [changed] }));
      expect(await stored(full.id)).to.deep.equal(changed);
    });

    it('keeps its checkpoint through updates, until a new one is saved', async () => {
      await insert(task(1));
      const first = next(task(1), { checkpoint: '{"frame":1}' });
      await store.commit(commit(term, { updates: [first], checkpoints: [first] }));
      const second = next(first, { attempt: 1, checkpoint: null });
      await store.commit(commit(term, { updates: [second] }));
      expect((await stored('t-1'))?.checkpoint).to.equal('{"frame":1}');
      const third = next(second, { checkpoint: null });
      await store.commit(commit(term, { updates: [third], checkpoints: [third] }));
      expect((await stored('t-1'))?.checkpoint).to.equal(null);
    });

    it('is read when the commit is asked for, not later', async () => {
      const one = task(1);
      const done = insert(one);
      one.attempt = 99;
      await done;
      expect((await stored('t-1'))?.attempt).to.equal(0);
    });

    it('is one of a thousand in a commit', async () => {
      const all = Array.from({ length: 1_000 }, (_, index) => task(index + 1));
      await insert(...all);
      const updates = all.map((one) => next(one, { attempt: one.seq }));
      await store.commit(commit(term, { updates }));
      const page = await store.loadLane('video.push||', null, NOW, 2_000);
      expect(page.map(({ attempt }) => attempt)).to.deep.equal(all.map(({ seq }) => seq));
      const finishes = updates.map((one) => finish(finished(one)));
      await store.commit(commit(term, { finishes }));
      expect(await store.countLanes()).to.deep.equal([]);
      expect(await store.listTasks({ ...everything, limit: 2_000 })).to.have.length(1_000);
    });

    it('may be as large as the limits allow, beside others as large', async () => {
      const text = (size: number): string =>
        JSON.stringify('\u5f71"'.repeat(size / 6)).slice(0, size);
      const all = Array.from({ length: 6 }, (_, index) =>
        task(index + 1, { params: text(262_144), checkpoint: text(65_536) }),
      );
      await insert(...all);
      const ended = all.map((one) =>
        finished(one, { result: text(262_144), error: { message: text(262_144) } }),
      );
      await store.commit(commit(term, { finishes: ended.map((one) => finish(one)) }));
      for (const one of ended) expect(await stored(one.id)).to.deep.equal(one);
    });
  });

  describe('conflicts', () => {
    const attempts: [string, (now: Task) => Parameters<TaskStore['commit']>[0]][] = [
      ['an id that is live', () => commit(term, { inserts: [task(7, { id: 't-1' })] })],
      ['a seq that is live', () => commit(term, { inserts: [task(1, { id: 'other' })] })],
      ['an update of an older version', (now) => commit(term, { updates: [now] })],
      [
        'an update of a task that is not there',
        () => commit(term, { updates: [next(task(8), {})] }),
      ],
      [
        'a finish of an older version',
        (now) => commit(term, { finishes: [finish({ ...finished(now), version: 1 })] }),
      ],
      [
        'a reopening of a task that never ended',
        (now) => commit(term, { reopens: [{ task: next(now, {}), finishedAt: NOW }] }),
      ],
      ['an attempt that is recorded', (now) => commit(term, { attempts: [attemptOf(now)] })],
    ];
    for (const [what, conflicting] of attempts) {
      it(`refuses ${what}, and the rest of the commit with it`, async () => {
        const one = task(1);
        await insert(one);
        await store.commit(commit(term, { attempts: [attemptOf(one)] }));
        const before = await store.findTask('t-1');
        const refused = conflicting(one);
        const more = { ...refused, inserts: [task(50), ...refused.inserts] };
        expect(await failureOf(store.commit(more))).to.be.instanceOf(CommitConflict);
        expect(await store.findTask('t-1')).to.deep.equal(before);
        expect(await listed()).to.deep.equal(['t-1']);
        await insert(task(51));
      });
    }
  });

  describe('waiting tasks', () => {
    const lane = 'video.push||';
    const times = [5, 1, 3, 3, 3, 1, 9, 2, 3, 4, 3, 3];

    it('come by lane in order of order time, then of acceptance', async () => {
      await insert(
        ...times.map((time, index) => task(index + 1, { orderTime: NOW + time })),
        task(100, { type: 'other', orderTime: NOW }),
        task(101, { state: 'offered', orderTime: NOW }),
        task(102, { dueAt: NOW + 1, orderTime: NOW + 2 }),
      );
      const read = await pages(
        (after, limit) => store.loadLane(lane, after, NOW, limit),
        ({ orderTime, seq }) => ({ time: orderTime, seq }),
      );
      expect(read.map(({ seq }) => seq)).to.deep.equal([2, 6, 8, 3, 4, 5, 9, 11, 12, 10, 1, 7]);
      const later = await store.loadLane(lane, { time: NOW + 2, seq: 8 }, NOW + 1, 2);
      expect(later.map(({ seq }) => seq)).to.deep.equal([102, 3]);
    });

    it('come by due time when they are delayed', async () => {
      await insert(
        ...times.map((time, index) => task(index + 1, { dueAt: NOW + time })),
        task(100, { state: 'running', dueAt: NOW + 3 }),
      );
      const read = await pages(
        (after, limit) => store.loadDelayed(after ?? { time: NOW + 1, seq: 2 }, limit),
        ({ dueAt, seq }) => ({ time: dueAt, seq }),
      );
      expect(read.map(({ seq }) => seq)).to.deep.equal([6, 8, 3, 4, 5, 9, 11, 12, 10, 1, 7]);
    });

    it('are found when their deadline has come', async () => {
      await insert(
        task(1),
        task(2, { deadlineAt: NOW + 1, dueAt: NOW + DAY_MS }),
        task(3, { deadlineAt: NOW }),
        task(4, { deadlineAt: NOW - 1, state: 'running' }),
      );
      const overdue = async (now: number): Promise<number[]> =>
        (await store.loadOverdue(now, 9)).map(({ seq }) => seq).sort((a, b) => a - b);
      expect(await overdue(NOW - 1)).to.deep.equal([]);
      expect(await overdue(NOW)).to.deep.equal([3]);
      expect(await overdue(NOW + 1)).to.deep.equal([2, 3]);
      expect(await store.loadOverdue(NOW + 1, 1)).to.have.length(1);
    });

    it('are counted by lane; active tasks are loaded whole', async () => {
      await insert(
        task(1),
        task(2, { dueAt: NOW + DAY_MS }),
        task(3, { requires: ['gpu'], labels: ['b', 'a'] }),
        task(4, { state: 'offered', attempt: 1, executorId: 'x-1', params: '{"a":1}' }),
        task(5, { state: 'running', attempt: 1, executorId: 'x-2' }),
      );
      const lanes = await store.countLanes();
      expect(lanes).to.have.deep.members([
        { lane, type: 'video.push', requires: [], labels: [], count: 2 },
        {
          lane: 'video.push|gpu|a,b',
          type: 'video.push',
          requires: ['gpu'],
          labels: ['b', 'a'],
          count: 1,
        },
      ]);
      const active = await store.loadActive();
      expect(
        active.sort((a, b) => a.seq - b.seq).map(({ id, params }) => [id, params]),
      ).to.deep.equal([
        ['t-4', '{"a":1}'],
        ['t-5', '{}'],
      ]);
    });
  });

  describe('an ended task', () => {
    it('moves to history with its result, attempts and notification', async () => {
      const one = task(1, { notifyUrl: 'https://example.com/' });
      await insert(one);
      const records = [2, 1].map((attempt) => attemptOf(one, { attempt }));
      await store.commit(commit(term, { attempts: records }));
      const ended = finished(one, { state: 'failed', failureReason: 'non_retryable' });
      const notification = notificationOf(ended);
      const last = attemptOf(one, { attempt: 3, startedAt: null, error: null });
      await store.commit(
        commit(term, { finishes: [finish(ended, notification)], attempts: [last] }),
      );
      expect(await store.findTask('t-1')).to.deep.equal({
        task: ended,
        notification,
        attempts: [records[1], records[0], last],
      });
      expect(await store.countLanes()).to.deep.equal([]);
      expect(await store.findIds(['t-1', 't-2'])).to.deep.equal(new Map([['t-1', 'hash-1']]));
    });

    it('may have begun in the same commit', async () => {
      const ended = finished(task(1), { version: 1 });
      await store.commit(commit(term, { finishes: [finish(ended, null, false)] }));
      expect(await stored('t-1')).to.deep.equal(ended);
    });

    it('runs again as a live task, once', async () => {
      const one = task(1);
      const ended = finished(one);
      await insert(one);
      await store.commit(commit(term, { finishes: [finish(ended)] }));
      const again = next(ended, { state: 'waiting', result: null, finishedAt: null });
      const reopens = [{ task: again, finishedAt: NOW + 2 }];
      await store.commit(commit(term, { reopens }));
      expect(await stored('t-1')).to.deep.equal(again);
      expect(await listed()).to.deep.equal(['t-1']);
      const twice = failureOf(store.commit(commit(term, { reopens })));
      expect(await twice).to.be.instanceOf(CommitConflict);
      await store.commit(commit(term, { finishes: [finish(finished(again))] }));
      expect((await stored('t-1'))?.state).to.equal('succeeded');
    });
  });

  describe('history', () => {
    const days = [-3, -2, 0, 1];
    const ended = days.map((day, index) =>
      finished(task(index + 1, { notifyUrl: 'https://example.com/' }), {
        finishedAt: NOW + day * DAY_MS,
      }),
    );

    beforeEach(async () => {
      await insert(...days.map((_, index) => task(index + 1)), task(5, { labels: ['a_b'] }));
      await store.commit(
        commit(term, {
          finishes: ended.map((one) => finish(one, notificationOf(one))),
          attempts: [...ended, task(5)].map((one) => attemptOf(one)),
        }),
      );
    });

    it('is dropped by whole days, with the attempts and ids of its tasks', async () => {
      expect(await store.dropSegments(NOW - DAY_MS)).to.equal(2);
      expect(await store.dropSegments(NOW - DAY_MS)).to.equal(0);
      expect(await listed()).to.deep.equal(['t-5', 't-4', 't-3']);
      const ids = ['t-1', 't-2', 't-3', 't-4', 't-5'];
      expect([...(await store.findIds(ids)).keys()].sort()).to.deep.equal(ids.slice(2));
      for (const id of ids.slice(2)) {
        expect((await store.findTask(id))?.attempts, id).to.have.length(1);
      }
      await insert(task(6, { id: 't-1' }));
      expect((await store.findTask('t-1'))?.attempts).to.deep.equal([]);
      expect(await store.takeTerm('m-2', NOW)).to.deep.equal({ term: 2, lastSeq: 6 });
    });

    it('is there for the next master', async () => {
      await store.takeTerm('m-2', NOW + 40 * DAY_MS);
      expect(await listed()).to.deep.equal(['t-5', 't-4', 't-3', 't-2', 't-1']);
    });

    it('gives pending notifications by next try, over all segments', async () => {
      const [a, b, c, d] = ended.map((one) => notificationOf(one)) as [
        Notification,
        Notification,
        Notification,
        Notification,
      ];
      const changed: Notification[] = [
        { ...a, tries: 2, nextTryAt: NOW + 5, lastStatus: 503, lastError: 'HTTP 503 \u{1F600}' },
        { ...b, state: 'delivered', tries: 1, lastStatus: 204, deliveredAt: NOW + 3 },
        { ...c, tries: 1, nextTryAt: NOW + 5, lastError: 'timeout' },
      ];
      await store.commit(commit(term, { notifications: changed }));
      const read = await pages(
        (after) => store.loadNotifications(after, 3),
        ({ nextTryAt, taskSeq }) => ({ time: nextTryAt, seq: taskSeq }),
      );
      expect(read).to.deep.equal([changed[0], changed[2], d]);
      const some = await store.loadNotifications({ time: NOW + 5, seq: 1 }, 1);
      expect(some).to.deep.equal([changed[2]]);
      expect((await store.findTask('t-2'))?.notification).to.deep.equal(changed[1]);
    });

    it('takes no note of a delivery whose task has gone or runs again', async () => {
      const again = next(ended[2] as Task, { state: 'waiting', result: null, finishedAt: null });
      const reopens = [{ task: again, finishedAt: NOW }];
      await store.commit(commit(term, { reopens }));
      await store.dropSegments(NOW);
      const late = ended.map((one) => notificationOf(one, { state: 'delivered' }));
      await store.commit(commit(term, { notifications: late.slice(0, 3) }));
      expect(await store.findTask('t-1')).to.equal(null);
      expect(await store.dropSegments(NOW), 'no dropped segment is back').to.equal(0);
      const reopen = { task: next(ended[0] as Task, {}), finishedAt: NOW - 3 * DAY_MS };
      const refused = failureOf(store.commit(commit(term, { reopens: [reopen] })));
      expect(await refused).to.be.instanceOf(CommitConflict);
      expect((await store.findTask('t-3'))?.notification).to.equal(null);
    });

    it('is listed with live tasks, newest first, filtered and page by page', async () => {
      const list = async (query: object): Promise<string[]> =>
        (await store.listTasks({ ...everything, ...query })).map(({ id }) => id);
      expect(await list({ limit: 2 })).to.deep.equal(['t-5', 't-4']);
      expect(await list({ limit: 2, beforeSeq: 4 })).to.deep.equal(['t-3', 't-2']);
      expect(await list({ state: 'waiting' })).to.deep.equal(['t-5']);
      expect(await list({ state: 'succeeded', beforeSeq: 3 })).to.deep.equal(['t-2', 't-1']);
      expect(await list({ label: 'a_b' })).to.deep.equal(['t-5']);
      expect(await list({ label: 'a.b' })).to.deep.equal([]);
      expect(await list({ label: 'a' })).to.deep.equal([]);
      expect(await list({ type: 'Video.push' })).to.deep.equal([]);
      expect(await list({ group: 'media', type: 'video.push', limit: 1 })).to.deep.equal(['t-5']);
      expect(await list({ group: 'Media' })).to.deep.equal([]);
    });
  });

  it('finds what is rare, however far back', async () => {
    const rare = [1, 19_999, 20_000, 20_001, 1_000_000].map((seq) => task(seq, { type: 'rare' }));
    await insert(...rare, task(40_000), task(3_000_000));
    await store.commit(commit(term, { finishes: [finish(finished(rare[2] as Task))] }));
    const list = async (query: object): Promise<number[]> =>
      (await store.listTasks({ ...everything, type: 'rare', ...query })).map(({ seq }) => seq);
    expect(await list({})).to.deep.equal([1_000_000, 20_001, 20_000, 19_999, 1]);
    expect(await list({ limit: 2 })).to.deep.equal([1_000_000, 20_001]);
    expect(await list({ limit: 2, beforeSeq: 20_001 })).to.deep.equal([20_000, 19_999]);
    expect(await list({ state: 'waiting', beforeSeq: 20_001 })).to.deep.equal([19_999, 1]);
  });

  it('answers a ping', () => store.ping());
});
