/**
 * Whether a finished file is what was asked for. An exit code of 0 proves nothing: ffmpeg also has
 * it after a full disk, for one. Pure.
 */
import { channelsOf, type OutputSpec } from './params.ts';
import type { Picture } from '../media/picture.ts';
import type { Source } from '../media/input-guard.ts';
import type { Media } from '../media/media.ts';

/** Containers and encoders round; the larger of the two counts. */
const LENGTH_TOLERANCE_SECONDS = 0.5;
const LENGTH_TOLERANCE_SHARE = 0.001;
const RATE_TOLERANCE_SHARE = 0.02;

export interface Wanted {
  /** Of the input. */
  readonly media: Media;
  readonly output: OutputSpec;
  readonly picture: Picture | null;
}

/** Null where the input does not say how long it is. */
export function expectedSeconds({ media, output, picture }: Wanted): number | null {
  const kept = [picture && media.video, output.audio && media.audio].filter((stream) => !!stream);
  const lengths = kept.map((stream) => stream.seconds).filter((length) => length !== null);
  // A stream that is left out may have been the longest.
  const seconds = lengths.length === kept.length ? Math.max(...lengths) : media.seconds;
  return seconds && seconds + (output.padSeconds ?? 0);
}

/** What bounds its length. */
export function sourceOf(wanted: Wanted): Source {
  const { secondsAreGuessed, video } = wanted.media;
  const seconds = secondsAreGuessed ? null : expectedSeconds(wanted);
  return { seconds, hasPicture: video !== null };
}

/** What is wrong with the file, as the end of a sentence with both figures; null: nothing. */
export function findDefect(wanted: Wanted, made: Media | null): string | null {
  const { media, output, picture } = wanted;
  if (made === null) return 'left no readable file';
  return (
    (picture && videoDefect(wanted, picture, made)) ||
    (output.audio && media.audio && audioDefect(wanted, made)) ||
    lengthDefect(expectedSeconds(wanted), made.seconds, media.secondsAreGuessed, 'it')
  );
}

function videoDefect(wanted: Wanted, picture: Picture, { video }: Media): string | null {
  if (video === null) return 'there is no video in it';
  const { width, height } = picture;
  if (video.width !== width || video.height !== height) {
    return `its picture is ${video.width}x${video.height} instead of ${width}x${height}`;
  }
  const short = shortfall(wanted.media.video?.seconds, video.seconds, wanted, 'its video');
  if (short !== null) return short;
  const rate = wanted.output.video?.frame_rate ?? wanted.media.video?.frameRate ?? null;
  if (rate === null || video.frameRate === null) return null;
  // The average over a short clip is off by up to a frame.
  const frames = rate * (expectedSeconds(wanted) ?? 1);
  const tolerance = rate * Math.max(RATE_TOLERANCE_SHARE, 1.5 / Math.max(frames, 1));
  if (Math.abs(video.frameRate - rate) <= tolerance) return null;
  return `it has ${video.frameRate} frames a second instead of ${rate}`;
}

function audioDefect(wanted: Wanted, { audio }: Media): string | null {
  if (audio === null) return 'there is no audio in it';
  const { media, output } = wanted;
  const channels = output.audio && media.audio && channelsOf(output.audio, media.audio);
  if (channels !== null && audio.channels !== null && audio.channels !== channels) {
    return `its sound has ${audio.channels} channels instead of ${channels}`;
  }
  return shortfall(wanted.media.audio?.seconds, audio.seconds, wanted, 'its audio');
}

/** Padding may make a stream longer, up to the length of the other. */
function shortfall(
  of: number | null | undefined,
  seconds: number | null,
  { media, output }: Wanted,
  what: string,
): string | null {
  if (!of || seconds === null) return null;
  const expected = of + (output.padSeconds ?? 0);
  return seconds >= expected
    ? null
    : lengthDefect(expected, seconds, media.secondsAreGuessed, what);
}

function lengthDefect(
  expected: number | null,
  seconds: number | null,
  isGuess: boolean,
  what: string,
): string | null {
  if (seconds === null || seconds === 0) return `${what} is empty`;
  if (expected === null || isGuess) return null;
  const tolerance = Math.max(LENGTH_TOLERANCE_SECONDS, expected * LENGTH_TOLERANCE_SHARE);
  if (Math.abs(seconds - expected) <= tolerance) return null;
  return `${what} is ${seconds} s long instead of ${expected} s`;
}
