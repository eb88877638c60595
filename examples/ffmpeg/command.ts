/**
 * Turns a checked output into ffmpeg's argument list. Pure. No shell ever sees these arguments;
 * file names are absolute and carry `file:`, so that none of them can be read as an option.
 */
import { GUARDED_INPUT, noLongerThan } from '../media/input-guard.ts';
import { channelsOf, type OutputSpec } from './params.ts';
import type { Picture } from '../media/picture.ts';
import type { Media } from '../media/media.ts';
import {
  TELLING,
  threadsEach,
  threadsOfFilters,
  threadsOfX265,
} from '../media/attempt/run-ffmpeg.ts';
import { layoutOf } from '../media/sound.ts';
import { sourceOf } from './verify.ts';

const encoders = {
  h264: 'libx264',
  h265: 'libx265',
  vp9: 'libvpx-vp9',
  aac: 'aac',
  mp3: 'libmp3lame',
  opus: 'libopus',
} as const;

export interface TranscodeCommand {
  readonly input: string;
  readonly media: Media;
  readonly output: OutputSpec;
  /** Null where the output has no video. */
  readonly picture: Picture | null;
  /** Written instead of the target, which it replaces once it is complete. */
  readonly temporary: string;
  /** Ends up in the file's metadata and says from what and how it was made. */
  readonly fingerprint: string;
  /** For decoding, filters and encoding each; null leaves it to ffmpeg. */
  readonly threads: number | null;
}

export function transcodeArguments(command: TranscodeCommand): string[] {
  const { media, output, picture } = command;
  const audio = media.audio && output.audio;
  const threads = threadsEach(command.threads);
  return [
    ...[...TELLING, ...threadsOfFilters(command.threads)],
    ...[...threads, ...GUARDED_INPUT, '-i', `file:${command.input}`],
    ...['-filter_complex', filterGraph(command)],
    ...(picture && output.video
      ? ['-map', '[v]', ...videoOptions(output.video, picture, command.threads)]
      : []),
    ...(audio ? ['-map', '[a]', ...audioOptions(audio)] : []),
    // While one stream of a concat waits for its turn, packets of the other pile up.
    ...['-max_muxing_queue_size', '9999', ...threads, ...noLongerThan(sourceOf(command))],
    ...['-metadata', `comment=${command.fingerprint}`, '-f', output.muxer],
    `file:${command.temporary}`,
  ];
}

/**
 * Without padding: `[0:V:0] filters -> [v]` and `[0:a:0] -> [a]`. With padding, black and silence
 * of that length are concatenated behind them. Sources inside the graph take the place of lavfi
 * inputs, so that no input is ever opened without the guards above.
 */
function filterGraph({ media, output, picture }: TranscodeCommand): string {
  const audio = media.audio && output.audio;
  const channels = media.audio && output.audio && channelsOf(output.audio, media.audio);
  const pad = output.padSeconds;
  const parts: string[] = [];
  if (picture) parts.push(`[0:V:0]${picture.filters.join(',')}[${pad === undefined ? 'v' : 'v0'}]`);
  if (audio) {
    const layout = layoutOf(channels ?? null);
    const filter = layout === null ? 'anull' : `aformat=channel_layouts=${layout}`;
    parts.push(`[0:a:0]${filter}[${pad === undefined ? 'a' : 'a0'}]`);
  }
  if (pad === undefined) return parts.join(';');

  if (picture) {
    const rate = output.video?.frame_rate ?? media.video?.frameRate ?? 25;
    const size = `${picture.width}x${picture.height}`;
    parts.push(`color=c=black:s=${size}:r=${rate}:d=${pad}[v1]`);
  }
  if (audio) {
    const sampleRate = audio.sample_rate ?? media.audio?.sampleRate ?? 48_000;
    const layout = layoutOf(channels ?? null) ?? 'stereo';
    parts.push(`anullsrc=r=${sampleRate}:cl=${layout},atrim=duration=${pad}[a1]`);
  }
  const segments = [0, 1]
    .map((n) => `${picture ? `[v${n}]` : ''}${audio ? `[a${n}]` : ''}`)
    .join('');
  const [v, a] = [picture ? 1 : 0, audio ? 1 : 0];
  // `unsafe` lets the two parts differ in frame rate; their sizes are equal.
  const concat = `concat=n=2:v=${v}:a=${a}:unsafe=1${picture ? '[v]' : ''}${audio ? '[a]' : ''}`;
  return [...parts, `${segments}${concat}`].join(';');
}

function videoOptions(
  video: NonNullable<OutputSpec['video']>,
  picture: Picture,
  threads: number | null,
): string[] {
  return [
    ...['-c:v', encoders[video.codec], '-pix_fmt', picture.pixelFormat, ...colours(picture)],
    ...option('-b:v', video.bitrate_kbps, 'k'),
    ...option('-profile:v', video.profile),
    ...option('-g', video.gop),
    // It has a log of its own, in which ordinary words are no warnings.
    ...(video.codec === 'h265'
      ? ['-x265-params', `log-level=warning${threadsOfX265(threads)}`]
      : []),
  ];
}

/** Where they matter they are written into the file: players guess the rest by the size. */
export function colours({ transfer, toneMapped }: Picture): string[] {
  if (transfer === null && !toneMapped) return [];
  const [primaries, curve, matrix] =
    transfer === null ? ['bt709', 'bt709', 'bt709'] : ['bt2020', transfer, 'bt2020nc'];
  return ['-color_primaries', primaries, '-color_trc', curve, '-colorspace', matrix] as string[];
}

function audioOptions(audio: NonNullable<OutputSpec['audio']>): string[] {
  return [
    ...['-c:a', encoders[audio.codec]],
    ...option('-b:a', audio.bitrate_kbps, 'k'),
    ...option('-ar', audio.sample_rate),
    ...option('-ac', audio.channels),
  ];
}

function option(name: string, value: string | number | undefined, unit = ''): string[] {
  return value === undefined ? [] : [name, `${value}${unit}`];
}
