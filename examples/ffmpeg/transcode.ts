/**
 * The handler of `ffmpeg.transcode`: makes each output in turn, skips what an earlier attempt
 * finished, and reports which one is being made. It leaves no ffmpeg process and no temporary
 * file behind, whichever way it ends. How a child is ended is in `child-process.ts`.
 */
import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import {
  NonRetryableError,
  type Progress,
  RetryableError,
  type Task,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';
import { type RunOptions, describeExit, runChild } from '../media/child-process.ts';
import { transcodeArguments } from './command.ts';
import { describeFfmpegFailure, describeFsError } from '../media/failures.ts';
import type { MediaRoot } from '../media/media-root.ts';
import {
  type FinishedOutput,
  fingerprintOf,
  finishedBefore,
  isUntouched,
  publish,
  removeLeftovers,
  temporaryFor,
} from './outputs.ts';
import { PIXELS_MAX } from '../media/input-guard.ts';
import { parseParams } from './params.ts';
import { planPicture } from '../media/picture.ts';
import type { Media } from '../media/media.ts';
import { type Prober, probe } from '../media/probe.ts';
import { DamageCounter, ProgressReader } from '../media/progress.ts';
import { type Wanted, expectedSeconds, findDefect } from './verify.ts';

/** Of a part in a report of progress. */
const PART_NAME_LENGTH_MAX = 128;

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

export function transcodeHandler(settings: TranscodeSettings) {
  return (task: Task, ctx: TaskContext): Promise<TranscodeResult> =>
    new Transcode(settings, task, ctx).run();
}

/** One attempt. */
class Transcode {
  readonly #settings: TranscodeSettings;
  readonly #task: Task;
  readonly #ctx: TaskContext;
  readonly #limits: Omit<RunOptions, 'onStdout'>;
  /** In the order of the outputs. */
  #parts: NonNullable<Progress['parts']> = [];

  constructor(settings: TranscodeSettings, task: Task, ctx: TaskContext) {
    this.#settings = settings;
    this.#task = task;
    this.#ctx = ctx;
    this.#limits = {
      signal: ctx.signal,
      spawn: ctx.spawn,
      stallMs: settings.stallMs ?? 60_000,
      killGraceMs: settings.killGraceMs ?? 5_000,
    };
  }

  async run(): Promise<TranscodeResult> {
    const jobs = await this.#plan();
    this.#parts = jobs.map(({ output }) => ({ name: partName(output.path), percent: 0 }));
    const before = finishedBefore(this.#ctx.lastCheckpoint);
    const outputs: TranscodeResult['outputs'][number][] = [];
    for (const job of jobs) {
      const finished = await this.#findFinished(job, before);
      outputs.push({ ...(finished ?? (await this.#make(job))), skipped: finished !== null });
      this.#ctx.checkpoint({ done: outputs.map(({ skipped: _, ...rest }) => rest) });
      this.#report(job, 1);
    }
    return { outputs };
  }

  /** Refuses whatever cannot end well before the first output costs hours. */
  async #plan(): Promise<readonly Job[]> {
    const params = parseParams(this.#task.params);
    const { mediaRoot } = this.#settings;
    const input = await mediaRoot.input(params.input);
    const targets = await Promise.all(
      params.outputs.map((output) => mediaRoot.output(output.path)),
    );
    if (new Set([input, ...targets]).size !== targets.length + 1) {
      throw new NonRetryableError('the input and the outputs must be different files');
    }
    await removeLeftovers(targets, this.#task);
    const media = await probe(this.#settings, input, `input ${params.input}`, this.#limits);
    assertTakeable(media, params.input);
    const jobs = params.outputs.map((output, index): Job => {
      const picture = media.video && output.video && planPicture(media.video, output.video);
      const target = targets[index] as string;
      return { index, of: targets.length, input, media, output, target, picture };
    });
    for (const job of jobs) assertSomethingToKeep(job);
    if (jobs.some(({ picture }) => picture?.toneMapped)) await this.#assertToneMapping();
    return jobs;
  }

  /** Not every build of ffmpeg has what brings HDR to an ordinary screen. */
  async #assertToneMapping(): Promise<void> {
    let filters = '';
    const onStdout = (text: string) => {
      filters += text;
      return true;
    };
    const { ffmpeg } = this.#settings;
    const end = await runChild(ffmpeg, ['-hide_banner', '-filters'], { ...this.#limits, onStdout });
    if (end.why === 'aborted') throw this.#ctx.signal.reason;
    if (/ zscale /.test(filters) && / tonemap /.test(filters)) return;
    throw new NonRetryableError(
      'the input is HDR and an output is to have 8 bits: this ffmpeg cannot map its colours ' +
        '(it was built without zscale or tonemap). Ask for h265 or vp9, which keep them.',
    );
  }

  /** The output, if it is there and is what is wished for. */
  async #findFinished(job: Job, before: readonly FinishedOutput[]): Promise<FinishedOutput | null> {
    const { output, target } = job;
    const known = before.find(({ path }) => path === output.path);
    if (known && (await isUntouched(target, known))) return known;
    const media = await this.#probeOutput(job, target);
    if (media?.comment !== (await fingerprintOf(job.input, output))) return null;
    return media && this.#describe(job, media, { damageCount: null, replaced: false });
  }

  async #make(job: Job): Promise<FinishedOutput> {
    const { output, target } = job;
    this.#ctx.log.info(`making ${output.path}`, { output: job.index + 1, of: job.of });
    const temporary = temporaryFor(target, this.#task, job.index, this.#ctx.token);
    try {
      const { log, damageCount } = await this.#encode(job, temporary);
      const media = await this.#probeOutput(job, temporary);
      const defect = findDefect(job, media);
      if (media === null || defect !== null) throw unusable(job, `${defect}`, log, damageCount);
      this.#ctx.signal.throwIfAborted();
      const replaced = existsSync(target);
      await publish(temporary, target);
      this.#ctx.log.info(`made ${output.path}`, { seconds: media.seconds });
      return await this.#describe(job, media, { damageCount, replaced });
    } catch (error) {
      throw describeFsError(error, `output ${output.path}`);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Resolves to the end of ffmpeg's log, and how often it complained of the input. */
  async #encode(job: Job, temporary: string): Promise<{ log: string; damageCount: number }> {
    const { ffmpeg, threads } = this.#settings;
    const { media, output } = job;
    const fingerprint = await fingerprintOf(job.input, output);
    const args = transcodeArguments({ ...job, temporary, fingerprint, threads });
    const reader = new ProgressReader();
    const damage = new DamageCounter();
    const total = expectedSeconds(job);
    const end = await runChild(ffmpeg, args, {
      ...this.#limits,
      log: this.#ctx.log,
      onStderr: (text) => damage.read(text),
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
    return { log: end.stderr, damageCount: damage.count };
  }

  #report(job: Job, share: number, now: Pick<TranscodeProgress, 'speed' | 'fps'> = {}): void {
    const { index, of, output } = job;
    const state: TranscodeProgress = { output: index + 1, of, path: output.path, ...now };
    const made = { name: partName(output.path), percent: Math.round(1000 * share) / 10 };
    this.#parts = this.#parts.with(index, made);
    const percent = (100 * (index + share)) / of;
    this.#ctx.progress({ percent, state, parts: this.#parts, speed: now.speed });
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

  async #describe(
    job: Job,
    media: Media,
    { damageCount, replaced }: { damageCount: number | null; replaced: boolean },
  ): Promise<FinishedOutput> {
    const { size, mtimeMs } = await stat(job.target);
    const { video, audio } = media;
    return {
      path: job.output.path,
      bytes: size,
      seconds: media.seconds,
      width: video?.width ?? null,
      height: video?.height ?? null,
      video: video && {
        codec: video.codec,
        frame_rate: video.frameRate,
        pixel_format: video.pixelFormat,
      },
      audio: audio && {
        codec: audio.codec,
        sample_rate: audio.sampleRate,
        channels: audio.channels,
      },
      decode_errors: damageCount,
      replaced,
      modified_ms: mtimeMs,
    };
  }
}

/** The end of a long path tells more than its beginning. */
function partName(path: string): string {
  return path.length <= PART_NAME_LENGTH_MAX ? path : `…${path.slice(1 - PART_NAME_LENGTH_MAX)}`;
}

interface Job extends Wanted {
  readonly index: number;
  readonly of: number;
  readonly input: string;
  readonly target: string;
}

function assertTakeable({ video }: Media, input: string): void {
  if (video === null || (video.width > 0 && video.height > 0)) return;
  // The guard makes ffprobe and ffmpeg forget the size of a picture that is beyond it.
  throw new NonRetryableError(
    `input ${input}: its picture is too large, or does not say its size: ` +
      `up to ${PIXELS_MAX} pixels (8192x4320) are taken`,
  );
}

function assertSomethingToKeep({ media, output, picture }: Job): void {
  if (picture || (output.audio && media.audio)) return;
  throw new NonRetryableError(`output ${output.path}: the input has nothing of what it keeps`);
}

/** Of an input that is damaged another attempt would make no more. */
function unusable(job: Job, defect: string, log: string, damageCount: number): Error {
  const error = describeFfmpegFailure(
    `output ${job.output.path}`,
    `reported success, but ${defect}`,
    log,
  );
  if (damageCount === 0) return error;
  return new NonRetryableError(`${error.message}\nThe input is damaged.`);
}
