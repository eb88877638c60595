/** Real transcodes on real executors that are killed, stopped and canceled. */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FFMPEG_MISSING } from '../../helpers/system/ffmpeg.ts';
import { describeOnOneMaster, outcomesOf, type System } from '../../helpers/system/system.ts';
import { eventually } from '../../helpers/system/wait.ts';

/** All processes of this machine whose command lines name the folder. */
function processesAbout(folder: string): { readonly pid: number; readonly command: string }[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return command.includes(folder) ? [{ pid: Number(pid), command }] : [];
    } catch {
      return []; // It has just ended.
    }
  });
}

describeOnOneMaster('a transcode', ({ start }) => {
  let media: string;

  before(function () {
    if (FFMPEG_MISSING) return this.skip();
    media = mkdtempSync(join(tmpdir(), 'soda-system-media-'));
    const sources = ['testsrc2=size=320x180:rate=10:duration=6', 'sine=duration=6'];
    const inputs = sources.flatMap((source) => ['-f', 'lavfi', '-i', source]);
    const made = ['-c:v', 'libx264', '-preset', 'ultrafast', join(media, 'in.mp4')];
    execFileSync('ffmpeg', ['-nostdin', '-loglevel', 'error', ...inputs, ...made]);
  });
  after(() => {
    if (media) rmSync(media, { recursive: true, force: true });
  });

  /** Two outputs in a directory of their own: a quick one and a slow one. */
  async function submitTranscode(system: System, directory: string): Promise<string> {
    mkdirSync(join(media, directory), { recursive: true });
    const { task_id } = await system.client.submit({
      type: 'ffmpeg.transcode',
      params: {
        input: 'in.mp4',
        outputs: [
          { path: `${directory}/first.mp4`, video: { resolution: '128x72' } },
          { path: `${directory}/second.mp4`, video: { resolution: '640x360' } },
        ],
      },
      notify_url: system.receiver.url(directory),
      user: { group: 'tests' },
    });
    return task_id;
  }

  /** ffmpeg is making the second output, by this process. */
  const secondBegun = (taskId: string) =>
    eventually('the second output is being made', () =>
      processesAbout(media).find(({ command }) => command.includes(`${taskId}~1~`)),
    );

  /** Two executors, of which one is at the second output: its ffmpeg stands still. */
  async function atSecond(system: System, directory: string) {
    const executors = [
      await system.ffmpegExecutor('a', media),
      await system.ffmpegExecutor('b', media),
    ];
    const taskId = await submitTranscode(system, directory);
    const { pid: ffmpeg } = await secondBegun(taskId);
    process.kill(ffmpeg, 'SIGSTOP');
    const { executor_id } = await system.task(taskId);
    const view = (await system.client.executors()).find((one) => one.executor_id === executor_id);
    const holder = executors.find(({ pid }) => pid === view?.pid);
    if (holder === undefined) throw new Error(`nobody has ${taskId}`);
    return { taskId, holder, ffmpeg };
  }

  const noneLeft = () => eventually('no ffmpeg is left', () => processesAbout(media).length === 0);

  it('is finished by another executor after kill -9, without doing the done part again', async () => {
    const system = await start();
    const { taskId, holder } = await atSecond(system, 'killed');
    const first = join(media, 'killed/first.mp4');
    const before = statSync(first);

    await holder.end('SIGKILL');
    const task = await system.ended(taskId);

    expect(task).to.include({ state: 'succeeded', attempt: 2, attempts_used: 0 });
    expect(outcomesOf(task)).to.deep.equal(['lost', 'succeeded']);
    const after = statSync(first);
    expect([after.ino, after.mtimeMs]).to.deep.equal([before.ino, before.mtimeMs]);
    const { outputs } = task.result as { outputs: { skipped: boolean }[] };
    expect(outputs.map(({ skipped }) => skipped)).to.deep.equal([true, false]);
    await noneLeft();
    expect(readdirSync(join(media, 'killed'))).to.have.members(['first.mp4', 'second.mp4']);
  });

  it('ends at once when it is canceled, and leaves no ffmpeg behind', async () => {
    const system = await start();
    await system.ffmpegExecutor('a', media);
    const taskId = await submitTranscode(system, 'canceled');
    await secondBegun(taskId);

    await system.client.cancel(taskId);
    const task = await system.ended(taskId);

    expect(task).to.include({ state: 'canceled' });
    expect(outcomesOf(task)).to.deep.equal(['canceled']);
    await noneLeft();
    expect(readdirSync(join(media, 'canceled'))).to.deep.equal(['first.mp4']);
    const [delivery] = await system.delivered('canceled');
    expect(delivery?.body).to.include({ task_id: taskId, code: 499, state: 'canceled' });
  });

  it('waits, at no cost, for an executor whose ffmpeg is gone, and says so', async () => {
    const system = await start();
    const bin = join(system.folder, 'bin');
    const ffmpeg = join(bin, 'ffmpeg');
    const [found] = execFileSync('which', ['ffmpeg'], { encoding: 'utf8' }).split('\n');
    const install = () => symlinkSync(found ?? '', ffmpeg);
    mkdirSync(bin);
    install();
    await system.ffmpegExecutor('a', media, { PATH: bin });
    const readiness = async () => (await system.client.executors())[0]?.ready ?? null;
    await eventually('it is ready', async () => (await readiness())?.ok === true);

    rmSync(ffmpeg);
    // What fails has it look again at once.
    const outputs = [{ path: 'gone/out.mp4' }];
    const params = { input: 'no-such.mp4', outputs };
    const user = { group: 'tests' };
    const failing = { type: 'ffmpeg.transcode', params, user };
    await system.ended((await system.client.submit(failing)).task_id);
    await eventually('it is not ready', async () => (await readiness())?.ok === false);
    expect((await readiness())?.reason).to.equal(`${ffmpeg} is not there`);
    const taskId = await submitTranscode(system, 'gone');
    expect((await system.task(taskId)).waiting).to.include({ reason: 'not_ready' });

    install();
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', attempt: 1 });
    const { disk_bytes, ...rest } = (await readiness()) ?? {};
    expect(rest).to.deep.equal({ ok: true, reason: null });
    expect(disk_bytes).to.be.above(0);
  });

  it('whose executor stood still is made by another one, and nothing of the first is left', async () => {
    const system = await start();
    const { taskId, holder: stopped, ffmpeg } = await atSecond(system, 'stood');

    stopped.signal('SIGSTOP');
    process.kill(ffmpeg, 'SIGCONT');
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', attempt: 2 });
    const second = join(media, 'stood/second.mp4');
    const before = statSync(second);

    stopped.signal('SIGCONT');
    await stopped.said('that it gave up', ({ text }) => text.includes('the lease was lost'));
    await noneLeft();
    const after = statSync(second);
    expect([after.ino, after.mtimeMs]).to.deep.equal([before.ino, before.mtimeMs]);
    expect(readdirSync(join(media, 'stood'))).to.have.members(['first.mp4', 'second.mp4']);
    expect(stopped.exit).to.equal(null);
  });
});
