/** What is left of tasks that never run again, and what must not be taken for that. */
import { NonRetryableError, RetryableError, TaskAborted } from '@soda-scheduler/executor-sdk';
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bringBackFolder } from '../../../examples/ffmpeg/outputs.ts';
import { noteTargets, sweep, takeAside } from '../../../examples/ffmpeg/sweep.ts';
import { WorkFolder } from '../../../examples/media/attempt/work-folder.ts';
import { findFfmpeg } from '../../../examples/media/binaries.ts';
import { MediaRoot } from '../../../examples/media/media-root.ts';

const HOUR_MS = 3_600_000;
const SAYS_MS_MAX = 20_000;

describe('the sweep of a media root', () => {
  let root: string;
  let mediaRoot: MediaRoot;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'soda-sweep-'));
    mediaRoot = await MediaRoot.open(root);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const taskOf = (id: string) =>
    ({ namespace: 'default', id }) as Parameters<typeof WorkFolder.within>[1];
  const fail = (error: unknown) => expect.fail(String(error));
  const work = () => readdirSync(mediaRoot.workFolders);

  /** An attempt that has begun to write beside its target, and is gone. */
  async function leave(id: string, hoursAgo: number): Promise<void> {
    const target = join(root, 'out/a.mp4');
    mkdirSync(join(root, 'out'), { recursive: true });
    const gone = async (folder: WorkFolder) => {
      await noteTargets(folder, { files: [target], folder: null });
      writeFileSync(folder.file('joined.mov'), 'x');
      writeFileSync(join(root, `out/.soda~default~${id}~0~abc`), 'x');
      throw new RetryableError('it was the last attempt, which nobody knows here');
    };
    await WorkFolder.within(mediaRoot, taskOf(id), { token: '1.1' }, gone).catch(() => undefined);
    const at = new Date(Date.now() - hoursAgo * HOUR_MS);
    utimesSync(mediaRoot.workFolder(taskOf(id)), at, at);
  }

  it('takes what nobody has used for so long, with what stands beside targets, and nothing else', async () => {
    await leave('old', 30);
    await leave('new', 1);
    writeFileSync(join(root, 'out/a.mp4'), 'precious');
    mkdirSync(join(mediaRoot.workFolders, 'of somebody else'));
    utimesSync(join(mediaRoot.workFolders, 'of somebody else'), 1, 1);
    expect(await sweep(mediaRoot, 24 * HOUR_MS, fail)).to.deep.equal(['old']);
    expect(work()).to.have.members(['default~new', 'of somebody else']);
    expect(readdirSync(join(root, 'out'))).to.have.members(['.soda~default~new~0~abc', 'a.mp4']);
    expect(await sweep(mediaRoot, 24 * HOUR_MS, fail)).to.deep.equal([]);
  });

  it('believes no note that leads elsewhere', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'soda-outside-'));
    writeFileSync(join(outside, '.soda~default~old~0~abc'), 'x');
    await leave('old', 30);
    writeFileSync(
      join(mediaRoot.workFolder(taskOf('old')), 'targets.json'),
      JSON.stringify({ files: [join(outside, 'a.mp4')], folder: outside }),
    );
    utimesSync(mediaRoot.workFolder(taskOf('old')), 1, 1);
    expect(await sweep(mediaRoot, HOUR_MS, fail)).to.deep.equal(['old']);
    expect(readdirSync(outside)).to.have.length(1);
    rmSync(outside, { recursive: true });
  });

  it('takes after an hour what is left where there is no room', async function () {
    if ((await findFfmpeg(process.env).catch(() => null)) === null) return this.skip();
    await leave('old', 2);
    await leave('new', 0.5);
    const args = ['--import', './scripts/typescript.mjs', 'examples/ffmpeg/executor.ts'];
    // Of a master nobody answers: whether it is ready it asks by itself.
    const env = { MEDIA_ROOT: root, FREE_MB_MIN: '1e9', SODA_URL: 'http://127.0.0.1:1' };
    const executor = spawn(process.execPath, args, {
      ...{ env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
      // Where it says nothing.
      ...{ timeout: SAYS_MS_MAX, killSignal: 'SIGKILL' },
    });
    let said = '';
    try {
      for await (const text of executor.stdout.setEncoding('utf8')) {
        said += text;
        if (said.includes('removed')) break;
      }
    } finally {
      executor.kill('SIGKILL');
      if (executor.exitCode === null && executor.signalCode === null) await once(executor, 'exit');
    }
    expect(said).to.include('removed what is left of tasks that do not run again: old');
    expect(work()).to.deep.equal(['default~new']);
  });

  it('goes on past what it cannot remove', async () => {
    await leave('a', 30);
    await leave('b', 30);
    // A folder that gets its name back cannot get this one.
    symlinkSync('nowhere', join(root, 'vod'));
    mkdirSync(join(root, '.soda~default~a~0~abc~old'));
    const path = mediaRoot.workFolder(taskOf('a'));
    const targets = { files: [], folder: join(mediaRoot.workFolders, '../vod') };
    writeFileSync(join(path, 'targets.json'), JSON.stringify(targets));
    utimesSync(path, 1, 1);
    const failures: string[] = [];
    const onFailure = (error: unknown) => failures.push(String(error));
    expect(await sweep(mediaRoot, HOUR_MS, onFailure)).to.deep.equal(['b']);
    expect(failures).to.have.length(1);
    expect(failures[0]).to.include('ENOTDIR');
  });

  it('leaves a task that goes on', async () => {
    await leave('long', 30);
    await WorkFolder.within(mediaRoot, taskOf('long'), { token: '1.2' }, async () => {
      expect(await sweep(mediaRoot, HOUR_MS, fail)).to.deep.equal([]);
    });
    expect(work()).to.deep.equal([]);
  });

  it('gives a folder back that an attempt has begun to use while it was taken', async () => {
    await leave('begun', 0);
    const path = mediaRoot.workFolder(taskOf('begun'));
    const going = join(mediaRoot.workFolders, '.going~1~default~begun');
    expect(await takeAside(path, going, HOUR_MS)).to.equal(false);
    expect(work()).to.deep.equal(['default~begun']);
    expect(readdirSync(path)).to.include('joined.mov');
    utimesSync(path, 1, 1);
    expect(await takeAside(path, going, HOUR_MS)).to.equal(true);
    expect(work()).to.deep.equal(['.going~1~default~begun']);
    expect(await takeAside(path, going, HOUR_MS)).to.equal(false);
  });

  it('goes on with what a sweep that died has left, and leaves what another one is taking', async () => {
    await leave('old', 30);
    const path = mediaRoot.workFolder(taskOf('old'));
    const going = join(mediaRoot.workFolders, '.going~1~default~old');
    expect(await takeAside(path, going, HOUR_MS)).to.equal(true);
    mkdirSync(join(mediaRoot.workFolders, '.going~2~default~new'));
    expect(await sweep(mediaRoot, HOUR_MS, fail)).to.deep.equal([]);
    expect(work()).to.deep.equal(['.going~2~default~new']);
    expect(readdirSync(join(root, 'out'))).to.deep.equal([]);
  });

  it('has nothing to do where the executor knows that no attempt follows', async () => {
    for (const error of [
      new NonRetryableError('no'),
      ...(['canceled', 'deadline', 'booking_end'] as const).map((why) => new TaskAborted(why)),
    ]) {
      const ended = async (folder: WorkFolder) => {
        await noteTargets(folder, { files: [], folder: null });
        throw error;
      };
      await WorkFolder.within(mediaRoot, taskOf('a'), { token: '1.1' }, ended).catch(
        () => undefined,
      );
      expect(work(), error.message).to.deep.equal([]);
    }
  });

  it('is left what an attempt cannot remove, which ends all the same', async () => {
    const ends = (error: Error | null) =>
      WorkFolder.within(mediaRoot, taskOf('a'), { token: '1.1' }, async () => {
        rmSync(mediaRoot.workFolders, { recursive: true, force: true });
        writeFileSync(mediaRoot.workFolders, 'it is no folder, and nothing in it can be removed');
        if (error !== null) throw error;
        return 'done';
      }).catch((thrown: unknown) => thrown);
    expect(await ends(null)).to.equal('done');
    rmSync(mediaRoot.workFolders);
    const error = new NonRetryableError('no');
    expect(await ends(error)).to.equal(error);
  });

  it('gives a folder its name back that was being replaced when everything was killed', async () => {
    const [target, rest] = [join(root, 'vod'), join(root, '.soda~default~l~0~abc~old')];
    mkdirSync(rest);
    writeFileSync(join(rest, 'old'), 'old');
    await bringBackFolder(target, taskOf('other'));
    expect(existsSync(target)).to.equal(false);
    await bringBackFolder(target, taskOf('l'));
    expect(readdirSync(target)).to.deep.equal(['old']);
    mkdirSync(rest);
    await bringBackFolder(target, taskOf('l'));
    expect(readdirSync(target)).to.deep.equal(['old']);
  });
});
