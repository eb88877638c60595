/**
 * What every reader of an input gets: no protocol but `file`, no format that can name other files
 * (HLS, DASH, concat, image sequences), and no picture that alone takes gigabytes to decode. The
 * lists also bind what a container embeds.
 */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';

/** 8K DCI: a frame of 10 bits takes 106 MB, and a decoder holds some twenty. */
export const PIXELS_MAX = 8192 * 4320;

/** Of an input with a picture, and of a timeline. */
export const SECONDS_MAX = 86_400;

/** What an output is made of. */
export interface Source {
  /** How long it says that it is; null: nobody knows. */
  readonly seconds: number | null;
  readonly hasPicture: boolean;
}

/** For an output. A source that goes on behind what it says, or behind the bound, is cut off, and found to be too long. */
export function noLongerThan({ seconds, hasPicture }: Source): readonly string[] {
  if (seconds !== null) return ['-t', (seconds * 1.002 + 1).toFixed(3)];
  return hasPicture ? ['-t', String(SECONDS_MAX)] : [];
}

/** @throws {NonRetryableError} what was made of a source of unknown length was cut off. */
export function assertNotCutOff(
  { seconds, hasPicture }: Source,
  made: number | null,
  what: string,
): void {
  if (seconds !== null || !hasPicture || made === null || made < SECONDS_MAX - 1) return;
  throw new NonRetryableError(
    `${what}: the input does not say how long it is, and has ${SECONDS_MAX} s or more: that is too long`,
  );
}

const guarded = (formats: string): readonly string[] => [
  ...['-protocol_whitelist', 'file', '-format_whitelist', formats],
  ...['-max_pixels', String(PIXELS_MAX)],
];

export const GUARDED_INPUT = guarded(
  'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,flv,avi,wav,mp3,ogg,aac,flac',
);

/** Of one picture, whatever its name looks like. */
export const GUARDED_STILL = guarded('png_pipe,jpeg_pipe');

export const TAKEN_CONTAINERS =
  'mp4, mov, mkv, webm, ts, mpeg, flv, avi, wav, mp3, ogg, aac and flac';
