/** The executor gateway over real sockets, spoken to frame by frame. */
import { request } from 'node:http';
import { CloseCode, EXECUTOR_PATH, SESSION_LIMITS, SUBPROTOCOL } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { Problem } from '../../master/access/http/problem.ts';
import { ManualClock } from '../helpers/manual-clock.ts';
import { RawExecutor } from '../helpers/raw-executor.ts';
import { ANYBODY, ScriptedMaster } from '../helpers/scripted-master.ts';

const SWEEP_MS = 1_000;
const about = { task_id: 't1', attempt: 1 };

describe('executor gateway', () => {
  let master: ScriptedMaster;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = new ManualClock();
    master = await ScriptedMaster.start({
      clock,
      heartbeatMs: 5_000,
      leaseMs: 15_000,
      authorize({ headers: { authorization } }) {
        if (authorization === 'Bearer wrong') throw new Problem('noToken', 'No.');
        return ANYBODY;
      },
    });
  });

  afterEach(() => master.close());

  let chosen: string | undefined;
  /** What an upgrade with these headers is answered with. */
  async function upgrade(
    headers: Record<string, string | readonly string[]>,
    path = EXECUTOR_PATH,
    method = 'GET',
  ): Promise<number> {
    const upgraded = request({
      port: master.port,
      path,
      method,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
        'sec-websocket-protocol': SUBPROTOCOL,
      },
    });
    for (const [name, value] of Object.entries(headers)) upgraded.setHeader(name, value);
    upgraded.end();
    return new Promise((resolve, reject) => {
      upgraded.on('error', reject);
      upgraded.on('response', (res) => {
        res.resume();
        resolve(res.statusCode ?? 0);
      });
      upgraded.on('upgrade', (res, socket) => {
        socket.destroy();
        chosen = res.headers['sec-websocket-protocol'];
        resolve(res.statusCode ?? 0);
      });
    });
  }

  it('chooses the subprotocol that it speaks, wherever that stands among those offered', async () => {
    for (const offered of [
      `soda.v3, ${SUBPROTOCOL}`,
      `${SUBPROTOCOL} ,soda.v3`,
      `a,b, ${SUBPROTOCOL}`,
    ]) {
      expect(await upgrade({ 'sec-websocket-protocol': offered })).to.equal(101);
      expect(chosen, offered).to.equal(SUBPROTOCOL);
    }
  });

  it('decides about an upgrade before any frame is read', async () => {
    expect(await upgrade({})).to.equal(101);
    expect(await upgrade({}, '/elsewhere')).to.equal(404);
    expect(await upgrade({ authorization: 'Bearer wrong' })).to.equal(401);
    expect(await upgrade({ origin: 'https://example.org' })).to.equal(403);
    expect(await upgrade({ 'sec-websocket-protocol': 'chat' })).to.equal(400);
    expect(await upgrade({ 'sec-websocket-protocol': `chat, ${SUBPROTOCOL}` })).to.equal(101);
    expect(await upgrade({}, undefined, 'POST')).to.equal(405);
    expect(await upgrade({ host: ['127.0.0.1', 'elsewhere'] })).to.equal(400);
    for (const status of ['starting', 'draining', 'stopped'] as const) {
      master.status = status;
      expect(await upgrade({}), status).to.equal(503);
    }
  });

  it('answers heartbeats by itself, while the engine recovers too', async () => {
    const executor = await RawExecutor.join(master.port);
    expect(executor.welcome).to.deep.include({
      resumed: false,
      received: 0,
      term: 1,
      heartbeat_ms: 5_000,
      lease_ms: 15_000,
    });
    master.status = 'recovering';
    const load = { loop_lag_ms: 3, cpu_percent: 42, running: [{ ...about, state: 'running' }] };
    executor.send({ type: 'heartbeat', n: 7, ack: 0, state: 'draining', ...load });
    expect((await executor.next('heartbeat')).n).to.equal(7);
    expect(await master.nth('heartbeatReceived')).to.deep.include({
      draining: true,
      running: [{ taskId: 't1', attempt: 1, state: 'running' }],
      loopLagMs: 3,
      cpuPercent: 42,
    });
  });

  it('drops an executor that sends nothing but heartbeats', async () => {
    const executor = await RawExecutor.join(master.port);
    for (let n = 0; n < 5_000; n += 1) {
      executor.send({ type: 'heartbeat', n, ack: 0, state: 'idle', running: [] });
    }
    expect((await executor.closed).code).to.equal(CloseCode.overflow);
    expect(master.of('heartbeatReceived').length).to.be.below(5_000);
  });

  it('drops an executor that floods it with frames of any kind, or with bytes', async () => {
    const acks = await RawExecutor.join(master.port);
    for (let count = 0; count < 6_000; count += 1) acks.send('{"type":"ack","ack":0}');
    expect(await acks.closed).to.deep.equal({
      code: CloseCode.overflow,
      reason: 'too many frames in a second',
    });
    const repeats = await RawExecutor.join(master.port, { executor_id: 'e2' });
    const state = `[${'{},'.repeat(300_000)}{}]`;
    for (let count = 0; count < 30; count += 1) {
      repeats.send(
        `{"type":"progress","seq":1,"ack":0,"task_id":"t1","attempt":1,"state":${state}}`,
      );
    }
    expect(await repeats.closed).to.deep.equal({
      code: CloseCode.overflow,
      reason: 'too many bytes of frames in a second',
    });
    expect(master.of('progressReported')).to.have.length(1);
  });

  it('reads long values only where they are kept', async () => {
    const executor = await RawExecutor.join(master.port);
    const long = `[${'?,'.repeat(20_000)}]`;
    executor.send(
      `{"type":"progress","seq":1,"ack":0,"task_id":"t1","attempt":1,"percent":7,"x":${long},"state":${long}}`,
    );
    expect(await master.nth('progressReported')).to.deep.include({ percent: 7, state: undefined });
    executor.send(
      `{"type":"result","seq":2,"ack":0,"task_id":"t1","attempt":1,"outcome":"succeeded","result":${long}}`,
    );
    const { outcome, error } = await master.nth('attemptEnded');
    expect([outcome, error?.message]).to.deep.equal([
      'failed',
      'The result of attempt 1 of t1 is not JSON.',
    ]);
    executor.send(
      `{"type":"result","seq":3,"ack":0,"task_id":"t1","attempt":1,"outcome":"failed",` +
        `"error":{"message":"m","details":{"a":"${'x'.repeat(30_000)}"}}}`,
    );
    const failed = await master.nth('attemptEnded', 2);
    expect(failed.error?.details).to.have.length(30_008);
  });

  it('closes what is not a frame, and nobody else', async () => {
    const bystander = await RawExecutor.join(master.port, { executor_id: 'bystander' });
    const cases: [string, unknown, number][] = [
      ['not JSON', '{"type":', CloseCode.badFrame],
      ['unknown type', { type: 'shout' }, CloseCode.badFrame],
      ['a field out of range', { type: 'ack', ack: -1 }, CloseCode.badFrame],
      ['an ack of nothing', { type: 'ack', ack: 1 }, CloseCode.badFrame],
      ['hello again', { type: 'hello', executor_id: 'e1' }, CloseCode.badFrame],
      ['a gap', { type: 'accept', seq: 2, ack: 0, ...about }, CloseCode.gap],
      ['too large', 'x'.repeat(SESSION_LIMITS.frameBytesMax + 1), 1009],
    ];
    for (const [name, frame, code] of cases) {
      const executor = await RawExecutor.join(master.port, { executor_id: 'broken' });
      executor.send(frame);
      expect((await executor.closed).code, name).to.equal(code);
    }
    const binary = await RawExecutor.join(master.port, { executor_id: 'broken' });
    binary.socket.send(Buffer.from([1, 2, 3]));
    expect((await binary.closed).code).to.equal(CloseCode.badFrame);

    const stranger = await RawExecutor.dial(master.port);
    stranger.hello({ executor_id: 'no spaces' });
    const { code, reason } = await stranger.closed;
    expect([code, reason.slice(0, 18)]).to.deep.equal([CloseCode.badFrame, 'hello: executor_id']);

    await bystander.settled();
  });

  it('splices params and checkpoint into the frame as they are', async () => {
    const executor = await RawExecutor.join(master.port);
    const params = '{"big":12345678901234567890,"exact":1.0,"text":"\\u2028"}';
    master.assign(executor.welcome.session, { id: 't1', params, checkpoint: '[1.50]' });
    const { task } = await executor.next('assign');
    expect(task).to.deep.include({ id: 't1', attempt: 1, term: 1, user: { group: 'g' } });
    expect(executor.texts.at(-1))
      .to.contain(`"params":${params}`)
      .and.contain('"checkpoint":[1.50]');
  });

  it('acknowledges what is confirmed, many frames with one ack', async () => {
    master.confirmsResults = false;
    const executor = await RawExecutor.join(master.port);
    executor.send({ type: 'accept', seq: 1, ack: 0, ...about });
    for (let seq = 2; seq <= 6; seq += 1) {
      executor.send({ type: 'progress', seq, ack: 0, ...about, percent: seq });
    }
    executor.send({ type: 'result', seq: 7, ack: 0, ...about, outcome: 'succeeded', result: 1 });
    const { sessionId, frameSeq } = await master.nth('attemptEnded');
    await executor.settled();
    const before = executor.texts.length;

    master.sessions.confirm(sessionId, frameSeq);
    expect(await executor.next('ack')).to.deep.equal({ type: 'ack', ack: 7 });
    expect(executor.texts.length - before).to.equal(1);
    const acks = executor.texts.filter((text) => text.includes('"type":"ack"'));
    expect(acks.length, 'no ack for each frame').to.be.below(7);
  });

  it('resumes a session: nothing lost, nothing twice, no event in between', async () => {
    const first = await RawExecutor.join(master.port);
    const { session } = first.welcome;
    master.assign(session, { id: 't1' });
    await first.next('assign');
    first.send({ type: 'accept', seq: 1, ack: 0, ...about });
    await master.nth('attemptAccepted');
    first.socket.terminate();
    await master.nth('executorDisconnected');
    master.assign(session, { id: 't2' });

    const second = await RawExecutor.join(master.port, { session, received: 1 });
    expect(second.welcome).to.deep.include({ session, resumed: true, received: 1 });
    const resent = await second.next('assign');
    expect([resent.seq, resent.ack, resent.task.id]).to.deep.equal([2, 1, 't2']);
    second.send({ type: 'accept', seq: 1, ack: 1, ...about });
    second.send({ type: 'progress', seq: 2, ack: 2, ...about, percent: 1 });
    await second.settled();
    expect(master.events.map((event) => event.type)).to.deep.equal([
      'executorConnected',
      'attemptAccepted',
      'executorDisconnected',
      'executorResumed',
      'progressReported',
      'heartbeatReceived',
    ]);
  });

  /** The process is not heard of any more; its socket may still look open. */
  const fallSilent = () => clock.advance(10_000);

  it('begins a new session where the old one cannot be resumed', async () => {
    const first = await RawExecutor.join(master.port);
    const { session } = first.welcome;
    const refused: [string, object][] = [
      ['a session that never was', { session: 'made-up' }],
      ['more received than was sent', { session, received: 5 }],
      ['the session of another executor', { session, executor_id: 'e2' }],
      ['another process under the same id', { session, incarnation: 'i2' }],
    ];
    for (const [name, hello] of refused) {
      fallSilent();
      const next = await RawExecutor.join(master.port, hello);
      expect(next.welcome.resumed, name).to.equal(false);
      expect(next.welcome.session, name).not.to.equal(session);
    }
    expect((await first.closed).code, 'it was the same process').to.equal(CloseCode.reattach);
  });

  it('lets the newest connection win: of the same session silently', async () => {
    const first = await RawExecutor.join(master.port);
    const { session } = first.welcome;
    const second = await RawExecutor.join(master.port, { session });
    expect(second.welcome.resumed).to.equal(true);
    await first.closed;
    await second.settled();
    expect(master.of('executorDisconnected')).to.deep.equal([]);
    expect(master.sessions.connectionCount).to.equal(1);
  });

  it('keeps a session without a socket for one lease', async () => {
    const first = await RawExecutor.join(master.port);
    const { session } = first.welcome;
    first.socket.terminate();
    await master.nth('executorDisconnected');
    clock.advance(14_000);
    const second = await RawExecutor.join(master.port, { session });
    expect(second.welcome.resumed).to.equal(true);
    second.socket.terminate();
    await master.nth('executorDisconnected', 2);
    clock.advance(15_000 + SWEEP_MS);
    expect(master.sessions.count).to.equal(0);
    const third = await RawExecutor.join(master.port, { session });
    expect(third.welcome.resumed).to.equal(false);
  });

  it('closes a socket that says nothing for a lease, or no hello in time', async () => {
    const mute = await RawExecutor.dial(master.port);
    const executor = await RawExecutor.join(master.port);
    clock.advance(SESSION_LIMITS.handshakeTimeoutMs + SWEEP_MS);
    expect((await mute.closed).code).to.equal(CloseCode.handshakeTimeout);
    await executor.settled();
    clock.advance(15_000 + SWEEP_MS);
    expect((await executor.closed).code).to.equal(CloseCode.silent);
    expect((await master.nth('executorDisconnected')).left).to.equal(false);
  });

  it('ends an attempt whose result cannot be stored, and not the connection', async () => {
    const executor = await RawExecutor.join(master.port);
    const result = 'x'.repeat(SESSION_LIMITS.resultBytesMax - 1);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const head = (seq: number) => ({ type: 'result', seq, ack: 0, ...about, outcome: 'succeeded' });
    executor.send({ ...head(1), result });
    executor.send(`${JSON.stringify(head(2)).slice(0, -1)},"result":${deep}}`);
    executor.send({ ...head(3), result: result.slice(1) });
    await executor.settled();
    const [tooLarge, tooDeep, fits] = master.of('attemptEnded');
    expect(tooLarge).to.deep.include({ outcome: 'failed', retryable: false, result: null });
    expect(tooLarge!.error!.message).to.contain('262145 bytes').and.contain('262144 are allowed');
    expect(tooDeep!.error!.message).to.contain('expected at most 1000 levels');
    expect(fits).to.deep.include({ outcome: 'succeeded', error: null });
  });

  it('carries over what an executor says about a failure', async () => {
    const executor = await RawExecutor.join(master.port);
    const failed = { type: 'result', ack: 0, ...about, outcome: 'failed' };
    const error = {
      message: 'm',
      name: 'N',
      details: { a: 1 },
      retryable: false,
      retry_after: 1.5,
    };
    executor.send({ ...failed, seq: 1, error });
    executor.send({ ...failed, seq: 2 });
    executor.send({ ...failed, seq: 3, error: { ...error, reason: 'input_unavailable' } });
    executor.send({ ...failed, seq: 4, error: { ...error, reason: 'of a later version' } });
    await executor.settled();
    const [full, bare, missing, later] = master.of('attemptEnded');
    expect(missing).to.include({ isInputUnavailable: true, retryable: false });
    expect(later).to.include({ retryable: false }).and.not.to.have.property('isInputUnavailable');
    expect(full).to.deep.include({
      error: { message: 'm', name: 'N', details: '{"a":1}' },
      retryable: false,
      retryAfterMs: 1_500,
    });
    expect(bare).to.deep.include({
      error: { message: 'The executor gave no reason.' },
      retryable: true,
      retryAfterMs: null,
    });
  });

  it('drops an executor that does not acknowledge, and what it holds in memory for it', async () => {
    const executor = await RawExecutor.join(master.port);
    const { session } = executor.welcome;
    for (let count = 0; count <= SESSION_LIMITS.unackedFramesMax; count += 1) {
      master.sessions.send(session, { type: 'drain', draining: true }, 1);
    }
    expect((await executor.closed).code).to.equal(CloseCode.overflow);
    expect(master.sessions.count).to.equal(0);
    await master.nth('executorDisconnected');
  });

  it('tells leaving from being cut off', async () => {
    const leaving = await RawExecutor.join(master.port);
    leaving.socket.close(CloseCode.leaving);
    expect((await master.nth('executorDisconnected')).left).to.equal(true);
    expect(master.sessions.count).to.equal(0);
  });

  it('sends everyone away to come back when the state was rebuilt', async () => {
    const executors = await Promise.all(
      ['a', 'b'].map((id) => RawExecutor.join(master.port, { executor_id: id })),
    );
    master.sessions.reattachAll();
    for (const executor of executors) {
      expect((await executor.closed).code).to.equal(CloseCode.reattach);
      const { session } = executor.welcome;
      const id = { executor_id: executor === executors[0] ? 'a' : 'b' };
      const again = await RawExecutor.join(master.port, { ...id, session });
      expect(again.welcome.resumed).to.equal(false);
    }
  });

  it('closes one session when the engine says so', async () => {
    const executor = await RawExecutor.join(master.port);
    master.sessions.close(executor.welcome.session, 'silent');
    expect((await executor.closed).code).to.equal(CloseCode.silent);
    master.sessions.send(executor.welcome.session, { type: 'drain', draining: true }, 1);
    expect(master.sessions.count).to.equal(0);
  });
});
