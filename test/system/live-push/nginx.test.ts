/** Pushes into a server of RTMP that others have made: nginx with its module. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { findFfmpeg } from '../../../examples/media/binaries.ts';
import { NginxReceiver } from '../../helpers/push/nginx-receiver.ts';
import { describeOnOneMaster, type System, user } from '../../helpers/system/system.ts';
import { eventually } from '../../helpers/system/wait.ts';

const env = { PUSH_HOSTS: '127.0.0.1' };
const LEASE_MS = 6_000;
const FRAME_MS = 100;

describeOnOneMaster('a live push into nginx-rtmp', ({ start }) => {
  let media: string;
  let nginx: NginxReceiver;
  let found: Awaited<ReturnType<typeof findFfmpeg>>;

  before(async function () {
    const binaries = await findFfmpeg(process.env).catch(() => null);
    if (binaries === null || !NginxReceiver.isThere) return this.skip();
    found = binaries;
    media = mkdtempSync(join(tmpdir(), 'soda-system-nginx-'));
    for (const [name, source] of [
      ['warmup.mp4', 'testsrc2=s=160x120:r=10:d=20'],
      ['main.mp4', 'smptebars=s=160x120:r=10:d=90'],
    ] as const) {
      const made = ['-f', 'lavfi', '-i', source, '-preset', 'ultrafast'];
      execFileSync(found.ffmpeg, ['-loglevel', 'error', ...made, join(media, name)]);
    }
    nginx = await NginxReceiver.start();
  });
  after(async () => {
    await nginx?.close();
    if (media) rmSync(media, { recursive: true, force: true });
  });

  it('would be told of, where there were two', async () => {
    const sending = ['-loglevel', 'quiet', '-re', '-i', join(media, 'main.mp4'), '-c', 'copy'];
    const send = () => spawn(found.ffmpeg, [...sending, '-f', 'flv', nginx.url('two')]);
    const first = send();
    await recorded('two', 0);
    const second = send();
    await eventually('both are known', () => nginx.of('two').length === 2);
    expect(nginx.of('two')[0]?.endedAt).to.equal(null);
    for (const one of [first, second]) {
      one.kill();
      if (one.exitCode === null && one.signalCode === null) await once(one, 'exit');
    }
  });

  async function push(system: System, key: string, more: object): Promise<string> {
    const video = { resolution: '160x120', frame_rate: 1000 / FRAME_MS };
    const params = { url: nginx.url(key), main: 'main.mp4', video, ...more };
    return (await system.client.submit({ type: 'ffmpeg.push', params }, user)).task_id;
  }

  /** Frames have come from it, and been written. */
  const recorded = (key: string, index: number) =>
    eventually(`source ${index + 1} of ${key}`, () => {
      const recording = nginx.recordings(key)[index];
      return recording !== undefined && recording.bytes > 10_000 && recording;
    });

  function expectEvenFrames(key: string, index: number): number[] {
    const recording = nginx.recordings(key)[index];
    const frames =
      recording === undefined ? [] : nginx.framesOf(recording, found.ffprobe ?? 'ffprobe');
    const steps = frames.slice(1).map((at, before) => at - (frames[before] ?? 0));
    expect(steps.length, 'frames').to.be.above(10);
    expect(Math.min(...steps), 'the least step of its times').to.be.at.least(FRAME_MS - 1);
    expect(Math.max(...steps), 'the largest').to.be.below(2 * FRAME_MS);
    return frames;
  }

  it('is one source over its warm-up and its class, whose times go on without a gap', async () => {
    const system = await start();
    await system.ffmpegExecutor('a', media, env, 'live-push');
    const startsAt = Date.now() + 5_000;
    const more = { warmup: 'warmup.mp4', starts_at: startsAt, ends_at: startsAt + 4_000 };
    const taskId = await push(system, 'switched', more);
    const { result } = await system.ended(taskId);
    expect(result).to.include({ sessions: 1 });
    await eventually('it has ended', () => nginx.of('switched')[0]?.endedAt);
    expect(nginx.of('switched')).to.have.length(1);
    const frames = expectEvenFrames('switched', 0);
    const lasted = (frames.at(-1) ?? 0) - (frames[0] ?? 0);
    expect(lasted, 'from before the class to its end').to.be.above(4_500);
  });

  it('has another source within the lease and two seconds when its executor is killed, and never two', async () => {
    const system = await start();
    const sending = await system.ffmpegExecutor('a', media, env, 'live-push');
    const taskId = await push(system, 'killed', { starts_at: Date.now() });
    await recorded('killed', 0);
    await system.ffmpegExecutor('b', media, env, 'live-push');
    await sending.end('SIGKILL');
    await recorded('killed', 1);
    const [first, second, ...others] = nginx.of('killed');
    expect(others).to.deep.equal([]);
    expect(first?.endedAt, 'the end of the first').to.be.below(second?.begunAt ?? 0);
    const gapMs = (second?.begunAt ?? 0) - (nginx.recordings('killed')[0]?.lastAt ?? 0);
    expect(gapMs, 'gap').to.be.below(LEASE_MS + 2_000);
    await system.client.cancel(taskId);
    await system.ended(taskId);
    await eventually('the second is gone', () => second?.endedAt);
    expectEvenFrames('killed', 0);
    expectEvenFrames('killed', 1);
  });
});
