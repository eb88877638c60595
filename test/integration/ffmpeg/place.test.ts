/** Where a ladder goes, and what it may replace there. */
import type { Task, TaskContext } from '@soda-scheduler/executor-sdk';
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Place, placeFor } from '../../../examples/ffmpeg/ladder/place.ts';
import type { LadderResult } from '../../../examples/ffmpeg/ladder/result.ts';
import { WorkFolder } from '../../../examples/media/attempt/work-folder.ts';
import { MediaRoot } from '../../../examples/media/media-root.ts';

describe('the folder of a ladder', () => {
  const task = { namespace: 'default', id: 'l' } as Task;
  const ctx = { token: '1.1', signal: new AbortController().signal } as TaskContext;
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'soda-place-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  async function placed(use: (place: Place) => Promise<unknown>): Promise<void> {
    const mediaRoot = await MediaRoot.open(root);
    const settings = { mediaRoot } as Parameters<typeof placeFor>[1];
    await WorkFolder.within(mediaRoot, task, ctx, async (work) =>
      use(await placeFor('vod', settings, [task, ctx], work)),
    );
  }

  const make = (place: Place, meanwhile = () => {}) =>
    place.make(
      'mark',
      async (folder) => {
        writeFileSync(join(folder, 'master.m3u8'), '');
        meanwhile();
        return { fingerprint: 'mark' } as LadderResult;
      },
      () => {},
    );
  const leftAlone = 'output vod exists, and is no ladder: it is left alone';
  const failure = (of: Promise<unknown>) =>
    of.then(
      () => 'none',
      (error: Error) => error.message,
    );
  const visible = () => readdirSync(root).filter((name) => !name.startsWith('.soda~work'));

  it('replaces a ladder, and a folder that is empty', async () => {
    mkdirSync(join(root, 'vod'));
    await placed(async (place) => {
      expect(await place.find('mark')).to.equal(null);
      await make(place);
      await make(place);
    });
    expect(readdirSync(join(root, 'vod'))).to.have.members(['ladder.json', 'master.m3u8']);
    expect(visible()).to.deep.equal(['vod']);
  });

  it('is in a folder that is made once there is something to write', async () => {
    const mediaRoot = await MediaRoot.open(root);
    const settings = { mediaRoot } as Parameters<typeof placeFor>[1];
    await WorkFolder.within(mediaRoot, task, ctx, async (work) => {
      const place = await placeFor('new/films/vod', settings, [task, ctx], work);
      expect(await place.find('mark')).to.equal(null);
      expect(visible()).to.deep.equal([]);
      await make(place);
    });
    expect(readdirSync(join(root, 'new/films'))).to.deep.equal(['vod']);
  });

  it('leaves alone what others have written there meanwhile', async () => {
    const [vod, film] = [join(root, 'vod'), join(root, 'vod/film.mp4')];
    const files = () => {
      mkdirSync(vod);
      writeFileSync(film, 'of another task');
    };
    expect(await failure(placed((place) => make(place, files)))).to.equal(leftAlone);
    expect(readdirSync(vod)).to.deep.equal(['film.mp4']);
    expect(await failure(placed((place) => place.find('mark')))).to.equal(leftAlone);
    rmSync(vod, { recursive: true });
    const file = () => writeFileSync(vod, 'a file');
    expect(await failure(placed((place) => make(place, file)))).to.equal(leftAlone);
    expect(visible()).to.deep.equal(['vod']);
    expect(readFileSync(vod, 'utf8')).to.equal('a file');
  });
});
