/** That executors and the log of the master are told why a connection is closed. */
import { CloseCode } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { once } from 'node:events';
import type { Log } from '../../master/application/ports.ts';
import { RawExecutor } from '../helpers/raw-executor.ts';
import { ScriptedMaster } from '../helpers/scripted-master.ts';

describe('a connection that the master closes', () => {
  let master: ScriptedMaster;
  let logged: object[];

  beforeEach(async () => {
    logged = [];
    const keep =
      (level: string) =>
      (message: string, fields: object = {}) =>
        void logged.push({ level, message, ...fields });
    const log: Log = {
      debug: keep('debug'),
      info: keep('info'),
      warn: keep('warn'),
      error: keep('error'),
    };
    master = await ScriptedMaster.start({ log });
  });

  afterEach(() => master.close());

  const sentAway = (code: number, reason: string, level = 'warn') => ({
    level,
    message: 'an executor is sent away',
    namespace: 'default',
    executor_id: 'e1',
    code,
    reason,
  });

  it('says that the master stops, and not that it has rebuilt its state', async () => {
    const executor = await RawExecutor.join(master.port);
    const stranger = await RawExecutor.dial(master.port);
    master.sessions.shutdown();
    for (const { closed } of [executor, stranger]) {
      expect(await closed).to.deep.equal({ code: CloseCode.reattach, reason: 'the master stops' });
    }
    expect(logged).to.deep.include(sentAway(CloseCode.reattach, 'the master stops', 'debug'));
  });

  it('has not said hello, and begins more than a hello can be', async () => {
    const stranger = await RawExecutor.dial(master.port);
    stranger.send('x'.repeat(64 * 1024 + 1));
    expect((await stranger.closed).code).to.equal(1009);
    const executor = await RawExecutor.dial(master.port);
    executor.hello();
    executor.send({ type: 'heartbeat', n: 1, ack: 0, state: 'x'.repeat(2 ** 17), running: [] });
    expect((await executor.closed).code, 'taken, and read').to.equal(CloseCode.badFrame);
  });

  it('says that the state was rebuilt', async () => {
    const executor = await RawExecutor.join(master.port);
    master.sessions.reattachAll();
    expect((await executor.closed).reason).to.equal('the master has rebuilt its state');
  });

  it('says who took its place', async () => {
    const first = await RawExecutor.join(master.port);
    const { session } = first.welcome;
    await RawExecutor.join(master.port, { session });
    const replaced = 'a newer connection of this process has replaced this one';
    expect(await first.closed).to.deep.equal({ code: CloseCode.reattach, reason: replaced });
    master.sessions.close(session, 'silent');
    const other = await RawExecutor.join(master.port, { incarnation: 'i2' });
    master.sessions.close(other.welcome.session, 'superseded');
    const { reason } = await other.closed;
    expect(reason).to.equal('another process has taken over this executor id');
    expect(logged).to.deep.include(sentAway(CloseCode.superseded, reason));
  });

  it('is logged with what was wrong, also where it never became a session', async () => {
    const wrong = await RawExecutor.join(master.port);
    wrong.send({ type: 'ack', ack: 1 });
    const { code, reason } = await wrong.closed;
    expect(logged).to.deep.include(sentAway(code, reason));
    const gap = await RawExecutor.join(master.port);
    gap.send({ type: 'accept', seq: 5, ack: 0, task_id: 't', attempt: 1 });
    await gap.closed;
    expect(logged).to.deep.include(sentAway(CloseCode.gap, 'expected 1'));
    const other = await RawExecutor.join(master.port);
    const refused = await RawExecutor.dial(master.port);
    refused.hello({ incarnation: 'i2' });
    await refused.closed;
    expect(logged).to.deep.include(
      sentAway(CloseCode.idInUse, 'another living process uses this executor id'),
    );
    await other.settled();
  });

  it('answers pings, and refuses more of them than are read', async () => {
    const executor = await RawExecutor.join(master.port);
    executor.socket.ping('are you there');
    expect(String((await once(executor.socket, 'pong'))[0])).to.equal('are you there');
    for (let count = 0; count < 500; count += 1) executor.socket.ping();
    expect(await executor.closed).to.deep.equal({
      code: CloseCode.overflow,
      reason: 'too many pings',
    });
    expect(logged).to.deep.include(sentAway(CloseCode.overflow, 'too many pings'));
  });

  it('is logged when a message comes in too many pieces', async () => {
    const executor = await RawExecutor.join(master.port);
    for (let count = 0; count < 70; count += 1) executor.socket.send('[', { fin: false });
    expect((await executor.closed).code).to.equal(1008);
    expect(logged).to.deep.include({
      level: 'warn',
      message: 'executor socket failed',
      namespace: 'default',
      executor_id: 'e1',
      error: 'Too many message fragments',
    });
  });
});
