/** Peers that speak the executor protocol wrongly: each is told why, and no other one notices. */
import { expect } from 'chai';
import { once } from 'node:events';
import { EXECUTOR_PATH, SESSION_LIMITS, SUBPROTOCOL } from '@soda-scheduler/protocol';
import { WebSocket } from 'ws';
import { describeSystem, type System } from '../helpers/system/system.ts';

const TOKEN = 'the-token-of-the-executors';
const tokens = {
  SODA_ADMIN_TOKEN: 'the-token-of-the-admins',
  SODA_SUBMIT_TOKEN: 'the-token-of-the-clients',
  SODA_EXECUTOR_TOKEN: TOKEN,
};

const hello = JSON.stringify({
  type: 'hello',
  executor_id: 'odd',
  incarnation: 'one',
  types: ['odd'],
});

describeSystem(
  'the executor socket',
  ({ start }) => {
    const sockets: WebSocket[] = [];
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.terminate();
    });

    async function dial(system: System): Promise<WebSocket> {
      const url = `ws://127.0.0.1:${system.port}${EXECUTOR_PATH}`;
      const socket = new WebSocket(url, SUBPROTOCOL);
      sockets.push(socket);
      await once(socket, 'open');
      return socket;
    }

    async function closeOf(socket: WebSocket): Promise<string> {
      const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
      return `${code} ${reason.toString()}`;
    }

    it('closes on whoever breaks the protocol, says why, and keeps everybody else', async () => {
      const system = await start();
      const good = await system.executor({ id: 'good' });
      const taskId = await system.submit([[{ hold: true }]]);
      await system.started(taskId);

      const silent = await dial(system);
      const silentClose = closeOf(silent);
      const said = async (...frames: (string | Buffer)[]): Promise<string> => {
        const socket = await dial(system);
        const closed = closeOf(socket);
        for (const frame of frames) socket.send(frame);
        return closed;
      };
      const result = { type: 'result', ack: 0, task_id: taskId, attempt: 1, outcome: 'succeeded' };
      expect(await said('no JSON')).to.match(/^4400 hello: not JSON/);
      expect(await said('{"type":"heartbeat"}')).to.match(/^4400 hello: /);
      expect(await said(Buffer.from([0, 1, 2]))).to.match(/^4400 binary frame/);
      expect(await said(hello, '{"type":"nonsense"}')).to.match(/^4400 type/);
      expect(await said(hello, JSON.stringify({ ...result, seq: 7 }))).to.match(/^4410 expected 1/);
      const beyond = JSON.stringify({ ...result, seq: 1, ack: 99 });
      expect(await said(hello, beyond)).to.match(/^4400 ack/);
      expect(await said(hello, 'x'.repeat(SESSION_LIMITS.frameBytesMax + 1))).to.match(/^1009/);

      // Well formed, and about a task that another one runs: refused, and told to stop.
      const liar = await dial(system);
      liar.send(hello);
      await once(liar, 'message');
      liar.send(JSON.stringify({ ...result, type: 'accept', seq: 1 }));
      const frames: Record<string, unknown>[] = [];
      for (;;) {
        const [data] = (await once(liar, 'message')) as [Buffer];
        frames.push(JSON.parse(data.toString()) as Record<string, unknown>);
        if (frames.some(({ type }) => type === 'cancel')) break;
      }
      expect(frames.at(-1)).to.include({ task_id: taskId, attempt: 1, reason: 'stale_attempt' });
      liar.send(JSON.stringify({ ...result, seq: 2 }));

      expect(await silentClose).to.match(/^4408 no hello within 5 s/);
      expect(await system.task(taskId)).to.include({ state: 'running', attempt: 1 });
      good.write(taskId);
      expect(await system.ended(taskId)).to.include({ state: 'succeeded', executor_id: 'good' });
      expect(good.lines.filter(({ fields }) => fields['event'] === 'disconnected')).to.deep.equal(
        [],
      );
    });

    it('lets nobody in without the token, and an executor that is refused ends', async () => {
      const system = await start(tokens);
      const wrong = system.spawnExecutor({ id: 'wrong', token: 'not-the-token-of-anybody' });
      expect(await wrong.exited).to.include({ code: 1 });
      expect(wrong.tail()).to.include('401');
      const right = system.spawnExecutor({ id: 'right', token: TOKEN });
      await right.said('that it is connected', ({ fields }) => fields['event'] === 'connected');
    });
  },
  { stores: ['SQLite'] },
);
