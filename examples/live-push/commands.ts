/**
 * The argument lists of the ffmpegs of a push: those that decode inputs to raw frames, and the one that encodes and sends.
 * Pure. No shell ever sees them; files are absolute and carry `file:`, so that none of them can be read as an option.
 */
import { GUARDED_INPUT, GUARDED_STILL } from '../media/input-guard.ts';
import type { Media } from '../media/media.ts';
import { planPicture } from '../media/picture.ts';
import { CHANNEL_COUNT, type RawFormat, SAMPLE_RATE } from './raw-format.ts';
import type { Sink } from './sink.ts';

const QUIET = ['-nostdin', '-hide_banner', '-nostats', '-loglevel'];

/** Of the pipes of an ffmpeg here. */
export const VIDEO_FD = 3;
export const SOUND_FD = 4;

export interface Input {
  /** As the params name it. */
  readonly name: string;
  /** The real file. */
  readonly path: string;
  readonly bytes: number;
  readonly media: Media;
  /** A picture, which is shown for as long as it is needed. */
  readonly isStill: boolean;
}

export interface DecodeOptions {
  readonly format: RawFormat;
  /** Where in the file it begins. */
  readonly fromSeconds: number;
  /** From the beginning again when it is over, for ever. */
  readonly isLooped: boolean;
  readonly threads: number | null;
}

export function decodeArguments(input: Input, options: DecodeOptions): string[] {
  const { format, fromSeconds, isLooped, threads } = options;
  const { isStill, media } = input;
  const loop = isLooped && !isStill ? ['-stream_loop', '-1'] : [];
  const seek = fromSeconds > 0 ? ['-ss', fromSeconds.toFixed(6)] : [];
  return [
    ...[...QUIET, 'error', ...threadsOf(threads)],
    ...[...(isStill ? GUARDED_STILL : GUARDED_INPUT), ...loop, ...seek],
    ...['-i', `file:${input.path}`],
    ...['-map', '0:V:0', '-vf', videoFilters(input, format), '-f', 'rawvideo'],
    ...['-pix_fmt', 'yuv420p', `pipe:${VIDEO_FD}`],
    ...(media.audio === null ? [] : ['-map', '0:a:0', '-af', SOUND_FILTERS, ...RAW_SOUND]),
    ...(media.audio === null ? [] : [`pipe:${SOUND_FD}`]),
  ];
}

const RAW_SOUND = ['-f', 's16le', '-ar', `${SAMPLE_RATE}`, '-ac', `${CHANNEL_COUNT}`];

/** From its time 0 on and without holes, so that the number of a sample says its time. */
const SOUND_FILTERS = `aresample=${SAMPLE_RATE}:async=1:first_pts=0`;

function videoFilters({ media, isStill }: Input, { width, height, rate }: RawFormat): string {
  if (media.video === null) throw new Error('an input without a picture is refused before');
  const wishes = { codec: 'h264', resolution: `${width}x${height}` };
  const { filters } = planPicture(media.video, wishes);
  const timed = isStill
    ? ['format=yuv420p', 'loop=loop=-1:size=1', `setpts=N/${rate}/TB`]
    : [`fps=fps=${rate}:start_time=0`, 'format=yuv420p'];
  return [...filters, ...timed].join(',');
}

export interface EncodeOptions {
  readonly format: RawFormat;
  readonly videoKbps: number;
  readonly audioKbps: number;
  readonly threads: number | null;
}

/** Reads frames from its pipes as they come, and never ends by itself before these do. */
export function sendArguments(sink: Sink, options: EncodeOptions): string[] {
  const { format, videoKbps, audioKbps, threads } = options;
  const gop = String(2 * format.rate);
  // Raw frames need no looking into: it begins with the first.
  const raw = (packets: number) => [
    ...['-thread_queue_size', `${packets}`, '-probesize', '32', '-analyzeduration', '0'],
  ];
  return [
    ...[...QUIET, 'warning', '-progress', 'pipe:1', '-stats_period', '0.5'],
    ...[...raw(8), '-f', 'rawvideo', '-pix_fmt', 'yuv420p'],
    ...['-video_size', `${format.width}x${format.height}`, '-framerate', `${format.rate}`],
    ...['-i', `pipe:${VIDEO_FD}`],
    ...[...raw(512), ...RAW_SOUND, '-i', `pipe:${SOUND_FD}`],
    ...['-map', '0:v', '-map', '1:a', ...threadsOf(threads)],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
    ...['-g', gop, '-keyint_min', gop, '-sc_threshold', '0'],
    ...['-b:v', `${videoKbps}k`, '-maxrate', `${videoKbps}k`, '-bufsize', `${videoKbps}k`],
    ...['-c:a', 'aac', '-b:a', `${audioKbps}k`],
    // What is encoded is sent, and does not wait to be interleaved with what is not there.
    ...['-flush_packets', '1', '-max_interleave_delta', '1000000'],
    ...sink.options,
    ...['-f', sink.muxer, sink.target],
  ];
}

function threadsOf(threads: number | null): string[] {
  return threads === null ? [] : ['-threads', String(threads)];
}
