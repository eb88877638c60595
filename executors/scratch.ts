/**
 * Folders that attempts put files into for a while: one each, that only this user may enter. They go with the
 * attempt; what a killed process has left goes when the task or the executor starts again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Task } from '@soda-scheduler/executor-sdk';

/** Names of folders of attempts begin with it. */
const MARK = '.soda-scratch~';

/** So often a folder says that it is in use, by its time. */
const IN_USE_EVERY_MS = 600_000;
/** What has not said so for so long is nobody's, wherever it came from. */
const UNUSED_MS_MAX = 7 * 86_400_000;

type TaskKey = Pick<Task, 'namespace' | 'id'>;

export class Scratch {
  readonly #folder: string;
  readonly #prefix: string;
  /** Alike for all processes that see each other: what they hold can be told by the pid. */
  readonly #host = createHash('sha256')
    .update(`${hostname()} ${pidNamespace()}`)
    .digest('hex')
    .slice(0, 12);
  #hasComplained = false;

  /** @param purpose Of a-z: those of another purpose in the same folder are left alone. */
  constructor(folder: string, purpose: string) {
    this.#folder = folder;
    this.#prefix = `${MARK}${purpose}~`;
  }

  /**
   * Removes what processes of this machine that are gone have left, and what nobody has used for a week. Call it once,
   * before the first attempt. What cannot be removed is left.
   */
  async removeOfTheDead(): Promise<void> {
    for (const name of await this.#names()) {
      const [host, pid] = name.slice(this.#prefix.length).split('~').slice(2);
      // In a container that was started again the predecessor had the same pid.
      const isDead = Number(pid) === process.pid || !isAlive(Number(pid));
      if ((host === this.#host && isDead) || (await this.#isUnused(name))) await this.#remove(name);
    }
  }

  /**
   * Resolves to what `work` does with a new empty folder, which is gone afterwards. What earlier attempts of
   * the task have left is removed before: one that has lost its lease and still runs finds its files gone.
   * What cannot be removed is left, and changes nothing of how `work` ends.
   */
  async use<Result>(task: TaskKey, work: (path: string) => Promise<Result>): Promise<Result> {
    const own = `${this.#prefix}${task.namespace}~${task.id}~`;
    for (const name of await this.#names()) if (name.startsWith(own)) await this.#remove(name);
    const unique = randomBytes(6).toString('hex');
    const name = `${own}${this.#host}~${process.pid}~${unique}`;
    const path = join(this.#folder, name);
    await mkdir(path, { recursive: true, mode: 0o700 });
    const timer = setInterval(() => void sayInUse(path), IN_USE_EVERY_MS).unref();
    try {
      return await work(path);
    } finally {
      clearInterval(timer);
      await this.#remove(name);
    }
  }

  async #names(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.filter((name) => name.startsWith(this.#prefix));
  }

  async #isUnused(name: string): Promise<boolean> {
    const found = await lstat(join(this.#folder, name)).catch(() => null);
    return found !== null && Date.now() - found.mtimeMs > UNUSED_MS_MAX;
  }

  async #remove(name: string): Promise<void> {
    const path = join(this.#folder, name);
    try {
      await rm(path, { recursive: true, force: true }).catch(async () => {
        await openFolders(path);
        await rm(path, { recursive: true, force: true });
      });
    } catch (error) {
      // Anybody may put as many as they like into a folder such as /var/tmp.
      if (this.#hasComplained) return;
      this.#hasComplained = true;
      console.warn(`${path} cannot be removed, and is left: ${(error as Error).message}`);
    }
  }
}

/** A script may have left folders that may not be entered. Those of other users, and links, are not touched. */
async function openFolders(path: string): Promise<void> {
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== process.geteuid?.()) return;
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(path, entry.name));
  }
}

async function sayInUse(path: string): Promise<void> {
  const now = new Date();
  // Another attempt of the task may have removed it.
  await utimes(path, now, now).catch(() => undefined);
}

/** Of the container, if this is one: those of the same host name know nothing of each other's pids. */
function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
