/** Pushes of real executors that are killed and stopped: another goes on, and there are never two sources. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { findFfmpeg } from '../../../examples/media/binaries.ts';
import { type Published, RtmpReceiver } from '../../helpers/push/rtmp-receiver.ts';
import { describeOnOneMaster, outcomesOf, type System, user } from '../../helpers/system/system.ts';
import { eventually } from '../../helpers/system/wait.ts';

const env = { PUSH_HOSTS: '127.0.0.1' };

describeOnOneMaster('a live push', ({ start }) => {
  let media: string;
  let receiver: RtmpReceiver;

  before(async function () {
    const found = await findFfmpeg(process.env).catch(() => null);
    if (found === null) return this.skip();
    media = mkdtempSync(join(tmpdir(), 'soda-system-push-'));
    const made = ['-f', 'lavfi', '-i', 'testsrc2=s=160x120:r=10:d=90', '-preset', 'ultrafast'];
    execFileSync(found.ffmpeg, ['-loglevel', 'error', ...made, join(media, 'main.mp4')]);
    receiver = await RtmpReceiver.start();
  });
  after(async () => {
    await receiver?.close();
    if (media) rmSync(media, { recursive: true, force: true });
  });

  /** One that sends, and one that waits. */
  async function pushed(system: System, key: string) {
    const sending = await system.ffmpegExecutor('a', media, env, 'live-push');
    const params = {
      url: receiver.url(key),
      main: 'main.mp4',
      starts_at: Date.now(),
      video: { resolution: '160x120', frame_rate: 10 },
    };
    const { task_id } = await system.client.submit({ type: 'ffmpeg.push', params }, user);
    const first = await source(key, 0);
    await system.ffmpegExecutor('b', media, env, 'live-push');
    return { taskId: task_id, sending, first };
  }

  /** It has sent some frames. */
  const source = (key: string, index: number): Promise<Published> =>
    eventually(`source ${index + 1} of ${key}`, () => {
      const found = receiver.published.filter((one) => one.key === key)[index];
      return found !== undefined && found.packets.length > 10 && found;
    });

  function expectOneAfterTheOther(first: Published, second: Published): void {
    expect(first.packets.at(-1)?.at).to.be.below(second.packets[0]?.at ?? 0);
  }

  it('goes on elsewhere when its executor is killed, and ends when it is canceled', async () => {
    const system = await start();
    const { taskId, sending, first } = await pushed(system, 'killed');
    await sending.end('SIGKILL');
    const second = await source('killed', 1);
    expectOneAfterTheOther(first, second);
    expect(await system.task(taskId)).to.include({ state: 'running', attempt: 2 });
    await system.client.cancel(taskId);
    expect(outcomesOf(await system.ended(taskId))).to.deep.equal(['lost', 'canceled']);
    await eventually('the second is gone', () => !second.isOpen);
  });

  it('sends nothing more when its executor, which stood still, goes on', async () => {
    const system = await start();
    const { taskId, sending, first } = await pushed(system, 'stood');
    sending.signal('SIGSTOP');
    const second = await source('stood', 1);
    expect(first.isOpen, 'its sender is gone').to.equal(false);
    sending.signal('SIGCONT');
    await sending.said('that it gave up', ({ text }) => text.includes('the lease was lost'));
    await system.client.cancel(taskId);
    await system.ended(taskId);
    expectOneAfterTheOther(first, second);
    expect(receiver.published.filter(({ key }) => key === 'stood')).to.have.length(2);
  });
});
