/**
 * A wall clock that was set back between two terms: it delays nothing that had no `run_at`. And the clock of a
 * type that stands still, in its pause.
 */
import { expect } from 'chai';
import type { OverduePage, Position } from '../../master/application/ports.ts';
import type { RowWrite } from '../../master/domain/changes.ts';
import { unregistered } from '../../master/domain/model/task-type.ts';
import { NOW } from '../helpers/task.ts';
import { commit, finish, finished, task, wholeRows } from './sample.ts';
import { type DefaultStore, describeStores } from './subjects.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const THEN = NOW - HOUR_MS;

describeStores('a clock that was set back', (open) => {
  let store: DefaultStore;

  const dueTimes = async () => {
    const tasks = await store.loadDelayed(null, 100);
    return Object.fromEntries(tasks.map(({ id, dueAt }) => [id, dueAt]));
  };
  const callbackTimes = async () => {
    const callbacks = await store.loadNotifications(null, 10);
    return Object.fromEntries(callbacks.map(({ taskId, nextTryAt }) => [taskId, nextTryAt]));
  };
  /** To the minute: a store may count how long its answer took. */
  const minutes = (times: Readonly<Record<string, number>>) =>
    Object.fromEntries(
      Object.entries(times).map(([id, at]) => [id, Math.floor((at - THEN) / MINUTE_MS)]),
    );

  beforeEach(async () => {
    store = await open();
    const { term } = await store.takeTerm('m-1', NOW);
    const retry = {
      dueAt: NOW + 10 * MINUTE_MS,
      orderTime: NOW + 10 * MINUTE_MS,
      lastOutcome: 'failed',
    } as const;
    const pending = (seq: number, nextTryAt: number) => ({
      taskSeq: seq,
      taskId: `t-${seq}`,
      type: task(seq).type,
      user: task(seq).user,
      url: 'http://receiver.test/done',
      finishedAt: NOW,
      retention: 'normal' as const,
      state: 'pending' as const,
      tries: 1,
      triesSince: NOW,
      nextTryAt,
      lastStatus: 500,
      lastError: 'refused',
      deliveredAt: null,
    });
    const ended = (seq: number, nextTryAt: number) =>
      finish(finished(task(seq), { finishedAt: NOW }), pending(seq, nextTryAt), false);
    await store.commit(
      commit(term, {
        inserts: [
          task(1, { dueAt: NOW - 2 * HOUR_MS }),
          task(2, { dueAt: NOW, startTimeoutMs: HOUR_MS, startBy: NOW + HOUR_MS }),
          task(3, { dueAt: NOW - 1 }),
          task(4, { dueAt: NOW + HOUR_MS, orderTime: NOW + HOUR_MS }),
          task(5, { ...retry, attempt: 1, attemptsUsed: 1 }),
          // To follow at once, with its head start.
          task(8, { ...retry, dueAt: NOW + 100, orderTime: NOW - HOUR_MS, priority: 3600 }),
        ],
        finishes: [ended(6, NOW), ended(7, NOW + 5 * MINUTE_MS)],
      }),
    );
  });

  it('leaves due what was due, and lets waits last as long as was planned', async () => {
    await store.takeTerm('m-2', THEN);
    expect(minutes(await dueTimes())).to.deep.equal({
      't-1': -60,
      't-2': 0,
      't-3': 0,
      't-4': 120,
      't-5': 10,
      't-8': 0,
    });
    const {
      tasks: [limited],
    } = await store.loadOverdue(THEN + HOUR_MS + MINUTE_MS, THEN + HOUR_MS + MINUTE_MS, 9);
    expect(minutes({ [limited?.id ?? '']: limited?.startBy ?? 0 })).to.deep.equal({ 't-2': 60 });
    expect(minutes(await callbackTimes())).to.deep.equal({ 't-6': 0, 't-7': 5 });
  });

  it('is followed once', async () => {
    await store.takeTerm('m-2', THEN);
    const before = await dueTimes();
    await store.takeTerm('m-3', THEN + MINUTE_MS);
    expect(await dueTimes()).to.deep.equal(before);
  });

  it('is followed by pauses at once, and by the limits for a start in them', async () => {
    const paused = { at: NOW - 2 * HOUR_MS, by: 'ann', reason: null, until: NOW + HOUR_MS };
    const { key, row } = wholeRows.type(1, 1);
    const { term, settings } = await store.takeTerm('m-2', NOW);
    await store.commit({
      ...commit(term, {
        inserts: [
          task(9, { dueAt: NOW - 3 * HOUR_MS, startTimeoutMs: 1, startBy: NOW - 90 * MINUTE_MS }),
        ],
        writes: [{ op: 'put', table: 'type', key, row: { ...row, paused } }],
      }),
      settings: { ...settings, paused },
    });
    const moved = { at: -120, until: 120, ofType: -120, startBy: -90 };
    // The first is killed before it commits anything.
    for (const [owner, now] of [
      ['m-3', THEN],
      ['m-4', THEN + MINUTE_MS],
    ] as const) {
      const begun = await store.takeTerm(owner, now);
      const [type] = (await store.loadWhole()).type;
      const limited = await store.readTask('t-9');
      const times = {
        at: begun.settings.paused?.at ?? 0,
        until: begun.settings.paused?.until ?? 0,
        ofType: type?.paused?.at ?? 0,
        startBy: limited?.task.startBy ?? 0,
      };
      expect(minutes(times), owner).to.deep.equal(moved);
    }
  });

  it('changes nothing while it goes on', async () => {
    const before = await dueTimes();
    await store.takeTerm('m-2', NOW + 1);
    expect(await dueTimes()).to.deep.equal(before);
  });
});

/** Since `NOW`, where it is one of these. */
function typePut(type: string, pausedTypes: readonly string[]): RowWrite {
  const at = pausedTypes.includes(type) ? { at: NOW, by: 'ann', reason: null, until: null } : null;
  return { op: 'put', table: 'type', key: type, row: { ...unregistered(type), paused: at } };
}

const sinceNow = (value: string) => ({ scope: 'type', value, at: NOW }) as const;

/** A pause of a group, and one of a label. */
const rowsOfSome: readonly RowWrite[] = (['group', 'label'] as const).map((scope, index) => {
  const row = { id: index + 1, scope, value: scope, at: NOW + 10 * index };
  const pause = { ...row, by: null, reason: null, until: null };
  return { op: 'put', table: 'pause', key: row.id, row: pause };
});

describeStores('tasks of a group, or with a label, that is paused', (open) => {
  const of = (group: string) => ({ group, project: null, env: null, user: null });
  const limits = { startTimeoutMs: 5, startTimeoutAction: 'fail', startBy: NOW + 5 } as const;
  const inserts = [
    task(1, { ...limits, user: of('group') }),
    task(2, { ...limits, user: of('group ') }),
    task(3, { ...limits, requires: ['label'] }),
    task(4, { ...limits, labels: ['a', 'label'], startBy: NOW + 15 }),
    task(5, { ...limits, labels: ['label:1'], startBy: NOW + 15 }),
    task(6, { ...limits, user: of('group'), labels: ['label'], deadlineAt: NOW + 20 }),
  ];

  it('are not found by limits for their start that were not over then', async () => {
    const store = await open();
    const { term } = await store.takeTerm('m-1', NOW);
    await store.commit(commit(term, { inserts, writes: rowsOfSome }));
    const found = async () => {
      const { tasks } = await store.loadOverdue(NOW + 30, NOW + 30, 9);
      return tasks.map(({ seq }) => seq).sort((a, b) => a - b);
    };
    expect(await found()).to.deep.equal([2, 3, 5, 6]);
    const gone = rowsOfSome.map(({ key }) => ({
      op: 'remove',
      table: 'pause',
      key,
      expect: 'any',
    }));
    await store.commit(commit(term, { writes: gone as RowWrite[] }));
    expect(await found()).to.deep.equal([1, 2, 3, 4, 5, 6]);
  });

  it('have these put off when it ends, but for what is of another pause', async () => {
    const store = await open();
    const { term } = await store.takeTerm('m-1', NOW);
    await store.commit(commit(term, { inserts }));
    const absences = [
      {
        from: NOW,
        until: NOW + 9,
        of: [{ scope: 'group', value: 'group', at: NOW }],
        besides: [{ scope: 'label', value: 'label', at: NOW + 4 }],
      },
      { from: NOW + 4, until: NOW + 7, of: [{ scope: 'label', value: 'label', at: NOW + 4 }] },
    ] as const;
    await store.commit(commit(term, { absences }));
    const { tasks } = await store.loadOverdue(NOW + 99, NOW + 99, 9);
    const moved = tasks.map(({ seq, startBy }) => [seq, (startBy ?? 0) - NOW]);
    expect(Object.fromEntries(moved)).to.deep.equal({ 1: 14, 2: 5, 3: 8, 4: 18, 5: 15, 6: 12 });
  });
});

describeStores('tasks of a type that is paused', (open) => {
  it('have the limits for their start put off alone, and are not found by them', async () => {
    const store = await open();
    const limits = { startTimeoutMs: 10, startTimeoutAction: 'fail', startBy: NOW + 10 } as const;
    const { term } = await store.takeTerm('m-1', NOW);
    const inserts = [
      task(1, { ...limits, type: 'a' }),
      task(2, { ...limits, type: 'b' }),
      task(3, { ...limits, type: 'b', deadlineAt: NOW + 20 }),
      task(4, { ...limits, type: 'c' }),
    ];
    await store.commit(commit(term, { inserts }));
    const found = async (paused: readonly string[]) => {
      await store.commit(commit(term, { writes: ['b', 'c'].map((type) => typePut(type, paused)) }));
      const { tasks } = await store.loadOverdue(NOW + 30, NOW + 30, 9);
      return Object.fromEntries(tasks.map(({ seq, startBy }) => [seq, startBy]));
    };
    const overdue = { 1: NOW + 10, 2: NOW + 10, 3: NOW + 10, 4: NOW + 10 };
    expect(await found([])).to.deep.equal(overdue);
    expect(await found(['b', 'c'])).to.deep.equal({ 1: NOW + 10, 3: NOW + 10 });
    const some = [
      { from: NOW, until: NOW + 5, of: [{ scope: 'type', value: 'b', at: NOW }] },
      { from: NOW, until: NOW + 1, besides: ['b', 'c'].map(sinceNow) },
    ] as const;
    await store.commit(commit(term, { absences: some }));
    const later = { 1: NOW + 11, 2: NOW + 15, 3: NOW + 15, 4: NOW + 10 };
    expect(await found([])).to.deep.equal(later);
  });

  it('are found by a limit that was over when the pause began', async () => {
    const store = await open();
    const { term } = await store.takeTerm('m-1', NOW);
    const limits = { type: 'b', startTimeoutMs: 10, startTimeoutAction: 'fail' } as const;
    const inserts = [NOW - 1, NOW, NOW + 1].map((startBy, index) =>
      task(index + 1, { ...limits, startBy }),
    );
    await store.commit(commit(term, { inserts, writes: [typePut('b', ['b'])] }));
    const { tasks } = await store.loadOverdue(NOW + 30, NOW + 30, 9);
    expect(tasks.map(({ seq }) => seq)).to.deep.equal([1, 2]);
    const { tasks: allPaused } = await store.loadOverdue(NOW + 30, NOW - 1, 9);
    expect(allPaused.map(({ seq }) => seq)).to.deep.equal([1]);
  });

  it('are passed over a piece at a time, however many are overdue', async () => {
    const store = await open();
    const { term } = await store.takeTerm('m-1', NOW);
    const paused = { type: 'b', startTimeoutMs: 10, startTimeoutAction: 'fail' } as const;
    const inserts = Array.from({ length: 6_000 }, (_, index) =>
      task(index + 1, { ...paused, startBy: NOW + 1 + Math.floor(index / 3_000) }),
    );
    const behind = [6_001, 6_002].map((seq) => task(seq, { deadlineAt: NOW + 9 }));
    const writes = [typePut('b', ['b'])];
    await store.commit(commit(term, { inserts: [...inserts, ...behind], writes }));
    const found: number[] = [];
    let after: Position | null = null;
    do {
      const page: OverduePage = await store.loadOverdue(NOW + 9, NOW + 9, 1, after);
      expect(page.tasks).to.have.length.at.most(1);
      found.push(...page.tasks.map(({ seq }) => seq));
      after = page.next;
    } while (after !== null);
    expect(found).to.deep.equal([6_001, 6_002]);
  });
});
