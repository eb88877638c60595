/** What a missing input is to the one who asks for it. */
import { expect } from 'chai';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputUnavailableError, NonRetryableError } from '@soda-scheduler/executor-sdk';
import { makeDirectoryOf, MediaRoot } from '../../examples/media/media-root.ts';

describe('the media root', () => {
  it('says of an input that is not there that it is unavailable, and of no other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'soda-media-'));
    try {
      mkdirSync(join(folder, 'root/folder'), { recursive: true });
      const root = await MediaRoot.open(join(folder, 'root'));
      const failure = (path: string) => root.input(path).catch((error: unknown) => error);
      expect(await failure('gone.mp4')).to.be.instanceOf(InputUnavailableError);
      for (const path of ['folder', '../gone.mp4', '.soda~work/default~task-1/joined.mov']) {
        const error = await failure(path);
        expect(error, path).to.be.instanceOf(NonRetryableError);
        expect(error, path).not.to.be.instanceOf(InputUnavailableError);
      }
      mkdirSync(join(folder, 'root/.soda~work'));
      writeFileSync(join(folder, 'root/.soda~work/a.mov'), 'of another task');
      symlinkSync('.soda~work', join(folder, 'root/link'));
      for (const path of ['.soda~work/a.mov', 'link/a.mov']) {
        expect(((await failure(path)) as Error).message).to.include('are temporary files');
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is full where it has too little room, and not where nobody can tell', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'soda-media-'));
    const root = await MediaRoot.open(folder);
    expect(await root.isFull(0)).to.equal(false);
    expect(await root.isFull(1e30)).to.equal(true);
    rmSync(folder, { recursive: true });
    expect(await root.isFull(1e30)).to.equal(false);
    expect(await root.problem(1e30)).to.equal('MEDIA_ROOT cannot be written: ENOENT');
  });

  it('makes no directory before something is written into it', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'soda-media-')));
    try {
      const root = await MediaRoot.open(folder);
      const target = await root.output('new/films/a.mp4');
      expect(target).to.equal(join(folder, 'new/films/a.mp4'));
      await root.outputFolder('new/vod');
      expect(readdirSync(folder)).to.deep.equal([]);
      await makeDirectoryOf(target, 'new/films/a.mp4');
      expect(readdirSync(join(folder, 'new'))).to.deep.equal(['films']);
      writeFileSync(join(folder, 'file'), '');
      const failed = makeDirectoryOf(join(folder, 'file/a.mp4'), 'file/a.mp4');
      expect(await failed.catch(String)).to.include('output file/a.mp4 is not a usable path');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
