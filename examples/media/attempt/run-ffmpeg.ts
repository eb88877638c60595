/**
 * Runs one ffmpeg that makes something, to its end: its headway becomes progress, its complaints are counted, and an end
 * that is none is an error in words that help.
 */
import type { TaskContext } from '@soda-scheduler/executor-sdk';
import { type RunOptions, describeExit, runChild } from '../child-process.ts';
import { describeFfmpegFailure } from '../failures.ts';
import { DamageCounter, ProgressReader } from '../progress.ts';

/** How a child of an attempt is run, whatever it does. */
export type ChildLimits = Omit<RunOptions, 'onStdout' | 'onStderr' | 'log'>;

export interface Headway {
  /** Of the whole: 0 to 1; 0 while the length is not known. */
  readonly share: number;
  /** Multiples of real time. */
  readonly speed: number | null;
  readonly fps: number | null;
}

export interface FfmpegRun {
  readonly ffmpeg: string;
  /** With `-progress pipe:1`. */
  readonly args: readonly string[];
  /** Begins the message of a failure. */
  readonly what: string;
  /** How long it will be, where that is known. */
  readonly seconds: number | null;
  readonly limits: ChildLimits;
  readonly log?: TaskContext['log'];
  readonly onHeadway?: (headway: Headway) => void;
}

export const QUIET = ['-nostdin', '-hide_banner', '-loglevel', 'warning', '-nostats'];
export const TELLING = [...QUIET, '-progress', 'pipe:1', '-y'];

/** For decoding or encoding, before an input or an output; null leaves it to ffmpeg. */
export function threadsEach(threads: number | null): readonly string[] {
  return threads === null ? [] : ['-threads', String(threads)];
}

/** For the filters, once: without it they take all cores, whatever else is said. */
export function threadsOfFilters(threads: number | null): readonly string[] {
  if (threads === null) return [];
  return ['-filter_threads', String(threads), '-filter_complex_threads', String(threads)];
}

/** x265 has threads of its own, and hears of no option of ffmpeg. */
export function threadsOfX265(threads: number | null): string {
  return threads === null ? '' : `:pools=${threads}:frame-threads=${Math.min(threads, 16)}`;
}

/**
 * Resolves to the end of its log, and how often it complained of the input.
 * @throws the reason of the signal; `RetryableError`, `NonRetryableError` where ffmpeg failed or hung.
 */
export async function runFfmpeg(run: FfmpegRun): Promise<{ log: string; damageCount: number }> {
  const { limits, seconds } = run;
  const reader = new ProgressReader();
  const damage = new DamageCounter();
  const end = await runChild(run.ffmpeg, run.args, {
    ...limits,
    ...(run.log === undefined ? {} : { log: run.log }),
    onStderr: (text) => damage.read(text),
    onStdout: (text) => {
      const reports = reader.read(text);
      const last = reports.at(-1);
      if (last !== undefined) {
        const share = seconds && last.seconds !== null ? Math.min(1, last.seconds / seconds) : 0;
        run.onHeadway?.({ share, speed: last.speed, fps: last.fps });
      }
      return reports.some((report) => report.moved);
    },
  });
  if (end.why === 'aborted') throw limits.signal.reason;
  if (end.why === 'stalled') {
    const hung = `made no progress for ${limits.stallMs / 1000} s and was ended`;
    throw describeFfmpegFailure(run.what, hung, end.stderr);
  }
  if (end.code !== 0) throw describeFfmpegFailure(run.what, describeExit(end), end.stderr);
  return { log: end.stderr, damageCount: damage.count };
}
