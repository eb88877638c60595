/** Attempts and tasks that take too long: execution timeout, stall timeout, deadline. */
import { expect } from 'chai';
import { nextWakeAt } from '../../../master/domain/state/state.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import {
  BEGIN,
  ended,
  finished,
  HOUR,
  inserted,
  MINUTE,
  offers,
  outcomes,
  Scheduler,
  SECOND,
  stops,
  written,
} from '../../helpers/domain.ts';
import { changing } from '../../helpers/task.ts';

describe('timeouts', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x');
  });

  describe('execution timeout', () => {
    it('is none by default', () => {
      scheduler.run('x');
      expect(stops(scheduler.pass(6 * HOUR))).to.deep.equal([]);
    });

    it('of the master holds where the task has none, and its executor is free again', () => {
      scheduler = new Scheduler({ executionTimeoutMs: MINUTE });
      scheduler.connect('x');
      scheduler.run('x', { id: 'a' });
      scheduler.submit({ id: 'b' });
      expect(stops(scheduler.pass(MINUTE))).to.deep.equal(['a#1 execution_timeout -> x']);
      const out = scheduler.end('x', { outcome: 'canceled' });
      expect(outcomes(out)).to.deep.equal(['timed_out']);
      expect(offers(out)).to.deep.equal(['b -> x']);
    });

    it('counts from the acceptance and tells the executor to stop', () => {
      scheduler.submit({ executionTimeoutMs: MINUTE });
      scheduler.now += 3 * SECOND;
      scheduler.accept('x');
      expect(stops(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
      const out = scheduler.pass(1);
      expect(stops(out)).to.deep.equal(['a#1 execution_timeout -> x']);
      expect(scheduler.task('a')).to.include({
        state: 'running',
        cancelReason: 'execution_timeout',
        cancelRequestedAt: scheduler.now,
      });
      expect(written(out), 'durable first').to.include('set task');
    });

    it('uses up an attempt, whatever the executor reports', () => {
      scheduler.run('x', { executionTimeoutMs: MINUTE });
      scheduler.pass(MINUTE);
      const out = scheduler.end('x', { outcome: 'canceled' });
      expect(outcomes(out)).to.deep.equal(['timed_out']);
      expect(scheduler.task('a')).to.include({
        state: 'waiting',
        attemptsUsed: 1,
        lastOutcome: 'timed_out',
        cancelReason: null,
        cancelRequestedAt: null,
      });
    });

    it('begins anew with every attempt', () => {
      scheduler.run('x', { executionTimeoutMs: MINUTE, retry: { maxAttempts: 5, interval: -1 } });
      scheduler.pass(50 * SECOND);
      scheduler.fail('x', { retryAfterMs: SECOND });
      scheduler.pass(SECOND);
      scheduler.accept('x');
      expect(stops(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
      expect(stops(scheduler.pass(1))).to.deep.equal(['a#2 execution_timeout -> x']);
    });

    it('stands when the attempt then stalls as well: the first reason counts', () => {
      scheduler.run('x', { executionTimeoutMs: MINUTE, stallTimeoutMs: MINUTE + SECOND });
      expect(stops(scheduler.pass(MINUTE + 2 * SECOND))).to.deep.equal([
        'a#1 execution_timeout -> x',
      ]);
    });

    it('loses against a result that was on its way', () => {
      scheduler.run('x', { executionTimeoutMs: MINUTE });
      scheduler.pass(MINUTE + SECOND);
      expect(finished(scheduler.end('x'))[0]).to.include({ state: 'succeeded' });
    });
  });

  describe('stall timeout', () => {
    it('ends an attempt that shows no progress', () => {
      scheduler.run('x', { stallTimeoutMs: MINUTE });
      expect(stops(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
      expect(stops(scheduler.pass(1))).to.deep.equal(['a#1 stalled -> x']);
      expect(outcomes(scheduler.end('x', { outcome: 'canceled' }))).to.deep.equal(['timed_out']);
    });

    it('is put off by each report of progress; heartbeats do not count', () => {
      scheduler.run('x', { stallTimeoutMs: MINUTE });
      for (let i = 0; i < 5; i++) {
        expect(stops(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
        scheduler.progress('x', { percent: i });
      }
      expect(stops(scheduler.pass(MINUTE))).to.deep.equal(['a#1 stalled -> x']);
    });

    it('does not count the progress of an earlier attempt', () => {
      scheduler.run('x', { stallTimeoutMs: MINUTE });
      scheduler.pass(30 * SECOND);
      scheduler.progress('x', { percent: 1 });
      scheduler.fail('x', { retryAfterMs: 0 });
      scheduler.pass(2 * SECOND);
      scheduler.accept('x');
      expect(stops(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
      expect(stops(scheduler.pass(1))).to.deep.equal(['a#2 stalled -> x']);
    });
  });

  describe('deadline', () => {
    const deadlineAt = BEGIN + MINUTE;

    it('ends a waiting task as expired, though no attempt was made', () => {
      scheduler.submit({ type: 'nobody', deadlineAt });
      expect(finished(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
      const out = scheduler.pass(1);
      expect(finished(out)[0]).to.include({
        state: 'expired',
        failureReason: 'deadline',
        finishedAt: deadlineAt,
      });
      expect(outcomes(out)).to.deep.equal([]);
    });

    it('ends a task that waits for its next attempt', () => {
      scheduler.run('x', { deadlineAt, retry: { maxAttempts: 0, interval: -3600 } });
      scheduler.fail('x');
      expect(finished(scheduler.pass(MINUTE))[0]).to.include({ state: 'expired', attemptsUsed: 1 });
    });

    it('tells a running attempt to stop; its report ends the task as expired', () => {
      scheduler.run('x', { deadlineAt });
      const out = scheduler.pass(MINUTE);
      expect(stops(out)).to.deep.equal(['a#1 deadline -> x']);
      expect(finished(out)).to.deep.equal([]);
      const end = scheduler.end('x', { outcome: 'canceled' });
      expect(outcomes(end)).to.deep.equal(['timed_out']);
      expect(finished(end)[0]).to.include({ state: 'expired', failureReason: 'deadline' });
    });

    it('loses against a result that was on its way', () => {
      scheduler.run('x', { deadlineAt });
      scheduler.pass(MINUTE);
      expect(finished(scheduler.end('x'))[0]).to.include({ state: 'succeeded' });
    });

    it('spans all attempts', () => {
      scheduler.run('x', { deadlineAt });
      scheduler.pass(50 * SECOND);
      scheduler.fail('x', { retryAfterMs: SECOND });
      scheduler.pass(SECOND);
      scheduler.accept('x');
      expect(stops(scheduler.pass(9 * SECOND))).to.deep.equal(['a#2 deadline -> x']);
    });

    it('replaces a milder reason: the timed out attempt is not retried then', () => {
      scheduler.run('x', { deadlineAt, executionTimeoutMs: MINUTE - 5 * SECOND });
      const out = scheduler.pass(MINUTE);
      expect(stops(out)).to.deep.equal(['a#1 execution_timeout -> x', 'a#1 deadline -> x']);
      expect(finished(scheduler.end('x', { outcome: 'canceled' }))[0]).to.include({
        state: 'expired',
      });
    });

    it('leaves no further attempt to a task that fails after it', () => {
      scheduler.run('x', { deadlineAt });
      scheduler.pass(MINUTE);
      expect(finished(scheduler.fail('x'))[0]).to.include({ state: 'expired' });
    });

    it('of waiting tasks that are only in the store is looked for at times', () => {
      const scheduler = new Scheduler({ laneWindowCount: 1 });
      scheduler.submit({ id: 'a', deadlineAt }, { id: 'b', deadlineAt });
      expect(scheduler.state.tasks.has('b')).to.equal(false);
      const out = scheduler.pass(10 * SECOND);
      expect(out.loads.filter(({ type }) => type === 'overdue')).to.have.length.within(1, 3);
    });

    it('keeps tasks from being offered that a page brings too late', () => {
      const overdue = inserted(new Scheduler().submit({ deadlineAt }, { id: 'b' }));
      const { lane } = overdue[0] as Task;
      const stored = { lane, count: 2, heldCount: 0, suspendedCount: 0, dueAt: null };
      const { scheduler } = Scheduler.restored({ lanes: [stored] });
      scheduler.now = scheduler.state.lastTickAt = deadlineAt + HOUR;
      scheduler.connect('x');
      const out = scheduler.send({
        type: 'lanesLoaded',
        pages: [{ lane, tasks: overdue, complete: true }],
      });
      expect(finished(out)[0]).to.include({ id: 'a', state: 'expired', attempt: 0 });
      expect(offers(out)).to.deep.equal(['b -> x']);
    });

    it('keeps tasks from being offered also where the tick that ends them is yet to come', () => {
      const scheduler = new Scheduler();
      scheduler.submit({ id: 'a', deadlineAt }, { id: 'b' });
      scheduler.now = deadlineAt;
      const out = scheduler.connect('x');
      expect(finished(out)[0]).to.include({ id: 'a', state: 'expired' });
      expect(offers(out)).to.deep.equal(['b -> x']);
    });

    it('of many tasks at once ends a bounded number of them in one tick, and goes on at once', () => {
      const scheduler = new Scheduler();
      const ids = Array.from({ length: 2_500 }, (_, i) => ({ id: `t${i}`, deadlineAt }));
      scheduler.submit(...ids);
      scheduler.now = deadlineAt;
      scheduler.state.lastTickAt = deadlineAt;
      const counts: number[] = [];
      while (nextWakeAt(scheduler.state) <= scheduler.now) {
        counts.push(finished(scheduler.send({ type: 'ticked' })).length);
      }
      expect(counts).to.deep.equal([1_000, 1_000, 500]);
    });

    it('of a delay that many tasks end at once brings a bounded number of them in one tick', () => {
      const scheduler = new Scheduler();
      const runAt = scheduler.now + MINUTE;
      scheduler.submit(...Array.from({ length: 2_500 }, (_, i) => ({ id: `t${i}`, runAt })));
      scheduler.pass(MINUTE - 1);
      scheduler.now = runAt;
      const left: number[] = [];
      while (nextWakeAt(scheduler.state) <= scheduler.now) {
        scheduler.send({ type: 'ticked' });
        left.push(scheduler.state.delayed.size);
      }
      expect(left).to.deep.equal([1_500, 500, 0]);
    });

    it('of stored tasks is looked for by one page after another, and no more once all are in', () => {
      const scheduler = new Scheduler({ laneWindowCount: 1 });
      scheduler.submit({ id: 'a' }, { id: 'b', deadlineAt });
      const asks = (ms: number) =>
        scheduler.pass(ms).loads.filter(({ type }) => type === 'overdue');
      expect(asks(MINUTE / 2)).to.have.length(1);
      const answer = { type: 'overdueLoaded', tasks: [] } as const;
      scheduler.send({ ...answer, next: { time: 1, seq: 1 } });
      expect(asks(MINUTE / 4), 'the next page is asked for already').to.deep.equal([]);
      scheduler.send({ ...answer, next: null });
      expect(asks(6 * SECOND), 'one is still stored').to.have.length(1);
      scheduler.command({ type: 'cancelRequested', taskId: 'a' });
      const { state } = scheduler;
      for (const lane of state.lanes.values()) {
        lane.waitingCount = lane.ready.size;
        if (lane.waitingCount === 0) state.emptyLanes.add(lane);
      }
      state.waitingCount = state.windowCount;
      scheduler.send({ ...answer, next: null });
      expect(asks(HOUR)).to.deep.equal([]);
    });

    it('of rows is looked for again at once while there are more', () => {
      const scheduler = new Scheduler({ laneWindowCount: 1 });
      const stored = inserted(scheduler.submit({ id: 'a' }, { id: 'b', deadlineAt })).slice(1);
      scheduler.now = deadlineAt;
      const out = scheduler.send({
        type: 'overdueLoaded',
        tasks: stored,
        next: { time: 0, seq: 0 },
      });
      expect(out.loads).to.deep.equal([{ type: 'overdue' }]);
      const swept = { event: 'overdue_swept', foundCount: 1, doneCount: 1 };
      expect(out.observed).to.deep.include(swept);
    });

    it('that is found in the rows of tasks in memory ends these', () => {
      const scheduler = new Scheduler();
      const stored = inserted(scheduler.submit({ id: 'a', deadlineAt })).map((row) => ({ ...row }));
      scheduler.now = deadlineAt;
      const out = scheduler.send({ type: 'overdueLoaded', tasks: stored, next: null });
      expect(finished(out)[0]).to.include({ id: 'a', state: 'expired' });
      expect(scheduler.state.waitingCount).to.equal(0);
    });

    it('ends the overdue rows that the store finds', () => {
      const scheduler = new Scheduler({ laneWindowCount: 1 });
      const stored = inserted(scheduler.submit({ id: 'a' }, { id: 'b', deadlineAt })).slice(1);
      scheduler.now = deadlineAt;
      const loaded = scheduler.send({ type: 'overdueLoaded', tasks: stored, next: null });
      expect(finished(loaded)[0]).to.include({ id: 'b', state: 'expired' });
      expect(scheduler.state.waitingCount).to.equal(1);
    });
  });

  it('keeps one timer for the deadline of a task, however often it is tried or changed', () => {
    const deadlineAt = scheduler.now + 30 * 24 * HOUR;
    scheduler.submit({ id: 'a', deadlineAt, retry: { maxAttempts: 0, interval: -1 } });
    for (let i = 0; i < 5_000; i++) {
      scheduler.accept('x');
      scheduler.fail('x');
      scheduler.pass(1_200);
    }
    expect(scheduler.task('a').attempt).to.equal(5_001);
    // Of this executor and this attempt, and what may be left until it is worth looking.
    expect(scheduler.state.deadlines.size).to.be.lessThan(4_200);
    scheduler.submit({ id: 'b', deadlineAt, runAt: scheduler.now + HOUR });
    const before = scheduler.state.deadlines.size;
    for (let i = 0; i < 10_000; i++) {
      scheduler.command(changing('b', { priority: i % 7 }));
    }
    expect(scheduler.state.deadlines.size).to.equal(before);
  });

  it('keeps no timer of attempts that ended', () => {
    const submitted = 3_000;
    for (let i = 0; i < submitted; i++) {
      scheduler.run('x', { id: `t${i}`, executionTimeoutMs: HOUR, stallTimeoutMs: HOUR });
      scheduler.end('x');
    }
    scheduler.pass(SECOND);
    expect(scheduler.state.deadlines.size).to.be.lessThan(4_200);
    expect(offers(scheduler.submit({ id: 'next' }))).to.deep.equal(['next -> x']);
    expect(ended(scheduler.pass(SECOND))).to.deep.equal([]);
  });
});
