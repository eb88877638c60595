/** Ladders with the real ffmpeg of this machine: what players need of them, read back and played. */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import {
  execFile,
  execFileSync,
  type ExecFileSyncOptionsWithStringEncoding,
} from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ladderHandler, type LadderSettings } from '../../../examples/ffmpeg/ladder/ladder.ts';
import type { LadderResult } from '../../../examples/ffmpeg/ladder/result.ts';
import { readProfiles } from '../../../examples/ffmpeg/ladder/profile.ts';
import { findFfmpeg } from '../../../examples/media/binaries.ts';
import { MediaRoot } from '../../../examples/media/media-root.ts';
import { makeClips } from '../../helpers/media/clips.ts';

const PROFILE = {
  preset: 'ultrafast',
  gop_seconds: 0.5,
  rungs: [
    { height: 360, crf: 30, max_kbps: 900 },
    { height: 180, crf: 30, max_kbps: 400 },
    { height: 100, crf: 30, max_kbps: 150 },
  ],
  audio: { bitrate_kbps: 64, loudness: { integrated: -16 } },
  sprites: { every_seconds: 1, width: 64, columns: 2, rows: 2 },
};
const KEY = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');

type Published = LadderResult & { readonly skipped: boolean };

describe('a ladder', function () {
  let ffmpeg: string;
  let ffprobe: string;
  let root: string;
  let keys: string;

  before(async function () {
    const found = await findFfmpeg(process.env).catch(() => null);
    if (found === null || found.ffprobe === null) return this.skip();
    ({ ffmpeg, ffprobe } = { ffmpeg: found.ffmpeg, ffprobe: found.ffprobe });
    root = mkdtempSync(join(tmpdir(), 'soda-ladder-'));
    keys = mkdtempSync(join(tmpdir(), 'soda-keys-'));
    writeFileSync(join(keys, 'class-42'), KEY);
    writeFileSync(join(keys, 'short'), 'x');
    const captions = '1\n00:00:00,500 --> 00:00:01,500\nWelcome --> R&D\n';
    writeFileSync(join(root, 'captions.srt'), captions);
    const sources = ['testsrc2=s=320x180:r=25:d=3.2', 'sine=r=44100:d=3.2'].flatMap((of) => [
      '-f',
      'lavfi',
      '-i',
      of,
    ]);
    run([
      ...[...sources, '-i', join(root, 'captions.srt'), '-c:v', 'libx264', '-preset', 'ultrafast'],
      ...[
        '-pix_fmt',
        'yuv420p',
        '-c:a',
        'aac',
        '-c:s',
        'mov_text',
        '-metadata:s:s:0',
        'language=eng',
      ],
      ...['-map', '0:v', '-map', '1:a', '-map', '2', join(root, 'in.mp4')],
    ]);
  });
  after(() => {
    for (const folder of [root, keys]) if (folder) rmSync(folder, { recursive: true });
  });

  function run(args: string[]): void {
    execFileSync(ffmpeg, ['-nostdin', '-loglevel', 'error', '-y', ...args]);
  }

  async function ladder(params: object, settings: Partial<LadderSettings> = {}) {
    const mediaRoot = await MediaRoot.open(root);
    const profiles = await readProfiles(undefined);
    const handler = ladderHandler({
      ...{ ffmpeg, ffprobe, mediaRoot, profiles, keys, threads: 1 },
      ...settings,
    });
    const report = await runHandler(handler, { id: 'ladder-1', params });
    return {
      ...report,
      result: report.result as Published | undefined,
      error: report.error as Error | undefined,
    };
  }

  async function made(params: object): Promise<Published> {
    const { result, error } = await ladder(params);
    if (result === undefined) throw error ?? new Error('neither result nor error');
    return result;
  }

  /** All that a ladder may have, made by the test that asks first. */
  const whole = async () => {
    const params = { input: 'in.mp4', output: 'vod/one', profile: PROFILE };
    const { result, error, ...report } = await (one ??= ladder(params));
    if (result === undefined) throw error ?? new Error('neither result nor error');
    return { ...report, result };
  };
  let one: ReturnType<typeof ladder> | null = null;

  const text = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');
  const segmentsIn = (...path: string[]) =>
    [...text(...path).matchAll(/#EXTINF:([\d.]+)/g)].map(([, one]) => Number(one));

  /** The times of the key frames of a rung, as players find them. */
  function keyTimes(folder: string, n: number): number[] {
    const args = [
      '-v',
      'error',
      '-of',
      'csv=p=0',
      '-select_streams',
      'v',
      '-show_entries',
      'packet=pts_time,flags',
    ];
    const list = execFileSync(ffprobe, [...args, join(root, folder, `media_${n}.m3u8`)], {
      encoding: 'utf8',
    });
    return list
      .split('\n')
      .filter((line) => line.includes('K'))
      .map((line) => Number(line.split(',')[0]));
  }

  it('is one set of files for HLS and DASH, with key frames at the same times in all rungs', async () => {
    const { result, checkpoints, progress } = await whole();

    // None is larger than the source.
    expect(result.rungs.map(({ name, width, height }) => [name, width, height])).to.deep.equal([
      ['180p', 320, 180],
      ['100p', 178, 100],
    ]);
    // 13 frames of 25 a second are a GOP, two of them a segment.
    const times = keyTimes('vod/one', 0);
    expect(times).to.deep.equal(keyTimes('vod/one', 1));
    expect(times.map((at) => Math.round((at - (times[0] ?? 0)) * 25))).to.deep.equal([
      0, 13, 26, 39, 52, 65, 78,
    ]);
    expect(segmentsIn('vod/one/media_0.m3u8')).to.deep.equal([1.04, 1.04, 1.04, 0.08]);
    expect(segmentsIn('vod/one/media_1.m3u8')).to.deep.equal(segmentsIn('vod/one/media_0.m3u8'));

    for (const name of ['master.m3u8', 'manifest.mpd']) {
      // Only of captions in a manifest it has to be told that their name is well.
      const allowed = name === 'manifest.mpd' ? ['-allowed_extensions', 'ALL'] : [];
      const file = join(root, 'vod/one', name);
      const args = ['-v', 'error', '-of', 'csv=p=0', '-show_entries', 'stream=codec_name,height'];
      const options: ExecFileSyncOptionsWithStringEncoding = {
        ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
      };
      const streams = execFileSync(ffprobe, [...args, ...allowed, file], options);
      expect(streams, name)
        .to.match(/h264,180[^]*h264,100/)
        .and.to.match(/aac/);
      // All of it is decoded, and what is damaged ends it.
      const play = ['-nostdin', '-v', 'error', '-xerror', ...allowed, '-i', file];
      execFileSync(ffmpeg, [...play, '-map', '0:v', '-map', '0:a', '-f', 'null', '-'], options);
    }
    expect(checkpoints.at(-1)).to.deep.equal({
      done: ['loudness', 'audio', '180p', '100p', 'pictures', 'captions'],
    });
    expect(progress.at(-1)?.percent).to.equal(100);
    expect(progress.at(-1)?.parts?.map(({ name }) => name)).to.include.members([
      '180p',
      '100p',
      'package',
    ]);
    expect(
      readdirSync(join(root, 'vod')).concat(readdirSync(join(root, '.soda~work'))),
    ).to.deep.equal(['one']);
  });

  it('has the loudness that is asked for, a poster, sprites and captions', async () => {
    const { result } = await whole();
    const { before, after } = result.audio?.loudness ?? {};
    expect(before?.integrated).to.be.below(-18);
    expect(after?.integrated).to.be.closeTo(-16, 1);
    const size = (name: string) =>
      execFileSync(
        ffprobe,
        [
          '-v',
          'error',
          '-of',
          'csv=p=0',
          '-show_entries',
          'stream=width,height',
          join(root, 'vod/one', name),
        ],
        { encoding: 'utf8' },
      ).trim();
    expect(size('poster.jpg')).to.equal('320,180');
    expect(size('sprites-1.jpg')).to.equal('128,72');
    expect(result.sprites).to.deep.equal({ track: 'vod/one/sprites.vtt', pictures: 4 });
    expect(text('vod/one/sprites.vtt')).to.include(
      '00:00:03.000 --> 00:00:03.200\nsprites-1.jpg#xywh=64,36,64,36',
    );
    expect(result.captions).to.deep.equal([{ language: 'eng', file: 'vod/one/captions-0.vtt' }]);
    expect(text('vod/one/captions-0.vtt')).to.match(
      /^WEBVTT[^]*00:01.500\nWelcome --&gt; R&amp;D\n/,
    );
    expect(text('vod/one/master.m3u8')).to.include(
      'TYPE=SUBTITLES,GROUP-ID="captions",NAME="eng 1",LANGUAGE="eng"',
    );
    expect(text('vod/one/manifest.mpd')).to.include('<BaseURL>captions-0.vtt</BaseURL>');
  });

  it('is encrypted with a key of the executor, which is written nowhere', async () => {
    const server = createServer((_, response) => response.end(KEY)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/key?class=42`;
    try {
      const profile = { ...PROFILE, sprites: null, poster: null, audio: null };
      const params = {
        input: 'in.mp4',
        output: 'vod/locked',
        profile,
        encrypt: { key: 'class-42', uri },
      };
      const { result, checkpoints, logs, error } = (await ladder(params)) as Awaited<
        ReturnType<typeof ladder>
      > & { logs?: unknown };
      if (result === undefined) throw error ?? new Error('neither result nor error');
      expect(result).to.include({ encrypted: true, dash: null });
      const folder = join(root, 'vod/locked');
      expect(readdirSync(folder)).not.to.include('manifest.mpd');
      expect(
        text('vod/locked/media_0.m3u8').match(
          /METHOD=AES-128,URI="http[^"]+",IV=0x[0-9a-f]{32}\n#EXTINF/g,
        ),
      ).to.have.length(4);
      const segment = readFileSync(join(folder, 'segment-0-00001.m4s'));
      expect(segment.includes('moof')).to.equal(false);
      for (const name of readdirSync(folder)) {
        expect(readFileSync(join(folder, name)).includes(KEY), name).to.equal(false);
      }
      expect(JSON.stringify([result, checkpoints, logs])).not.to.include(KEY.toString('hex'));
      const play = ['-nostdin', '-v', 'error', '-xerror', '-allowed_extensions', 'ALL'];
      const list = [
        '-protocol_whitelist',
        'file,http,tcp,crypto',
        '-i',
        join(folder, 'master.m3u8'),
        '-map',
        '0:v:0',
      ];
      const { stdout } = await promisify(execFile)(ffmpeg, [
        ...play,
        ...list,
        '-f',
        'framemd5',
        '-',
      ]);
      expect(stdout.split('\n').filter((line) => line.startsWith('0,'))).to.have.length(80);
      const again = () => ladder(params, { ffmpeg: '/bin/false' });
      expect((await again()).result?.skipped).to.equal(true);
      writeFileSync(join(keys, 'class-42'), KEY.toReversed());
      expect((await again()).error?.message, 'another key').to.include('180p: ffmpeg exited');
    } finally {
      writeFileSync(join(keys, 'class-42'), KEY);
      server.close();
      server.closeAllConnections();
    }
  });

  it('copies a rung that is one already, and only then', async () => {
    const rungs = [{ height: 180, crf: 30, max_kbps: 2000 }];
    const profile = {
      ...PROFILE,
      rungs,
      audio: null,
      sprites: null,
      poster: null,
      captions: false,
    };
    const gop = (frames: number, more: string[] = []) => [
      '-g',
      `${frames}`,
      '-keyint_min',
      `${frames}`,
      '-sc_threshold',
      '0',
      ...more,
    ];
    const of = ['testsrc2=s=320x180:r=25:d=2'];
    const common = ['-c:v', 'libx264', '-crf', '30', '-pix_fmt', 'yuv420p'];
    makeClips(ffmpeg, root, {
      'fit.mp4': { of, as: [...common, ...gop(13)] },
      'long.mp4': { of, as: [...common, ...gop(26)] },
      'open.mp4': { of, as: [...common, ...gop(13, ['-x264-params', 'open-gop=1:bframes=3'])] },
    });
    const copied: Record<string, boolean | undefined> = {};
    const capped = { ...profile, rungs: [{ height: 180, crf: 30, max_kbps: 64 }] };
    for (const name of ['fit', 'long', 'open', 'fat']) {
      const input = name === 'fat' ? 'fit.mp4' : `${name}.mp4`;
      const output = `vod/${name}`;
      const result = await made({ input, output, profile: name === 'fat' ? capped : profile });
      copied[name] = result.rungs[0]?.copied;
      expect(keyTimes(`vod/${name}`, 0)).to.have.length(4);
    }
    expect(copied).to.deep.equal({ fit: true, long: false, open: false, fat: false });
  });

  it('is made once, goes on with whole rungs, and replaces an older one only', async () => {
    const profile = { ...PROFILE, audio: null, sprites: null, poster: null, captions: false };
    const params = { input: 'in.mp4', output: 'vod/again', profile };
    const broken = join(root, 'broken-ffmpeg');
    writeFileSync(
      broken,
      `#!/bin/sh\ncase "$*" in *100p.mp4*) exit 9;; esac\nexec ${ffmpeg} "$@"\n`,
      { mode: 0o755 },
    );
    const failed = await ladder(params, { ffmpeg: broken });
    expect(failed.error?.message).to.include('100p: ffmpeg exited with code 9');
    expect(failed.error).not.to.be.instanceOf(NonRetryableError);
    expect(readdirSync(join(root, 'vod'))).not.to.include('again');
    const first = join(root, '.soda~work/default~ladder-1/180p.mp4');
    const { mtimeMs } = statSync(first);

    const only = join(root, 'only-ffmpeg');
    writeFileSync(
      only,
      `#!/bin/sh\ncase "$*" in *draft~180p.mp4*) exit 9;; esac\nexec ${ffmpeg} "$@"\n`,
      { mode: 0o755 },
    );
    const second = await ladder(params, { ffmpeg: only });
    expect(second.error).to.equal(undefined);
    expect(mtimeMs).to.be.above(0);
    expect(second.result?.skipped).to.equal(false);
    expect((await ladder(params, { ffmpeg: '/bin/false' })).result?.skipped).to.equal(true);

    const other = await made({ ...params, profile: { ...profile, gop_seconds: 1 } });
    expect(other.skipped).to.equal(false);
    expect(readdirSync(join(root, 'vod')).filter((name) => name.startsWith('.'))).to.deep.equal([]);
  });

  it('refuses what cannot be one before anything is encoded', async () => {
    const cases: [object, string][] = [
      [{ profile: 'none' }, 'profile: there is no none, but default'],
      [
        { profile: { rungs: [{ height: 180, crf: 30, max_kbps: '1M' }] } },
        'profile.rungs.0.max_kbps',
      ],
      [{ profile: { rungs: [] } }, 'profile.rungs'],
      [{ profile: { ...PROFILE, hdr: 'keep' } }, 'profile.hdr: only h265 keeps HDR'],
      [{ profile: { ...PROFILE, args: '-f' } }, 'profile: Unrecognized key'],
      [{ encrypt: { key: '../in.mp4', uri: 'https://k/1' } }, 'encrypt.key'],
      [{ encrypt: { key: 'none', uri: 'https://k/1' } }, 'encrypt.key: there is no none'],
      [
        { encrypt: { key: 'short', uri: 'https://k/1' } },
        'encrypt.key: short has 1 bytes instead of 16',
      ],
      [{ encrypt: { key: 'class-42', uri: 'https://k/"\n#EXT' } }, 'encrypt.uri'],
      [{ output: '.' }, 'output . is the media root itself: expected a path inside of it'],
      [{ output: 'in.mp4' }, 'exists and is not a folder'],
      [{ output: 'precious' }, 'exists, and is no ladder: it is left alone'],
      [{ output: '../out' }, 'is outside the media root'],
      [{ input: 'vod/..raw.mp4', output: 'vod' }, 'is in the folder of the output'],
    ];
    execFileSync('mkdir', ['-p', join(root, 'precious'), join(root, 'vod')]);
    writeFileSync(join(root, 'vod/..raw.mp4'), 'x');
    writeFileSync(join(root, 'precious/photo.jpg'), 'x');
    for (const [change, message] of cases) {
      const params = { input: 'in.mp4', output: 'vod/never', ...change };
      const { error } = await ladder(params, { ffmpeg: '/bin/false' });
      expect(error, message).to.be.instanceOf(NonRetryableError);
      expect(error?.message).to.include(message);
    }
  });
});
