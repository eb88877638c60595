/** Tasks that nobody starts in time: those that fail, and those that are told of. */
import { expect } from 'chai';
import { WATCH_COUNT_MAX } from '../../../master/domain/bounds.ts';
import { nextWakeAt } from '../../../master/domain/state/state.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import {
  BEGIN,
  finished,
  HOUR,
  inserted,
  MINUTE,
  observed,
  offers,
  outcomes,
  Scheduler,
  SECOND,
  written,
} from '../../helpers/domain.ts';
import { changing, sampleTask } from '../../helpers/task.ts';

const reasons = (tasks: readonly Task[]) =>
  tasks.map(({ id, state, failureReason }) => `${id} ${state} ${failureReason}`);

describe('a task with a start timeout', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
  });

  it('fails where nobody has started it in time, and not before', () => {
    scheduler.submit({ startTimeoutMs: MINUTE });
    expect(finished(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
    expect(reasons(finished(scheduler.pass(1)))).to.deep.equal(['a failed not_started']);
    expect(scheduler.state.waitingCount).to.equal(0);
  });

  it('has all that time from when it is due', () => {
    scheduler.submit({ startTimeoutMs: MINUTE, runAt: BEGIN + HOUR });
    expect(finished(scheduler.pass(HOUR + MINUTE - 1))).to.deep.equal([]);
    expect(finished(scheduler.pass(1))).to.have.length(1);
  });

  it('has it anew when it is put off', () => {
    scheduler.submit({ startTimeoutMs: MINUTE });
    scheduler.pass(30 * SECOND);
    const runAt = scheduler.now + HOUR;
    scheduler.command(changing('a', { runAt }));
    expect(finished(scheduler.pass(HOUR + MINUTE - 1))).to.deep.equal([]);
    expect(finished(scheduler.pass(1))).to.have.length(1);
  });

  it('has the one of the master where it has none, for good', () => {
    scheduler = new Scheduler({ startTimeoutMs: MINUTE });
    const tasks = inserted(scheduler.submit({ id: 'a' }, { id: 'b', startTimeoutMs: HOUR }));
    expect(tasks.map((task) => task.startTimeoutMs)).to.deep.equal([MINUTE, HOUR]);
    expect(tasks.map((task) => task.startTimeoutAction)).to.deep.equal(['fail', 'fail']);
  });

  it('is not touched once it has been accepted', () => {
    scheduler.connect('x');
    scheduler.run('x', { startTimeoutMs: MINUTE });
    expect(finished(scheduler.pass(HOUR))).to.deep.equal([]);
  });

  it('has no more of it for offers that came to nothing', () => {
    scheduler.connect('x');
    scheduler.submit({ startTimeoutMs: MINUTE });
    scheduler.pass(50 * SECOND);
    scheduler.connect('y');
    if (scheduler.task('a').state === 'offered')
      scheduler.reject(scheduler.task('a').executorId ?? '');
    scheduler.disconnect('x', true);
    scheduler.disconnect('y', true);
    expect(reasons(finished(scheduler.pass(10 * SECOND)))).to.deep.equal(['a failed not_started']);
  });

  it('on offer as the time runs out may still be accepted; otherwise it fails then', () => {
    for (const isAccepted of [true, false]) {
      scheduler = new Scheduler();
      scheduler.submit({ startTimeoutMs: MINUTE, assignTimeoutMs: 10 * SECOND });
      scheduler.pass(MINUTE - SECOND);
      scheduler.connect('x');
      expect(finished(scheduler.pass(2 * SECOND))).to.deep.equal([]);
      const out = isAccepted ? scheduler.accept('x') : scheduler.reject('x');
      expect(reasons(finished(out))).to.deep.equal(isAccepted ? [] : ['a failed not_started']);
      expect(outcomes(out)).to.deep.equal(isAccepted ? [] : ['rejected']);
    }
  });

  it('has it again after an attempt that had started', () => {
    scheduler.connect('x');
    scheduler.run('x', { startTimeoutMs: MINUTE, retry: { maxAttempts: 0, interval: -600 } });
    scheduler.pass(HOUR);
    scheduler.fail('x');
    const { dueAt } = scheduler.task('a');
    scheduler.disconnect('x', true);
    expect(finished(scheduler.pass(dueAt + MINUTE - 1 - scheduler.now))).to.deep.equal([]);
    expect(reasons(finished(scheduler.pass(1)))).to.deep.equal(['a failed not_started']);
  });

  it('has it again after the executor was lost', () => {
    scheduler.connect('x');
    scheduler.run('x', { startTimeoutMs: MINUTE });
    scheduler.pass(HOUR);
    scheduler.disconnect('x', true);
    expect(finished(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
    expect(finished(scheduler.pass(1))).to.have.length(1);
  });

  it('expires where the deadline is no later', () => {
    scheduler.submit({ startTimeoutMs: MINUTE, deadlineAt: BEGIN + MINUTE });
    expect(reasons(finished(scheduler.pass(MINUTE)))).to.deep.equal(['a expired deadline']);
  });

  it('gives its place to the next of its lane, and is not offered any more', () => {
    scheduler.submit({ id: 'a', startTimeoutMs: MINUTE }, { id: 'b' });
    scheduler.now += MINUTE;
    // Before the tick that would end it.
    const out = scheduler.connect('x');
    expect(reasons(finished(out))).to.deep.equal(['a failed not_started']);
    expect(offers(out)).to.deep.equal(['b -> x']);
  });

  it('fails also while it is in the store only', () => {
    const stored = sampleTask({ startTimeoutMs: MINUTE, startBy: BEGIN, dueAt: BEGIN - MINUTE });
    const { lane } = stored;
    const lanes = [{ lane, count: 1, heldCount: 0, suspendedCount: 0, dueAt: null }];
    ({ scheduler } = Scheduler.restored({ lanes }));
    const { loads } = scheduler.pass(SECOND);
    expect(loads.map((load) => load.type)).to.include('overdue');
    const out = scheduler.send({ type: 'overdueLoaded', tasks: [stored], next: null });
    expect(reasons(finished(out))).to.deep.equal(['a failed not_started']);
  });

  it('that is only to be told of is told of once each time, and goes on', () => {
    scheduler.submit({ startTimeoutMs: MINUTE, startTimeoutAction: 'alert' });
    const told = scheduler.pass(MINUTE);
    expect(observed(told)).to.deep.equal(['start_overdue']);
    expect(written(told), 'the row remembers it').to.deep.equal(['set task']);
    expect(observed(scheduler.pass(HOUR))).to.deep.equal([]);
    scheduler.connect('x');
    scheduler.accept('x');
    scheduler.disconnect('x', true);
    expect(observed(scheduler.pass(MINUTE))).to.deep.equal(['start_overdue']);
  });

  it('is told of also when it starts late, before the tick that would tell', () => {
    scheduler.submit({ startTimeoutMs: MINUTE, startTimeoutAction: 'alert' });
    scheduler.now += MINUTE;
    scheduler.connect('x');
    expect(observed(scheduler.accept('x'))).to.include('start_overdue');
  });

  it('is not charged for the time that the master stood still', () => {
    scheduler.submit({ startTimeoutMs: MINUTE });
    scheduler.pass(30 * SECOND);
    scheduler.now += HOUR;
    const out = scheduler.send({ type: 'stoodStill', hiddenMs: HOUR });
    expect(out.changes).to.deep.equal([
      { op: 'credit', absence: { from: BEGIN + 30 * SECOND, until: scheduler.now } },
    ]);
    expect(finished(scheduler.pass(30 * SECOND - 1))).to.deep.equal([]);
    expect(finished(scheduler.pass(1))).to.have.length(1);
  });

  it('has its timer set anew some ticks later, where many have moved, and fails then', () => {
    const count = 2 * WATCH_COUNT_MAX + 1;
    const ids = Array.from({ length: count }, (_, index) => ({ id: `t${index}` }));
    scheduler.submit(...ids.map((one) => ({ ...one, startTimeoutMs: MINUTE })));
    scheduler.now += HOUR;
    const { deadlines } = scheduler.state;
    const sizes = [deadlines.size];
    scheduler.send({ type: 'stoodStill', hiddenMs: HOUR });
    sizes.push(deadlines.size);
    while (nextWakeAt(scheduler.state) <= scheduler.now) {
      // Judges nothing: the old timers stay.
      scheduler.send({ type: 'ticked', isBehind: true });
      sizes.push(deadlines.size);
      if (sizes.length > 9) break;
    }
    const added = sizes.slice(1).map((size, index) => size - (sizes[index] ?? 0));
    expect(added[0], 'by the step that moves them').to.equal(0);
    expect(Math.max(...added)).to.be.at.most(WATCH_COUNT_MAX);
    let failedCount = finished(scheduler.pass(MINUTE - 1)).length;
    expect(failedCount).to.equal(0);
    for (let turn = 0; turn < 9; turn++) failedCount += finished(scheduler.pass(1)).length;
    expect(failedCount).to.equal(count);
  });

  it('is not charged for the time without a master: the rows move with the first commit', () => {
    const aliveAt = BEGIN - HOUR;
    const lanes = [{ lane: 2, count: 1, heldCount: 0, suspendedCount: 0, dueAt: null }];
    const { scheduler: after, output } = Scheduler.restored({ aliveAt, lanes });
    expect(output.changes).to.deep.equal([
      { op: 'credit', absence: { from: aliveAt, until: after.now } },
    ]);
    const { output: soon } = Scheduler.restored({ aliveAt: BEGIN - SECOND, lanes });
    expect(soon.changes, 'a moment').to.deep.equal([]);
    const { output: idle } = Scheduler.restored({ aliveAt });
    expect(idle.changes, 'nothing waits').to.deep.equal([]);
  });
});
