/**
 * What a task has made on the way and its next attempt goes on with. It is kept while another attempt may follow, and
 * removed with the last one.
 */
import { createHash } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  NonRetryableError,
  type Task,
  TaskAborted,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';
import type { MediaRoot } from '../media-root.ts';

/** Of files that are being made. */
const DRAFT = '.draft~';

export class WorkFolder {
  readonly path: string;
  readonly #token: string;

  private constructor(path: string, token: string) {
    this.path = path;
    this.#token = createHash('sha256').update(token).digest('hex').slice(0, 16);
  }

  /** Runs `work` with the folder; drafts of attempts before this one are gone. */
  static async within<Result>(
    mediaRoot: MediaRoot,
    task: Task,
    ctx: Pick<TaskContext, 'token'>,
    work: (folder: WorkFolder) => Promise<Result>,
  ): Promise<Result> {
    const folder = new WorkFolder(await mediaRoot.workFolder(task), ctx.token);
    const remove = () => rm(folder.path, { recursive: true, force: true });
    try {
      await folder.#removeDrafts();
      const result = await work(folder);
      await remove();
      return result;
    } catch (error) {
      if (isLast(error)) await remove();
      throw error;
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
    try {
      const result = await write(draft);
      await rename(draft, this.file(name));
      return result;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }

  async #removeDrafts(): Promise<void> {
    for (const name of await readdir(this.path)) {
      if (name.startsWith(DRAFT)) await rm(this.file(name), { recursive: true, force: true });
    }
  }
}

/** Whether no other attempt follows one that ended so. */
function isLast(error: unknown): boolean {
  if (error instanceof NonRetryableError) return true;
  return error instanceof TaskAborted && ['canceled', 'deadline'].includes(error.reason);
}
