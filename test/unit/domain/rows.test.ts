/** What is written when, and how the state is built again from rows. */
import { expect } from 'chai';
import { stateOf } from '../../../master/domain/model/executor.ts';
import { isBefore } from '../../../master/domain/queue/window.ts';
import { nextWakeAt } from '../../../master/domain/state/state.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import {
  BEGIN,
  finished,
  MINUTE,
  offers,
  outcomes,
  Scheduler,
  SECOND,
  stops,
  written,
} from '../../helpers/domain.ts';

describe('lazy writes', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.submit({});
  });

  it('write that a task runs within a second, not at once', () => {
    expect(written(scheduler.accept('x'))).to.deep.equal([]);
    expect(nextWakeAt(scheduler.state)).to.equal(BEGIN + SECOND);
    expect(written(scheduler.pass(SECOND - 1))).to.deep.equal([]);
    expect(written(scheduler.pass(1))).to.deep.equal(['set task']);
    expect(written(scheduler.pass(MINUTE)), 'once').to.deep.equal([]);
  });

  it('write many reports of progress as one', () => {
    scheduler.accept('x');
    scheduler.pass(SECOND);
    for (let percent = 1; percent <= 50; percent++) {
      expect(written(scheduler.progress('x', { percent, state: `${percent}` }))).to.deep.equal([]);
    }
    expect(scheduler.task('a')).to.include({ progressPercent: 50, progressState: '50' });
    expect(written(scheduler.pass(SECOND))).to.deep.equal(['set task']);
  });

  it('do not wait for a new checkpoint, and write the same one only once', () => {
    scheduler.accept('x');
    expect(written(scheduler.progress('x', { checkpoint: '1' }))).to.deep.equal([
      'set task, large',
    ]);
    expect(written(scheduler.progress('x', { checkpoint: '1' }))).to.deep.equal([]);
    expect(written(scheduler.progress('x', { checkpoint: '2' }))).to.deep.equal([
      'set task, large',
    ]);
  });

  it('are part of the end of the task, and nothing is written after it', () => {
    scheduler.accept('x');
    scheduler.progress('x', { percent: 30, state: '"s"' });
    const out = scheduler.end('x');
    expect(written(out)).to.deep.equal(['remove task', 'insert history']);
    expect(finished(out)[0]).to.include({ startedAt: BEGIN, progressState: '"s"' });
    expect(written(scheduler.pass(MINUTE))).to.deep.equal([]);
  });

  it('are part of the row of a task that goes back to wait', () => {
    scheduler.accept('x');
    scheduler.progress('x', { percent: 30, state: '"s"' });
    expect(written(scheduler.fail('x'))).to.deep.equal(['insert attempt', 'set task']);
    expect(scheduler.task('a').progressState).to.equal('"s"');
    expect(written(scheduler.pass(SECOND)), 'nothing but the next offer').to.deep.equal([]);
  });

  it('keep the clock of the first: a stream of reports does not put the write off', () => {
    scheduler.accept('x');
    const rows: string[] = [];
    for (let i = 0; i < 10; i++) {
      scheduler.progress('x', { percent: i });
      rows.push(...written(scheduler.pass(SECOND / 4)));
    }
    expect(rows).to.have.length(2);
  });
});

describe('restore', () => {
  const copyOf = (scheduler: Scheduler, id = 'a'): Task => ({ ...scheduler.task(id) });
  const lane = { lane: 2, count: 2, heldCount: 0, suspendedCount: 0, dueAt: null };

  /** The row of a task that runs on x since the beginning. */
  function runningRow(fields: Parameters<Scheduler['run']>[1] = {}): Task {
    const before = new Scheduler();
    before.connect('x');
    before.run('x', fields);
    return copyOf(before);
  }

  function offeredRow(): Task {
    const before = new Scheduler();
    before.connect('x');
    before.submit({});
    return copyOf(before);
  }

  it('keeps running tasks on their executors for one lease', () => {
    const { scheduler, output } = Scheduler.restored({ active: [runningRow()] });
    expect(output.changes).to.deep.equal([]);
    expect(stateOf(scheduler.executor('x'))).to.equal('connecting');
    scheduler.connect('y');
    expect(outcomes(scheduler.pass(15 * SECOND - 1))).to.deep.equal([]);
    const out = scheduler.pass(1);
    expect(outcomes(out)).to.deep.equal(['lost']);
    expect(offers(out)).to.deep.equal(['a -> y']);
  });

  it('adopts what an executor that comes back in time says it runs', () => {
    const { scheduler } = Scheduler.restored({ active: [runningRow()] });
    scheduler.pass(14 * SECOND);
    scheduler.connect('x', { running: [{ taskId: 'a', attempt: 1, state: 'running' }] });
    expect(outcomes(scheduler.pass(MINUTE))).to.deep.equal([]);
    expect(finished(scheduler.end('x'))[0]).to.include({ state: 'succeeded', attempt: 1 });
  });

  it('takes back at once an offer that never arrived, and at no cost', () => {
    const { scheduler } = Scheduler.restored({ active: [offeredRow()] });
    const out = scheduler.connect('x');
    expect(outcomes(out)).to.deep.equal(['returned']);
    expect(offers(out)).to.deep.equal(['a -> x']);
  });

  it('adopts an offer that was accepted while the master was away', () => {
    const { scheduler } = Scheduler.restored({ active: [offeredRow()] });
    scheduler.connect('x', { running: [{ taskId: 'a', attempt: 1, state: 'running' }] });
    expect(scheduler.task('a')).to.include({ state: 'running', attempt: 1 });
  });

  it('takes an offer back with the lease when its executor stays away', () => {
    const { scheduler } = Scheduler.restored({ active: [offeredRow()] });
    expect(outcomes(scheduler.pass(15 * SECOND))).to.deep.equal(['assign_timeout']);
    expect(scheduler.task('a')).to.include({ state: 'waiting', crashCount: 0 });
  });

  it('keeps execution timeouts: their time went on', () => {
    const row = runningRow({ executionTimeoutMs: MINUTE });
    const { scheduler } = Scheduler.restored({ active: [{ ...row, startedAt: BEGIN - MINUTE }] });
    scheduler.connect('x', { running: [{ taskId: 'a', attempt: 1, state: 'running' }] });
    expect(stops(scheduler.pass(1))).to.deep.equal(['a#1 execution_timeout -> x']);
  });

  it('keeps deadlines', () => {
    const { scheduler } = Scheduler.restored({
      active: [runningRow({ deadlineAt: BEGIN + 5 * SECOND })],
    });
    scheduler.connect('x', { running: [{ taskId: 'a', attempt: 1, state: 'running' }] });
    expect(stops(scheduler.pass(5 * SECOND))).to.deep.equal(['a#1 deadline -> x']);
  });

  it('keeps a wish to cancel: it is said again, or the lease decides', () => {
    const row = runningRow();
    const wished = { cancelReason: 'canceled', cancelRequestedAt: BEGIN } as const;
    const told = Scheduler.restored({ active: [{ ...row, ...wished }] }).scheduler;
    const out = told.connect('x', { running: [{ taskId: 'a', attempt: 1, state: 'running' }] });
    expect(stops(out)).to.deep.equal(['a#1 canceled -> x']);
    const gone = Scheduler.restored({ active: [{ ...row, ...wished }] }).scheduler;
    expect(finished(gone.pass(15 * SECOND))[0]).to.include({ state: 'canceled' });
  });

  it('waits for the whole lease of an executor that cannot hear of a new wish to cancel', () => {
    const { scheduler } = Scheduler.restored({ active: [runningRow()] });
    scheduler.command({ type: 'cancelRequested', taskId: 'a' });
    expect(finished(scheduler.pass(15 * SECOND - 1))).to.deep.equal([]);
    expect(finished(scheduler.pass(1))[0]).to.include({ state: 'canceled' });
  });

  it('asks for what is due later, and for callbacks, once', () => {
    const { scheduler } = Scheduler.restored({ lanes: [lane] });
    const again = scheduler.pass(4 * SECOND).loads.map(({ type }) => type);
    expect(again).to.not.include('delayed').and.not.include('notifications');
  });

  it('leaves what is due already to the lanes, and takes what is due a moment later', () => {
    const before = new Scheduler();
    before.submit({ id: 'due', runAt: BEGIN }, { id: 'soon', runAt: BEGIN + 1 });
    const rows = ['due', 'soon'].map((id) => copyOf(before, id));
    const { scheduler } = Scheduler.restored({ lanes: [lane] });
    const { cursor } = scheduler.state.delayed;
    const beyond = rows.filter(({ dueAt, seq }) => {
      return cursor !== null && isBefore(cursor, { time: dueAt, seq });
    });
    expect(beyond.map(({ id }) => id)).to.deep.equal(['soon']);
    scheduler.send({ type: 'delayedLoaded', tasks: beyond, complete: true });
    expect([...scheduler.state.tasks.keys()]).to.deep.equal(['soon']);
  });

  it('begins with empty windows and knows how much waits', () => {
    const { scheduler, output } = Scheduler.restored({ lanes: [lane] });
    expect(scheduler.state).to.include({ waitingCount: 2, windowCount: 0, lastSeq: 1000 });
    expect(output.loads.map(({ type }) => type)).to.deep.equal(['delayed', 'notifications']);
    const out = scheduler.connect('x');
    expect(out.loads).to.deep.equal([{ type: 'lane', lane: 2 }]);
  });

  it('lets no newcomer overtake the rows that were not read yet', () => {
    const before = new Scheduler();
    before.submit({ id: 'old' });
    const old = copyOf(before, 'old');
    const { scheduler } = Scheduler.restored({ lanes: [{ ...lane, count: 1 }] });
    scheduler.now += 1;
    scheduler.connect('x');
    expect(offers(scheduler.submit({ id: 'new' }))).to.deep.equal([]);
    const page = {
      type: 'lanesLoaded',
      pages: [{ lane: 2, tasks: [old], complete: true }],
    } as const;
    expect(offers(scheduler.send(page))).to.deep.equal(['old -> x']);
  });

  it('tells executors nothing that was not there before: the sequence goes on', () => {
    const { scheduler } = Scheduler.restored({});
    scheduler.submit({});
    expect(scheduler.task('a').seq).to.equal(1001);
  });
});
