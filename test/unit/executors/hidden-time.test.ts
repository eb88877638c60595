/** Time that the master could not see counts against nobody; time that it could see does. */
import { expect } from 'chai';
import { TURN_EVENT_COUNT_MAX } from '../../../master/domain/bounds.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import { restore } from '../../../master/domain/state/restore.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import {
  BEGIN,
  HOUR,
  MINUTE,
  outcomes,
  Scheduler,
  SECOND,
  stops,
  written,
} from '../../helpers/domain.ts';
import { createEngine } from '../../helpers/engine.ts';
import { settled } from '../../helpers/manual-clock.ts';
import { hello, newTask, noRows, testPolicy } from '../../helpers/task.ts';

const running = [{ taskId: 'a', attempt: 1, state: 'running' as const }];

/** A task that has run for 20 s, and the master after that, so long away. */
function after(
  absentMs: number,
  fields: Partial<Task>,
  aliveAt: number | null = BEGIN + 20 * SECOND,
) {
  const before = new Scheduler();
  before.connect('x');
  before.run('x', fields);
  before.pass(20 * SECOND);
  const scheduler = new Scheduler();
  scheduler.now = BEGIN + 20 * SECOND + absentMs;
  const { state, output } = restore({
    policy: testPolicy,
    settings: NO_SETTINGS,
    term: 2,
    lastSeq: 1,
    now: scheduler.now,
    seed: 1,
    aliveAt,
    pauseOfAll: null,
    active: [{ ...before.task('a') }],
    lanes: [],
    gates: [],
    whole: noRows,
  });
  scheduler.state = state;
  scheduler.connect('x', { sessionId: 'x/2', running });
  return { scheduler, output };
}

describe('the absence of the master', () => {
  it('is no stall, and no part of the execution timeout', () => {
    for (const field of ['stallTimeoutMs', 'executionTimeoutMs'] as const) {
      const { scheduler } = after(10 * MINUTE, { [field]: 30 * SECOND });
      expect(stops(scheduler.pass(10 * SECOND - 1)), field).to.deep.equal([]);
      expect(stops(scheduler.pass(1)), field).to.have.length(1);
    }
  });

  it('is spared once, by the commit that begins the term', () => {
    const { scheduler, output } = after(10 * MINUTE, { stallTimeoutMs: 30 * SECOND });
    expect(written(output)).to.deep.equal(['set task']);
    expect(scheduler.task('a')).to.include({ hiddenMs: 10 * MINUTE, stallHiddenMs: 10 * MINUTE });
    scheduler.progress('x', { percent: 5 });
    expect(scheduler.task('a')).to.include({ hiddenMs: 10 * MINUTE, stallHiddenMs: 0 });
  });

  it('of unknown length, in a store of 2.0.0, begins both anew', () => {
    const { scheduler } = after(MINUTE, { stallTimeoutMs: 30 * SECOND }, null);
    expect(stops(scheduler.pass(30 * SECOND - 1))).to.deep.equal([]);
    expect(stops(scheduler.pass(1))).to.have.length(1);
  });

  it('is taken back where the executor knows how long its handler ran, and never added to', () => {
    const { scheduler } = after(10 * MINUTE, { executionTimeoutMs: 30 * MINUTE });
    const ran = (ranMs: number) =>
      scheduler.connect('x', { sessionId: 'x/3', running: [{ ...running[0]!, ranMs }] });
    ran(0);
    expect(scheduler.task('a').hiddenMs, 'more than it was away').to.equal(10 * MINUTE);
    ran(9 * MINUTE);
    expect(scheduler.task('a').hiddenMs).to.equal(80 * SECOND);
    expect(stops(scheduler.pass(21 * MINUTE - 1))).to.deep.equal([]);
    expect(stops(scheduler.pass(1))).to.have.length(1);
  });
});

describe('a clock that was set back', () => {
  it('gives what runs no more time, and takes none from it', () => {
    for (const field of ['stallTimeoutMs', 'executionTimeoutMs'] as const) {
      const { scheduler, output } = after(-HOUR, { [field]: 30 * SECOND });
      expect(written(output), field).to.deep.equal(['set task']);
      expect(stops(scheduler.pass(10 * SECOND - 1)), field).to.deep.equal([]);
      expect(stops(scheduler.pass(1)), field).to.have.length(1);
    }
  });

  it('gives it one whole time more at most where a master was killed as it began with that clock', () => {
    for (const field of ['stallTimeoutMs', 'executionTimeoutMs'] as const) {
      const aliveAt = BEGIN + 20 * SECOND - HOUR;
      const { scheduler } = after(-HOUR, { [field]: 30 * SECOND }, aliveAt);
      expect(stops(scheduler.pass(30 * SECOND - 1)), field).to.deep.equal([]);
      expect(stops(scheduler.pass(1)), field).to.have.length(1);
    }
  });
});

describe('a time in which the process stood still', () => {
  const hiddenMs = 10 * MINUTE;
  it('moves every deadline of an attempt', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.run('x', { executionTimeoutMs: MINUTE });
    scheduler.silence('x');
    scheduler.pass(5 * SECOND);
    scheduler.now += hiddenMs;
    scheduler.send({ type: 'ticked', hiddenMs });
    const rest = testPolicy.leaseMs - 5 * SECOND;
    const out = scheduler.pass(rest - 1);
    expect([...stops(out), ...outcomes(out)]).to.deep.equal([]);
    expect(outcomes(scheduler.pass(1))).to.deep.equal(['lost']);
  });
});

describe('an attempt that nobody answered while the process stood still', () => {
  /** It goes on elsewhere: no budget has been used up. */
  function expectUncounted(lose: (scheduler: Scheduler) => unknown, hiddenMs: number): void {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.run('x', {});
    scheduler.pass(5 * SECOND);
    scheduler.now += hiddenMs;
    scheduler.send({ type: 'ticked', hiddenMs });
    lose(scheduler);
    const isCounted = hiddenMs < testPolicy.leaseMs / 2;
    const { crashCount, contactCount } = scheduler.task('a');
    expect(crashCount + contactCount, `${hiddenMs} ms`).to.equal(isCounted ? 1 : 0);
  }

  it('is lost at the cost of nobody, unless that was short', () => {
    for (const hiddenMs of [10 * MINUTE, testPolicy.leaseMs / 2, 2 * SECOND]) {
      expectUncounted((scheduler) => scheduler.connect('x', { sessionId: 'x/2' }), hiddenMs);
      expectUncounted((scheduler) => {
        scheduler.silence('x');
        scheduler.pass(testPolicy.leaseMs);
        scheduler.connect('x', { sessionId: 'x/2' });
      }, hiddenMs);
    }
  });

  it('counts again once it was heard of', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.run('x', {});
    scheduler.send({ type: 'ticked', hiddenMs: HOUR });
    scheduler.beat('x', running);
    scheduler.connect('x', { sessionId: 'x/2' });
    expect(scheduler.task('a').contactCount).to.equal(1);
  });
});

describe('a slow commit', () => {
  it('loses nobody whose heartbeats have arrived behind more than a turn can step', async () => {
    const { engine, store, clock, master } = createEngine({ leaseMs: 6_000 });
    const { ended } = await engine.start();
    engine.post({ type: 'executorConnected', ...hello({ leaseMs: 6_000 }) });
    await settled();
    store.held.add('commit');
    master.submit([newTask({ id: 't', type: 'other' })]).catch(() => undefined);
    await settled();
    for (let i = 0; i < 3 * TURN_EVENT_COUNT_MAX; i++) {
      const of = { executorId: 'gone', sessionId: `gone/${i}` };
      engine.post({ type: 'executorDisconnected', ...of, left: false });
    }
    clock.advance(7_000);
    const beat = { executorId: 'x', sessionId: 'x/1', draining: false, running: [] };
    engine.post({ type: 'heartbeatReceived', ...beat, loopLagMs: 1, rssBytes: 1 });
    store.release();
    await settled();
    expect(engine.state?.executors.has('x'), 'its heartbeat had come').to.equal(true);
    await engine.stop();
    await ended;
  });

  it('loses nobody whose heartbeats have arrived, and holds up no deadline', async () => {
    const { engine, store, clock, master } = createEngine({ leaseMs: 6_000 });
    const { ended } = await engine.start();
    const x = hello({ leaseMs: 6_000 });
    engine.post({ type: 'executorConnected', ...x });
    await settled();
    for (let i = 0; i < 6; i++) {
      store.held.add('commit');
      const id = `t${i}`;
      void master.cancel(id).catch(() => undefined);
      const answer = master.submit([
        newTask({ id, type: 'other', deadlineAt: i === 0 ? clock.now() + 5_000 : null }),
      ]);
      answer.catch(() => undefined);
      await settled();
      // The loop goes on while the disk does not.
      for (let beat = 0; beat < 5; beat++) {
        clock.advance(1_000);
        const beatEvent = { executorId: 'x', sessionId: 'x/1', draining: false, running: [] };
        engine.post({ type: 'heartbeatReceived', ...beatEvent, loopLagMs: 1, rssBytes: 1 });
      }
      store.release();
      await settled();
    }
    expect(engine.state?.executors.has('x'), 'it was heard of every second').to.equal(true);
    expect(engine.state?.tasks.has('t0'), 'its deadline has passed').to.equal(false);
    await engine.stop();
    await ended;
  });
});
