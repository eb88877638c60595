/**
 * What is in a media file: asked of ffprobe, or, where there is none, read from the banner of
 * `ffmpeg -i`. Read with the same guards as a transcode.
 */
import { z } from 'zod';
import { describeExit, type RunOptions, runChild } from './child-process.ts';
import { describeFfmpegFailure } from './failures.ts';
import { GUARDED_INPUT } from './input-guard.ts';

export interface Media {
  /** Null where the file does not say. */
  readonly seconds: number | null;
  /** The `comment` of the metadata. */
  readonly comment: string | null;
  /** The first stream that is not a cover picture. */
  readonly video: {
    readonly codec: string;
    readonly width: number;
    readonly height: number;
    readonly frameRate: number | null;
  } | null;
  readonly audio: { readonly codec: string; readonly sampleRate: number | null } | null;
}

export interface Prober {
  readonly ffmpeg: string;
  /** Null: there is none. */
  readonly ffprobe: string | null;
}

const STDOUT_LENGTH_MAX = 1024 * 1024;

/** @throws {NonRetryableError} where the file is no media file or of a kind that is refused. */
export async function probe(
  prober: Prober,
  path: string,
  what: string,
  options: Pick<RunOptions, 'signal' | 'stallMs' | 'killGraceMs'>,
): Promise<Media> {
  let stdout = '';
  const onStdout = (text: string) => {
    stdout = (stdout + text).slice(0, STDOUT_LENGTH_MAX);
    return true;
  };
  const input = [...GUARDED_INPUT, '-i', `file:${path}`];
  const { ffmpeg, ffprobe } = prober;
  const end =
    ffprobe === null
      ? await runChild(ffmpeg, ['-nostdin', '-hide_banner', ...input], options)
      : await runChild(ffprobe, [...probeOptions, ...input], { ...options, onStdout });
  if (end.why === 'aborted') throw options.signal.reason;
  if (end.why === 'stalled') throw describeFfmpegFailure(what, 'hung while reading it', end.stderr);
  const media = ffprobe === null ? parseBanner(end.stderr) : parseProbe(stdout);
  if (media === null || (media.video === null && media.audio === null)) {
    throw describeFfmpegFailure(what, `found no video or audio (${describeExit(end)})`, end.stderr);
  }
  return media;
}

const probeOptions = [
  ...['-hide_banner', '-loglevel', 'error', '-of', 'json', '-show_entries'],
  'format=duration:format_tags=comment:stream=codec_type,codec_name,width,height,' +
    'avg_frame_rate,sample_rate:stream_disposition=attached_pic',
];

const numeric = z.coerce.number().positive().nullable().catch(null);

const probeOutput = z.object({
  format: z.object({
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
      sample_rate: numeric,
      disposition: z.object({ attached_pic: z.number() }).optional(),
    }),
  ),
});

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
  const tags = Object.entries(format.tags ?? {});
  return {
    seconds: format.duration,
    comment: tags.find(([name]) => name.toLowerCase() === 'comment')?.[1] ?? null,
    video: video
      ? {
          codec: video.codec_name,
          width: video.width,
          height: video.height,
          frameRate: parseRatio(video.avg_frame_rate),
        }
      : null,
    audio: audio ? { codec: audio.codec_name, sampleRate: audio.sample_rate } : null,
  };
}

/** The banner that `ffmpeg -i` prints; null where ffmpeg did not open the file. */
export function parseBanner(text: string): Media | null {
  if (!/^Input #0/m.test(text)) return null;
  const clock = /Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(text);
  const seconds = clock && Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3]);
  const streams = text.split('\n').filter((line) => /^\s*Stream #0:\d+/.test(line));
  const video = streams.find((line) => / Video: /.test(line) && !line.includes('(attached pic)'));
  const audio = streams.find((line) => / Audio: /.test(line));
  const size = /[, ](\d{2,5})x(\d{2,5})[, ]/.exec(`${video ?? ''} `);
  return {
    seconds: seconds || null,
    comment: /^\s*comment\s*: (.*)$/im.exec(text)?.[1]?.trim() ?? null,
    video: video
      ? {
          codec: / Video: (\w+)/.exec(video)?.[1] ?? 'unknown',
          width: Number(size?.[1] ?? 0),
          height: Number(size?.[2] ?? 0),
          frameRate: Number(/([\d.]+) fps/.exec(video)?.[1]) || null,
        }
      : null,
    audio: audio
      ? {
          codec: / Audio: (\w+)/.exec(audio)?.[1] ?? 'unknown',
          sampleRate: Number(/(\d+) Hz/.exec(audio)?.[1]) || null,
        }
      : null,
  };
}

function parseRatio(text: string): number | null {
  const [above, below] = text.split('/').map(Number);
  const ratio = (above ?? 0) / (below ?? 1);
  return Number.isFinite(ratio) && ratio > 0 ? ratio : null;
}
