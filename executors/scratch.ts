/**
 * Folders that attempts put files into for a while: one each, that only this user may enter. They go with the
 * attempt; what a killed process has left goes when the task or the executor starts again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Task } from '@soda-scheduler/executor-sdk';

/** Names of folders of attempts begin with it. */
const MARK = '.soda-scratch~';

type TaskKey = Pick<Task, 'namespace' | 'id'>;

export class Scratch {
  readonly #folder: string;
  readonly #prefix: string;
  /** Alike for all processes of one machine: what they hold of each other can be told by the pid. */
  readonly #host = createHash('sha256').update(hostname()).digest('hex').slice(0, 12);

  /** @param purpose Of a-z: those of another purpose in the same folder are left alone. */
  constructor(folder: string, purpose: string) {
    this.#folder = folder;
    this.#prefix = `${MARK}${purpose}~`;
  }

  /** Removes what processes of this machine that are gone have left. Call it once, before the first attempt. */
  async removeOfTheDead(): Promise<void> {
    for (const name of await this.#names()) {
      const [host, pid] = name.slice(this.#prefix.length).split('~').slice(2);
      // In a container the predecessor had the same pid.
      const isDead = Number(pid) === process.pid || !isAlive(Number(pid));
      if (host === this.#host && isDead) await this.#remove(name);
    }
  }

  /**
   * Resolves to what `work` does with a new empty folder, which is gone afterwards. What earlier attempts of
   * the task have left is removed before: one that has lost its lease and still runs finds its files gone.
   */
  async use<Result>(task: TaskKey, work: (path: string) => Promise<Result>): Promise<Result> {
    const own = `${this.#prefix}${task.namespace}~${task.id}~`;
    for (const name of await this.#names()) if (name.startsWith(own)) await this.#remove(name);
    const unique = randomBytes(6).toString('hex');
    const path = join(this.#folder, `${own}${this.#host}~${process.pid}~${unique}`);
    await mkdir(path, { recursive: true, mode: 0o700 });
    try {
      return await work(path);
    } finally {
      await rm(path, { recursive: true, force: true });
    }
  }

  async #names(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.filter((name) => name.startsWith(this.#prefix));
  }

  #remove(name: string): Promise<void> {
    return rm(join(this.#folder, name), { recursive: true, force: true });
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
