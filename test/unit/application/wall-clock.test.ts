/** The wall clock of the machine is set while a master runs, or the machine sleeps. */
import { expect } from 'chai';
import { TermLost } from '../../../master/application/ports.ts';
import { Duties } from '../../../master/application/process/duties.ts';
import type { Part } from '../../../master/application/process/lifecycle.ts';
import { wallClockWatch } from '../../../master/application/process/wall-clock.ts';
import type { NewTask } from '../../../master/domain/events.ts';
import { createClock } from '../../../master/infrastructure/system.ts';
import { HOUR, MINUTE, SECOND } from '../../helpers/domain.ts';
import { createEngine } from '../../helpers/engine.ts';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';
import { hello, newTask } from '../../helpers/task.ts';

describe('a wall clock that is set', () => {
  let harness: ReturnType<typeof createEngine>;
  let ended: Promise<void>;
  let upkeep: Part;
  const lines: string[] = [];
  /** How far the database's clock is from the master's; null: it does not answer. */
  let databaseAheadMs: number | null;

  function watch(clock: ManualClock, follow: () => void): Part {
    const note = (message: string) => void lines.push(message);
    const upkeep = wallClockWatch({
      clock,
      store: {
        readClock: async () => {
          if (databaseAheadMs === null) throw new Error('the store is away');
          return clock.now() + databaseAheadMs;
        },
      },
      log: { debug() {}, info: note, warn: note, error: note },
      duties: new Duties(clock),
      follow,
    });
    void upkeep.start();
    return upkeep;
  }

  beforeEach(async () => {
    databaseAheadMs = 0;
    lines.length = 0;
    harness = createEngine({ executionTimeoutMs: 10 * MINUTE });
    ({ ended } = await harness.engine.start());
    ended.catch(() => undefined);
    upkeep = watch(harness.clock, () => harness.engine.followWall());
  });
  afterEach(async () => {
    await upkeep.stop();
    await harness.engine.stop();
    expect(harness.clock.nextAlarmAt, 'no alarm is left').to.equal(Number.POSITIVE_INFINITY);
  });

  const submit = (task: Partial<NewTask>) =>
    harness.master.submit([newTask({ requestHash: '', ...task })]);
  const session = { executorId: 'x', sessionId: 'x/1' };
  const connect = (change: Partial<ReturnType<typeof hello>> = {}) =>
    harness.engine.post({ type: 'executorConnected', ...hello({ ...session, ...change }) });
  const busy = {
    draining: false,
    running: [{ taskId: 'a', attempt: 1, state: 'running' as const }],
    loopLagMs: null,
    rssBytes: null,
  };
  const state = (id: string) => harness.engine.state?.tasks.get(id)?.state;

  it('is not followed before the database agrees, and that is told once', async () => {
    const begun = harness.clock.now();
    harness.clock.setWall(HOUR);
    await harness.clock.pass(10 * MINUTE);
    databaseAheadMs = null;
    await harness.clock.pass(MINUTE);
    expect(harness.clock.now() - begun).to.equal(11 * MINUTE);
    expect(harness.engine.term).to.equal(1);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/not followed/);
    databaseAheadMs = HOUR;
    await harness.clock.pass(10 * SECOND);
    expect(harness.clock.now() - begun).to.be.within(HOUR + 11 * MINUTE, HOUR + 12 * MINUTE);
    expect(harness.engine).to.include({ status: 'ready', term: 2 });
    expect(lines).to.have.length(2);
  });

  it('is not followed ahead where it is set right within a minute', async () => {
    await submit({ id: 'a', deadlineAt: harness.clock.now() + HOUR });
    databaseAheadMs = 2 * HOUR;
    harness.clock.setWall(2 * HOUR);
    await harness.clock.pass(50 * SECOND);
    harness.clock.setWall(0);
    await harness.clock.pass(10 * MINUTE);
    expect(harness.engine.term).to.equal(1);
    expect(state('a')).to.equal('waiting');
  });

  it('is nobody asked about where it is a minute off at most', async () => {
    databaseAheadMs = MINUTE;
    harness.clock.setWall(MINUTE);
    await harness.clock.pass(10 * MINUTE);
    expect(harness.engine.term).to.equal(1);
    expect(lines).to.deep.equal([]);
  });

  it('makes due what is due by it, and takes no time from what runs', async () => {
    connect();
    await submit({ id: 'a' });
    harness.engine.post({
      type: 'attemptAccepted',
      frameSeq: 1,
      ...session,
      taskId: 'a',
      attempt: 1,
    });
    await submit({ id: 'b', runAt: harness.clock.now() + HOUR });
    databaseAheadMs = HOUR;
    harness.clock.setWall(HOUR);
    for (let passed = 0; passed < 70; passed += 10) {
      harness.engine.post({ type: 'heartbeatReceived', ...session, ...busy });
      await harness.clock.pass(10 * SECOND);
    }
    expect(harness.engine).to.include({ status: 'ready', term: 2 });
    expect(harness.recorder.reattachCount).to.equal(1);
    connect({
      running: [{ taskId: 'a', attempt: 1, state: 'running' }],
    });
    connect({ executorId: 'y', sessionId: 'y/1', incarnation: 'y' });
    await settled();
    expect([state('a'), state('b')]).to.deep.equal(['running', 'offered']);
    harness.recorder.sent.length = 0;
    await harness.clock.pass(SECOND);
    const told = harness.recorder.sent.map(({ command }) => command.type);
    expect(told).to.not.include('cancel');
  });

  it('leaves a master that it sets back as watchful as before', async () => {
    const begun = harness.clock.now();
    databaseAheadMs = -HOUR;
    harness.clock.setWall(-HOUR);
    await harness.clock.pass(10 * SECOND);
    expect(harness.clock.now()).to.be.below(begun);
    expect(harness.engine).to.include({ status: 'ready', term: 2 });
    await harness.store.takeTerm('another', harness.clock.now());
    await harness.clock.pass(2 * SECOND);
    expect(await ended.catch((error: unknown) => error)).to.be.instanceOf(TermLost);
  });

  it('moves the time of the clock, and no timer', async () => {
    let wallMs = 1_800_000_000_000;
    const clock = createClock(() => wallMs + performance.now());
    const before = clock.now();
    const woken = new Promise<void>((resolve) => clock.wakeAt(before + 20, resolve));
    wallMs -= HOUR;
    expect(clock.departureMs()).to.be.within(-HOUR - SECOND, -HOUR + SECOND);
    expect(clock.now()).to.be.at.least(before);
    clock.followWall();
    expect(clock.now() - before).to.be.within(-HOUR, -HOUR + MINUTE);
    expect(Math.abs(clock.departureMs())).to.be.below(SECOND);
    await woken;
    wallMs += 2 * HOUR;
    clock.followWall();
    expect(clock.now() - before).to.be.within(HOUR, HOUR + MINUTE);
  });
});
