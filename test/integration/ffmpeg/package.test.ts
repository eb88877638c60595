/** What becomes of the files that ffmpeg has cut, without an ffmpeg: their encryption, and what is refused. */
import { expect } from 'chai';
import { createDecipheriv } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Contents,
  type Encryption,
  finishPackage,
} from '../../../examples/ffmpeg/ladder/package.ts';
import { parseMediaPlaylist } from '../../../examples/ffmpeg/ladder/playlists.ts';

const KEY = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');

const ENCRYPTION: Encryption = { key: KEY, uri: 'https://k/1', mark: 'soda:1' };

describe('a package', () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  const contents = {
    rungs: [{ rung: { picture: { width: 320, height: 180 } }, file: '' }],
    ...{ audio: null, captions: [], seconds: 3 },
    grid: { rate: { frames: 25, perSeconds: 1 }, gopFrames: 25, segmentFrames: 50 },
  } as unknown as Contents;

  /** As ffmpeg leaves it: two segments, of two seconds and of one. */
  function cut(segments: readonly Buffer[] = [Buffer.alloc(50, 1), Buffer.alloc(50, 1)]): string {
    const folder = mkdtempSync(join(tmpdir(), 'soda-package-'));
    folders.push(folder);
    const names = segments.map((_, n) => `segment-0-0000${n + 1}.m4s`);
    for (const [n, one] of segments.entries()) writeFileSync(join(folder, names[n] ?? ''), one);
    const files = {
      'init-0.m4s': 'init',
      'media_0.m3u8': `#EXTM3U\n#EXT-X-MAP:URI="init-0.m4s"\n#EXTINF:2,\n${names[0]}\n#EXTINF:1,\n${names[1]}\n`,
      'master.m3u8': '#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="avc1.640015"\nmedia_0.m3u8\n',
      'manifest.mpd': '<MPD/>',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return folder;
  }

  const attempt = (signal = new AbortController().signal, onSegment = () => {}) => ({
    ...{ signal, onSegment },
  });
  const locked = async (of: Partial<Encryption> = {}) => {
    const folder = cut();
    await finishPackage(contents, folder, { ...ENCRYPTION, ...of }, attempt());
    return folder;
  };
  const vectorsOf = (folder: string) =>
    [...readFileSync(join(folder, 'media_0.m3u8'), 'utf8').matchAll(/IV=0x([0-9a-f]{32})/g)].map(
      ([, iv = '']) => iv,
    );

  it('is encrypted alike when it is made again, each segment with a vector of its own', async () => {
    const [first, again] = [await locked(), await locked()];
    const vectors = vectorsOf(first);
    expect(new Set(vectors).size).to.equal(2);
    expect(vectorsOf(again)).to.deep.equal(vectors);
    for (const [n, iv] of vectors.entries()) {
      const segment = readFileSync(join(first, `segment-0-0000${n + 1}.m4s`));
      expect(readFileSync(join(again, `segment-0-0000${n + 1}.m4s`))).to.deep.equal(segment);
      const decipher = createDecipheriv('aes-128-cbc', KEY, Buffer.from(iv, 'hex'));
      const plain = Buffer.concat([decipher.update(segment), decipher.final()]);
      expect(plain).to.deep.equal(Buffer.alloc(50, 1));
    }
    for (const other of [{ mark: 'soda:2' }, { key: Buffer.alloc(16, 7) }]) {
      expect(vectorsOf(await locked(other))).not.to.include.members([vectors[0] ?? '']);
    }
    const { init } = parseMediaPlaylist(readFileSync(join(first, 'media_0.m3u8'), 'utf8'));
    expect(readFileSync(join(first, init), 'utf8')).to.equal('init');
  });

  it('is given up between two segments when its attempt has to end', async () => {
    const [folder, abort, reason] = [cut(), new AbortController(), new Error('canceled')];
    let seen = 0;
    // Both are looked at before the first is encrypted.
    const onSegment = () => void (++seen === 3 && abort.abort(reason));
    const error = await finishPackage(
      contents,
      folder,
      ENCRYPTION,
      attempt(abort.signal, onSegment),
    ).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.equal(reason);
    expect(readFileSync(join(folder, 'segment-0-00002.m4s'))).to.deep.equal(Buffer.alloc(50, 1));
  });
});
