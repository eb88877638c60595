/** A real ladder on real executors, of which one is killed between two rungs. */
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FFMPEG_MISSING } from '../../helpers/system/ffmpeg.ts';
import { describeOnOneMaster, outcomesOf } from '../../helpers/system/system.ts';
import { eventually } from '../../helpers/system/wait.ts';

describeOnOneMaster('a ladder', ({ start }) => {
  let media: string;

  before(function () {
    if (FFMPEG_MISSING) return this.skip();
    media = mkdtempSync(join(tmpdir(), 'soda-system-ladder-'));
    const source = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=10:duration=4'];
    const made = ['-c:v', 'libx264', '-preset', 'ultrafast', join(media, 'in.mp4')];
    execFileSync('ffmpeg', ['-nostdin', '-loglevel', 'error', ...source, ...made]);
  });
  after(() => {
    if (media) rmSync(media, { recursive: true, force: true });
  });

  it('goes on with the rungs that are whole after kill -9, on another executor', async () => {
    const system = await start();
    const executors = [
      await system.ffmpegExecutor('a', media),
      await system.ffmpegExecutor('b', media),
    ];
    const rungs = [180, 120, 90].map((height) => ({ height, crf: 30, max_kbps: 500 }));
    const profile = { preset: 'slow', rungs, sprites: null };
    const { task_id } = await system.client.submit({
      type: 'ffmpeg.ladder',
      params: { input: 'in.mp4', output: 'vod', profile },
      user: { group: 'tests' },
    });
    const work = join(media, '.soda~work');
    const [folder] = await eventually('there is a folder of the task', () => {
      const names = existsSync(work) ? readdirSync(work) : [];
      return names.length > 0 && names;
    });
    const first = join(work, folder ?? '', '180p.mp4');
    await eventually('the first rung is whole', () => existsSync(first));
    const { executor_id } = await system.task(task_id);
    const view = (await system.client.executors()).find((one) => one.executor_id === executor_id);
    const holder = executors.find(({ pid }) => pid === view?.pid);
    if (holder === undefined) throw new Error(`nobody has ${task_id}`);
    await holder.end('SIGKILL');
    const { ino, mtimeMs } = statSync(first);

    const last = join(work, folder ?? '', '90p.mp4');
    await eventually(
      'the last rung is whole',
      () => existsSync(last) || existsSync(join(media, 'vod')),
    );
    if (existsSync(first)) expect(statSync(first)).to.include({ ino, mtimeMs });
    const task = await system.ended(task_id);
    expect(task).to.include({ state: 'succeeded', attempt: 2, attempts_used: 0 });
    expect(outcomesOf(task)).to.deep.equal(['lost', 'succeeded']);
    const result = task.result as { rungs: { name: string }[]; skipped: boolean };
    expect(result.skipped).to.equal(false);
    expect(result.rungs.map(({ name }) => name)).to.deep.equal(['180p', '120p', '90p']);
    expect(readdirSync(join(media, 'vod'))).to.include.members([
      'master.m3u8',
      'manifest.mpd',
      'ladder.json',
    ]);
    expect(readdirSync(work)).to.deep.equal([]);
    expect(readdirSync(media)).to.have.members(['.soda~work', 'in.mp4', 'vod']);
  });
});
