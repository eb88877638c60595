/** Frames that came together hold up nobody else for long. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { FRAMES_MS_MAX } from '../../master/domain/bounds.ts';
import { RawExecutor } from '../helpers/raw-executor.ts';
import { ScriptedMaster } from '../helpers/scripted-master.ts';

const FRAME_COUNT = 40;
const FRAME_MS = 3;
const clock = new Int32Array(new SharedArrayBuffer(4));

describe('many frames in one piece', () => {
  let master: ScriptedMaster;
  beforeEach(async () => {
    master = await ScriptedMaster.start();
  });
  afterEach(() => master.close());

  it('are taken a few at a time, in their order, and before the end of their connection', async () => {
    const executor = await RawExecutor.join(master.port);
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const turns = new Map<number, number>();
    const said: string[] = [];
    const { receive, closed } = master.sessions;
    master.sessions.receive = (connection, text) => {
      turns.set(turn, (turns.get(turn) ?? 0) + 1);
      // Each takes its time.
      Atomics.wait(clock, 0, 0, FRAME_MS);
      said.push((JSON.parse(text) as { n: string }).n);
      receive.call(master.sessions, connection, text);
    };
    const ended = new Promise<void>((resolve) => {
      master.sessions.closed = (connection, code) => {
        said.push('closed');
        closed.call(master.sessions, connection, code);
        resolve();
      };
    });
    const { _socket: tcp } = executor.socket as unknown as { readonly _socket: Socket };
    tcp.cork();
    const all = Array.from({ length: FRAME_COUNT }, (_, n) => n);
    for (const n of all) {
      executor.send({ type: 'heartbeat', n, ack: 0, state: 'idle', running: [] });
    }
    executor.socket.close(4000);
    tcp.uncork();
    await Promise.all([ended, once(executor.socket, 'close')]);
    isOver = true;
    expect(said).to.deep.equal([...all, 'closed']);
    expect(Math.max(...turns.values())).to.be.at.most(Math.ceil(FRAMES_MS_MAX / FRAME_MS));
  });
});
