/** What every store must do with ended tasks: keep, find, list, run again, and drop them. */
import { expect } from 'chai';
import { CommitConflict } from '../../master/application/ports.ts';
import type { Notification, Task } from '../../master/domain/model/task.ts';
import { NOW, notificationOf } from '../helpers/task.ts';
import {
  attemptOf,
  commit,
  DAY_MS,
  everything,
  failureOf,
  finish,
  finished,
  next,
  pages,
  task,
  wholeRows,
} from './sample.ts';
import { type DefaultStore, describeStores } from './subjects.ts';

describeStores('task store, history', (open) => {
  let store: DefaultStore;
  let term: number;

  beforeEach(async () => {
    store = await open();
    ({ term } = await store.takeTerm('m-1', NOW));
  });

  const insert = (...inserts: Task[]): Promise<void> => store.commit(commit(term, { inserts }));
  const stored = async (id: string): Promise<Task | undefined> => (await store.readTask(id))?.task;
  const listed = async (): Promise<string[]> =>
    (await store.listTasks(everything)).tasks.map(({ task: { id } }) => id);

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
      const stored = { task: ended, notification };
      expect(await store.readTask('t-1')).to.deep.equal(stored);
      expect(await store.findTasks(['t-1'], 0)).to.deep.equal(new Map([['t-1', stored]]));
      const attempts = [records[1], records[0], last].map((one) => ({ ...one, detailsBytes: 0 }));
      expect(await store.showTask('t-1', 'all')).to.deep.equal({ ...stored, attempts });
      expect((await store.showTask('t-1', 2))?.attempts).to.deep.equal([attempts[1]]);
      expect((await store.showTask('t-1', 4))?.attempts).to.deep.equal([]);
      expect(await store.countLanes()).to.deep.equal([]);
      expect(await store.findIds(['t-1', 't-2'])).to.deep.equal(new Map([['t-1', 'hash-1']]));
    });

    it('is found with others, live or not, as many as have so many bytes', async () => {
      const params = JSON.stringify('x'.repeat(998));
      const all = Array.from({ length: 12 }, (_, index) => task(index + 1, { params }));
      await insert(...all.slice(1));
      const ended = all
        .filter(({ seq }) => seq % 2 === 0)
        .map((one) => finished(one, { result: null, finishedAt: NOW - one.seq * DAY_MS }));
      await store.commit(commit(term, { finishes: ended.map((one) => finish(one)) }));
      const ids = all.map(({ id }) => id);
      const found = async (bytesMax: number) => {
        const answer = await store.findTasks(ids, bytesMax);
        return [...answer].map(([id, one]) =>
          one === null ? `no ${id}` : `${id} ${one.task.state}`,
        );
      };
      expect(await found(3_500)).to.deep.equal([
        'no t-1',
        't-2 succeeded',
        't-3 waiting',
        't-4 succeeded',
      ]);
      expect(await found(0)).to.deep.equal(['no t-1']);
      expect(await found(1_000_000)).to.have.length(12);
      expect([...(await store.findTasks(ids.slice(1), 0)).keys()]).to.deep.equal(['t-2']);
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
      const again = next(ended, {
        state: 'waiting',
        result: null,
        finishedAt: null,
        retention: null,
      });
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

    const deliver = (...some: readonly Task[]) => {
      const notifications = some.map((one) => notificationOf(one, { state: 'delivered' }));
      return store.commit(commit(term, { notifications }));
    };

    it('is dropped by whole days, with the attempts and ids of its tasks', async () => {
      await deliver(...ended);
      expect(await store.dropSegments('normal', NOW - DAY_MS)).to.equal(2);
      expect(await store.dropSegments('normal', NOW - DAY_MS)).to.equal(0);
      expect(await listed()).to.deep.equal(['t-5', 't-4', 't-3']);
      const ids = ['t-1', 't-2', 't-3', 't-4', 't-5'];
      expect([...(await store.findIds(ids)).keys()].sort()).to.deep.equal(ids.slice(2));
      for (const id of ids.slice(2)) {
        expect((await store.showTask(id, 'all'))?.attempts, id).to.have.length(1);
      }
      await insert(task(6, { id: 't-1' }));
      expect((await store.showTask('t-1', 'all'))?.attempts).to.deep.equal([]);
      expect(await store.takeTerm('m-2', NOW)).to.include({ term: 2, lastSeq: 6 });
    });

    it('is not lost to a clock that is a year ahead, and goes once the days after it have been served', async () => {
      await deliver(...ended);
      const served = async (day: number, drops = true): Promise<number> => {
        const now = NOW + day * DAY_MS;
        await store.prepareSegments(now);
        return drops ? store.dropSegments('normal', now - 7 * DAY_MS, 7) : 0;
      };
      for (let day = -9; day < 0; day++) await served(day, false);
      expect(await served(0), 'those past it').to.equal(2);
      expect(await served(365), 'the one that was next').to.equal(1);
      expect(await served(365), 'an hour later').to.equal(0);
      expect(await listed()).to.deep.equal(['t-5', 't-4', 't-3', 't-2', 't-1']);
      // The machine was off for a year: the clock is right.
      const dropped: number[] = [];
      for (let day = 366; day <= 374; day++) dropped.push(await served(day));
      expect(dropped).to.deep.equal([1, 1, 1, 1, 1, 1, 2, 1, 1]);
      expect(await listed()).to.deep.equal(['t-5']);
    });

    it('is kept as long as its class, each task as it was when it ended', async () => {
      const at = NOW - 3 * DAY_MS;
      const [short, long] = (['short', 'long'] as const).map((retention, index) =>
        finished(task(11 + index, { notifyUrl: 'https://example.com/' }), {
          finishedAt: at,
          retention,
        }),
      ) as [Task, Task];
      const finishes = [short, long].map((one) => finish(one, notificationOf(one), false));
      const attempts = [short, long].map((one) => attemptOf(one));
      await store.commit(commit(term, { finishes, attempts }));
      const known = async () => [...(await store.findIds(['t-1', 't-11', 't-12'])).keys()].sort();
      expect(await known()).to.deep.equal(['t-1', 't-11', 't-12']);
      expect(await stored('t-11')).to.deep.equal(short);
      expect(await listed()).to.deep.equal(['t-12', 't-11', 't-5', 't-4', 't-3', 't-2', 't-1']);
      const pending = await store.loadNotifications(null, 9);
      expect(pending.map(({ taskSeq, retention }) => [taskSeq, retention])).to.deep.equal([
        [1, 'normal'],
        [11, 'short'],
        [12, 'long'],
        [2, 'normal'],
        [3, 'normal'],
        [4, 'normal'],
      ]);
      await deliver(...ended, short, long);
      expect((await store.readTask('t-12'))?.notification?.state).to.equal('delivered');

      expect(await store.dropSegments('short', NOW - DAY_MS)).to.equal(1);
      expect(await known()).to.deep.equal(['t-1', 't-12']);
      expect(await store.dropSegments('normal', NOW - DAY_MS)).to.equal(2);
      expect(await known()).to.deep.equal(['t-12']);
      expect((await store.showTask('t-12', 'all'))?.attempts).to.have.length(1);

      // It runs again, and its class is another one when it ends.
      const again = next(long, { state: 'waiting', finishedAt: null, retention: null });
      const reopens = [{ task: again, finishedAt: at, retention: 'long' as const }];
      await store.commit(commit(term, { reopens }));
      const brief = finished(again, { finishedAt: at, retention: 'short' });
      await store.commit(commit(term, { finishes: [finish(brief)] }));
      expect(await store.dropSegments('long', NOW - DAY_MS)).to.equal(1);
      expect(await stored('t-12')).to.deep.equal(brief);
      expect(await store.dropSegments('short', NOW - DAY_MS)).to.equal(1);
      expect(await known()).to.deep.equal([]);
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
        {
          ...a,
          tries: 2,
          triesSince: NOW + 4,
          nextTryAt: NOW + 5,
          lastStatus: 503,
          lastError: 'HTTP 503 \u{1F600}',
        },
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
      expect((await store.readTask('t-2'))?.notification).to.deep.equal(changed[1]);
    });

    it('takes no note of a delivery whose task has gone or runs again', async () => {
      const again = next(ended[2] as Task, {
        state: 'waiting',
        result: null,
        finishedAt: null,
        retention: null,
      });
      const reopens = [{ task: again, finishedAt: NOW }];
      await store.commit(commit(term, { reopens }));
      await deliver(...ended.slice(0, 2));
      await store.dropSegments('normal', NOW);
      const late = ended.map((one) => notificationOf(one, { state: 'delivered' }));
      await store.commit(commit(term, { notifications: late.slice(0, 3) }));
      expect(await store.readTask('t-1')).to.equal(null);
      expect(await store.dropSegments('normal', NOW), 'no dropped segment is back').to.equal(0);
      const reopen = { task: next(ended[0] as Task, {}), finishedAt: NOW - 3 * DAY_MS };
      const refused = failureOf(store.commit(commit(term, { reopens: [reopen] })));
      expect(await refused).to.be.instanceOf(CommitConflict);
      expect((await store.readTask('t-3'))?.notification).to.equal(null);
    });

    it('is listed with live tasks, newest first, filtered and page by page', async () => {
      const list = async (query: object): Promise<string[]> =>
        (await store.listTasks({ ...everything, ...query })).tasks.map(({ task: { id } }) => id);
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
      (await store.listTasks({ ...everything, type: 'rare', ...query })).tasks.map(
        (one) => one.task.seq,
      );
    expect(await list({})).to.deep.equal([1_000_000, 20_001, 20_000, 19_999, 1]);
    expect(await list({ limit: 2 })).to.deep.equal([1_000_000, 20_001]);
    expect(await list({ limit: 2, beforeSeq: 20_001 })).to.deep.equal([20_000, 19_999]);
    expect(await list({ state: 'waiting', beforeSeq: 20_001 })).to.deep.equal([19_999, 1]);
  });
});

describeStores('rows that look alike', (open) => {
  it('are told apart by case, and by spaces at their end', async () => {
    const store = await open();
    const { term } = await store.takeTerm('m-1', NOW);
    const lane = (key: number, group: string) => {
      return { op: 'insert', table: 'lane', key, row: { id: key, kind: 't||', group } } as const;
    };
    const executor = (key: string) => {
      const { row } = wholeRows.executor(1, 1);
      return { op: 'put', table: 'executor', key, row: { ...row, executorId: key } } as const;
    };
    const writes = [lane(1, 'g'), lane(2, 'g '), executor('gpu'), executor('GPU')];
    await store.commit(commit(term, { writes }));
    await store.commit(commit(term, { writes: [executor('gpu')] }));
    const whole = await store.loadWhole();
    expect(whole.lane.map(({ group }) => group)).to.have.members(['g', 'g ']);
    expect(whole.executor.map((row) => row.executorId)).to.have.members(['gpu', 'GPU']);
  });
});
