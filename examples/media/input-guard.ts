/**
 * What every reader of an input gets: no protocol but `file`, no format that can name other files
 * (HLS, DASH, concat, image sequences), and no picture that alone takes gigabytes to decode. The
 * lists also bind what a container embeds.
 */

/** 8K DCI: a frame of 10 bits takes 106 MB, and a decoder holds some twenty. */
export const PIXELS_MAX = 8192 * 4320;

/** Of an input with a picture, and of a timeline. */
export const SECONDS_MAX = 86_400;

/**
 * For an output that is made of an input of so many seconds; null: nobody knows. An input that goes on behind what it says is
 * cut off, and found to be too long.
 */
export function noLongerThan(seconds: number | null): readonly string[] {
  return seconds === null ? [] : ['-t', (seconds * 1.002 + 1).toFixed(3)];
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
