/** Losses that are not decided yet: by the process that is silent, and by the task that it had. A whole fleet may be at once. */
import type { Doubt } from '../model/executor.ts';

export class Doubts {
  readonly #byKey = new Map<string, Doubt>();
  readonly #byTask = new Map<string, Map<string, Doubt>>();

  get(key: string): Doubt | undefined {
    return this.#byKey.get(key);
  }

  /** By their keys. They may be deleted meanwhile. */
  of(taskId: string): ReadonlyMap<string, Doubt> {
    return this.#byTask.get(taskId) ?? NONE;
  }

  set(key: string, doubt: Doubt): void {
    this.delete(key);
    this.#byKey.set(key, doubt);
    const ofTask = this.#byTask.get(doubt.taskId) ?? new Map<string, Doubt>();
    this.#byTask.set(doubt.taskId, ofTask.set(key, doubt));
  }

  delete(key: string): void {
    const doubt = this.#byKey.get(key);
    if (doubt === undefined) return;
    this.#byKey.delete(key);
    const ofTask = this.#byTask.get(doubt.taskId);
    ofTask?.delete(key);
    if (ofTask?.size === 0) this.#byTask.delete(doubt.taskId);
  }
}

const NONE: ReadonlyMap<string, Doubt> = new Map();
