/** Subtitles of text within the source become WebVTT. Those that are pictures stay where they are. */
import { NonRetryableError, RetryableError } from '@soda-scheduler/executor-sdk';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { runChild } from '../../media/child-process.ts';
import { describeFfmpegFailure } from '../../media/failures.ts';
import { GUARDED_INPUT } from '../../media/input-guard.ts';
import { type ChildLimits, TELLING } from '../../media/attempt/run-ffmpeg.ts';

const ASS_CODECS = ['ass', 'ssa', 'webvtt'];
const TEXT_CODECS = ['subrip', 'mov_text', 'text', ...ASS_CODECS];
const CAPTIONS_MAX = 32;
const STDOUT_LENGTH_MAX = 1024 * 1024;

export interface Caption {
  /** Of the stream. */
  readonly index: number;
  /** `und` where the source does not say. */
  readonly language: string;
  /** Its texts have the escapes of ASS: so ffmpeg hands on WebVTT, too. */
  readonly isAss: boolean;
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
    .map(({ index, codec_name, tags }) => ({
      index,
      isAss: ASS_CODECS.includes(codec_name),
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

const HEADER = 'WEBVTT\n';

/** ffmpeg's encoded texts, one behind another, and a list of what each of them is. */
export interface CaptionFiles {
  readonly texts: string;
  readonly list: string;
}

/** Not as a file of WebVTT: ffmpeg leaves an empty line within a text, and what follows it can be a cue of its own. */
export function captionArguments(
  input: string,
  { index }: Caption,
  { texts, list }: CaptionFiles,
): string[] {
  const source = [...GUARDED_INPUT, '-i', `file:${input}`];
  const encoded = ['-map', `0:${index}`, '-c:s', 'webvtt'];
  const files = [...encoded, '-f', 'data', `file:${texts}`];
  return [...TELLING, ...source, ...files, ...encoded, '-f', 'framecrc', `file:${list}`];
}

/**
 * Whether anything is said.
 * @throws {RetryableError} there is less of the texts than the list says.
 */
export async function writeCaptions(
  { isAss }: Caption,
  { texts, list }: CaptionFiles,
  target: string,
  signal: AbortSignal,
): Promise<boolean> {
  const file = await open(texts);
  const next = async (byteCount: number): Promise<string> => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(byteCount), 0, byteCount, null);
    if (bytesRead === byteCount) return isAss ? withoutAss(buffer.toString()) : buffer.toString();
    throw new RetryableError('captions: ffmpeg reported success, but left no whole file');
  };
  try {
    const entries = createReadStream(list, 'utf8');
    await pipeline(entries, (parts) => cuesOf(parts, next), createWriteStream(target), { signal });
    return (await stat(target)).size > HEADER.length;
  } finally {
    await file.close();
  }
}

/** `next` gives so many bytes of the texts. */
async function* cuesOf(
  parts: AsyncIterable<string>,
  next: (byteCount: number) => Promise<string>,
): AsyncGenerator<string> {
  yield HEADER;
  let rest = '';
  let secondsEach = 1;
  for await (const part of parts) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const timeBase = /^#tb 0: (\d+)\/(\d+)$/.exec(line);
      if (timeBase) secondsEach = Number(timeBase[1]) / Number(timeBase[2]);
      if (line.startsWith('#')) continue;
      const [, , at = 0, duration = 0, byteCount = 0] = line.split(',').map(Number);
      const text = await next(byteCount);
      yield cueOf(at * secondsEach, (at + duration) * secondsEach, text);
    }
  }
}

const DRAWING = /^ *m(?: +-?[\d.]+){2,}(?: +[mnlbspc](?: +-?[\d.]+)*)+ *$/gm;

/** Its escapes are read, and lines that are a drawing are left out. */
export function withoutAss(text: string): string {
  return text
    .replaceAll(DRAWING, '')
    .replaceAll('\\h', '\u00a0')
    .replaceAll(/\\([{}])/g, '$1');
}

/** With a line before it that is empty. Nothing, where it says nothing, or nobody can see it. */
export function cueOf(startSeconds: number, endSeconds: number, text: string): string {
  const start = Math.max(0, Math.round(startSeconds * 1000));
  const end = Math.round(endSeconds * 1000);
  const lines = text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length === 0 || end <= start) return '';
  return `\n${clock(start)} --> ${clock(end)}\n${lines.map((line) => `${escaped(line)}\n`).join('')}`;
}

function clock(ms: number): string {
  const [hours, minutes, seconds] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60];
  const [hh, mm, ss] = [hours, minutes, seconds].map((n) => String(Math.floor(n)).padStart(2, '0'));
  return `${hh}:${mm}:${ss}.${String(ms % 1000).padStart(3, '0')}`;
}

/** But for the tags that ffmpeg writes and for entities. */
function escaped(said: string): string {
  return said
    .replaceAll(/&(?!(?:amp|lt|gt|nbsp|lrm|rlm|#\d{1,7}|#x[\da-f]{1,6});)/gi, '&amp;')
    .replaceAll(/<(?!\/?[biu]>)/g, '&lt;')
    .replaceAll('-->', '--&gt;');
}
