/**
 * Cuts finished rungs into the segments of a package, without encoding anything again: one set of files for HLS and DASH.
 * What has been cut is checked before anybody can see it.
 */
import { createCipheriv, createHmac } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RetryableError } from '@soda-scheduler/executor-sdk';
import { secondsOf } from '../../media/frame-rate.ts';
import { GUARDED_INPUT } from '../../media/input-guard.ts';
import { TELLING } from '../../media/attempt/run-ffmpeg.ts';
import type { Caption } from './captions.ts';
import type { Grid, Rung } from './plan.ts';
import {
  captionPlaylist,
  codecsIn,
  masterPlaylist,
  type MediaPlaylist,
  mediaPlaylist,
  parseMediaPlaylist,
  peakKbpsOf,
  withCaptions,
} from './playlists.ts';

export const MASTER = 'master.m3u8';
export const MANIFEST = 'manifest.mpd';

/** Of the files of a package: what decoders need before the first segment of a rung, or of the sound. */
export function isBeginning(name: string): boolean {
  return name.startsWith('init-');
}

const VIDEO_RANGES = { smpte2084: 'PQ', 'arib-std-b67': 'HLG' } as const;

export interface Sound {
  readonly file: string;
  readonly channels: number;
}

export interface Contents {
  readonly rungs: readonly { readonly rung: Rung; readonly file: string }[];
  /** Null: no sound. */
  readonly audio: Sound | null;
  readonly captions: readonly Caption[];
  readonly grid: Grid;
  /** Of the picture. */
  readonly seconds: number;
}

export interface Encryption {
  readonly key: Buffer;
  /** Where players get it. */
  readonly uri: string;
  /** Of the ladder. */
  readonly mark: string;
}

export function packageArguments({ rungs, audio, grid }: Contents, folder: string): string[] {
  const files = [...rungs.map(({ file }) => file), ...(audio === null ? [] : [audio.file])];
  const sets = `id=0,streams=v${audio === null ? '' : ' id=1,streams=a'}`;
  // Half a frame less, so that no rounding can put a cut off to the key frame after.
  const seconds = secondsOf(grid.segmentFrames - 0.5, grid.rate).toFixed(6);
  // 854x480 is not quite 16:9: of what is shown all rungs have the shape of the first, which DASH asks for.
  const shape = rungs
    .slice(0, 1)
    .map(({ rung: { picture } }) => `${picture.width}:${picture.height}`);
  return [
    ...[...TELLING, ...files.flatMap((file) => [...GUARDED_INPUT, '-i', `file:${file}`])],
    ...rungs.flatMap((_, n) => ['-map', `${n}:v:0`]),
    ...(audio === null ? [] : ['-map', `${rungs.length}:a:0`]),
    ...['-c', 'copy', ...shape.flatMap((ratio) => ['-aspect:v', ratio])],
    ...['-map_metadata', '-1', '-f', 'dash', '-seg_duration', seconds],
    ...['-use_template', '1', '-use_timeline', '1', '-adaptation_sets', sets],
    ...['-init_seg_name', 'init-$RepresentationID$.m4s'],
    ...['-media_seg_name', 'segment-$RepresentationID$-$Number%05d$.m4s'],
    ...['-hls_playlist', '1', `file:${join(folder, MANIFEST)}`],
  ];
}

export interface Attempt {
  readonly signal: AbortSignal;
  /** Called for each segment that is looked at or encrypted: a day has tens of thousands. */
  readonly onSegment: () => void;
}

/** What a rung has become. */
export interface Packed {
  readonly averageKbps: number;
  readonly peakKbps: number;
}

/**
 * Checks what ffmpeg has cut and writes the playlists. Encrypted segments are for HLS alone: DASH knows no such, so that
 * its manifest goes.
 * @throws {RetryableError} a package that could not be played; the reason of the signal.
 */
export async function finishPackage(
  contents: Contents,
  folder: string,
  encryption: Encryption | null,
  attempt: Attempt,
): Promise<readonly Packed[]> {
  const { rungs, captions, grid, seconds } = contents;
  const text = (name: string) => readFile(join(folder, name), 'utf8');
  const count = rungs.length + (contents.audio === null ? 0 : 1);
  const playlists: MediaPlaylist[] = [];
  for (let n = 0; n < count; n++) playlists.push(parseMediaPlaylist(await text(playlistName(n))));
  const defect = alignmentDefect(
    playlists.slice(0, rungs.length),
    seconds,
    secondsOf(1, grid.rate),
  );
  if (defect !== null) throw new RetryableError(`package: ${defect}`);
  const codecs = codecsIn(await text(MASTER));
  const packed: Packed[] = [];
  for (const [n, playlist] of playlists.entries()) {
    packed.push(await ratesOf(playlist, folder, attempt));
    const encrypted = encryption && (await encrypt(playlist, folder, encryption, attempt));
    const written = mediaPlaylist(encrypted ?? playlist, encryption?.uri ?? null);
    await writeFile(join(folder, playlistName(n)), written);
  }
  const sound = packed[rungs.length] ?? { averageKbps: 0, peakKbps: 0 };
  const variants = rungs.map(({ rung: { picture } }, n) => {
    const { averageKbps, peakKbps } = packed[n] as Packed;
    return {
      ...{ playlist: playlistName(n), codecs: codecs[n] ?? '' },
      videoRange: picture.transfer && VIDEO_RANGES[picture.transfer],
      ...{ width: picture.width, height: picture.height, frameRate: 1 / secondsOf(1, grid.rate) },
      averageKbps: averageKbps + sound.averageKbps,
      peakKbps: peakKbps + sound.peakKbps,
    };
  });
  const audio = contents.audio && {
    playlist: playlistName(rungs.length),
    channels: contents.audio.channels,
  };
  await writeFile(join(folder, MASTER), masterPlaylist(variants, audio, captions));
  for (const n of captions.keys()) {
    await writeFile(join(folder, `captions-${n}.m3u8`), captionPlaylist(n, seconds));
  }
  if (encryption !== null) await rm(join(folder, MANIFEST));
  else if (captions.length > 0) {
    await writeFile(join(folder, MANIFEST), withCaptions(await text(MANIFEST), captions));
  }
  return packed;
}

function playlistName(n: number): string {
  return `media_${n}.m3u8`;
}

/** Why a player could not change from one rung to another at each segment; null: it can. */
export function alignmentDefect(
  videos: readonly MediaPlaylist[],
  seconds: number,
  frameSeconds: number,
): string | null {
  const [first, ...others] = videos.map(({ segments }) => segments.map((one) => one.seconds));
  if (first === undefined || first.length === 0) return 'it has no segments';
  const length = first.reduce((a, b) => a + b);
  if (Math.abs(length - seconds) > 1.5 * frameSeconds) {
    return `its segments are ${length} s long instead of ${seconds} s`;
  }
  const odd = others.findIndex(
    (other) =>
      other.length !== first.length ||
      other.some((one, n) => Math.abs(one - (first[n] ?? 0)) > frameSeconds / 2),
  );
  return odd < 0 ? null : `the segments of rung ${odd + 1} are not those of the first`;
}

async function ratesOf(
  { init, segments }: MediaPlaylist,
  folder: string,
  { signal, onSegment }: Attempt,
): Promise<Packed> {
  const sized: { bytes: number; seconds: number }[] = [];
  let [bytes, seconds] = [0, 0];
  if ((await sizeOf(join(folder, init))) === 0) throw empty(init);
  for (const segment of segments) {
    signal.throwIfAborted();
    onSegment();
    const size = await sizeOf(join(folder, segment.file));
    if (size === 0) throw empty(segment.file);
    bytes += size;
    seconds += segment.seconds;
    sized.push({ bytes: size, seconds: segment.seconds });
  }
  return { averageKbps: (bytes * 8) / 1000 / seconds, peakKbps: peakKbpsOf(sized) };
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

function empty(file: string): Error {
  return new RetryableError(`package: ${file} is missing or empty`);
}

/**
 * Each segment with a vector of its own: two that begin alike must not look alike. Whoever makes the same ladder again comes
 * to the same ones, so that it can go on with segments that were sent already; without the key nobody can foresee them.
 */
async function encrypt(
  playlist: MediaPlaylist,
  folder: string,
  { key, mark }: Encryption,
  { signal, onSegment }: Attempt,
): Promise<MediaPlaylist> {
  const segments: MediaPlaylist['segments'][number][] = [];
  for (const segment of playlist.segments) {
    signal.throwIfAborted();
    onSegment();
    const path = join(folder, segment.file);
    const iv = createHmac('sha256', key).update(`${mark} ${segment.file}`).digest().subarray(0, 16);
    const cipher = createCipheriv('aes-128-cbc', key, iv);
    // As a stream: one may be larger than the memory that there is.
    await pipeline(createReadStream(path), cipher, createWriteStream(`${path}~`));
    await rename(`${path}~`, path);
    segments.push({ ...segment, iv: iv.toString('hex') });
  }
  return { ...playlist, segments };
}
