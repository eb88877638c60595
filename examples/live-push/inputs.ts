/**
 * Finds what a push shows, and looks into it, before anything is sent: a class must not fail at its first minute. What was
 * looked into while its booking was still to come, or by an attempt before this one, is not looked into again: every
 * tenth of a second counts then.
 */
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { type Booking, NonRetryableError } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import type { RunOptions } from '../media/child-process.ts';
import { GUARDED_INPUT, GUARDED_STILL } from '../media/input-guard.ts';
import type { Media } from '../media/media.ts';
import type { MediaRoot } from '../media/media-root.ts';
import { type Prober, probe } from '../media/probe.ts';
import type { Input } from './commands.ts';
import { parseParams, type PushParams } from './params.ts';

const STILLS = ['.png', '.jpg', '.jpeg'];

export interface Inputs {
  readonly main: Input;
  /** Null: there is none, or it is not needed any more. */
  readonly warmup: Input | null;
  readonly fallback: Input | null;
}

export interface InputOptions extends Prober {
  readonly mediaRoot: MediaRoot;
  readonly limits: Omit<RunOptions, 'onStdout'>;
  /** The checkpoint of an attempt before this one. */
  readonly lastCheckpoint: unknown;
  readonly probed: Probed;
}

/** What was looked into for the booking that has this executor. */
export interface Probed {
  inputs: Known;
}

const checkpoint = z.object({
  version: z.literal(1),
  inputs: z.array(
    z.object({
      name: z.string(),
      bytes: z.number(),
      media: z.custom<Media>((media) => typeof media === 'object'),
    }),
  ),
});

type Known = z.output<typeof checkpoint>['inputs'];

/** @throws {NonRetryableError} one is not there, or is not what it has to be. */
export async function findInputs(params: PushParams, options: InputOptions): Promise<Inputs> {
  const parsed = checkpoint.safeParse(options.lastCheckpoint);
  const known = [...(parsed.success ? parsed.data.inputs : []), ...options.probed.inputs];
  const { warmup: before } = params;
  const [main, warmup, fallback] = await Promise.all([
    find(params.main, 'main', options, known),
    before === undefined || params.starts_at <= Date.now()
      ? null
      : find(before, 'warmup', options, known),
    params.fallback === undefined ? null : find(params.fallback, 'fallback', options, known),
  ]);
  return { main, warmup, fallback };
}

/** For the next attempt. */
export function checkpointOf(inputs: Inputs): z.output<typeof checkpoint> {
  const found = [inputs.main, inputs.warmup, inputs.fallback].filter((input) => input !== null);
  return { version: 1, inputs: found.map(({ name, bytes, media }) => ({ name, bytes, media })) };
}

async function find(
  name: string,
  use: keyof Inputs,
  options: InputOptions,
  known: Known,
): Promise<Input> {
  const { mediaRoot, limits } = options;
  const isStill = STILLS.includes(extname(name).toLowerCase());
  if (isStill && use === 'main') {
    throw new NonRetryableError(`main ${name}: expected a video, not a picture`);
  }
  const path = await mediaRoot.input(name);
  const { size: bytes } = await stat(path);
  const guard = isStill ? GUARDED_STILL : GUARDED_INPUT;
  const media =
    known.find((before) => before.name === name && before.bytes === bytes)?.media ??
    (await probe(options, path, `${use} ${name}`, limits, guard));
  if (media.video === null || media.video.width === 0) {
    throw new NonRetryableError(`${use} ${name}: expected a picture of up to 8192x4320 pixels`);
  }
  return { name, path, bytes, media, isStill };
}

/**
 * Looks into what the tasks of a booking show, before its window: then they need not, and what is wrong is told in time.
 * @throws what is wrong with the first of them that no push could begin with.
 */
export function inputsPreparer(options: Omit<InputOptions, 'limits' | 'lastCheckpoint'>) {
  return async ({ tasks }: Booking, signal: AbortSignal): Promise<void> => {
    const { probed } = options;
    const limits = { signal, stallMs: 10_000, killGraceMs: 1_000 };
    const found: Known = [];
    const wrong: unknown[] = [];
    for (const { params } of tasks) {
      try {
        const inputs = await findInputs(parseParams(params), {
          ...options,
          limits,
          lastCheckpoint: null,
        });
        found.push(...checkpointOf(inputs).inputs);
      } catch (error) {
        signal.throwIfAborted();
        wrong.push(error);
      }
    }
    // Another booking may have this executor by now.
    signal.throwIfAborted();
    probed.inputs = found;
    if (wrong.length > 0) throw wrong[0];
  };
}
