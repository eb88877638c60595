/** Who may speak for an executor, and for an attempt: over real sockets, spoken to frame by frame. */
import { CloseCode, SESSION_LIMITS } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { ManualClock } from '../helpers/manual-clock.ts';
import { RawExecutor } from '../helpers/raw-executor.ts';
import { ScriptedMaster } from '../helpers/scripted-master.ts';
import { NOW, sampleExecutor } from '../helpers/task.ts';

const SWEEP_MS = 1_000;
const about = { task_id: 't1', attempt: 1 };

/** What the row of an executor says that it runs. */
const occupation = {
  taskId: 't1',
  attempt: 1,
  accepted: true,
  type: 'echo',
  group: 'g',
  gate: null,
  booking: null,
  taken: [],
};

describe('executor gateway, identity', () => {
  let master: ScriptedMaster;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = new ManualClock();
    master = await ScriptedMaster.start({ clock, heartbeatMs: 5_000, leaseMs: 15_000 });
  });
  afterEach(() => master.close());

  /** The process is not heard of any more; its socket may still look open. */
  const fallSilent = () => clock.advance(10_000);

  it('lets no other process have the id of one that lives, and tells it why', async () => {
    const first = await RawExecutor.join(master.port);
    const second = await RawExecutor.dial(master.port);
    second.hello({ incarnation: 'i2' });
    const { code, reason } = await second.closed;
    expect(code).to.equal(CloseCode.idInUse);
    expect(reason).to.match(/another living process/);
    await first.settled();
    fallSilent();
    const third = await RawExecutor.join(master.port, { incarnation: 'i2' });
    expect(third.welcome.resumed).to.equal(false);
    expect((await first.closed).code).to.equal(CloseCode.superseded);
    expect(master.of('executorConnected')).to.have.length(2);
  });

  it('keeps the id of one whose connection was reset, for as long as if it had stayed', async () => {
    const first = await RawExecutor.join(master.port);
    first.socket.terminate();
    await master.nth('executorDisconnected');
    const second = await RawExecutor.dial(master.port);
    second.hello({ incarnation: 'i2' });
    expect((await second.closed).code).to.equal(CloseCode.idInUse);
    const back = await RawExecutor.join(master.port);
    back.socket.terminate();
    await master.nth('executorDisconnected', 2);
    fallSilent();
    await RawExecutor.join(master.port, { incarnation: 'i2' });
  });

  it('gives it at once to one that saw the first one dead on its own host', async () => {
    const first = await RawExecutor.join(master.port, { boot_id: 'b1' });
    const died = { incarnation: 'i2', died: ['i1'] };
    const early = await RawExecutor.dial(master.port);
    early.hello({ ...died, boot_id: 'b1' });
    expect((await early.closed).code, 'it is connected').to.equal(CloseCode.idInUse);
    first.socket.terminate();
    await master.nth('executorDisconnected');
    const elsewhere = await RawExecutor.dial(master.port);
    elsewhere.hello({ ...died, boot_id: 'b2' });
    expect((await elsewhere.closed).code).to.equal(CloseCode.idInUse);
    await RawExecutor.join(master.port, { ...died, boot_id: 'b1' });
  });

  /** The mac of the attempt that it is given. */
  const work = async (
    executor: Awaited<ReturnType<typeof RawExecutor.join>>,
    task: Parameters<ScriptedMaster['assign']>[1],
  ) => {
    master.assign(executor.welcome.session, { state: 'running', ...task });
    const { mac } = (await executor.next('assign')).task;
    return [{ task_id: task.id, attempt: 1, state: 'running' as const, mac }];
  };
  const mac = { features: ['mac'] };
  const one = { ...mac, incarnation: 'i1' };
  const two = { ...mac, incarnation: 'i2' };

  it('lets one that proves what it runs back in, over one that does not, or has less to lose', async () => {
    const first = await RawExecutor.join(master.port, one);
    const running = await work(first, { id: 't1', incarnation: 'i1', offeredAt: NOW });
    first.socket.terminate();
    await master.nth('executorDisconnected');
    fallSilent();
    const second = await RawExecutor.join(master.port, two);
    const newer = await work(second, { id: 't2', seq: 2, incarnation: 'i2', offeredAt: NOW + 1 });
    master.newest = {
      ...sampleExecutor,
      id: 'e1',
      incarnation: 'i2',
      occupation: {
        taskId: 't2',
        attempt: 1,
        accepted: true,
        type: 'echo',
        group: 'g',
        gate: null,
        booking: null,
        taken: [],
      },
    };
    for (const claim of [
      { ...running[0]!, mac: newer[0]!.mac },
      { ...running[0]!, attempt: 2 },
    ]) {
      const liar = await RawExecutor.dial(master.port);
      liar.hello({ ...one, running: [claim] });
      expect((await liar.closed).code).to.equal(CloseCode.idInUse);
    }
    await RawExecutor.join(master.port, { ...one, running });
    expect((await second.closed).code).to.equal(CloseCode.idInUse);
    master.newest = {
      ...sampleExecutor,
      id: 'e1',
      incarnation: 'i1',
      occupation: {
        taskId: 't1',
        attempt: 1,
        accepted: true,
        type: 'echo',
        group: 'g',
        gate: null,
        booking: null,
        taken: [],
      },
    };
    const again = await RawExecutor.dial(master.port);
    again.hello({ ...two, running: newer });
    expect((await again.closed).code, 'they take no turns').to.equal(CloseCode.idInUse);
  });

  it('keeps the id for one that a row tells of, after a restart', async () => {
    const first = await RawExecutor.join(master.port, one);
    const running = await work(first, { id: 't1', incarnation: 'i1', offeredAt: NOW });
    first.socket.close(CloseCode.leaving);
    await master.nth('executorDisconnected');
    const fields = { incarnation: 'i1', occupation, sessionId: null };
    master.newest = { ...sampleExecutor, id: 'e1', ...fields };
    master.newestSilentMs = 0;
    const thief = await RawExecutor.dial(master.port);
    thief.hello(two);
    expect((await thief.closed).code).to.equal(CloseCode.idInUse);
    fallSilent();
    master.newestSilentMs = Number.POSITIVE_INFINITY;
    const second = await RawExecutor.join(master.port, two);
    await RawExecutor.join(master.port, { ...one, running });
    expect((await second.closed).code).to.equal(CloseCode.idInUse);
  });

  it('gives it at once to one that saw the one end that a row tells of', async () => {
    const unheard = { sessionId: null, connectedAt: null, bootId: '' };
    master.newest = { ...sampleExecutor, id: 'e1', incarnation: 'i1', occupation, ...unheard };
    master.newestSilentMs = 0;
    await work(await RawExecutor.join(master.port, { ...one, executor_id: 'e9' }), {
      id: 't1',
      incarnation: 'i1',
      offeredAt: NOW,
    });
    const died = { incarnation: 'i2', died: ['i1'] };
    const nowhere = await RawExecutor.dial(master.port);
    nowhere.hello(died);
    expect((await nowhere.closed).code).to.equal(CloseCode.idInUse);
    await RawExecutor.join(master.port, { ...died, boot_id: 'b1' });
  });

  it('gives no proof to whoever has not asked for it', async () => {
    const executor = await RawExecutor.join(master.port);
    master.assign(executor.welcome.session, { id: 't1' });
    expect((await executor.next('assign')).task).not.to.have.property('mac');
  });

  it('lets a late hello of a connection that was given up end nothing', async () => {
    const first = await RawExecutor.join(master.port);
    const { session } = first.welcome;
    master.assign(session, { id: 't1' });
    await first.next('assign');
    first.send({ type: 'ack', ack: 1 });
    await first.settled();
    for (const hello of [{}, { session: 'older' }, { session, received: 0 }]) {
      const late = await RawExecutor.dial(master.port);
      late.hello(hello);
      expect((await late.closed).code).to.equal(CloseCode.reattach);
    }
    await first.settled();
    const late = await RawExecutor.join(master.port, { session, received: 1 });
    expect(late.welcome.resumed).to.equal(true);
    expect((await first.closed).code, 'it may dial again').to.equal(CloseCode.reattach);
    expect(master.of('executorConnected')).to.have.length(1);
    expect(master.of('executorDisconnected')).to.deep.equal([]);
  });

  it('does not answer a process whose lease is to run out, until it is told otherwise', async () => {
    const frozen = await RawExecutor.join(master.port);
    const { session } = frozen.welcome;
    master.sessions.freeze('e1', 'i1', true);
    frozen.send({ type: 'heartbeat', n: 7, ack: 0, state: 'idle', running: [] });
    const again = await RawExecutor.dial(master.port);
    again.hello({ session });
    clock.advance(SESSION_LIMITS.handshakeTimeoutMs + SWEEP_MS);
    expect((await again.closed).code).to.equal(CloseCode.handshakeTimeout);
    expect(frozen.frames.filter(({ type }) => type === 'heartbeat')).to.deep.equal([]);
    expect(master.of('heartbeatReceived')).to.deep.equal([]);
    master.sessions.freeze('e1', 'i1', false);
    await frozen.settled();
  });

  it('tells when it is known that an attempt is to end: by an ack, or on resuming', async () => {
    const first = await RawExecutor.join(master.port);
    const { session } = first.welcome;
    const cancel = { type: 'cancel', reason: 'canceled', graceMs: 1, attempt: 1 } as const;
    master.sessions.send(session, { ...cancel, taskId: 't1' }, 1);
    master.sessions.send(session, { ...cancel, taskId: 't2', reason: 'stale_attempt' }, 1);
    master.sessions.send(session, { ...cancel, taskId: 't3' }, 1);
    first.send({ type: 'ack', ack: 2 });
    expect((await master.nth('cancelAcknowledged')).taskId).to.equal('t1');
    const second = await RawExecutor.join(master.port, { session, received: 3 });
    expect((await master.nth('cancelAcknowledged', 2)).taskId).to.equal('t3');
    second.send({ type: 'ack', ack: 3 });
    await second.settled();
    expect(master.of('cancelAcknowledged')).to.have.length(2);
  });

  it('ends the session over a frame that could never be taken, and says which', async () => {
    const first = await RawExecutor.join(master.port);
    const { session } = first.welcome;
    first.send({ type: 'progress', seq: 1, ack: 0, ...about, percent: 100.1 });
    const { code, reason } = await first.closed;
    expect(code).to.equal(CloseCode.frameRefused);
    expect(reason).to.match(/^t1: percent/);
    const event = await master.nth('frameRefused');
    expect(event.about).to.deep.equal({ taskId: 't1', attempt: 1 });
    const second = await RawExecutor.join(master.port, { session });
    expect(second.welcome.resumed, 'it would send the frame again').to.equal(false);
    second.send(
      `{"type":"result","task_id":"t1","result":"${'x'.repeat(SESSION_LIMITS.frameBytesMax)}"}`,
    );
    expect((await second.closed).code).to.equal(1009);
    expect((await master.nth('frameRefused', 2)).about).to.equal(null);
  });

  it('believes an executor that has proofs nothing without them', async () => {
    const executor = await RawExecutor.join(master.port, { features: ['mac'] });
    expect(executor.welcome.features).to.include('mac');
    master.assign(executor.welcome.session, { id: 't1', seq: 4 });
    const { task } = await executor.next('assign');
    expect(task.mac).to.match(/^[\w-]{22}$/);
    const wrong = Buffer.alloc(16).toString('base64url');
    for (const [index, mac] of [task.mac, wrong, undefined, 'x'].entries()) {
      executor.send({ type: 'accept', seq: index + 1, ack: 1, ...about, mac });
    }
    executor.send({ type: 'accept', seq: 5, ack: 1, task_id: 't1', attempt: 2, mac: task.mac });
    await master.nth('attemptAccepted', 5);
    const unproven = master.of('attemptAccepted').map((event) => event.isUnproven ?? false);
    // Of an attempt that is not the newest one nothing has to be proven: it is stale.
    expect(unproven).to.deep.equal([false, true, true, true, false]);
    const running = [{ ...about, state: 'running' as const }];
    executor.send({ type: 'heartbeat', n: 1, ack: 1, state: 'busy', running });
    expect((await master.nth('heartbeatReceived')).running[0]?.isUnproven).to.equal(true);
  });

  it('accepts what the secret before this one has signed', async () => {
    const executor = await RawExecutor.join(master.port, { features: ['mac'] });
    master.assign(executor.welcome.session, { id: 't1' });
    const { task } = await executor.next('assign');
    master.sessions.useSecrets(['bmV3', 'c2VjcmV0']);
    executor.send({ type: 'accept', seq: 1, ack: 1, ...about, mac: task.mac });
    expect((await master.nth('attemptAccepted')).isUnproven).to.equal(undefined);
    master.sessions.useSecrets(['bmV3']);
    executor.send({ type: 'progress', seq: 2, ack: 1, ...about, mac: task.mac });
    expect((await master.nth('progressReported')).isUnproven).to.equal(true);
  });

  it('grants a shorter lease to whoever wants one, and no longer one', async () => {
    const leaseOf = async (executor_id: string, lease_ms: number) =>
      (await RawExecutor.join(master.port, { executor_id, lease_ms })).welcome;
    expect(await leaseOf('a', 9_000)).to.include({ lease_ms: 9_000, heartbeat_ms: 3_000 });
    expect(await leaseOf('b', 60_000)).to.include({ lease_ms: 15_000, heartbeat_ms: 5_000 });
    expect(await leaseOf('c', 1)).to.include({ lease_ms: 6_000 });
  });
});
