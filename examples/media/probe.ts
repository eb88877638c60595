/** Asks ffprobe, or ffmpeg where there is none, what is in a file. With the guards of a transcode. */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { describeExit, type RunOptions, runChild } from './child-process.ts';
import { describeFfmpegFailure } from './failures.ts';
import { GUARDED_INPUT } from './input-guard.ts';
import { type Media, PROBE_ENTRIES, parseBanner, parseProbe } from './media.ts';

export interface Prober {
  readonly ffmpeg: string;
  /** Null: there is none. */
  readonly ffprobe: string | null;
}

const MACHINE_TROUBLE =
  /Input\/output error|Cannot allocate memory|Stale file handle|Resource temporarily|Too many open files|error while loading/;

const STDOUT_LENGTH_MAX = 1024 * 1024;

/** @throws {NonRetryableError} where the file is no media file or of a kind that is refused. */
export async function probe(
  prober: Prober,
  path: string,
  what: string,
  options: Omit<RunOptions, 'onStdout'>,
  guard = GUARDED_INPUT,
): Promise<Media> {
  let stdout = '';
  const onStdout = (text: string) => {
    stdout = (stdout + text).slice(0, STDOUT_LENGTH_MAX);
    return true;
  };
  const input = [...guard, '-i', `file:${path}`];
  const { ffmpeg, ffprobe } = prober;
  const end =
    ffprobe === null
      ? await runChild(ffmpeg, ['-nostdin', '-hide_banner', ...input], options)
      : await runChild(ffprobe, [...probeOptions, ...input], { ...options, onStdout });
  if (end.why === 'aborted') throw options.signal.reason;
  if (end.why === 'stalled') throw describeFfmpegFailure(what, 'hung while reading it', end.stderr);
  const media = ffprobe === null ? parseBanner(end.stderr) : parseProbe(stdout);
  if (media !== null && (media.video !== null || media.audio !== null)) return media;
  const error = describeFfmpegFailure(
    what,
    `found no video or audio (${describeExit(end)})`,
    end.stderr,
  );
  // The file is what it is, unless the machine has kept it from being read.
  const isOfMachine = end.signal !== null || MACHINE_TROUBLE.test(end.stderr);
  throw isOfMachine ? error : new NonRetryableError(error.message);
}

const probeOptions = [
  '-hide_banner',
  '-loglevel',
  'error',
  '-of',
  'json',
  '-show_entries',
  PROBE_ENTRIES,
];
