/**
 * The one directory that tasks may read and write. Symbolic links are followed before the
 * check, so a link that leads outside is refused. It does not defend against a local user who
 * swaps a directory for a link between the check and the use: who may do that owns the files.
 */
import { access, constants, lstat, mkdir, realpath, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { InputUnavailableError, NonRetryableError, type Task } from '@soda-scheduler/executor-sdk';
import { describeFsError, isFsError } from './failures.ts';

/** Names of files that are being made begin with it. */
export const TEMPORARY_MARK = '.soda~';

export class MediaRoot {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** @throws where the directory does not exist, for a person to read. */
  static async open(path: string): Promise<MediaRoot> {
    const real = await realpath(path).catch((error: unknown) => {
      if (!isFsError(error, 'ENOENT')) throw error;
      throw new Error(`MEDIA_ROOT ${path} does not exist: make it, or name another directory`);
    });
    if (!(await stat(real)).isDirectory()) throw new Error(`MEDIA_ROOT ${path} is not a directory`);
    return new MediaRoot(real);
  }

  /** Why nothing can be written now; null: it can. */
  async problem(freeBytesMin: number): Promise<string | null> {
    try {
      await access(this.#path, constants.W_OK);
      const freeBytes = await this.#freeBytes();
      if (freeBytes >= freeBytesMin) return null;
      const inMb = (bytes: number) => Math.floor(bytes / 1e6);
      return `MEDIA_ROOT has ${inMb(freeBytes)} MB left, and needs ${inMb(freeBytesMin)}`;
    } catch (error) {
      return `MEDIA_ROOT cannot be written: ${(error as NodeJS.ErrnoException).code}`;
    }
  }

  /** Whether it has less room than that. False where nobody can tell. */
  async isFull(freeBytesMin: number): Promise<boolean> {
    const freeBytes = await this.#freeBytes().catch(() => Number.POSITIVE_INFINITY);
    return freeBytes < freeBytesMin;
  }

  async #freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#path);
    return bavail * bsize;
  }

  /** The real path of an existing regular file. @throws {NonRetryableError}; `InputUnavailableError`: there is none. */
  async input(path: string): Promise<string> {
    const wanted = resolve(this.#path, path);
    // Checked before the file system is asked, so that nobody learns what exists outside.
    this.#confine(wanted, path);
    assertOfTasks(wanted, `input ${path}`);
    const real = await realpath(wanted).catch((error: unknown) => {
      if (isFsError(error, 'ENOENT')) {
        throw new InputUnavailableError(`input ${path} does not exist`);
      }
      throw describeFsError(error, `input ${path}`);
    });
    this.#confine(real, path);
    assertOfTasks(real, `input ${path}`);
    const file = await stat(real);
    if (!file.isFile()) throw new NonRetryableError(`input ${path} is not a regular file`);
    if (file.size === 0) throw new NonRetryableError(`input ${path} is empty`);
    return real;
  }

  /** Where an output goes; its directory need not be there. @throws {NonRetryableError} */
  output(path: string): Promise<string> {
    return this.#target(path, 'file');
  }

  /** The same where the output is a folder. */
  outputFolder(path: string): Promise<string> {
    return this.#target(path, 'folder');
  }

  async #target(path: string, kind: 'file' | 'folder'): Promise<string> {
    const wanted = resolve(this.#path, path);
    if (wanted === this.#path) {
      throw new NonRetryableError(
        `output ${path} is the media root itself: expected a path inside of it`,
      );
    }
    this.#confine(wanted, path);
    assertOfTasks(wanted, `output ${path}`);
    try {
      const directory = await realpathOfNearest(dirname(wanted));
      this.#confine(directory, path, true);
      const target = join(directory, basename(wanted));
      this.#confine(target, path);
      const existing = await lstat(target).catch(ignoreMissing);
      if (existing && !(kind === 'file' ? existing.isFile() : existing.isDirectory())) {
        const expected = kind === 'file' ? 'a regular file' : 'a folder';
        throw new NonRetryableError(`output ${path} exists and is not ${expected}`);
      }
      return target;
    } catch (error) {
      throw describeFsError(error, `output ${path}`);
    }
  }

  /**
   * Where a folder of this task alone belongs, for what its next attempt goes on with, wherever that runs: it lasts from
   * one attempt to the next. Whoever needs it makes it, and removes it when done with the task.
   */
  workFolder({ namespace, id }: Pick<Task, 'namespace' | 'id'>): string {
    return join(this.workFolders, `${namespace}~${id}`);
  }

  /** Where the folders of all tasks are. */
  get workFolders(): string {
    return join(this.#path, `${TEMPORARY_MARK}work`);
  }

  /** Whether a real path is inside, or the directory itself. */
  holds(real: string): boolean {
    return isInside(this.#path, real);
  }

  #confine(real: string, given: string, rootItself = false): void {
    if (!this.holds(real) || (real === this.#path && !rootItself)) {
      throw new NonRetryableError(`${given} is outside the media root`);
    }
  }
}

/** Whether a real path is inside a real folder, or the folder itself. A name inside may begin with two dots. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`);
}

/** Makes the directory of an output that is about to be written; `path`: as its task names it. @throws as `output` does. */
export async function makeDirectoryOf(target: string, path: string): Promise<void> {
  try {
    await mkdir(dirname(target), { recursive: true });
  } catch (error) {
    throw describeFsError(error, `output ${path}`);
  }
}

/** What attempts keep beside that may be what another task has fetched by a secret URL. */
function assertOfTasks(path: string, what: string): void {
  if (!path.split(sep).some((name) => name.startsWith(TEMPORARY_MARK))) return;
  throw new NonRetryableError(`${what}: names of ${TEMPORARY_MARK}… are temporary files`);
}

/** Links in the part of the path that exists already decide where the rest would be created. */
async function realpathOfNearest(directory: string): Promise<string> {
  try {
    return await realpath(directory);
  } catch (error) {
    if (!isFsError(error, 'ENOENT')) throw error;
    const entry = await lstat(directory).catch(ignoreMissing);
    // What a dangling link points at must not be created.
    if (entry?.isSymbolicLink()) {
      throw new NonRetryableError(`${basename(directory)} is a link that leads nowhere`);
    }
    // Another task may have created the directory just now.
    if (entry !== undefined) return realpath(directory);
    return join(await realpathOfNearest(dirname(directory)), basename(directory));
  }
}

function ignoreMissing(error: unknown): undefined {
  if (isFsError(error, 'ENOENT')) return undefined;
  throw error;
}
