/** "Give me this input as a local file", for all executors and wherever it lies. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { TaskContext } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { fetchInput, type Storage } from '../../storage/fetch.ts';
import { type InputLocation, isElsewhere, shownLocation } from '../../storage/locations.ts';
import { describeFsError } from '../failures.ts';
import type { MediaRoot } from '../media-root.ts';
import type { WorkFolder } from './work-folder.ts';

/** Absent: nothing is fetched. */
export interface InputSettings {
  readonly mediaRoot: MediaRoot;
  readonly storage?: Storage;
}

export interface LocalInput {
  /** For people: no signature is in it. */
  readonly name: string;
  readonly path: string;
  /** What it is, for whoever asks whether something was made of it. */
  readonly identity: readonly unknown[];
}

export const NO_STORAGE: Storage = { requests: null, store: null, bytesMax: 0, freeBytesMin: 0 };

/** So often it is told how much has come: whoever says nothing has stalled. */
const TELL_BYTES = 1024 * 1024;

const fetched = z.object({ bytes: z.number(), sha256: z.string() });

/**
 * What lies elsewhere is fetched into the folder of the task, once for all its attempts. It is known by its content: a
 * signed URL is another one each time.
 * @throws {InputUnavailableError} it is not there; {NonRetryableError} it may not be read, or fetched.
 */
export async function localInput(
  location: InputLocation,
  { mediaRoot, storage = NO_STORAGE }: InputSettings,
  ctx: Pick<TaskContext, 'signal' | 'progress' | 'log'>,
  folder: WorkFolder,
): Promise<LocalInput> {
  const name = shownLocation(location);
  if (typeof location === 'string' && !isElsewhere(location)) {
    const path = await mediaRoot.input(location);
    const { size, mtimeMs } = await stat(path);
    return { name, path, identity: [path, size, mtimeMs] };
  }
  const key = createHash('sha256').update(JSON.stringify(location)).digest('hex').slice(0, 32);
  const write = async (path: string) => {
    ctx.log.info(`fetching ${name}`);
    let told = -TELL_BYTES;
    const onBytes = (bytes: number, of: number | null) => {
      if (Math.abs(bytes - told) < TELL_BYTES) return;
      told = bytes;
      const parts = of ? [{ name: 'fetch', percent: (100 * bytes) / of }] : undefined;
      ctx.progress({ percent: 0, parts, state: { fetching: name.slice(-512), bytes, of } });
    };
    const onFailedTry = (words: string) => ctx.log.warn(words);
    return fetchInput(location, path, storage, { signal: ctx.signal, onBytes, onFailedTry });
  };
  try {
    const { path, facts } = await folder.once(`input-${key}`, fetched, write);
    return { name, path, identity: ['sha256', facts.sha256] };
  } catch (error) {
    throw describeFsError(error, `input ${name}`);
  }
}
