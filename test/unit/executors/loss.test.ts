/** Which losses a task is given up for: those its executors died of, and no others. */
import { expect } from 'chai';
import { heldBytes } from '../../../master/domain/state/held-bytes.ts';
import type { Output } from '../../../master/domain/effects.ts';
import {
  ended,
  finished,
  HOUR,
  offers,
  outcomes,
  Scheduler,
  SECOND,
} from '../../helpers/domain.ts';

const LEASE_MS = 15 * SECOND;

describe('an executor that falls silent under a task', () => {
  let scheduler: Scheduler;
  let processCount: number;
  beforeEach(() => {
    scheduler = new Scheduler({ leaseMs: LEASE_MS });
    processCount = 0;
  });

  /** Another process each time, under an id of its own. */
  function join(fields: object = {}): string {
    const id = `x${++processCount}`;
    scheduler.connect(id, { leaseMs: LEASE_MS, bootId: 'b', ...fields });
    return id;
  }
  /** Takes the task and dies, as it seems. */
  function dies(): { id: string; out: Output } {
    const id = join();
    scheduler.accept(id);
    scheduler.silence(id);
    return { id, out: scheduler.pass(LEASE_MS) };
  }
  const decided = (out: Output) =>
    out.changes.flatMap((change) =>
      change.op === 'set' && change.table === 'attempt' ? [change.row.outcome] : [],
    );

  it('loses it at once, and only two leases later for good', () => {
    scheduler.submit({});
    const { out } = dies();
    expect(outcomes(out)).to.deep.equal(['lost']);
    expect(scheduler.task('a')).to.include({ state: 'waiting', crashCount: 0 });
    scheduler.pass(2 * LEASE_MS - 1);
    expect(scheduler.task('a').crashCount).to.equal(0);
    scheduler.pass(1);
    expect(scheduler.task('a').crashCount).to.equal(1);
  });

  it('did not die of it when the same process comes back', () => {
    scheduler.submit({});
    const { id } = dies();
    scheduler.pass(SECOND);
    const out = scheduler.connect(id, { sessionId: `${id}/2`, leaseMs: LEASE_MS });
    expect(decided(out)).to.deep.equal(['lost_contact']);
    scheduler.pass(HOUR);
    expect(scheduler.task('a')).to.include({ crashCount: 0, contactCount: 1 });
  });

  it('did not die of it when its successor says that it was ended for want of a lease', () => {
    scheduler.submit({});
    const { id } = dies();
    const fenced = [{ taskId: 'a', attempt: 1 }];
    const next = { incarnation: 'two', sessionId: `${id}/2`, leaseMs: LEASE_MS, fenced };
    expect(decided(scheduler.connect(id, next))).to.deep.equal(['lost_contact']);
  });

  it('three times ends the task, and a fourth executor is never given it', () => {
    scheduler.submit({ retry: { maxAttempts: 0, interval: -1 } });
    dies();
    dies();
    dies();
    const fourth = join();
    expect(scheduler.task('a').state, 'undecided').to.equal('waiting');
    const out = scheduler.pass(2 * LEASE_MS);
    expect(offers(out)).to.deep.equal([]);
    expect(finished(out)[0]).to.include({ state: 'failed', failureReason: 'crash_budget' });
    expect(scheduler.executor(fourth).occupation).to.equal(null);
  });

  it('three times, seen dead by its successor, ends the task at once', () => {
    scheduler.submit({});
    const died: string[] = [];
    let last = scheduler.connect('x', { incarnation: 'i0', bootId: 'b', leaseMs: LEASE_MS });
    for (let i = 1; i <= 3; i++) {
      scheduler.accept('x');
      died.splice(0, 9, `i${i - 1}`);
      const next = { incarnation: `i${i}`, sessionId: `x/${i + 1}`, bootId: 'b', died };
      last = scheduler.connect('x', { ...next, leaseMs: LEASE_MS });
    }
    expect(finished(last)[0]).to.include({ failureReason: 'crash_budget', crashCount: 3 });
  });

  it('ten times, and alive each time, ends it too: somebody has to look', () => {
    scheduler.submit({});
    join();
    let out: Output | null = null;
    for (let i = 0; i < 10; i++) {
      scheduler.accept('x1');
      out = scheduler.connect('x1', { sessionId: `x1/${i + 2}`, leaseMs: LEASE_MS });
    }
    expect(out && finished(out)[0]).to.include({ failureReason: 'crash_budget', contactCount: 10 });
  });

  it('costs nothing once the task has got further', () => {
    scheduler.submit({});
    dies();
    const id = join();
    scheduler.accept(id);
    scheduler.progress(id, { checkpoint: '{"segment":1}' });
    scheduler.pass(3 * LEASE_MS);
    expect(scheduler.task('a').crashCount).to.equal(0);
  });

  it('is read from the store for the decision where the task is not in memory', () => {
    scheduler = new Scheduler({ leaseMs: LEASE_MS, crashBudget: 2 });
    scheduler.submit({});
    dies();
    dies();
    const task = scheduler.task('a');
    scheduler.pass(2 * LEASE_MS - SECOND);
    // As if its window had had no room for it.
    scheduler.state.tasks.delete('a');
    scheduler.state.delayed.remove(task);
    scheduler.state.windowCount--;
    scheduler.state.windowBytes -= heldBytes(task);
    const row = { ...task };
    const { loads } = scheduler.pass(SECOND);
    const [load] = loads.filter(({ type }) => type === 'task');
    if (load?.type !== 'task' || load.event.type !== 'lossDecided') throw new Error('no load');
    const out = scheduler.send({ ...load.event, task: row });
    expect(finished(out)[0]).to.include({ id: 'a', failureReason: 'crash_budget' });
  });
});

describe('three outages of the master', () => {
  it('under one healthy task do not end it', () => {
    let scheduler = new Scheduler({ leaseMs: LEASE_MS });
    scheduler.connect('x', { leaseMs: LEASE_MS });
    scheduler.run('x', { retry: { maxAttempts: 0, interval: 600 } });
    for (let outage = 0; outage < 12; outage++) {
      const active = [{ ...scheduler.task('a') }];
      scheduler = Scheduler.restored({ active }, { leaseMs: LEASE_MS }).scheduler;
      // It has ended its attempt for want of a lease, and says truthfully that it runs nothing.
      const out = scheduler.connect('x', { sessionId: `x/${outage}`, leaseMs: LEASE_MS });
      expect(ended(out)[0]?.outcome).to.equal('lost_contact');
      expect(offers(out)).to.deep.equal(['a -> x']);
      scheduler.accept('x');
    }
    expect(scheduler.task('a')).to.include({ state: 'running', crashCount: 0, contactCount: 0 });
  });

  it('that nobody comes back after cost nothing either', () => {
    const before = new Scheduler({ leaseMs: LEASE_MS });
    before.connect('x', { leaseMs: LEASE_MS });
    before.run('x');
    const active = [{ ...before.task('a') }];
    const { scheduler } = Scheduler.restored({ active }, { leaseMs: LEASE_MS });
    expect(outcomes(scheduler.pass(LEASE_MS))).to.deep.equal(['lost']);
    scheduler.pass(3 * LEASE_MS);
    expect(scheduler.task('a').crashCount).to.equal(0);
  });
});
