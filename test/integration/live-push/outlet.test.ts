/** The sender of a push beside a stand-in for ffmpeg that takes what it is given and sends nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { Outlet, type OutletOptions } from '../../../examples/live-push/outlet.ts';
import { RawFormat } from '../../../examples/live-push/raw-format.ts';
import { urlSink } from '../../../examples/live-push/sink.ts';

describe('the sender of a push', () => {
  it('is stuck once it has had frames for so long, not while it waits for them', async () => {
    const format = new RawFormat('64x64', 10);
    let started: (child: ChildProcess) => void = () => {};
    let ended: (why: string) => void = () => {};
    const start = new Promise<ChildProcess>((resolve) => (started = resolve));
    const end = new Promise<string>((resolve) => (ended = resolve));
    const begin: OutletOptions['spawn'] = (_, __, options = {}) => {
      const child = spawn('sleep', ['60'], options);
      void once(child, 'spawn').then(() => started(child));
      return child;
    };
    const outlet = new Outlet(
      {
        sink: () => Promise.resolve(urlSink('rtmp://127.0.0.1/live/key', new Set(['127.0.0.1']))),
        encode: { format, videoKbps: 100, audioKbps: 64, threads: 1 },
        ...{ ffmpeg: 'ffmpeg', spawn: begin, log: { warn() {} }, onSession() {}, onEnd: ended },
      },
      performance.now(),
    );
    outlet.watch(performance.now());
    const child = await start;
    const later = () => performance.now() + 20_000;
    outlet.watch(later());
    expect(child.killed, 'while it waits').to.equal(false);
    const frame = { video: [Buffer.alloc(format.videoBytes)], sound: [Buffer.alloc(64)] };
    expect(outlet.write(frame), 'it is there').to.equal(true);
    outlet.watch(performance.now());
    outlet.watch(later());
    expect(await end).to.equal('the sender ended (SIGKILL)');
    await outlet.kill();
  });
});
