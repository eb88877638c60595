/**
 * Inputs as phones, cameras, broadcasters and broken disks make them. Each comes out as it is to be
 * shown, or is refused before anything is encoded, with a sentence that says why.
 */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MediaRoot } from '../../../examples/media/media-root.ts';
import type { Media } from '../../../examples/media/media.ts';
import { type Prober, probe } from '../../../examples/media/probe.ts';
import type { Renditions } from '../../../examples/ffmpeg/renditions.ts';
import { transcodeHandler } from '../../../examples/ffmpeg/transcode.ts';
import { copyClip, makeClips } from '../../helpers/media/clips.ts';
import { mediaFolder } from '../../helpers/media/media-folder.ts';

const SOUND = 'sine=d=2';
const PICTURE = 'testsrc2=s=64x36:r=25:d=2';
const LARGER = 'testsrc2=s=320x180:r=25:d=2';
const RED = 'color=red:s=32x32:r=1:d=1';
/** One line of pixels more than the largest that is taken. */
const HUGE = 'color=black:s=8192x4322:r=1:d=1';
const H264 = ['-c:v', 'libx264'];
const HDR = ['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'];
const TEN_BITS = ['-pix_fmt', 'yuv420p10le', ...H264];
const WEAVE = ['-vf', 'tinterlace=interleave_top,fieldorder=tff', '-flags', '+ilme+ildct'];
const COVER = ['-frames:v', '1', '-c:v', 'mjpeg', '-disposition:v', 'attached_pic'];
const UNEVEN = `select='not(mod(n\\,3))+not(mod(n\\,7))'`;
/** A phone in the dark: less than half of the frames, with a gap. */
const DARK = `select='not(mod(n,3))+gt(n,30)',setpts=PTS+if(gt(N\\,10)\\,0.3/TB\\,0)`;
const APART = ['-vf', 'setpts=N*4000/TB', '-vsync', 'vfr', '-frames:v', '3'];

const CLIPS = {
  'upright.mp4': { of: [PICTURE, SOUND] },
  'dv.mkv': { of: ['testsrc2=s=72x58:r=25:d=2'], as: ['-vf', 'setsar=64/45', ...H264] },
  'deep.mkv': { of: [PICTURE], as: TEN_BITS },
  'hdr.mkv': { of: [PICTURE], as: [...HDR, ...TEN_BITS] },
  'tape.ts': { of: [PICTURE], as: [...WEAVE, '-c:v', 'mpeg2video'] },
  'silent.mp4': { of: [PICTURE] },
  'song.mp4': { of: [SOUND, RED], as: COVER },
  'still.png': { of: [RED], as: ['-frames:v', '1'] },
  'damaged.ts': { of: [LARGER, SOUND], as: [...H264, '-g', '10'] },
  'cut.mkv': { of: [LARGER, SOUND], as: [...H264, '-g', '10'] },
  'uneven.mkv': { of: [PICTURE, SOUND], as: ['-vf', UNEVEN, '-vsync', 'vfr', ...H264] },
  'dark.mp4': { of: [PICTURE], as: ['-vf', DARK, '-vsync', 'vfr', ...H264] },
  'none.mp4': { of: [PICTURE], as: [...H264, '-frames:v', '0'] },
  'none.mkv': { of: [PICTURE], as: [...H264, '-t', '0'] },
  'lies.mkv': { of: [PICTURE], as: [...APART, ...H264] },
  'huge.mov': { of: [HUGE], as: ['-frames:v', '1', '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p'] },
};
const LATE = ['-output_ts_offset', '10'];
const COPIES = {
  'phone.mp4': ['-metadata:s:v:0', 'rotate=90'],
  ...{ 'late.mkv': LATE, 'late.ts': LATE, 'late.flv': LATE, 'late.mp4': LATE },
};

describe('a transcode of an odd input', function () {
  let prober: Prober;
  let root: string;

  mediaFolder('odd', (found, folder) => {
    [prober, root] = [found, folder];
    makeClips(prober.ffmpeg, root, CLIPS);
    copyClip(prober.ffmpeg, root, 'upright.mp4', COPIES);
  });

  async function transcode(
    input: string,
    outputs: readonly object[],
    settings: Partial<Prober> = {},
  ): Promise<{ result: Renditions; error?: unknown }> {
    const mediaRoot = await MediaRoot.open(root);
    const handler = transcodeHandler({ ...prober, mediaRoot, threads: 1, ...settings });
    const report = await runHandler(handler, { id: `odd-${input}`, params: { input, outputs } });
    const result = (report.result ?? { outputs: [] }) as Renditions;
    return { result, error: report.error };
  }

  const probeFile = (name: string): Promise<Media> =>
    probe(prober, join(root, name), name, {
      signal: new AbortController().signal,
      stallMs: 10_000,
      killGraceMs: 1_000,
    });

  /** What is in the files that come out, in the order of the outputs. */
  async function madeOf(input: string, ...outputs: { path: string }[]): Promise<Media[]> {
    const { error } = await transcode(input, outputs);
    if (error !== undefined) throw error as Error;
    return Promise.all(outputs.map(({ path }) => probeFile(path)));
  }

  /** Nothing was encoded: no output and no temporary file is there. */
  async function refused(input: string, outputs: readonly object[], message: RegExp) {
    const { error } = await transcode(input, outputs);
    expect(error).to.be.instanceOf(NonRetryableError);
    expect((error as Error).message).to.match(message);
    expect(readdirSync(root).filter((name) => /^(out|\.soda~(?!work$))/.test(name))).to.deep.equal(
      [],
    );
    expect(readdirSync(join(root, '.soda~work'))).not.to.include(`default~odd-${input}`);
  }

  /** Of a picture of the size 128x64, at one second. */
  function greyOf(name: string): Buffer {
    const args = ['-ss', '1', '-i', join(root, name), '-frames:v', '1'];
    const grey = ['-pix_fmt', 'gray', '-f', 'rawvideo', '-'];
    const pixels = execFileSync(prober.ffmpeg, ['-loglevel', 'error', ...args, ...grey]);
    expect(pixels).to.have.length(128 * 64);
    return pixels;
  }

  /** The mean of a region. */
  function brightness(pixels: Buffer, width: number, height: number, x: number, y: number): number {
    const rows = Array.from({ length: height }, (_, row) => (y + row) * 128 + x);
    const region = rows.flatMap((at) => [...pixels.subarray(at, at + width)]);
    return region.reduce((sum, pixel) => sum + pixel, 0) / region.length;
  }

  it('stands a rotated one up, at its own size and fitted into another', async () => {
    const wish = { path: 'fitted.mp4', video: { resolution: '128x64' } };
    const [own, fitted] = await madeOf('phone.mp4', { path: 'rotated.mp4' }, wish);
    expect(own?.video).to.include({ width: 36, height: 64, rotation: 0, pixelAspect: 1 });
    expect(fitted?.video).to.include({ width: 128, height: 64, rotation: 0, pixelAspect: 1 });
    const pixels = greyOf('fitted.mp4');
    expect(brightness(pixels, 20, 64, 0, 0)).to.be.below(20);
    expect(brightness(pixels, 20, 40, 54, 12)).to.be.above(40);
  });

  it('gives an anamorphic one square pixels', async () => {
    const [square] = await madeOf('dv.mkv', { path: 'square.mp4' });
    expect(square?.video).to.include({ width: 102, height: 58, pixelAspect: 1 });
  });

  it('keeps the ten bits of one for H.265, and says eight for H.264', async () => {
    const outputs = [
      { path: 'deep.mp4', video: { codec: 'h265' } },
      { path: 'flat.mp4', video: { codec: 'h264' } },
    ];
    const { result } = await transcode('deep.mkv', outputs);
    const formats = result.outputs.map(({ video }) => video?.pixel_format);
    expect(formats).to.deep.equal(['yuv420p10le', 'yuv420p']);
  });

  describe('in HDR', () => {
    const outputs = [
      { path: 'hdr.mp4', video: { codec: 'h265' } },
      { path: 'sdr.mp4', video: { codec: 'h264' } },
    ];

    it('keeps its colours for H.265 and maps them for H.264', async () => {
      const made = await madeOf('hdr.mkv', ...outputs);
      expect(made.map(({ video }) => video?.transfer)).to.deep.equal(['smpte2084', 'bt709']);
    });

    it('is refused where this ffmpeg cannot map them', async () => {
      for (const { path } of outputs) rmSync(join(root, path), { force: true });
      const ffmpeg = join(root, 'ffmpeg-without-zscale');
      writeFileSync(
        ffmpeg,
        `#!/bin/sh\n[ "$2" = -filters ] && exec echo ' ... scale V->V'\nexec ${prober.ffmpeg} "$@"\n`,
        { mode: 0o755 },
      );
      const { error, result } = await transcode('hdr.mkv', outputs, { ffmpeg });
      expect((error as Error).message).to.match(/is HDR .* cannot map its colours/);
      expect(error).to.be.instanceOf(NonRetryableError);
      expect(result.outputs).to.deep.equal([]);
    });
  });

  it('deinterlaces an interlaced one', async () => {
    const [progressive] = await madeOf('tape.ts', { path: 'progressive.mp4' });
    expect(progressive?.video).to.include({ interlaced: false, width: 64, height: 36 });
  });

  it('leaves out the sound that a silent one has not', async () => {
    const { error, result } = await transcode('silent.mp4', [{ path: 'mute.mp4' }]);
    expect(error).to.equal(undefined);
    expect(result.outputs[0]).to.include({ audio: null });
  });

  it('is refused before the first output where a later one would be empty', async () => {
    const outputs = [{ path: 'out-1.mp4' }, { path: 'out-2.mkv', video: null }];
    await refused('silent.mp4', outputs, /^output out-2\.mkv: the input has nothing of what/);
  });

  it('takes the sound of one that has only a cover picture beside it', async () => {
    const [song] = await madeOf('song.mp4', { path: 'song.mkv' });
    expect([song?.video, song?.audio?.codec]).to.deep.equal([null, 'aac']);
  });

  it('says how much of a damaged one could not be read', async () => {
    const bytes = readFileSync(join(root, 'damaged.ts'));
    for (let at = Math.floor(bytes.length * 0.4); at < bytes.length * 0.5; at += 7) bytes[at] = at;
    writeFileSync(join(root, 'damaged.ts'), bytes);
    const { error, result } = await transcode('damaged.ts', [{ path: 'rescued.mp4' }]);
    if (error === undefined) expect(result.outputs[0]?.decode_errors).to.be.above(0);
    else expect((error as Error).message).to.match(/s long instead of .*\nThe input is damaged\./s);
  });

  it('is refused, with both lengths, where it ends before it says', async () => {
    const bytes = readFileSync(join(root, 'cut.mkv'));
    writeFileSync(join(root, 'cut.mkv'), bytes.subarray(0, bytes.length / 2));
    const { error } = await transcode('cut.mkv', [{ path: 'out.mp4' }]);
    expect((error as Error).message).to.match(/is [\d.]+ s long instead of [\d.]+ s/);
    expect(readdirSync(root)).not.to.include('out.mp4');
  });

  it('takes one whose frames come when they like', async () => {
    const wish = { path: 'even-25.mp4', video: { frame_rate: 25 } };
    const [, even] = await madeOf('uneven.mkv', { path: 'even.mp4' }, wish);
    expect(even?.video?.frameRate).to.be.closeTo(25, 0.5);
    const [bright] = await madeOf('dark.mp4', { path: 'bright.mp4' });
    expect(bright?.video?.frameRate).to.be.closeTo(25, 0.5);
  });

  it('takes one whose times begin late', async () => {
    for (const container of ['mkv', 'ts', 'flv', 'mp4']) {
      const outputs = [{ path: `of-${container}.mp4` }];
      const { error, result } = await transcode(`late.${container}`, outputs);
      expect(error, container).to.equal(undefined);
      expect(result.outputs[0]?.seconds, container).to.be.closeTo(2, 0.1);
    }
  });

  it('is refused for good where there is nothing in it', async () => {
    await refused('none.mp4', [{ path: 'out.mp4' }], /^input none\.mp4: .*no video or audio/);
    await refused('none.mkv', [{ path: 'out.mp4' }], /^input none\.mkv: .*no video or audio/);
  });

  it('is cut off where it goes on behind the length that it says', async () => {
    const bytes = readFileSync(join(root, 'lies.mkv'));
    // The length of the whole, and that of the stream.
    bytes.writeDoubleBE(3_000, bytes.indexOf(Buffer.from('448988', 'hex')) + 3);
    bytes.write('00:00:03.000000000', bytes.lastIndexOf('02:'), 'latin1');
    writeFileSync(join(root, 'lies.mkv'), bytes);
    const wish = { path: 'lies.mp4', video: { frame_rate: 25 } };
    const { error } = await transcode('lies.mkv', [wish]);
    expect((error as Error).message).to.match(/is 4(\.\d+)? s long instead of 3 s/);
  });

  it('is refused where it is a still, empty, or larger than 8K', async () => {
    const outputs = [{ path: 'out.mp4' }];
    await refused('still.png', outputs, /^input still\.png: .*not stills, playlists/);
    writeFileSync(join(root, 'nothing.mp4'), '');
    await refused('nothing.mp4', outputs, /^input nothing\.mp4 is empty$/);
    await refused('huge.mov', outputs, /^input huge\.mov: its picture is too large/);
  });
});
