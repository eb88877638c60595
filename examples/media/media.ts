/**
 * What is in a media file, as ffprobe's JSON says it, or, where there is no ffprobe, the banner of
 * `ffmpeg -i`. Pure.
 */
import { z } from 'zod';

export interface Media {
  /** Null where the file does not say. */
  readonly seconds: number | null;
  /** The length is a guess from the bitrate: the container has none. */
  readonly secondsAreGuessed: boolean;
  /** The `comment` of the metadata. */
  readonly comment: string | null;
  /** The first stream that is not a cover picture. */
  readonly video: VideoStream | null;
  readonly audio: AudioStream | null;
}

export interface VideoStream {
  readonly codec: string;
  /** Stored pixels, before rotation and pixel aspect. */
  readonly width: number;
  readonly height: number;
  /** On the average. */
  readonly frameRate: number | null;
  /** Where its frames come closest, as ffmpeg guesses it; null: nobody knows. */
  readonly closestRate: number | null;
  /** By how much players turn it: 0, 90, 180 or 270 degrees, in either direction. */
  readonly rotation: number;
  /** Width of a pixel by its height; 1 where the file does not say. */
  readonly pixelAspect: number;
  readonly pixelFormat: string | null;
  /** The transfer function, where the file names it: `smpte2084` and `arib-std-b67` are HDR. */
  readonly transfer: string | null;
  readonly interlaced: boolean;
  readonly seconds: number | null;
}

export interface AudioStream {
  readonly codec: string;
  readonly sampleRate: number | null;
  readonly channels: number | null;
  readonly seconds: number | null;
}

/** Sound may go on behind the picture. */
export function longestIn({ video, audio, seconds }: Media): number | null {
  const lengths = [video?.seconds, audio?.seconds, seconds].filter(
    (one) => typeof one === 'number',
  );
  return lengths.length === 0 ? null : Math.max(...lengths);
}

/** The entries of a file that `parseProbe` reads. */
export const PROBE_ENTRIES =
  'format=format_name,start_time,duration:format_tags=comment,encoder:stream=codec_type,codec_name,width,height,' +
  'avg_frame_rate,r_frame_rate,sample_aspect_ratio,pix_fmt,color_transfer,field_order,sample_rate,channels,' +
  'duration:stream_disposition=attached_pic:stream_tags=DURATION,rotate:stream_side_data=rotation';

/** Of these the length is not stored: ffprobe divides the size by the bitrate of the beginning. */
const GUESSED = ['aac', 'mp3', 'mpeg'];

const numeric = z.coerce.number().positive().nullable().catch(null);

const probeOutput = z.object({
  format: z.object({
    format_name: z.string().default(''),
    start_time: numeric,
    duration: numeric,
    tags: z.record(z.string(), z.string()).optional(),
  }),
  streams: z.array(
    z.object({
      codec_type: z.string().optional(),
      codec_name: z.string().default('unknown'),
      width: z.number().default(0),
      height: z.number().default(0),
      avg_frame_rate: z.string().default(''),
      r_frame_rate: z.string().default(''),
      sample_aspect_ratio: z.string().default(''),
      pix_fmt: z.string().nullable().default(null),
      color_transfer: z.string().nullable().default(null),
      field_order: z.string().default(''),
      sample_rate: numeric,
      channels: numeric,
      duration: numeric,
      disposition: z.object({ attached_pic: z.number().default(0) }).optional(),
      tags: z.record(z.string(), z.string()).default({}),
      side_data_list: z.array(z.object({ rotation: z.number().optional() })).default([]),
    }),
  ),
});

type Stream = z.output<typeof probeOutput>['streams'][number];

/** The JSON of ffprobe; null where it is not what was asked for. */
export function parseProbe(text: string): Media | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = probeOutput.safeParse(json);
  if (!parsed.success) return null;
  const { format, streams } = parsed.data;
  const video = streams.find((s) => s.codec_type === 'video' && !s.disposition?.attached_pic);
  const audio = streams.find((s) => s.codec_type === 'audio');
  const formatTag = (wanted: string) =>
    Object.entries(format.tags ?? {}).find(([name]) => name.toLowerCase() === wanted)?.[1] ?? null;
  const before = secondsBefore(format.format_name, formatTag('encoder'), format.start_time);
  return {
    seconds: lengthUpTo(format.duration, before),
    secondsAreGuessed: GUESSED.includes(format.format_name),
    comment: formatTag('comment'),
    video: video ? videoOf(video, before) : null,
    audio: audio
      ? {
          codec: audio.codec_name,
          sampleRate: audio.sample_rate,
          channels: audio.channels,
          seconds: secondsOf(audio, before),
        }
      : null,
  };
}

function videoOf(stream: Stream, before: number): VideoStream {
  const turned = stream.side_data_list.find(({ rotation }) => rotation !== undefined)?.rotation;
  return {
    codec: stream.codec_name,
    width: stream.width,
    height: stream.height,
    frameRate: parseRatio(stream.avg_frame_rate),
    closestRate: parseRatio(stream.r_frame_rate),
    rotation: quarterTurns(turned ?? Number(stream.tags['rotate'] ?? 0)),
    pixelAspect: parseRatio(stream.sample_aspect_ratio.replace(':', '/')) ?? 1,
    pixelFormat: stream.pix_fmt,
    transfer: stream.color_transfer,
    interlaced: ['tt', 'bb', 'tb', 'bt'].includes(stream.field_order),
    seconds: secondsOf(stream, before),
  };
}

/** Matroska keeps the length of a stream in a tag. */
function secondsOf({ duration, tags }: Stream, before: number): number | null {
  if (duration !== null) return duration;
  return lengthUpTo(
    secondsIn(/^(\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(tags['DURATION'] ?? '')),
    before,
  );
}

/** By how much the lengths that a file says are too large: ffmpeg writes into Matroska where it ends, others how long it is. */
function secondsBefore(format: string, encoder: string | null, start: number | null): number {
  return format.startsWith('matroska') && encoder?.startsWith('Lavf') ? Math.max(0, start ?? 0) : 0;
}

/** Null: nobody knows. */
function lengthUpTo(end: number | null, before: number): number | null {
  const length = end && Math.round((end - before) * 1e6) / 1e6;
  return length !== null && length > 0 ? length : null;
}

/** To 0, 90, 180 or 270. What is no quarter turn is left as ffmpeg leaves it: not turned. */
function quarterTurns(degrees: number): number {
  const turns = (((Math.round(degrees) % 360) + 360) % 360) / 90;
  return Number.isInteger(turns) ? turns * 90 : 0;
}

function parseRatio(text: string): number | null {
  const [above, below] = text.split('/').map(Number);
  const ratio = (above ?? 0) / (below ?? 1);
  return Number.isFinite(ratio) && ratio > 0 ? ratio : null;
}

/** Null where ffmpeg did not open the file. Lengths of single streams are known of Matroska only. */
export function parseBanner(text: string): Media | null {
  const format = /^Input #0, (\S+), from/m.exec(text)?.[1];
  if (format === undefined) return null;
  const streams = text
    .split(/^\s*(?=Stream #0:\d+)/m)
    .slice(1)
    .map((part) => ({ line: part.split('\n', 1)[0] ?? '', part }));
  const video = streams.find(
    ({ line }) => / Video: /.test(line) && !line.includes('(attached pic)'),
  );
  const audio = streams.find(({ line }) => / Audio: /.test(line));
  const whole = /Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)(?:, start: ([\d.]+))?/.exec(text);
  const encoder = /^ {4}encoder\s*: (.*)$/im.exec(text)?.[1] ?? null;
  const before = secondsBefore(format, encoder, Number(whole?.[4] ?? 0));
  return {
    seconds: lengthUpTo(secondsIn(whole), before),
    secondsAreGuessed: /Estimating duration from bitrate/.test(text) || /^(aac|mp3)$/.test(format),
    comment: /^\s*comment\s*: (.*)$/im.exec(text)?.[1]?.trim() ?? null,
    video: video === undefined ? null : videoIn(video.line, video.part, before),
    audio: audio === undefined ? null : audioIn(audio.line, audio.part, before),
  };
}

function videoIn(line: string, part: string, before: number): VideoStream {
  const size = /[, ](\d{2,5})x(\d{2,5})[, ]/.exec(`${line} `);
  const aspect = /\[SAR (\d+):(\d+) /.exec(line);
  // `yuv420p10le(tv, bt2020nc/bt2020/smpte2084, top first)`: the third name is the transfer.
  const format = /^(\w+)(?:\((.*)\))?$/.exec(fieldsOf(line)[1] ?? '');
  const turned = /displaymatrix: rotation of (-?[\d.]+) degrees/.exec(part)?.[1];
  return {
    codec: / Video: (\w+)/.exec(line)?.[1] ?? 'unknown',
    width: Number(size?.[1] ?? 0),
    height: Number(size?.[2] ?? 0),
    frameRate: Number(/([\d.]+) fps/.exec(line)?.[1]) || null,
    closestRate: thousands(/([\d.]+k?) tbr/.exec(line)?.[1]),
    rotation: quarterTurns(Number(turned ?? /^\s*rotate\s*: (-?\d+)$/m.exec(part)?.[1] ?? 0)),
    pixelAspect: (aspect && Number(aspect[1]) / Number(aspect[2])) || 1,
    pixelFormat: format?.[1] ?? null,
    transfer: /\w+\/\w+\/([\w-]+)/.exec(format?.[2] ?? '')?.[1] ?? null,
    interlaced: /top first|bottom first|top coded first|bottom coded first/.test(format?.[2] ?? ''),
    seconds: lengthUpTo(taggedSeconds(part), before),
  };
}

/** 25, or 1k. */
function thousands(text = ''): number | null {
  return Number(text.replace('k', '')) * (text.endsWith('k') ? 1000 : 1) || null;
}

/** What follows the kind of the stream, cut at the commas that stand in no brackets. */
function fieldsOf(line: string): string[] {
  const fields = [''];
  let depth = 0;
  for (const character of line.slice(line.indexOf(' Video: ') + ' Video: '.length)) {
    if (character === '(') depth++;
    else if (character === ')') depth--;
    if (character === ',' && depth === 0) fields.push('');
    else fields[fields.length - 1] += character;
  }
  return fields.map((field) => field.trim());
}

function audioIn(line: string, part: string, before: number): AudioStream {
  const layouts: Record<string, number> = { mono: 1, stereo: 2, '5.1': 6, '7.1': 8 };
  const layout = /\d+ Hz, ([\w.]+)(?: channels)?/.exec(line)?.[1] ?? '';
  return {
    codec: / Audio: (\w+)/.exec(line)?.[1] ?? 'unknown',
    sampleRate: Number(/(\d+) Hz/.exec(line)?.[1]) || null,
    channels: layouts[layout] ?? (/^\d+$/.test(layout) ? Number(layout) : null),
    seconds: lengthUpTo(taggedSeconds(part), before),
  };
}

function taggedSeconds(part: string): number | null {
  return secondsIn(/^\s*DURATION\s*: (\d+):(\d\d):(\d\d(?:\.\d+)?)/m.exec(part));
}

function secondsIn(clock: RegExpExecArray | null): number | null {
  if (clock === null) return null;
  return Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3]) || null;
}
