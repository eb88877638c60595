/** What every store must do with live tasks, whatever it is made of: terms, writes, what waits. */
import { expect } from 'chai';
import type { TaskStore } from '../../master/application/ports.ts';
import { CommitConflict, TermLost } from '../../master/application/ports.ts';
import { ATTEMPT_COUNT_MAX } from '../../master/domain/bounds.ts';
import type { RowWrite } from '../../master/domain/changes.ts';
import type { ExecutorRecord } from '../../master/domain/model/executor.ts';
import type { Task } from '../../master/domain/model/task.ts';
import { laneNumber, NOW, recordOf } from '../helpers/task.ts';
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
  pages,
  task,
} from './sample.ts';
import { type DefaultStore, describeStores } from './subjects.ts';

describeStores('task store', (open) => {
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

  it('keeps what operators have decided about executors, until it is taken back', async () => {
    const record = (executorId: string, change: Partial<ExecutorRecord> = {}) =>
      recordOf(executorId, { drainedAt: NOW, ...change });
    const save = (...rows: ExecutorRecord[]) =>
      write(
        ...rows.map((row) => ({ op: 'put', table: 'executor', key: row.executorId, row }) as const),
      );
    const write = (...writes: RowWrite[]) => store.commit(commit(term, { writes }));
    const remove = (key: string) =>
      ({ op: 'remove', table: 'executor', key, expect: 'any' }) as const;
    const loaded = async () => (await store.loadWhole()).executor;
    const [a, b] = [record('a'), record('b', { lasting: false, drainDeadlineAt: NOW + 5 })];
    await save(a, b);
    ({ term } = await store.takeTerm('m-1', NOW, term));
    expect(await loaded()).to.have.deep.members([a, b]);
    const labels = Array.from({ length: 32 }, (_, n) => `${'x'.repeat(62)}${n + 10}`);
    const changed = record('a', { drainedAt: null, labels, reserve: [] });
    await save(changed);
    await write(remove('b'), remove('nobody'));
    expect(await loaded()).to.deep.equal([changed]);
    await store.takeTerm('m-2', NOW);
    expect(await failureOf(write(remove('a')))).to.be.instanceOf(TermLost);
    expect(await loaded()).to.deep.equal([changed]);
  });

  it('tells the time of its clock', async () => {
    expect(Math.abs((await store.readClock()) - Date.now())).to.be.below(60_000);
  });

  describe('terms', () => {
    it('begins the first term of an empty store with no task accepted', async () => {
      expect(term).to.equal(1);
      expect((await store.takeTerm('m-2', NOW)).lastSeq).to.equal(0);
    });

    it('finds the last accept number, live or ended', async () => {
      await insert(task(5), task(9));
      await store.commit(commit(term, { finishes: [finish(finished(task(9)))] }));
      expect(await store.takeTerm('m-2', NOW)).to.include({ term: 2, lastSeq: 9, aliveAt: NOW });
      const later = NOW + 60_000;
      await store.commit({ ...commit(2, { saysAlive: true }), now: later });
      const { aliveAt } = await store.takeTerm('m-3', later);
      expect(aliveAt, 'a master with nothing to write is alive').to.equal(later);
    });

    it('gives no number twice, whatever is dropped', async () => {
      await insert(task(5));
      const old = finished(task(9), { finishedAt: NOW - 3 * DAY_MS });
      await store.commit(commit(term, { finishes: [finish(old, null, false)] }));
      const ended = { finishes: [finish(finished(task(5)))], lastSeq: 9 };
      await store.commit(commit(term, ended));
      expect(await store.dropSegments('normal', NOW)).to.equal(1);
      expect((await store.takeTerm('m-2', NOW)).lastSeq).to.equal(9);
      expect((await store.takeTerm('m-3', NOW)).lastSeq).to.equal(9);
    });

    it('gives no number twice, though a commit that counted for lost takes place late', async () => {
      const old = finished(task(9), { finishedAt: NOW - 3 * DAY_MS });
      await store.commit(commit(term, { finishes: [finish(old, null, false)] }));
      await store.commit(commit(term, { saysAlive: true, lastSeq: 8 }));
      await store.dropSegments('normal', NOW);
      expect((await store.takeTerm('m-2', NOW)).lastSeq).to.equal(9);
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
      lane: 2 ** 39,
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
      expect(await store.readTask(full.id)).to.deep.equal({
        task: full,
        notification: null,
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
        error: {
          message: 'tab\tand "quote" \u2028',
          details: '[1.0, 12345678901234567890,\n {"b": "\u{1F600}", "a": "\\ud83d\\/"}]',
        },
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

    it('is one of a thousand in a commit', async () => {
      const all = Array.from({ length: 1_000 }, (_, index) => task(index + 1));
      await insert(...all);
      const updates = all.map((one) => next(one, { attempt: one.seq }));
      await store.commit(commit(term, { updates }));
      const page = await lanePage(store, laneNumber('video.push||'), null, NOW, 2_000);
      expect(page.map(({ attempt }) => attempt)).to.deep.equal(all.map(({ seq }) => seq));
      const finishes = updates.map((one) => finish(finished(one)));
      await store.commit(commit(term, { finishes }));
      expect(await store.countLanes()).to.deep.equal([]);
      const { tasks } = await store.listTasks({ ...everything, limit: 2_000 });
      expect(tasks).to.have.length(1_000);
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

  it('gives the newest attempts of a task that has had many, oldest first', async () => {
    await insert(task(1));
    const attempts = Array.from({ length: ATTEMPT_COUNT_MAX + 5 }, (_, index) =>
      attemptOf(task(1), { attempt: index + 1 }),
    );
    await store.commit(commit(term, { attempts }));
    const found = (await store.showTask('t-1', 'all'))?.attempts.map(({ attempt }) => attempt);
    expect(found).to.deep.equal(attempts.slice(5).map(({ attempt }) => attempt));
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
        const before = await store.readTask('t-1');
        const refused = conflicting(one);
        const more = {
          ...refused,
          writes: [...refused.writes, ...commit(term, { inserts: [task(50)] }).writes],
        };
        expect(await failureOf(store.commit(more))).to.be.instanceOf(CommitConflict);
        expect(await store.readTask('t-1')).to.deep.equal(before);
        expect(await listed()).to.deep.equal(['t-1']);
        await insert(task(51));
      });
    }
  });

  describe('waiting tasks', () => {
    const lane = laneNumber('video.push||');
    const times = [5, 1, 3, 3, 3, 1, 9, 2, 3, 4, 3, 3];

    it('come by lane in the order of the queue, then of acceptance', async () => {
      await insert(
        ...times.map((time, index) => task(index + 1, { queueTime: NOW + time })),
        task(100, { type: 'other', queueTime: NOW }),
        task(101, { state: 'offered', queueTime: NOW }),
        task(102, { dueAt: NOW + 1, queueTime: NOW + 2 }),
      );
      const read = await pages(
        (after, limit) => lanePage(store, lane, after, NOW, limit),
        ({ queueTime, seq }) => ({ time: queueTime, seq }),
      );
      expect(read.map(({ seq }) => seq)).to.deep.equal([2, 6, 8, 3, 4, 5, 9, 11, 12, 10, 1, 7]);
      const later = await lanePage(store, lane, { time: NOW + 2, seq: 8 }, NOW + 1, 2);
      expect(later.map(({ seq }) => seq)).to.deep.equal([102, 3]);
    });

    it('come by their gate where they are held, and are counted with those of their lane', async () => {
      await insert(
        ...times.map((time, index) =>
          task(index + 1, { state: 'held', gate: 7 + (index % 2), queueTime: NOW + time }),
        ),
        task(100, { queueTime: NOW, deadlineAt: NOW }),
        task(101, { state: 'held', gate: 2 ** 53 - 1, deadlineAt: NOW }),
        task(102, { state: 'suspended', deadlineAt: NOW }),
      );
      const pages = await store.loadHeld([7, 8, 9].map((gate) => ({ gate, limit: 4 })));
      const seqs = pages.map((page) => page.map(({ seq }) => seq).join());
      expect(seqs).to.deep.equal(['3,5,9,11', '2,6,8,4', '']);
      const counts = { count: 14, heldCount: 13, suspendedCount: 1, dueAt: NOW };
      expect(await store.countLanes()).to.deep.equal([{ lane, ...counts }]);
      const gates = [7, 8, 2 ** 53 - 1].map((gate) => ({ gate, count: gate < 9 ? 6 : 1 }));
      expect(await store.countGates()).to.have.deep.members(gates);
      expect(await lanePage(store, lane, null, NOW, 9)).to.have.length(1);
      const { tasks: overdue } = await store.loadOverdue(NOW, NOW, 9);
      expect(overdue.map(({ seq }) => seq)).to.have.members([100, 101, 102]);
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
        (await store.loadOverdue(now, now, 9)).tasks.map(({ seq }) => seq).sort((a, b) => a - b);
      expect(await overdue(NOW - 1)).to.deep.equal([]);
      expect(await overdue(NOW)).to.deep.equal([3]);
      expect(await overdue(NOW + 1)).to.deep.equal([2, 3]);
      expect((await store.loadOverdue(NOW + 1, NOW + 1, 1)).tasks).to.have.length(1);
    });

    it('are found when they should have been started, which an absence of the master puts off', async () => {
      const limits = { startTimeoutMs: 10, startTimeoutAction: 'alert' } as const;
      await insert(
        task(1, { ...limits, startBy: NOW + 10 }),
        task(2, { ...limits, startBy: NOW + 10, deadlineAt: NOW + 12 }),
        task(3, { ...limits, dueAt: NOW + 6, startBy: NOW + 16 }),
        task(4, { ...limits, dueAt: NOW + 9, startBy: NOW + 19 }),
        task(5, { ...limits, startBy: NOW + 4 }),
        task(6, { ...limits, startBy: null }),
        task(7, { deadlineAt: NOW + 10 }),
      );
      const limitsOf = async (now: number) =>
        Object.fromEntries(
          (await store.loadOverdue(now, now, 9)).tasks.map((found) => [found.seq, found.startBy]),
        );
      expect(await limitsOf(NOW + 4)).to.deep.equal({ 5: NOW + 4 });
      expect(await limitsOf(NOW + 10)).to.deep.equal({
        1: NOW + 10,
        2: NOW + 10,
        5: NOW + 4,
        7: null,
      });
      const absence = { from: NOW + 4, until: NOW + 9 };
      await store.commit(commit(term, { absences: [absence] }));
      expect(await limitsOf(NOW + 30)).to.deep.equal({
        1: NOW + 15,
        2: null,
        3: NOW + 19,
        4: NOW + 19,
        5: NOW + 4,
        7: null,
      });
      expect((await store.readTask('t-1'))?.task).to.include(limits);
    });

    it('are counted by lane; active tasks are loaded whole', async () => {
      await insert(
        task(1, { dueAt: NOW + DAY_MS }),
        task(2, { dueAt: NOW - 1, queueTime: NOW + 1 }),
        task(3, { requires: ['gpu'], labels: ['b', 'a'] }),
        task(4, { state: 'offered', attempt: 1, executorId: 'x-1', params: '{"a":1}' }),
        task(5, { state: 'running', attempt: 1, executorId: 'x-2' }),
      );
      const none = { heldCount: 0, suspendedCount: 0 };
      expect(await store.countLanes()).to.have.deep.members([
        { lane, count: 2, heldCount: 0, suspendedCount: 0, dueAt: NOW - 1 },
        { lane: laneNumber('video.push|gpu|a,b'), count: 1, ...none, dueAt: NOW },
      ]);
      const active = (await store.loadActive()).map(({ id, params }) => [id, params]);
      expect(active).to.have.deep.members([
        ['t-4', '{"a":1}'],
        ['t-5', '{}'],
      ]);
    });
  });
});
