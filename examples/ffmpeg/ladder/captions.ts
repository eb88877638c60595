/** Subtitles of text within the source become WebVTT. Those that are pictures stay where they are. */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { runChild } from '../../media/child-process.ts';
import { describeFfmpegFailure } from '../../media/failures.ts';
import { GUARDED_INPUT } from '../../media/input-guard.ts';
import { type ChildLimits, TELLING } from '../../media/attempt/run-ffmpeg.ts';

const TEXT_CODECS = ['subrip', 'mov_text', 'ass', 'ssa', 'webvtt', 'text'];
const CAPTIONS_MAX = 32;
const STDOUT_LENGTH_MAX = 1024 * 1024;

export interface Caption {
  /** Of the stream. */
  readonly index: number;
  /** `und` where the source does not say. */
  readonly language: string;
}

const found = z.object({
  streams: z.array(
    z.object({
      index: z.int(),
      codec_name: z.string().default(''),
      tags: z.object({ language: z.string().optional() }).optional(),
    }),
  ),
});

/** The first 32. */
export async function captionsOf(
  ffprobe: string,
  path: string,
  limits: ChildLimits,
): Promise<readonly Caption[]> {
  let text = '';
  const entries = [
    '-select_streams',
    's',
    '-show_entries',
    'stream=index,codec_name:stream_tags=language',
  ];
  const args = ['-v', 'error', '-of', 'json', ...entries, ...GUARDED_INPUT, '-i', `file:${path}`];
  const onStdout = (part: string) => {
    text = (text + part).slice(0, STDOUT_LENGTH_MAX);
    return true;
  };
  const end = await runChild(ffprobe, args, { ...limits, onStdout });
  if (end.why === 'aborted') throw limits.signal.reason;
  if (end.code !== 0) throw describeFfmpegFailure('captions', 'could not list them', end.stderr);
  return parseCaptions(text);
}

/**
 * The first 32 of ffprobe's JSON.
 * @throws {NonRetryableError} it is none: there was so much of it that its end is missing.
 */
export function parseCaptions(text: string): readonly Caption[] {
  const parsed = found.safeParse(jsonIn(text));
  if (!parsed.success) {
    throw new NonRetryableError('captions: what the input says of them cannot be read');
  }
  return parsed.data.streams
    .filter(({ codec_name }) => TEXT_CODECS.includes(codec_name))
    .slice(0, CAPTIONS_MAX)
    .map(({ index, tags }) => ({
      index,
      // It is written into playlists.
      language: /^[a-z]{2,3}$/.test(tags?.language ?? '') ? (tags?.language as string) : 'und',
    }));
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export function captionArguments(input: string, { index }: Caption, target: string): string[] {
  const source = [...GUARDED_INPUT, '-i', `file:${input}`, '-map', `0:${index}`];
  return [...TELLING, ...source, '-c:s', 'webvtt', '-f', 'webvtt', `file:${target}`];
}

const TIME = String.raw`(?:\d{2,}:)?\d\d:\d\d\.\d{3}`;
const TIMING = new RegExp(`^${TIME} --> ${TIME}`);

/** What ffmpeg has written shows its texts as they are: it escapes nothing in them. */
export async function escapeCaptions(
  source: string,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const input = createReadStream(source);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  await pipeline(escapeCues(lines), createWriteStream(target), { signal });
}

/** Lines of WebVTT, with what is said in cues escaped; the tags that ffmpeg writes and entities stay. */
export async function* escapeCues(
  lines: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<string> {
  let isSaid = false;
  for await (const line of lines) {
    yield `${isSaid ? escaped(line) : line}\n`;
    isSaid = line !== '' && (isSaid || TIMING.test(line));
  }
}

function escaped(said: string): string {
  return said
    .replaceAll(/&(?!(?:amp|lt|gt|nbsp|lrm|rlm|#\d{1,7}|#x[\da-f]{1,6});)/gi, '&amp;')
    .replaceAll(/<(?!\/?[biu]>)/g, '&lt;')
    .replaceAll('-->', '--&gt;');
}
