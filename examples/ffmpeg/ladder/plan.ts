/** Which rungs a source gets, and the arguments that make each. Pure. */
import { exactRate, type FrameRate, frameAt, rateOf, rateText } from '../../media/frame-rate.ts';
import { GUARDED_INPUT, noLongerThan, type Source } from '../../media/input-guard.ts';
import type { Media, VideoStream } from '../../media/media.ts';
import { type Picture, planPicture, shownSize } from '../../media/picture.ts';
import {
  TELLING,
  threadsEach,
  threadsOfFilters,
  threadsOfX265,
} from '../../media/attempt/run-ffmpeg.ts';
import { channelsFilter } from './loudness.ts';
import { colours } from '../command.ts';
import type { Profile } from './profile.ts';

export interface Rung {
  /** Also of its file: `720p`, by its shorter side. */
  readonly name: string;
  readonly picture: Picture;
  readonly crf: number;
  readonly maxKbps: number;
}

export interface Grid {
  readonly rate: FrameRate;
  /** From one key frame to the next, in every rung. */
  readonly gopFrames: number;
  readonly segmentFrames: number;
}

/** All rungs share it, so that a player may change at each key frame. */
export function planGrid(video: VideoStream, profile: Profile): Grid {
  let rate = rateOf(video);
  while (rate.frames / rate.perSeconds > profile.frame_rate_max * 1.0001) {
    const half = rate.frames / rate.perSeconds / 2;
    rate =
      half < 10 ? exactRate(profile.frame_rate_max) : { ...rate, perSeconds: rate.perSeconds * 2 };
    if (half < 10) break;
  }
  const gopFrames = Math.max(1, frameAt(profile.gop_seconds, rate));
  return { rate, gopFrames, segmentFrames: gopFrames * profile.gops_per_segment };
}

/** Highest first. None is larger than the source; a source below all of them keeps its size. */
export function planRungs(video: VideoStream, profile: Profile): readonly Rung[] {
  const shown = shownSize(video);
  const side = Math.min(shown.width, shown.height);
  const sorted = profile.rungs.toSorted((a, b) => b.height - a.height);
  const fitting = sorted.filter(({ height }) => height <= side);
  const lowest = sorted.at(-1) as (typeof sorted)[number];
  const taken = fitting.length > 0 ? fitting : [{ ...lowest, height: below(side) }];
  return taken.map(({ height, crf, max_kbps }) => {
    const scale = height / side;
    const resolution = [shown.width, shown.height]
      .map((one) => Math.min(even(one * scale), below(one)))
      .join('x');
    const { codec } = profile;
    const wishes = { codec, resolution, ...(profile.hdr === 'keep' ? {} : { profile: 'main' }) };
    return { name: `${height}p`, picture: planPicture(video, wishes), crf, maxKbps: max_kbps };
  });
}

function even(side: number): number {
  return Math.max(2, 2 * Math.round(side / 2));
}

/** The largest even side that a source of this one has. */
function below(side: number): number {
  return Math.max(2, 2 * Math.floor(side / 2));
}

export interface Making {
  readonly input: string;
  readonly temporary: string;
  readonly fingerprint: string;
  readonly threads: number | null;
  readonly source: Source;
}

/** What decoders need stands before the first segment alone; players of Apple take no other. */
const HVC1 = ['-tag:v', 'hvc1'];

/** Capped by quality: as few bits as `crf` needs, and never more than the rate for long. */
export function rungArguments(rung: Rung, grid: Grid, profile: Profile, making: Making): string[] {
  const { picture, crf, maxKbps } = rung;
  const gop = String(grid.gopFrames);
  const filters = [...picture.filters, `fps=${rateText(grid.rate)}:start_time=0`].join(',');
  const h264 = ['-profile:v', 'high', '-g', gop, '-keyint_min', gop, '-sc_threshold', '0'];
  const closed = `keyint=${gop}:min-keyint=${gop}:scenecut=0:open-gop=0:log-level=warning${threadsOfX265(making.threads)}`;
  const h265 = [...HVC1, '-x265-params', closed];
  return [
    ...reading(making),
    ...['-filter_complex', `[0:V:0]${filters}[v]`, '-map', '[v]'],
    ...['-c:v', profile.codec === 'h264' ? 'libx264' : 'libx265', '-preset', profile.preset],
    ...['-pix_fmt', picture.pixelFormat, ...colours(picture), '-crf', String(crf)],
    ...['-maxrate', `${maxKbps}k`, '-bufsize', `${2 * maxKbps}k`],
    ...(profile.codec === 'h264' ? h264 : h265),
    ...writing(making),
  ];
}

export function copyArguments(codec: Profile['codec'], making: Making): string[] {
  const called = codec === 'h265' ? HVC1 : [];
  return [...reading(making), '-map', '0:V:0', '-c', 'copy', ...called, ...writing(making)];
}

/** `filter` is for sound of so many channels, and comes before the encoder has its sample rate. */
export function audioArguments(
  audio: NonNullable<Profile['audio']>,
  filter: string | null,
  channels: number,
  making: Making,
): string[] {
  const filters = [channelsFilter(channels), ...(filter === null ? [] : [filter])];
  const sampled = `aresample=${audio.sample_rate}:async=1:first_pts=0`;
  return [
    ...reading(making),
    ...['-map', '0:a:0', '-af', [...filters, sampled].join(',')],
    ...['-c:a', 'aac', '-b:a', `${audio.bitrate_kbps}k`, '-ac', String(channels)],
    ...writing(making),
  ];
}

function reading({ threads, input }: Making): string[] {
  const some = [...threadsOfFilters(threads), ...threadsEach(threads)];
  return [...TELLING, ...some, ...GUARDED_INPUT, '-i', `file:${input}`];
}

function writing({ threads, fingerprint, temporary, source }: Making): string[] {
  const some = [...threadsEach(threads), ...noLongerThan(source)];
  const about = [
    '-map_metadata',
    '-1',
    '-map_chapters',
    '-1',
    '-metadata',
    `comment=${fingerprint}`,
  ];
  return [...some, ...about, '-f', 'mp4', `file:${temporary}`];
}

/** What of the source the ladder shows. */
export function lengthOf({ video, seconds }: Media): number | null {
  return video?.seconds ?? seconds;
}
