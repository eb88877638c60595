/** The sound of edits, by the real ffmpeg of this machine: it is that of the picture, and there is one wherever it is due. */
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { editHandler } from '../../../../examples/ffmpeg/edit/edit.ts';
import { MediaRoot } from '../../../../examples/media/media-root.ts';
import type { Prober } from '../../../../examples/media/probe.ts';
import { copyClip, makeClips } from '../../../helpers/media/clips.ts';
import { mediaFolder } from '../../../helpers/media/media-folder.ts';

const RATE = 48_000;

type Piece =
  | { readonly input: string; readonly start?: number; readonly end?: number }
  | { readonly black: number };

describe('the sound of an edit', function () {
  let prober: Prober;
  let root: string;

  mediaFolder('edit-sound', (found, folder) => {
    [prober, root] = [found, folder];
    const picture = 'testsrc=s=64x48:r=10:d=20';
    const as = ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'pcm_s16le'];
    makeClips(prober.ffmpeg, root, {
      'at44100.mkv': { of: [picture, toneOf(44_100, 20)], as },
      'at48000.mkv': { of: [picture, toneOf(48_000, 20)], as },
      'short.mkv': { of: [picture, toneOf(44_100, 15)], as },
    });
    const late = { 'late.mkv': ['-output_ts_offset', '10'] };
    copyClip(prober.ffmpeg, root, 'at48000.mkv', late);
  });

  /** Second n sounds at 200 + 100 n Hz. */
  const toneOf = (sampleRate: number, seconds: number): string =>
    `aevalsrc=0.5*sin(2*PI*(200+100*floor(t))*t):s=${sampleRate}:d=${seconds}`;

  /** Hz in each tenth of a second of the result; 0: silence. */
  async function tonesOf(timeline: readonly Piece[], canvas: object = {}): Promise<number[]> {
    const inputs = Object.fromEntries(
      timeline.flatMap((piece) => ('input' in piece ? [[piece.input, `${piece.input}.mkv`]] : [])),
    );
    const handler = editHandler({ ...prober, mediaRoot: await MediaRoot.open(root), threads: 1 });
    const outputs = [{ path: 'result.mkv', video: { resolution: '64x48' } }];
    const params = { inputs, timeline, canvas, outputs };
    const { error } = await runHandler(handler, { id: 'edit-sound-1', params });
    if (error !== undefined) throw error as Error;
    const raw = ['-map', '0:a', '-f', 's16le', '-ac', '1', '-ar', String(RATE), '-'];
    const read = ['-nostdin', '-loglevel', 'error', '-i', join(root, 'result.mkv'), ...raw];
    const pcm = execFileSync(prober.ffmpeg, read);
    rmSync(join(root, 'result.mkv'));
    // The encoder fills its last frame.
    return Array.from({ length: Math.floor(pcm.length / (RATE / 5)) }, (_, tenth) =>
      frequencyOf(pcm.subarray((tenth * RATE) / 5, ((tenth + 1) * RATE) / 5)),
    );
  }

  /** By how often it rises through zero; what is next to silence is none. */
  function frequencyOf(tenth: Buffer): number {
    const samples = Array.from({ length: tenth.length / 2 }, (_, n) => tenth.readInt16LE(n * 2));
    if (Math.max(...samples.map(Math.abs)) < 500) return 0;
    return (
      10 * samples.filter((sample, n) => n > 0 && (samples[n - 1] ?? 0) < 0 && sample >= 0).length
    );
  }

  /** So many tenths of a second; the encoder smears the edges into those next to them. */
  function expectTones(tones: readonly number[], pieces: [tenths: number, hertz: number][]): void {
    expect(tones).to.have.lengthOf.within(
      pieces.reduce((sum, [tenths]) => sum + tenths, 0),
      pieces.reduce((sum, [tenths]) => sum + tenths, 1),
    );
    let at = 0;
    for (const [tenths, hertz] of pieces) {
      for (const tone of tones.slice(at + 1, at + tenths - 1)) {
        expect(tone, `${tones.join()} at ${at}`).to.be.closeTo(hertz, 20);
      }
      at += tenths;
    }
  }

  for (const [input, canvasRate] of [
    ['at44100', 48_000],
    ['at48000', 44_100],
    ['at48000', 48_000],
  ] as const) {
    it(`${input} on a canvas of ${canvasRate} Hz is that of the picture`, async () => {
      const canvas = { sample_rate: canvasRate };
      const pieces = [
        { input, start: 12, end: 14 },
        { input, start: 18.5, end: 19.5 },
        { input, end: 1 },
      ];
      expectTones(await tonesOf(pieces, canvas), [
        [10, 1400],
        [10, 1500],
        [5, 2000],
        [5, 2100],
        [10, 200],
      ]);
    });
  }

  it('is silence where that of a piece has ended, wherever the piece stands', async () => {
    const late = { input: 'short', start: 16, end: 17 };
    const early = { input: 'short', start: 1, end: 2 };
    expectTones(await tonesOf([late, early, late, { black: 1 }]), [
      [10, 0],
      [10, 300],
      [20, 0],
    ]);
    // Also at the end, where nothing behind it shows how long it is.
    expectTones(await tonesOf([{ black: 1 }, late, early, late]), [
      [20, 0],
      [10, 300],
      [10, 0],
    ]);
  });

  it('of a file whose times begin late is counted from its beginning', async () => {
    expectTones(await tonesOf([{ input: 'late', start: 18.5 }]), [
      [5, 2000],
      [10, 2100],
    ]);
  });
});
