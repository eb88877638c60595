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
import { mediaFolder } from '../../helpers/media/media-folder.ts';

const SOUND = ['-f', 'lavfi', '-i', 'sine=d=2'];
const picture = (size = '64x36', more = '') => [
  '-f',
  'lavfi',
  '-i',
  `testsrc2=s=${size}:r=25:d=2${more}`,
];

describe('a transcode of an odd input', function () {
  let prober: Prober;
  let root: string;

  mediaFolder('odd', (found, folder) => {
    [prober, root] = [found, folder];
  });

  function make(name: string, ...args: string[]): string {
    execFileSync(prober.ffmpeg, ['-loglevel', 'error', '-y', ...args, join(root, name)]);
    return name;
  }

  async function transcode(
    input: string,
    outputs: readonly object[],
    settings: Partial<Prober> = {},
  ): Promise<{ result: Renditions; error?: unknown; made: Media[] }> {
    const mediaRoot = await MediaRoot.open(root);
    const handler = transcodeHandler({ ...prober, mediaRoot, threads: 1, ...settings });
    const report = await runHandler(handler, { id: `odd-${input}`, params: { input, outputs } });
    const result = (report.result ?? { outputs: [] }) as Renditions;
    const made = await Promise.all(
      result.outputs.map(({ path }) =>
        probe(prober, join(root, path), path, {
          signal: new AbortController().signal,
          stallMs: 10_000,
          killGraceMs: 1_000,
        }),
      ),
    );
    return { result, error: report.error, made };
  }

  async function madeOf(input: string, output: object): Promise<Media> {
    const { error, made } = await transcode(input, [output]);
    if (made[0] === undefined) throw error;
    return made[0];
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

  /** Mean of the luma of a region, of the frame at one second. */
  function brightness(name: string, crop: string): number {
    const args = ['-ss', '1', '-i', join(root, name), '-frames:v', '1'];
    const grey = ['-vf', `crop=${crop},format=gray`, '-f', 'rawvideo', '-'];
    const pixels = execFileSync(prober.ffmpeg, ['-loglevel', 'error', ...args, ...grey]);
    return pixels.reduce((sum, pixel) => sum + pixel, 0) / pixels.length;
  }

  it('stands a rotated one up, at its own size and fitted into another', async () => {
    make('upright.mp4', ...picture(), ...SOUND);
    make(
      'phone.mp4',
      '-i',
      join(root, 'upright.mp4'),
      '-c',
      'copy',
      '-metadata:s:v:0',
      'rotate=90',
    );
    const own = await madeOf('phone.mp4', { path: 'rotated.mp4' });
    expect(own.video).to.include({ width: 36, height: 64, rotation: 0, pixelAspect: 1 });
    const wish = { resolution: '128x64' };
    const fitted = await madeOf('phone.mp4', { path: 'fitted.mp4', video: wish });
    expect(fitted.video).to.include({ width: 128, height: 64, rotation: 0, pixelAspect: 1 });
    expect(brightness('fitted.mp4', '20:64:0:0')).to.be.below(20);
    expect(brightness('fitted.mp4', '20:40:54:12')).to.be.above(40);
  });

  it('gives an anamorphic one square pixels', async () => {
    make('dv.mkv', ...picture('72x58'), '-vf', 'setsar=64/45', '-c:v', 'libx264');
    const { video } = await madeOf('dv.mkv', { path: 'square.mp4' });
    expect(video).to.include({ width: 102, height: 58, pixelAspect: 1 });
  });

  it('keeps the ten bits of one for H.265, and says eight for H.264', async () => {
    make('deep.mkv', ...picture(), '-pix_fmt', 'yuv420p10le', '-c:v', 'libx264');
    const outputs = [
      { path: 'deep.mp4', video: { codec: 'h265' } },
      { path: 'flat.mp4', video: { codec: 'h264' } },
    ];
    const { result } = await transcode('deep.mkv', outputs);
    const formats = result.outputs.map(({ video }) => video?.pixel_format);
    expect(formats).to.deep.equal(['yuv420p10le', 'yuv420p']);
  });

  describe('in HDR', () => {
    const colours = ['-color_primaries', 'bt2020', '-color_trc', 'smpte2084'];
    const outputs = [
      { path: 'hdr.mp4', video: { codec: 'h265' } },
      { path: 'sdr.mp4', video: { codec: 'h264' } },
    ];

    function makeHdr(): void {
      const args = ['-colorspace', 'bt2020nc', '-pix_fmt', 'yuv420p10le', '-c:v', 'libx264'];
      make('hdr.mkv', ...picture(), ...colours, ...args);
    }

    it('keeps its colours for H.265 and maps them for H.264', async () => {
      makeHdr();
      const { error, made } = await transcode('hdr.mkv', outputs);
      expect(error).to.equal(undefined);
      expect(made.map(({ video }) => video?.transfer)).to.deep.equal(['smpte2084', 'bt709']);
    });

    it('is refused where this ffmpeg cannot map them', async () => {
      makeHdr();
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
    const weave = ['-vf', 'tinterlace=interleave_top,fieldorder=tff', '-flags', '+ilme+ildct'];
    make('tape.ts', ...picture(), ...weave, '-c:v', 'mpeg2video');
    const { video } = await madeOf('tape.ts', { path: 'progressive.mp4' });
    expect(video).to.include({ interlaced: false, width: 64, height: 36 });
  });

  it('leaves out the sound that a silent one has not', async () => {
    make('silent.mp4', ...picture());
    const { error, result } = await transcode('silent.mp4', [{ path: 'mute.mp4' }]);
    expect(error).to.equal(undefined);
    expect(result.outputs[0]).to.include({ audio: null });
  });

  it('is refused before the first output where a later one would be empty', async () => {
    make('silent.mp4', ...picture());
    const outputs = [{ path: 'out-1.mp4' }, { path: 'out-2.mkv', video: null }];
    await refused('silent.mp4', outputs, /^output out-2\.mkv: the input has nothing of what/);
  });

  it('takes the sound of one that has only a cover picture beside it', async () => {
    make('cover.png', '-f', 'lavfi', '-i', 'color=red:s=32x32', '-frames:v', '1');
    const cover = ['-map', '0', '-map', '1', '-c:v', 'mjpeg', '-disposition:v', 'attached_pic'];
    make('song.mp4', ...SOUND, '-i', join(root, 'cover.png'), ...cover);
    const { video, audio } = await madeOf('song.mp4', { path: 'song.mkv' });
    expect([video, audio?.codec]).to.deep.equal([null, 'aac']);
  });

  it('says how much of a damaged one could not be read', async () => {
    make('whole.ts', ...picture('320x180'), ...SOUND, '-c:v', 'libx264', '-g', '10');
    const bytes = readFileSync(join(root, 'whole.ts'));
    for (let at = Math.floor(bytes.length * 0.4); at < bytes.length * 0.5; at += 7) bytes[at] = at;
    writeFileSync(join(root, 'damaged.ts'), bytes);
    const { error, result } = await transcode('damaged.ts', [{ path: 'rescued.mp4' }]);
    if (error === undefined) expect(result.outputs[0]?.decode_errors).to.be.above(0);
    else expect((error as Error).message).to.match(/s long instead of .*\nThe input is damaged\./s);
  });

  it('is refused, with both lengths, where it ends before it says', async () => {
    make('cut.mkv', ...picture('320x180'), ...SOUND, '-c:v', 'libx264', '-g', '10');
    const bytes = readFileSync(join(root, 'cut.mkv'));
    writeFileSync(join(root, 'cut.mkv'), bytes.subarray(0, bytes.length / 2));
    const { error } = await transcode('cut.mkv', [{ path: 'out.mp4' }]);
    expect((error as Error).message).to.match(/is [\d.]+ s long instead of [\d.]+ s/);
    expect(readdirSync(root)).not.to.include('out.mp4');
  });

  it('takes one whose frames come when they like', async () => {
    const uneven = ['-vf', `select='not(mod(n\\,3))+not(mod(n\\,7))'`, '-vsync', 'vfr'];
    make('uneven.mkv', ...picture(), ...SOUND, ...uneven, '-c:v', 'libx264');
    expect((await transcode('uneven.mkv', [{ path: 'even.mp4' }])).error).to.equal(undefined);
    const wish = { path: 'even-25.mp4', video: { frame_rate: 25 } };
    expect((await madeOf('uneven.mkv', wish)).video?.frameRate).to.be.closeTo(25, 0.5);
    // A phone in the dark: less than half of the frames, with a gap.
    const dark = `select='not(mod(n,3))+gt(n,30)',setpts=PTS+if(gt(N\\,10)\\,0.3/TB\\,0)`;
    make('dark.mp4', ...picture(), '-vf', dark, '-vsync', 'vfr', '-c:v', 'libx264');
    const { video } = await madeOf('dark.mp4', { path: 'bright.mp4' });
    expect(video?.frameRate).to.be.closeTo(25, 0.5);
  });

  it('takes one whose times begin late', async () => {
    make('punctual.mp4', ...picture(), ...SOUND);
    for (const container of ['mkv', 'ts', 'flv', 'mp4']) {
      const late = ['-c', 'copy', '-output_ts_offset', '10'];
      const name = make(`late.${container}`, '-i', join(root, 'punctual.mp4'), ...late);
      const { error, made } = await transcode(name, [{ path: `of-${container}.mp4` }]);
      expect(error, container).to.equal(undefined);
      expect(made[0]?.seconds, container).to.be.closeTo(2, 0.1);
    }
  });

  it('is refused for good where there is nothing in it', async () => {
    make('none.mp4', ...picture(), '-c:v', 'libx264', '-frames:v', '0');
    await refused('none.mp4', [{ path: 'out.mp4' }], /^input none\.mp4: .*no video or audio/);
    make('none.mkv', ...picture(), '-c:v', 'libx264', '-t', '0');
    await refused('none.mkv', [{ path: 'out.mp4' }], /^input none\.mkv: .*no video or audio/);
  });

  it('is cut off where it goes on behind the length that it says', async () => {
    const apart = ['-vf', 'setpts=N*4000/TB', '-vsync', 'vfr', '-frames:v', '3'];
    make('apart.mkv', ...picture(), ...apart, '-c:v', 'libx264');
    const bytes = readFileSync(join(root, 'apart.mkv'));
    // The length of the whole, and that of the stream.
    bytes.writeDoubleBE(3_000, bytes.indexOf(Buffer.from('448988', 'hex')) + 3);
    bytes.write('00:00:03.000000000', bytes.lastIndexOf('02:'), 'latin1');
    writeFileSync(join(root, 'lies.mkv'), bytes);
    const wish = { path: 'lies.mp4', video: { frame_rate: 25 } };
    const { error } = await transcode('lies.mkv', [wish]);
    expect((error as Error).message).to.match(/is 4(\.\d+)? s long instead of 3 s/);
  });

  it('is refused where it is a still, empty, or larger than 8K', async () => {
    make('still.png', '-f', 'lavfi', '-i', 'color=red:s=32x32', '-frames:v', '1');
    const outputs = [{ path: 'out.mp4' }];
    await refused('still.png', outputs, /^input still\.png: .*not stills, playlists/);
    writeFileSync(join(root, 'nothing.mp4'), '');
    await refused('nothing.mp4', outputs, /^input nothing\.mp4 is empty$/);
    const black = ['-f', 'lavfi', '-i', 'color=black:s=8192x8192:r=1', '-frames:v', '1'];
    make('huge.mov', ...black, '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p');
    await refused('huge.mov', outputs, /^input huge\.mov: its picture is too large/);
  });
});
