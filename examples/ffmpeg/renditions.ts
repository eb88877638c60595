/**
 * Makes the outputs of a task, each from a source: skips what is made already, verifies what is new, and makes it appear
 * whole or not at all. It leaves no ffmpeg and no temporary file behind, whichever way it ends.
 */
import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import {
  NonRetryableError,
  RetryableError,
  type Task,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';
import { describeFfmpegFailure, describeFsError } from '../media/failures.ts';
import type { Media } from '../media/media.ts';
import type { MediaRoot } from '../media/media-root.ts';
import { Parts } from '../media/attempt/parts.ts';
import { type Prober, probe } from '../media/probe.ts';
import { type ChildLimits, type Headway, runFfmpeg } from '../media/attempt/run-ffmpeg.ts';
import { transcodeArguments } from './command.ts';
import {
  type FinishedOutput,
  fingerprintOf,
  finishedBefore,
  isUntouched,
  publish,
  temporaryFor,
} from './outputs.ts';
import { type Wanted, expectedSeconds, findDefect } from './verify.ts';

export interface FfmpegSettings extends Prober {
  readonly mediaRoot: MediaRoot;
  /** For decoding and encoding each; a task may ask for less. Null leaves it to ffmpeg. */
  readonly threads: number | null;
  /** An ffmpeg that makes no headway for so long is ended. Default 60 s. */
  readonly stallMs?: number;
  /** From SIGTERM to SIGKILL. Default 5 s: it must be over before the master's grace of 10 s. */
  readonly killGraceMs?: number;
}

/** The outputs as the result of a task lists them. */
export interface Renditions {
  readonly outputs: readonly (FinishedOutput & {
    /** It was there already: made by an earlier attempt, or by another task with equal wishes. */
    readonly skipped: boolean;
  })[];
}

/** The state that goes with the percentage. */
export interface RenditionProgress {
  /** The first is 1. */
  readonly output: number;
  readonly of: number;
  readonly path: string;
  /** Multiples of real time; absent while no ffmpeg runs, null while it is not known. */
  readonly speed?: number | null;
  readonly fps?: number | null;
}

export interface Rendition extends Wanted {
  readonly source: {
    readonly path: string;
    /** What it is, for whoever asks whether an output has been made of it. */
    readonly identity: readonly unknown[];
  };
  readonly target: string;
}

export function childLimits(settings: FfmpegSettings, ctx: TaskContext): ChildLimits {
  return {
    signal: ctx.signal,
    spawn: ctx.spawn,
    stallMs: settings.stallMs ?? 60_000,
    killGraceMs: settings.killGraceMs ?? 5_000,
  };
}

export interface RenditionOptions {
  readonly threads: number | null;
  /** A part of the progress that comes before the outputs; null: none. */
  readonly preparation: string | null;
  /** Makes the sources. Called before the first output that has to be made, and only then. */
  readonly prepare?: (onHeadway: (headway: Headway) => void) => Promise<void>;
}

/** One attempt. */
export class RenditionMaker {
  readonly #settings: FfmpegSettings;
  readonly #task: Task;
  readonly #ctx: TaskContext;
  readonly #limits: ChildLimits;
  readonly #renditions: readonly Rendition[];
  readonly #options: RenditionOptions;
  readonly #parts: Parts;

  constructor(
    [settings, task, ctx]: readonly [FfmpegSettings, Task, TaskContext],
    renditions: readonly Rendition[],
    options: RenditionOptions,
  ) {
    this.#settings = settings;
    this.#task = task;
    this.#ctx = ctx;
    this.#limits = childLimits(settings, ctx);
    this.#renditions = renditions;
    this.#options = options;
    const paths = renditions.map(({ output }) => output.path);
    const { preparation } = options;
    this.#parts = new Parts(ctx, preparation === null ? paths : [preparation, ...paths]);
  }

  async makeAll(): Promise<Renditions> {
    const before = finishedBefore(this.#ctx.lastCheckpoint);
    const outputs: Renditions['outputs'][number][] = [];
    let isPrepared = false;
    for (const [index, rendition] of this.#renditions.entries()) {
      const finished = await this.#findFinished(rendition, before);
      if (finished === null && !isPrepared) {
        isPrepared = true;
        await this.#prepare(outputs);
      }
      outputs.push({
        ...(finished ?? (await this.#make(rendition, index))),
        skipped: finished !== null,
      });
      this.#saveCheckpoint(outputs);
      this.#report(index, 1);
    }
    return { outputs };
  }

  #saveCheckpoint(outputs: Renditions['outputs']): void {
    this.#ctx.checkpoint({ done: outputs.map(({ skipped: _, ...rest }) => rest) });
  }

  async #prepare(outputs: Renditions['outputs']): Promise<void> {
    const { preparation, prepare } = this.#options;
    if (preparation === null || prepare === undefined) return;
    const of = this.#renditions.length;
    const report = (share: number, now: Pick<RenditionProgress, 'speed' | 'fps'> = {}) =>
      this.#parts.report(0, share, { output: 0, of, path: preparation, ...now }, now.speed);
    await prepare(({ share, speed, fps }) => report(share, { speed, fps }));
    this.#saveCheckpoint(outputs);
    report(1);
  }

  /** The output, if it is there and is what is wished for. */
  async #findFinished(
    rendition: Rendition,
    before: readonly FinishedOutput[],
  ): Promise<FinishedOutput | null> {
    const { output, target, source } = rendition;
    const known = before.find(({ path }) => path === output.path);
    if (known && (await isUntouched(target, known))) return known;
    const media = await this.#probeOutput(rendition, target);
    if (media?.comment !== fingerprintOf(source.identity, output)) return null;
    return media && this.#describe(rendition, media, { damageCount: null, replaced: false });
  }

  async #make(rendition: Rendition, index: number): Promise<FinishedOutput> {
    const { output, target } = rendition;
    this.#ctx.log.info(`making ${output.path}`, {
      output: index + 1,
      of: this.#renditions.length,
    });
    const temporary = temporaryFor(target, this.#task, index, this.#ctx.token);
    try {
      const { log, damageCount } = await this.#encode(rendition, index, temporary);
      const media = await this.#probeOutput(rendition, temporary);
      const defect = findDefect(rendition, media);
      if (media === null || defect !== null) {
        throw unusable(rendition, `${defect}`, log, damageCount);
      }
      this.#ctx.signal.throwIfAborted();
      const replaced = existsSync(target);
      await publish(temporary, target);
      this.#ctx.log.info(`made ${output.path}`, { seconds: media.seconds });
      return await this.#describe(rendition, media, { damageCount, replaced });
    } catch (error) {
      throw describeFsError(error, `output ${output.path}`);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Resolves to the end of ffmpeg's log, and how often it complained of the input. */
  #encode(
    rendition: Rendition,
    index: number,
    temporary: string,
  ): Promise<{ log: string; damageCount: number }> {
    const { media, output, source } = rendition;
    const command = {
      ...{ ...rendition, input: source.path, temporary, threads: this.#options.threads },
      fingerprint: fingerprintOf(source.identity, output),
    };
    return runFfmpeg({
      ffmpeg: this.#settings.ffmpeg,
      args: transcodeArguments(command),
      what: `output ${output.path}`,
      seconds: expectedSeconds(rendition),
      limits: this.#limits,
      log: this.#ctx.log,
      onHeadway: ({ share, speed, fps }) =>
        this.#report(index, share, { speed, fps: media.video && fps }),
    });
  }

  #report(index: number, share: number, now: Pick<RenditionProgress, 'speed' | 'fps'> = {}): void {
    const { path } = (this.#renditions[index] as Rendition).output;
    const of = this.#renditions.length;
    const state: RenditionProgress = { output: index + 1, of, path, ...now };
    const part = index + (this.#options.preparation === null ? 0 : 1);
    this.#parts.report(part, share, state, now.speed);
  }

  /** Null where it is missing or unreadable. */
  async #probeOutput({ output }: Rendition, path: string): Promise<Media | null> {
    try {
      return await probe(this.#settings, path, `output ${output.path}`, this.#limits);
    } catch (error) {
      this.#ctx.signal.throwIfAborted();
      if (error instanceof NonRetryableError || error instanceof RetryableError) return null;
      throw error;
    }
  }

  async #describe(
    { output, target }: Rendition,
    media: Media,
    { damageCount, replaced }: { damageCount: number | null; replaced: boolean },
  ): Promise<FinishedOutput> {
    const { size, mtimeMs } = await stat(target);
    const { video, audio } = media;
    return {
      path: output.path,
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

/** Of an input that is damaged another attempt would make no more. */
function unusable({ output }: Rendition, defect: string, log: string, damageCount: number): Error {
  const what = `output ${output.path}`;
  const error = describeFfmpegFailure(what, `reported success, but ${defect}`, log);
  if (damageCount === 0) return error;
  return new NonRetryableError(`${error.message}\nThe input is damaged.`);
}
