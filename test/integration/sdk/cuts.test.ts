/**
 * W1: the connection is cut after every so many bytes, either way, inside frames and between
 * them, the handshake included. However it is cut, the master sees one clean conversation.
 */
import { expect } from 'chai';
import { type Clock, monotonicClock } from '../../../executor-sdk/session/clock.ts';
import { Connection } from '../../../executor-sdk/session/connection.ts';
import { SessionClient } from '../../../executor-sdk/session/session-client.ts';
import type { FromSession } from '../../../executor-sdk/thread-messages.ts';
import { sessionSettings } from '../../../executor-sdk/executor-options.ts';
import { ScriptedMaster } from '../../helpers/scripted-master.ts';
import { TcpProxy } from '../../helpers/tcp-proxy.ts';
import type { Direction } from '../../helpers/tcp-proxy.ts';

const STEP_BYTES = 7;
const PERCENTS = [10, 20, 30];

/** What waits ten seconds for an answer, waits for ever: a busy machine is to cut nothing. */
const patientClock: Clock = {
  ...monotonicClock,
  wakeAt(at, call) {
    const isPatience = at - monotonicClock.now() > 9_000;
    return isPatience ? () => undefined : monotonicClock.wakeAt(at, call);
  },
};

/** A session with a scripted handler; resolves once it has left. */
async function runOneTask(url: string, id: string): Promise<void> {
  const client = new SessionClient({
    settings: sessionSettings({ url, id }, ['test']),
    predecessors: { bootId: '', died: [], fenced: [], onTold: () => undefined },
    clock: patientClock,
    random: Math.random,
    rssBytes: () => 0,
    dial: (options) => new Connection(options),
    groups: { endBy: () => undefined, killAll: () => undefined },
    endProcess: (why) => expect.fail(why),
    tell: (message) => queueMicrotask(() => answer(message)),
  });
  function answer(message: FromSession): void {
    if (message.type === 'ping') return client.take({ type: 'pong' });
    if (message.type !== 'assigned' && message.type !== 'begin') return;
    const { id: taskId, attempt } =
      message.type === 'begin' ? { ...message, id: message.taskId } : message.task;
    const key = { taskId, attempt };
    const about = { task_id: key.taskId, attempt: key.attempt };
    const body = (fields: object) => JSON.stringify({ ...fields, ...about });
    if (message.type === 'assigned') {
      return client.take({ type: 'accept', ...key, body: body({ type: 'accept' }) });
    }
    for (const percent of PERCENTS) {
      const text = body({ type: 'progress', percent, checkpoint: percent });
      client.take({ type: 'checkpoint', ...key, body: text });
    }
    const result = body({ type: 'result', outcome: 'succeeded', result: id });
    client.take({ type: 'result', ...key, body: result });
    client.take({ type: 'leave' });
  }
  await client.run();
}

describe('executor session, cut anywhere', () => {
  let master: ScriptedMaster;

  beforeEach(async () => {
    // However busy the machine is, no lease is to end here.
    master = await ScriptedMaster.start({ heartbeatMs: 100_000, leaseMs: 600_000 });
    const { post } = master;
    master.post = (event) => {
      post.call(master, event);
      // A connection that was cut during its handshake is followed by one with a new session.
      if (event.type === 'executorConnected') {
        master.assign(event.sessionId, { id: `task-${event.executorId}` });
      }
    };
  });

  afterEach(() => master.close());

  async function runThroughProxy(id: string, cut?: [number, Direction]) {
    const proxy = await TcpProxy.start(master.port);
    if (cut !== undefined) proxy.cutAfter(...cut);
    await runOneTask(`http://127.0.0.1:${proxy.port}`, id);
    await proxy.close();
    return proxy;
  }

  for (const direction of ['up', 'down'] as const) {
    it(`survives a cut after every ${STEP_BYTES} bytes ${direction}`, async () => {
      const clean = await runThroughProxy('clean');
      const cuts = Array.from(
        { length: Math.floor(clean.passed[direction] / STEP_BYTES) },
        (_, index) => (index + 1) * STEP_BYTES,
      );
      expect(cuts.length).to.be.above(30);
      const proxies = await Promise.all(
        cuts.map((bytes) => runThroughProxy(`cut-${bytes}`, [bytes, direction])),
      );
      expect(proxies.filter((proxy) => proxy.connectionCount > 1).length).to.be.above(
        cuts.length * 0.9,
      );
      for (const bytes of cuts) {
        const told = master.events.filter(
          (event) => 'frameSeq' in event && event.executorId === `cut-${bytes}`,
        );
        const summary = told.map((event) => {
          if (event.type === 'progressReported') return event.percent;
          return event.type === 'attemptEnded' ? event.result : event.type;
        });
        expect(summary, `cut after ${bytes} bytes`).to.deep.equal([
          'attemptAccepted',
          ...PERCENTS,
          `"cut-${bytes}"`,
        ]);
      }
    });
  }
});
