/** Clips whose frames carry their number, as eight stripes of black and white, and how it is read back. */
import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';

const STRIPES = 8;

export interface NumberedClip {
  readonly ffmpeg: string;
  readonly path: string;
  readonly size: string;
  readonly rate: string;
  readonly frameCount: number;
  /** Of the first frame; up to 255 in all. */
  readonly firstNumber: number;
  /** Null: it has no sound. */
  readonly sampleRate: number | null;
  /** Stored turned, with the word to players to turn it back. */
  readonly turned?: boolean;
}

export function makeNumbered(clip: NumberedClip): void {
  const { ffmpeg, size, rate, frameCount, firstNumber, sampleRate } = clip;
  const bit = `mod(floor((N+${firstNumber})/pow(2,X)),2)`;
  const seconds = (frameCount * Number(rate.split('/')[1] ?? 1)) / Number(rate.split('/')[0]);
  // A pixel for each stripe, made large: `geq` computes one after another.
  const source = `color=s=${STRIPES}x2:r=${rate},trim=end_frame=${frameCount},format=gray`;
  const large = `scale=${size.replace('x', ':')}:flags=neighbor,setsar=1,format=yuv420p`;
  const turn = clip.turned === true ? ',transpose=1' : '';
  const video = ['-f', 'lavfi', '-i', `${source},geq=lum='255*${bit}',${large}${turn}`];
  const audio =
    sampleRate === null
      ? []
      : ['-f', 'lavfi', '-i', `sine=f=440:r=${sampleRate}:d=${seconds}`, '-c:a', 'pcm_s16le'];
  execFileSync(ffmpeg, [
    ...['-nostdin', '-loglevel', 'error', '-y', ...video, ...audio],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '16', '-g', '12'],
    ...['-f', 'mov', clip.path],
  ]);
  if (clip.turned !== true) return;
  // The word to players is kept only where nothing is encoded.
  const stored = `${clip.path}.stored`;
  renameSync(clip.path, stored);
  const copy = ['-i', stored, '-c', 'copy', '-metadata:s:v:0', 'rotate=90', '-f', 'mov'];
  execFileSync(ffmpeg, ['-nostdin', '-loglevel', 'error', '-y', ...copy, clip.path]);
}

/** The numbers of all frames of a file; black is 0. */
export function numbersIn(ffmpeg: string, path: string): number[] {
  const raw = ['-vsync', '0', '-f', 'rawvideo', '-pix_fmt', 'gray', '-'];
  const scale = ['-vf', `scale=${STRIPES}:1:flags=area`];
  const args = ['-nostdin', '-loglevel', 'error', '-i', path, '-map', '0:v', ...scale, ...raw];
  const pixels = execFileSync(ffmpeg, args);
  return Array.from({ length: pixels.length / STRIPES }, (_, frame) =>
    pixels
      .subarray(frame * STRIPES, (frame + 1) * STRIPES)
      .reduce((sum, grey, stripe) => sum + (grey > 127 ? 2 ** stripe : 0), 0),
  );
}

/** For each sample whether it sounds, smoothed over the zeros of the tone: the stretches of it. */
export function soundsIn(
  ffmpeg: string,
  path: string,
  sampleRate: number,
): { readonly from: number; readonly to: number }[] {
  const raw = ['-f', 's16le', '-ac', '1', '-ar', String(sampleRate), '-'];
  const pcm = execFileSync(ffmpeg, ['-loglevel', 'error', '-i', path, '-map', '0:a', ...raw]);
  const stretches: { from: number; to: number }[] = [];
  for (let at = 0; at < pcm.length / 2; at++) {
    if (Math.abs(pcm.readInt16LE(at * 2)) < 40) continue;
    const last = stretches.at(-1);
    if (last !== undefined && at - last.to < sampleRate / 50) last.to = at;
    else stretches.push({ from: at, to: at });
  }
  return stretches;
}
