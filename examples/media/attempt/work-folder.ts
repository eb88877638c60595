/**
 * What a task has made on the way and its next attempt goes on with. It is there from the first file on, is kept while
 * another attempt may follow, and removed with the last one.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  NonRetryableError,
  type Task,
  TaskAborted,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { isFullDisk } from '../../storage/disk.ts';
import { diskFull, isFsError } from '../failures.ts';
import type { MediaRoot } from '../media-root.ts';
import { removeOrTell } from './remove.ts';

/** Of files that are being made. */
const DRAFT = '.draft~';
/** A file that is made `once`, and what is known of it, in a folder of both. */
const CONTENT = 'content';
const NOTE = 'note.json';
/** How often the folder of a task that runs says that it is in use. */
const IN_USE_EVERY_MS = 600_000;

export interface Noted<Facts> {
  readonly path: string;
  readonly facts: Facts;
}

export class WorkFolder {
  readonly path: string;
  readonly #token: string;

  private constructor(path: string, token: string) {
    this.path = path;
    this.#token = createHash('sha256').update(token).digest('hex').slice(0, 16);
  }

  /**
   * Runs `work` with the folder; drafts of attempts before this one are gone.
   * @throws {DiskFullError} the disk is full, and `work` has not said of what; else what `work` throws.
   */
  static async within<Result>(
    mediaRoot: MediaRoot,
    task: Task,
    ctx: Pick<TaskContext, 'token'>,
    work: (folder: WorkFolder) => Promise<Result>,
  ): Promise<Result> {
    const folder = new WorkFolder(mediaRoot.workFolder(task), ctx.token);
    const timer = setInterval(() => void folder.#sayInUse(), IN_USE_EVERY_MS).unref();
    try {
      await folder.#sayInUse();
      await folder.#removeDrafts();
      const result = await work(folder);
      await removeOrTell(folder.path);
      return result;
    } catch (error) {
      if (isLast(error)) await removeOrTell(folder.path);
      throw isFullDisk(error) ? diskFull('the folder of the task') : error;
    } finally {
      clearInterval(timer);
    }
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /**
   * Has the file made under another name, of this attempt alone, and gives it its own once that has ended well: an attempt
   * that lost its lease and still writes finds its draft gone.
   */
  async make<Result>(name: string, write: (draft: string) => Promise<Result>): Promise<Result> {
    const draft = this.file(`${DRAFT}${name}~${this.#token}`);
    await mkdir(this.path, { recursive: true });
    try {
      const result = await write(draft);
      await rename(draft, this.file(name));
      return result;
    } finally {
      await removeOrTell(draft);
    }
  }

  /**
   * A file and what `write` says of it, made by one of the attempts of the task: the next one finds both, unless the file
   * has another size by then.
   */
  async once<Facts>(
    name: string,
    schema: z.ZodType<Facts>,
    write: (path: string) => Promise<Facts>,
  ): Promise<Noted<Facts>> {
    const path = join(this.file(name), CONTENT);
    const before = await this.#noted(name, schema);
    if (before !== null) return { path, facts: before };
    await this.remove(name);
    const facts = await this.make(name, async (draft) => {
      await mkdir(draft);
      const made = await write(join(draft, CONTENT));
      const { size } = await stat(join(draft, CONTENT));
      await writeFile(join(draft, NOTE), JSON.stringify({ size, facts: made }));
      return made;
    });
    return { path, facts };
  }

  /** What is done with, and is in the way of nobody. */
  async remove(name: string): Promise<void> {
    await rm(this.file(name), { recursive: true, force: true });
  }

  /** By its time: what nobody has used for long is removed by whoever sweeps. */
  async #sayInUse(): Promise<void> {
    const now = new Date();
    // There may be none yet.
    await utimes(this.path, now, now).catch(() => undefined);
  }

  async #noted<Facts>(name: string, schema: z.ZodType<Facts>): Promise<Facts | null> {
    const folder = this.file(name);
    const text = await readFile(join(folder, NOTE), 'utf8').catch(() => null);
    const there = await stat(join(folder, CONTENT)).catch(() => null);
    if (text === null || there === null) return null;
    const note = z.object({ size: z.number(), facts: schema }).safeParse(jsonIn(text));
    return note.success && note.data.size === there.size ? note.data.facts : null;
  }

  async #removeDrafts(): Promise<void> {
    const names = await readdir(this.path).catch((error: unknown) => {
      if (isFsError(error, 'ENOENT')) return [];
      throw error;
    });
    for (const name of names) {
      if (name.startsWith(DRAFT)) await rm(this.file(name), { recursive: true, force: true });
    }
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whether no other attempt follows one that ended so. */
function isLast(error: unknown): boolean {
  if (error instanceof NonRetryableError) return true;
  return (
    error instanceof TaskAborted && ['canceled', 'deadline', 'booking_end'].includes(error.reason)
  );
}
