/**
 * The files of a transcode on disk: a temporary file beside the target while it is made, the
 * target once it is complete and durable, and how a later attempt tells that one is done.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Task } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { removeOrTell } from '../media/attempt/remove.ts';
import { isFsError } from '../media/failures.ts';
import type { Media } from '../media/media.ts';
import { TEMPORARY_MARK } from '../media/media-root.ts';
import type { OutputSpec } from './params.ts';

/** What is known of a file that was made. */
export const outputFacts = z.object({
  bytes: z.number(),
  seconds: z.number().nullable(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  /** What the probe found in the file before it was published; null: none of it. */
  video: z
    .object({
      codec: z.string(),
      frame_rate: z.number().nullable(),
      pixel_format: z.string().nullable(),
    })
    .nullable(),
  audio: z
    .object({
      codec: z.string(),
      sample_rate: z.number().nullable(),
      channels: z.number().nullable(),
    })
    .nullable(),
  /** Lines in which ffmpeg complained of damage in the input; null where it was made before. */
  decode_errors: z.number().nullable(),
});

/** And of where it went. */
const placed = outputFacts.extend({
  /** Another file had its name, and is gone. */
  replaced: z.boolean().default(false),
  /** Of the file, to notice that it was replaced; null: an object in a storage. */
  modified_ms: z.number().nullable(),
});

const finishedOutput = placed.extend({
  /** As the parameters name it. */
  path: z.string(),
});

export type OutputFacts = Readonly<z.output<typeof outputFacts>>;
export type PlacedOutput = Readonly<z.output<typeof placed>>;
/** A finished output, as the result of the task and the checkpoint list it. */
export type FinishedOutput = Readonly<z.output<typeof finishedOutput>>;

const checkpoint = z.object({
  done: z.array(
    finishedOutput.extend({
      /** Of its source and wishes. Absent in checkpoints of before. */
      fingerprint: z.string().optional(),
    }),
  ),
});

/** What an earlier attempt finished; nothing where the checkpoint is not one of ours. */
export function finishedBefore(
  lastCheckpoint: unknown,
): readonly (FinishedOutput & { readonly fingerprint?: string | undefined })[] {
  const parsed = checkpoint.safeParse(lastCheckpoint);
  return parsed.success ? parsed.data.done : [];
}

/** As a probe of the file has found it. */
export function factsOf(
  { seconds, video, audio }: Media,
  bytes: number,
  damageCount: number | null,
): OutputFacts {
  return {
    ...{ bytes, seconds, width: video?.width ?? null, height: video?.height ?? null },
    video: video && {
      ...{ codec: video.codec, frame_rate: video.frameRate, pixel_format: video.pixelFormat },
    },
    audio: audio && {
      ...{ codec: audio.codec, sample_rate: audio.sampleRate, channels: audio.channels },
    },
    decode_errors: damageCount,
  };
}

/** Whether the file is still the one that was finished. */
export async function isUntouched(target: string, finished: PlacedOutput): Promise<boolean> {
  const now = await stat(target).catch(() => null);
  return now !== null && now.size === finished.bytes && now.mtimeMs === finished.modified_ms;
}

/** Raised when equal wishes are met in another way, so that what was made before is made anew. */
const RECIPE = 2;

/** The same for the same source, wishes and recipe, and for nothing else. */
export function fingerprintOf(source: readonly unknown[], output: OutputSpec): string {
  const { path: _, input: __, ...wishes } = output;
  return fingerprint([RECIPE, ...source, wishes]);
}

/** The same for equal values, in the form that goes into the `comment` of a file. */
export function fingerprint(of: readonly unknown[]): string {
  return `soda:${createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 32)}`;
}

export type TaskKey = Pick<Task, 'namespace' | 'id'>;

// Neither has a `~`, so the names of one task never begin like those of another.
const temporaryPrefix = ({ namespace, id }: TaskKey) => `${TEMPORARY_MARK}${namespace}~${id}~`;

export function temporaryFor(target: string, task: TaskKey, index: number, token: string): string {
  const unique = createHash('sha256').update(token).digest('hex').slice(0, 16);
  return join(dirname(target), `${temporaryPrefix(task)}${index}~${unique}`);
}

/**
 * Removes what attempts of this task that did not end well have left beside these targets. An
 * attempt that lost its lease and still writes finds its file gone, and cannot publish it.
 */
export async function removeLeftovers(targets: readonly string[], task: TaskKey): Promise<void> {
  for (const directory of new Set(targets.map((target) => dirname(target)))) {
    const names = await readdir(directory).catch((error: unknown) => {
      if (isFsError(error, 'ENOENT')) return [];
      throw error;
    });
    for (const name of names) {
      if (!name.startsWith(temporaryPrefix(task))) continue;
      await rm(join(directory, name), { recursive: true, force: true });
    }
  }
}

/** Of a folder that makes room for another. */
const OLD = '~old';

/** A folder that was being replaced when its attempt was killed gets its name back: until the new one is whole it is the ladder. */
export async function bringBackFolder(target: string, task: TaskKey): Promise<void> {
  const directory = dirname(target);
  const names = await readdir(directory).catch(() => []);
  const old = names.find((name) => name.startsWith(temporaryPrefix(task)) && name.endsWith(OLD));
  if (old !== undefined && !existsSync(target)) await rename(join(directory, old), target);
}

/** Makes the target appear whole, and for good, or not at all. */
export async function publish(temporary: string, target: string): Promise<void> {
  await syncToDisk(temporary);
  await rename(temporary, target);
  await syncToDisk(dirname(target));
}

/**
 * The same for a folder of files. One that has its name is gone afterwards; for a moment before, there is neither.
 * `obstacleIn` says why what has it may not be replaced, and stays: then this resolves to that, else to null. `onFile`
 * is called before each file: a slow disk takes its time for thousands. What it throws ends this, while nothing has
 * changed.
 */
export async function publishFolder(
  temporary: string,
  target: string,
  obstacleIn: (path: string) => Promise<string | null>,
  onFile: () => void,
): Promise<string | null> {
  for (const name of await readdir(temporary)) {
    onFile();
    await syncToDisk(join(temporary, name));
  }
  await syncToDisk(temporary);
  const old = `${temporary}${OLD}`;
  await rename(target, old).catch((error: unknown) => {
    if (!isFsError(error, 'ENOENT')) throw error;
  });
  // Only now, when nothing new can be put into it by its name.
  const obstacle = await obstacleIn(old);
  if (obstacle !== null) {
    await rename(old, target);
    return obstacle;
  }
  await rename(temporary, target);
  await syncToDisk(dirname(target));
  // The new one is there, whatever becomes of the old one.
  await removeOrTell(old);
  return null;
}

async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
