/**
 * The handler of `ffmpeg.transcode`: makes each output in turn, skips what an earlier attempt
 * finished, and reports which one is being made. It leaves no ffmpeg process and no temporary
 * file behind, whichever way it ends. How a child is ended is in `child-process.ts`.
 */
import { rm, stat } from 'node:fs/promises';
import {
  NonRetryableError,
  RetryableError,
  type Task,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';
import { type RunOptions, describeExit, runChild } from './child-process.ts';
import { transcodeArguments } from './command.ts';
import { describeFfmpegFailure, describeFsError } from './failures.ts';
import type { MediaRoot } from './media-root.ts';
import {
  type FinishedOutput,
  fingerprintOf,
  finishedBefore,
  isUntouched,
  publish,
  removeLeftovers,
  temporaryFor,
} from './outputs.ts';
import { type OutputSpec, parseParams } from './params.ts';
import { type Media, type Prober, probe } from './probe.ts';
import { ProgressReader } from './progress.ts';

export interface TranscodeSettings extends Prober {
  readonly mediaRoot: MediaRoot;
  /** For decoding and encoding each; null leaves it to ffmpeg. */
  readonly threads: number | null;
  /** An ffmpeg that makes no headway for so long is ended. Default 60 s. */
  readonly stallMs?: number;
  /** From SIGTERM to SIGKILL. Default 5 s: it must be over before the master's grace of 10 s. */
  readonly killGraceMs?: number;
}

export interface TranscodeResult {
  readonly outputs: readonly (FinishedOutput & {
    /** It was there already: made by an earlier attempt, or by another task with equal wishes. */
    readonly skipped: boolean;
  })[];
}

/** The state that goes with the percentage. */
export interface TranscodeProgress {
  /** The first is 1. */
  readonly output: number;
  readonly of: number;
  readonly path: string;
  /** Multiples of real time; absent while no ffmpeg runs, null while it is not known. */
  readonly speed?: number | null;
  readonly fps?: number | null;
}

/** An output may end this much early; containers and encoders round. */
const SHORTFALL_SECONDS = 1;
const SHORTFALL_SHARE = 0.05;

export function transcodeHandler(settings: TranscodeSettings) {
  return (task: Task, ctx: TaskContext): Promise<TranscodeResult> =>
    new Transcode(settings, task, ctx).run();
}

/** One attempt. */
class Transcode {
  readonly #settings: TranscodeSettings;
  readonly #task: Task;
  readonly #ctx: TaskContext;
  readonly #limits: Pick<RunOptions, 'signal' | 'stallMs' | 'killGraceMs'>;

  constructor(settings: TranscodeSettings, task: Task, ctx: TaskContext) {
    this.#settings = settings;
    this.#task = task;
    this.#ctx = ctx;
    this.#limits = {
      signal: ctx.signal,
      stallMs: settings.stallMs ?? 60_000,
      killGraceMs: settings.killGraceMs ?? 5_000,
    };
  }

  async run(): Promise<TranscodeResult> {
    const params = parseParams(this.#task.params);
    const { mediaRoot } = this.#settings;
    const input = await mediaRoot.input(params.input);
    const targets = await Promise.all(
      params.outputs.map((output) => mediaRoot.output(output.path)),
    );
    if (new Set([input, ...targets]).size !== targets.length + 1) {
      throw new NonRetryableError('the input and the outputs must be different files');
    }
    await removeLeftovers(targets, this.#task.id);
    const media = await probe(this.#settings, input, `input ${params.input}`, this.#limits);

    const before = finishedBefore(this.#ctx.lastCheckpoint);
    const outputs: TranscodeResult['outputs'][number][] = [];
    for (const [index, output] of params.outputs.entries()) {
      const target = targets[index] as string;
      const job: Job = { index, of: targets.length, input, media, output, target };
      assertSomethingToKeep(job);
      const finished = await this.#findFinished(job, before);
      outputs.push({ ...(finished ?? (await this.#make(job))), skipped: finished !== null });
      this.#ctx.checkpoint({ done: outputs.map(({ skipped: _, ...rest }) => rest) });
      this.#report(job, 1);
    }
    return { outputs };
  }

  /** The output, if it is there and is what is wished for. */
  async #findFinished(job: Job, before: readonly FinishedOutput[]): Promise<FinishedOutput | null> {
    const { output, target } = job;
    const known = before.find(({ path }) => path === output.path);
    if (known && (await isUntouched(target, known))) return known;
    const media = await this.#probeOutput(job, target);
    if (media?.comment !== (await fingerprintOf(job.input, output))) return null;
    return media && this.#describe(job, media);
  }

  async #make(job: Job): Promise<FinishedOutput> {
    const { output, target } = job;
    const temporary = temporaryFor(target, this.#task.id, job.index, this.#ctx.token);
    try {
      const log = await this.#encode(job, temporary);
      const media = await this.#probeOutput(job, temporary);
      assertComplete(job, media, log);
      this.#ctx.signal.throwIfAborted();
      await publish(temporary, target);
      return await this.#describe(job, media);
    } catch (error) {
      throw describeFsError(error, `output ${output.path}`);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Resolves to the end of ffmpeg's log. */
  async #encode(job: Job, temporary: string): Promise<string> {
    const { ffmpeg, threads } = this.#settings;
    const { media, output } = job;
    const fingerprint = await fingerprintOf(job.input, output);
    const args = transcodeArguments({ ...job, temporary, fingerprint, threads });
    const reader = new ProgressReader();
    const total = expectedSeconds(job);
    const end = await runChild(ffmpeg, args, {
      ...this.#limits,
      onStdout: (text) => {
        const reports = reader.read(text);
        const last = reports.at(-1);
        if (last !== undefined) {
          const share = total && last.seconds !== null ? Math.min(1, last.seconds / total) : 0;
          this.#report(job, share, { speed: last.speed, fps: media.video && last.fps });
        }
        return reports.some((report) => report.moved);
      },
    });
    if (end.why === 'aborted') throw this.#ctx.signal.reason;
    const what = `output ${output.path}`;
    if (end.why === 'stalled') {
      const hung = `made no progress for ${this.#limits.stallMs / 1000} s and was ended`;
      throw describeFfmpegFailure(what, hung, end.stderr);
    }
    if (end.code !== 0) throw describeFfmpegFailure(what, describeExit(end), end.stderr);
    return end.stderr;
  }

  #report(job: Job, share: number, now: Pick<TranscodeProgress, 'speed' | 'fps'> = {}): void {
    const { index, of, output } = job;
    const state: TranscodeProgress = { output: index + 1, of, path: output.path, ...now };
    this.#ctx.progress((100 * (index + share)) / of, state);
  }

  /** Null where it is missing or unreadable. */
  async #probeOutput(job: Job, path: string): Promise<Media | null> {
    try {
      return await probe(this.#settings, path, `output ${job.output.path}`, this.#limits);
    } catch (error) {
      this.#ctx.signal.throwIfAborted();
      if (error instanceof NonRetryableError || error instanceof RetryableError) return null;
      throw error;
    }
  }

  async #describe(job: Job, media: Media): Promise<FinishedOutput> {
    const { size, mtimeMs } = await stat(job.target);
    return {
      path: job.output.path,
      bytes: size,
      seconds: media.seconds,
      width: media.video?.width ?? null,
      height: media.video?.height ?? null,
      modified_ms: mtimeMs,
    };
  }
}

interface Job {
  readonly index: number;
  readonly of: number;
  readonly input: string;
  /** Of the input. */
  readonly media: Media;
  readonly output: OutputSpec;
  readonly target: string;
}

function expectedSeconds({ media, output }: Job): number | null {
  return media.seconds && media.seconds + (output.padSeconds ?? 0);
}

function assertSomethingToKeep({ media, output }: Job): void {
  if ((output.video && media.video) || (output.audio && media.audio)) return;
  throw new NonRetryableError(`output ${output.path}: the input has nothing of what it keeps`);
}

/** An exit code of 0 proves nothing: ffmpeg also has it after a full disk, for one. */
function assertComplete(job: Job, made: Media | null, log: string): asserts made is Media {
  const { media, output } = job;
  const fail = (defect: string) => {
    throw describeFfmpegFailure(`output ${output.path}`, `reported success, but ${defect}`, log);
  };
  if (made === null) return fail('left no readable file');
  if (output.video && media.video && !made.video) fail('there is no video in it');
  if (output.audio && media.audio && !made.audio) fail('there is no audio in it');
  const expected = expectedSeconds(job);
  const shortfall = (expected ?? 0) - (made.seconds ?? 0);
  if (expected && shortfall > Math.max(SHORTFALL_SECONDS, expected * SHORTFALL_SHARE)) {
    fail(`it is ${made.seconds ?? 0} s long instead of ${expected} s`);
  }
}
