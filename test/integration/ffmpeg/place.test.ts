/** Where a ladder goes, and what it may replace there. */
import {
  NonRetryableError,
  RetryableError,
  type Task,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Place, placeFor } from '../../../examples/ffmpeg/ladder/place.ts';
import type { LadderResult } from '../../../examples/ffmpeg/ladder/result.ts';
import { WorkFolder } from '../../../examples/media/attempt/work-folder.ts';
import { MediaRoot } from '../../../examples/media/media-root.ts';
import { ObjectStore } from '../../../examples/storage/object-store.ts';
import { KEYS, REGION, StrictObjectStorage } from '../../helpers/storage/strict-object-storage.ts';

/** So deep that no path can name the innermost, and Node cannot remove it. */
function makeDeep(cwd: string): void {
  const deep = 'n=0; while [ $n -lt 20 ]; do mkdir $0; cd $0; n=$((n+1)); done; mkdir $0';
  execFileSync('sh', ['-c', deep, 'x'.repeat(200)], { cwd });
}

/** Of which each byte is one too much, as on a full disk. */
const FULL = '/dev/full';
const hasNoRoom = (error: unknown, what: string) => {
  const message = `${what}: there is no space left on the disk of the media root`;
  expect(error).to.be.instanceOf(RetryableError).with.property('message', message);
  expect(error).to.have.property('retryAfterMs', 60_000);
};

describe('the folder of a ladder', () => {
  const task = { namespace: 'default', id: 'l' } as Task;
  const ctx = { token: '1.1', signal: new AbortController().signal } as TaskContext;
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'soda-place-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  async function placed(
    use: (place: Place) => Promise<unknown>,
    signal: AbortSignal = ctx.signal,
  ): Promise<void> {
    const mediaRoot = await MediaRoot.open(root);
    const settings = { mediaRoot } as Parameters<typeof placeFor>[1];
    await WorkFolder.within(mediaRoot, task, ctx, async (work) =>
      use(await placeFor('vod', settings, [task, { ...ctx, signal }], work)),
    );
  }

  const make = (place: Place, meanwhile = () => {}, onPlaced = (_share: number) => {}) =>
    place.make(
      'mark',
      async (folder) => {
        writeFileSync(join(folder, 'master.m3u8'), '');
        meanwhile();
        return { fingerprint: 'mark' } as LadderResult;
      },
      onPlaced,
    );
  const ladderFiles = ['files.json', 'ladder.json', 'master.m3u8'];
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
    expect(readdirSync(join(root, 'vod'))).to.have.members(ladderFiles);
    expect(visible()).to.deep.equal(['vod']);
  });

  it('is there without the older one also where the attempt was killed that replaced it', async () => {
    await placed((place) => make(place));
    const old = join(root, '.soda~default~l~0~abc~old');
    mkdirSync(old);
    await placed(async (place) => {
      expect(await place.find('mark')).to.deep.equal({ fingerprint: 'mark' });
    });
    expect(visible()).to.deep.equal(['vod']);
  });

  it('is there also where the older one cannot be removed', async () => {
    await placed((place) => make(place));
    makeDeep(join(root, 'vod'));
    const names = JSON.stringify([...ladderFiles, 'x'.repeat(200)]);
    writeFileSync(join(root, 'vod/files.json'), names);
    try {
      await placed((place) => make(place));
      expect(readdirSync(join(root, 'vod'))).to.have.members(ladderFiles);
      expect(visible()).to.have.length(2);
    } finally {
      for (const name of visible()) execFileSync('rm', ['-rf', join(root, name)]);
    }
  });

  it('fails of what was wrong also where what it has written cannot be removed', async () => {
    const write = (folder: string) => {
      makeDeep(folder);
      return Promise.reject(new Error('what was wrong'));
    };
    try {
      const failed = placed((place) => place.make('mark', write, () => {}));
      expect(await failure(failed)).to.equal('what was wrong');
      const mediaRoot = await MediaRoot.open(root);
      const inWork = WorkFolder.within(mediaRoot, task, ctx, (work) =>
        work.make('part', async (draft) => {
          mkdirSync(draft);
          await write(draft);
        }),
      );
      expect(await failure(inWork)).to.equal('what was wrong');
    } finally {
      for (const name of readdirSync(root)) execFileSync('rm', ['-rf', join(root, name)]);
    }
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

  it('waits for room where the disk is full', async function () {
    if (!existsSync(FULL)) this.skip();
    const errorOf = (use: (place: Place) => Promise<unknown>) =>
      placed(use).catch((error: Error) => error);
    const write = (folder: string) => {
      symlinkSync(FULL, join(folder, 'ladder.json'));
      return Promise.resolve({ fingerprint: 'mark' } as LadderResult);
    };
    const making = errorOf((place) => place.make('mark', write, () => {}));
    hasNoRoom(await making, 'output vod');
    const work = join(root, '.soda~work/default~l');
    mkdirSync(work, { recursive: true });
    symlinkSync(FULL, join(work, 'targets.json'));
    hasNoRoom(await errorOf((place) => place.find('mark')), 'the folder of the task');
    rmSync(join(work, 'targets.json'));
    await placed((place) => make(place));
    expect(visible()).to.deep.equal(['vod']);
  });

  it('is not there where the attempt has to end while files go to the disk', async () => {
    const abort = new AbortController();
    const shares: number[] = [];
    const onPlaced = (share: number) => {
      if (shares.push(share) === 2) abort.abort(new Error('canceled'));
    };
    const making = placed((place) => make(place, () => {}, onPlaced), abort.signal);
    expect(await failure(making)).to.equal('canceled');
    expect(shares).to.have.length(2);
    expect(visible()).to.deep.equal([]);
  });

  it('leaves alone what others have put beside the files of a ladder', async () => {
    await placed((place) => make(place));
    const poster = join(root, 'vod/poster.jpg');
    writeFileSync(poster, 'of another task');
    const hasOther =
      'output vod exists, and has poster.jpg, which is not of its ladder: it is left alone';
    expect(await failure(placed((place) => place.find('another mark')))).to.equal(hasOther);
    expect(await failure(placed((place) => make(place)))).to.equal(hasOther);
    expect(readFileSync(poster, 'utf8')).to.equal('of another task');
    expect(visible()).to.deep.equal(['vod']);
    // Where nothing is to be made, nothing is in the way.
    await placed(async (place) => {
      expect(await place.find('mark')).to.deep.equal({ fingerprint: 'mark' });
    });
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

describe('the keys of a ladder in a storage', () => {
  let root: string;
  let storage: StrictObjectStorage;
  let store: ObjectStore;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'soda-place-'));
    storage = await StrictObjectStorage.start();
    store = new ObjectStore({
      ...{ ...KEYS, endpoint: storage.url, region: REGION, buckets: ['films'] },
    });
  });
  afterEach(async () => {
    await store.close();
    storage.stop();
    rmSync(root, { recursive: true });
    expect(storage.violations).to.deep.equal([]);
  });

  type Files = Readonly<Record<string, string>>;

  /** A task of its own, that knows nothing of those before it. */
  async function make(
    id: string,
    mark: string,
    files: (folder: string) => Files,
  ): Promise<Error | null> {
    const mediaRoot = await MediaRoot.open(root);
    const settings = { mediaRoot, storage: { store } } as unknown as Parameters<typeof placeFor>[1];
    const task = { namespace: 'default', id } as Task;
    const ctx = { token: '1.1', signal: new AbortController().signal } as TaskContext;
    return WorkFolder.within(mediaRoot, task, ctx, async (work) => {
      const place = await placeFor('s3://films/vod', settings, [task, ctx], work);
      if ((await place.find(mark)) !== null) return null;
      const write = (folder: string) => {
        for (const [name, text] of Object.entries(files(folder)))
          writeFileSync(join(folder, name), text);
        return Promise.resolve({ fingerprint: mark } as LadderResult);
      };
      await place.make(mark, write, () => {});
      return null;
    }).catch((error: Error) => error);
  }
  const ladder = (rung: string, init = 'init') => ({
    ...{ 'init-0.m4s': init, 'segment-0-00001.m4s': rung, 'segment-0-00002.m4s': `${rung} 2` },
    ...{ 'media_0.m3u8': rung, 'master.m3u8': rung },
  });
  const content = (name: string) => storage.objects.get(`films/vod/${name}`)?.content.toString();
  /** Segments are refused for good once there are so many objects: the right to write was taken away. */
  const refuseFrom = (count: number) => {
    storage.meddle = ({ method }, response) => {
      if (method !== 'PUT' || storage.objects.size < count) return false;
      response.writeHead(403).end();
      return true;
    };
  };

  it('are completed by another task with equal wishes, whatever bytes its encoder makes', async () => {
    refuseFrom(3);
    expect(await make('first', 'mark', () => ladder('one'))).to.be.instanceOf(NonRetryableError);
    expect([...storage.objects.keys()].slice(0, 2)).to.deep.equal([
      ...['films/vod/begun.json', 'films/vod/init-0.m4s'],
    ]);
    storage.meddle = () => false;
    expect(await make('second', 'mark', () => ladder('another'))).to.equal(null);
    expect(content('segment-0-00001.m4s')).to.be.oneOf(['one', 'another']);
    expect(content('ladder.json')).to.include('mark');
    expect(await make('third', 'mark', () => expect.fail('it is there'))).to.equal(null);
  });

  it('are refused to another ladder before anything of it is made', async () => {
    refuseFrom(3);
    await make('first', 'mark', () => ladder('one'));
    storage.meddle = () => false;
    const error = await make('second', 'other', () => expect.fail('it was made'));
    expect(error).to.be.instanceOf(NonRetryableError);
    expect(error?.message).to.include('has a ladder already, or a part of one, of another input');
  });

  it('wait for room where the disk is full on which they are made', async function () {
    if (!existsSync(FULL)) this.skip();
    const error = await make('first', 'mark', (folder) => {
      symlinkSync(FULL, join(folder, 'ladder.json'));
      return ladder('one');
    });
    hasNoRoom(error, 'the folder of the task');
    expect(await make('first', 'mark', () => ladder('one'))).to.equal(null);
    expect(content('ladder.json')).to.include('mark');
  });

  it('get no segment behind a beginning of another encoder', async () => {
    refuseFrom(3);
    await make('first', 'mark', () => ladder('one'));
    storage.meddle = () => false;
    const sent = storage.objects.size;
    const error = await make('second', 'mark', () => ladder('another', 'a longer init'));
    expect(error?.message).to.include('init-0.m4s is there already, with another content');
    expect(storage.objects.size).to.equal(sent);
  });
});
