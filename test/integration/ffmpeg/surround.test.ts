/** 5.1 sound, which is kept where it is wished for, and never spoiled on the way. */
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { editHandler } from '../../../examples/ffmpeg/edit/edit.ts';
import { ladderHandler } from '../../../examples/ffmpeg/ladder/ladder.ts';
import type { LadderResult } from '../../../examples/ffmpeg/ladder/result.ts';
import { transcodeHandler } from '../../../examples/ffmpeg/transcode.ts';
import { findFfmpeg } from '../../../examples/media/binaries.ts';
import { MediaRoot } from '../../../examples/media/media-root.ts';

const RATE = 48_000;
/** Of each channel, in Hz. */
const TONES = [300, 600, 900, 60, 1200, 1500];

describe('5.1 sound', function () {
  let ffmpeg: string;
  let ffprobe: string;
  let root: string;

  before(async function () {
    const found = await findFfmpeg(process.env).catch(() => null);
    if (found === null || found.ffprobe === null) return this.skip();
    [ffmpeg, ffprobe] = [found.ffmpeg, found.ffprobe];
    root = mkdtempSync(join(tmpdir(), 'soda-surround-'));
    // Each channel has a tone of its own; those behind are called as AC-3 calls them.
    const tones = TONES.map((hz) => `sin(${hz}*2*PI*t)/4`).join('|');
    const sound = `aevalsrc=${tones}:s=48000:d=2:c=5.1(side)`;
    const sources = ['-f', 'lavfi', '-i', 'testsrc2=s=64x36:r=25:d=2', '-f', 'lavfi', '-i', sound];
    const made = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'ac3'];
    execFileSync(ffmpeg, ['-loglevel', 'error', ...sources, ...made, join(root, 'film.mkv')]);
  });
  after(() => root && rmSync(root, { recursive: true }));

  async function run(make: typeof transcodeHandler | typeof editHandler, params: object) {
    const mediaRoot = await MediaRoot.open(root);
    const handler = make({ ffmpeg, ffprobe, mediaRoot, threads: 1 });
    const { error } = await runHandler(handler, { id: 'surround', params });
    expect(error).to.equal(undefined);
  }
  function soundOf(name: string): string {
    const entries = ['-select_streams', 'a', '-show_entries', 'stream=codec_name,channel_layout'];
    const args = ['-v', 'error', '-of', 'csv=p=0', ...entries, join(root, name)];
    return execFileSync(ffprobe, args, { encoding: 'utf8' }).trim();
  }
  /** The six channels of the first seconds of a file, one sample of each after the other. */
  function samplesOf(name: string): Int16Array {
    const raw = ['-t', '1.5', '-f', 's16le', '-ar', String(RATE), '-'];
    const args = ['-nostdin', '-loglevel', 'error', '-i', join(root, name), ...raw];
    const { buffer, byteOffset, length } = execFileSync(ffmpeg, args);
    return new Int16Array(buffer.slice(byteOffset, byteOffset + length));
  }

  /** Whether a channel has the tone in the second around one second: each has a quarter of what there may be of its own. */
  function hears(samples: Int16Array, channel: number, hz: number): boolean {
    let [real, imaginary] = [0, 0];
    for (let at = RATE / 2; at < 1.5 * RATE; at++) {
      const sample = (samples[at * 6 + channel] ?? 0) / 32_768;
      const angle = (2 * Math.PI * hz * at) / RATE;
      real += sample * Math.cos(angle);
      imaginary += sample * Math.sin(angle);
    }
    return (2 * Math.hypot(real, imaginary)) / RATE > 0.05;
  }

  it('stays as it is where nothing else is wished for, under the names that players know', async () => {
    const outputs = [
      { path: 'a.mp4' },
      { path: 'b.mkv', audio: { codec: 'opus' } },
      { path: 'c.mkv', audio: { codec: 'mp3' } },
      { path: 'd.mp4', pad_seconds: 1 },
      { path: 'e.mp4', audio: { channels: 2 } },
    ];
    await run(transcodeHandler, { input: 'film.mkv', outputs });
    expect(outputs.map(({ path }) => soundOf(path))).to.deep.equal([
      ...['aac,5.1', 'opus,5.1', 'mp3,stereo', 'aac,5.1', 'aac,stereo'],
    ]);
    const padded = samplesOf('d.mp4');
    for (const [channel, hz] of TONES.entries()) {
      expect(hears(padded, channel, hz), `channel ${channel}`).to.equal(true);
    }
    expect(hears(padded, 0, 900)).to.equal(false);
  });

  it('is kept by an edit by choice, and is stereo without', async () => {
    const of = { inputs: { film: 'film.mkv' }, timeline: [{ input: 'film' }, { black: 0.4 }] };
    await run(editHandler, { ...of, outputs: [{ path: 'f.mp4' }] });
    await run(editHandler, { ...of, canvas: { channels: 6 }, outputs: [{ path: 'g.mp4' }] });
    expect([soundOf('f.mp4'), soundOf('g.mp4')]).to.deep.equal(['aac,stereo', 'aac,5.1']);
    const edited = samplesOf('g.mp4');
    expect([hears(edited, 4, 1200), hears(edited, 1, 600)]).to.deep.equal([true, true]);
  });

  it('is kept by a ladder by choice, and said in its playlist', async () => {
    const mediaRoot = await MediaRoot.open(root);
    const settings = { ffmpeg, ffprobe, mediaRoot, threads: 1, profiles: new Map(), keys: null };
    const of = { rungs: [{ height: 64, crf: 30, max_kbps: 200 }], sprites: null, poster: null };
    for (const [output, channels] of [
      ['six', 6],
      ['two', 2],
    ] as const) {
      const profile = { ...of, preset: 'ultrafast', audio: { channels } };
      const params = { input: 'film.mkv', output, profile };
      const { error } = await runHandler(ladderHandler(settings), { id: 'surround', params });
      expect(error).to.equal(undefined);
    }
    expect(soundOf('six/master.m3u8').split('\n')[0]).to.equal('aac,5.1');
    const playlist = (name: string) => readFileSync(join(root, name, 'master.m3u8'), 'utf8');
    expect(playlist('six')).to.include('CHANNELS="6"');
    expect(playlist('two')).to.include('CHANNELS="2"');
  });

  it('is as loud in stereo as is wished for', async () => {
    const mediaRoot = await MediaRoot.open(root);
    const settings = { ffmpeg, ffprobe, mediaRoot, threads: 1, profiles: new Map(), keys: null };
    const profile = {
      ...{ rungs: [{ height: 64, crf: 30, max_kbps: 200 }], sprites: null, poster: null },
      ...{ preset: 'ultrafast', audio: { channels: 2, loudness: { integrated: -20 } } },
    };
    const params = { input: 'film.mkv', output: 'loud', profile };
    const { result, error } = await runHandler(ladderHandler(settings), { id: 'loud', params });
    expect(error).to.equal(undefined);
    const { audio } = result as LadderResult;
    expect(audio?.loudness?.after.integrated).to.be.closeTo(-20, 0.5);
  });
});
