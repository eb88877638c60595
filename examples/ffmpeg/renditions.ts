/**
 * Makes the outputs of a task, each from a source: skips what is made already, verifies what is new, and makes it appear
 * whole or not at all. It leaves no ffmpeg and no temporary file behind, whichever way it ends.
 */
import { access, stat } from 'node:fs/promises';
import { NonRetryableError, RetryableError, type TaskContext } from '@soda-scheduler/executor-sdk';
import { describeFfmpegFailure, describeFsError } from '../media/failures.ts';
import { assertNotCutOff } from '../media/input-guard.ts';
import type { Media } from '../media/media.ts';
import type { InputSettings, LocalInput } from '../media/attempt/local-input.ts';
import { Parts } from '../media/attempt/parts.ts';
import { type Prober, probe } from '../media/probe.ts';
import { type ChildLimits, type Headway, runFfmpeg } from '../media/attempt/run-ffmpeg.ts';
import { transcodeArguments } from './command.ts';
import {
  factsOf,
  type FinishedOutput,
  fingerprintOf,
  finishedBefore,
  type OutputFacts,
  type PlacedOutput,
} from './outputs.ts';
import type { Inspect, Target } from './targets.ts';
import { type Wanted, expectedSeconds, findDefect, sourceOf } from './verify.ts';

export interface FfmpegSettings extends Prober, InputSettings {
  /** For decoding, filters and encoding each; a task may ask for less. Null leaves it to ffmpeg. */
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
  readonly source: Pick<LocalInput, 'path' | 'identity'>;
  readonly target: Target;
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
  readonly #ctx: TaskContext;
  readonly #limits: ChildLimits;
  readonly #renditions: readonly Rendition[];
  readonly #options: RenditionOptions;
  readonly #parts: Parts;

  constructor(
    [settings, ctx]: readonly [FfmpegSettings, TaskContext],
    renditions: readonly Rendition[],
    options: RenditionOptions,
  ) {
    this.#settings = settings;
    this.#ctx = ctx;
    this.#limits = childLimits(settings, ctx);
    this.#renditions = renditions;
    this.#options = options;
    const paths = renditions.map(({ output }) => output.path);
    const { preparation } = options;
    this.#parts = new Parts(ctx, preparation === null ? paths : [preparation, ...paths]);
  }

  async makeAll(): Promise<Renditions> {
    const outputs: Renditions['outputs'][number][] = [];
    const found = await this.#findAll();
    let isPrepared = false;
    for (const [index, rendition] of this.#renditions.entries()) {
      const finished = found[index] ?? null;
      if (finished === null && !isPrepared) {
        isPrepared = true;
        await this.#prepare(outputs);
      }
      const placed = finished ?? (await this.#make(rendition, index));
      outputs.push({ path: rendition.output.path, ...placed, skipped: finished !== null });
      this.#saveCheckpoint(outputs);
      this.#report(index, 1);
    }
    return { outputs };
  }

  /** Before the first is made: one that may not be made would cost the others. */
  async #findAll(): Promise<readonly (PlacedOutput | null)[]> {
    const before = finishedBefore(this.#ctx.lastCheckpoint);
    const found: (PlacedOutput | null)[] = [];
    for (const { output, target, source } of this.#renditions) {
      const fingerprint = fingerprintOf(source.identity, output);
      // The input may have been replaced since.
      const known = before.find(
        (one) => one.path === output.path && one.fingerprint === fingerprint,
      );
      found.push(await target.find(fingerprint, known));
    }
    return found;
  }

  #saveCheckpoint(outputs: Renditions['outputs']): void {
    const done = outputs.map(({ skipped: _, ...rest }, index) => {
      const { source, output } = this.#renditions[index] as Rendition;
      return { ...rest, fingerprint: fingerprintOf(source.identity, output) };
    });
    this.#ctx.checkpoint({ done });
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

  async #make(rendition: Rendition, index: number): Promise<PlacedOutput> {
    const { output, target, source } = rendition;
    const of = this.#renditions.length;
    const fingerprint = fingerprintOf(source.identity, output);
    this.#ctx.log.info(`making ${output.path}`, { output: index + 1, of });
    try {
      const write = (temporary: string) => this.#write(rendition, index, temporary);
      const made = await target.make(fingerprint, write, () => this.#report(index, 1));
      this.#ctx.log.info(`made ${output.path}`, { seconds: made.seconds });
      return made;
    } catch (error) {
      throw describeFsError(error, `output ${output.path}`);
    }
  }

  /** Encodes, and resolves once what is there is what was asked for. */
  async #write(rendition: Rendition, index: number, temporary: string): Promise<OutputFacts> {
    const { log, damageCount } = await this.#encode(rendition, index, temporary);
    const what = `output ${rendition.output.path}`;
    const media = await probeIfReadable(this.#settings, temporary, what, this.#limits);
    assertNotCutOff(sourceOf(rendition), media?.seconds ?? null, what);
    const defect = findDefect(rendition, media);
    if (media === null || defect !== null) {
      throw unusable(rendition, `${defect}`, log, damageCount);
    }
    return factsOf(media, (await stat(temporary)).size, damageCount);
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
}

/** Null where it is missing or unreadable. */
export async function probeIfReadable(
  prober: Prober,
  path: string,
  what: string,
  limits: ChildLimits,
): Promise<Media | null> {
  // Most often it is not there yet, which needs no program to see.
  if (!(await isThere(path))) return null;
  try {
    return await probe(prober, path, what, limits);
  } catch (error) {
    limits.signal.throwIfAborted();
    if (error instanceof NonRetryableError || error instanceof RetryableError) return null;
    throw error;
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** How targets look into files that are there. */
export function inspectWith(settings: FfmpegSettings, ctx: TaskContext): Inspect {
  return async (path) => {
    const media = await probeIfReadable(settings, path, path, childLimits(settings, ctx));
    // Whoever finds a file does not know what its maker saw of the input.
    return (
      media && { comment: media.comment, facts: factsOf(media, (await stat(path)).size, null) }
    );
  };
}

/** Of an input that is damaged another attempt would make no more. */
function unusable({ output }: Rendition, defect: string, log: string, damageCount: number): Error {
  const what = `output ${output.path}`;
  const error = describeFfmpegFailure(what, `reported success, but ${defect}`, log);
  if (damageCount === 0) return error;
  return new NonRetryableError(`${error.message}\nThe input is damaged.`);
}
