/** How everything that a master process has begun comes to its end: in reverse, whenever it is told to. */

/** Something that begins and ends with the process. */
export interface Part {
  /** Resolves once it does its work; soon, where `stop` is called meanwhile. */
  start(): Promise<void> | void;
  /** Once at most, also while it starts. Resolves when nothing of it goes on. */
  stop(): Promise<void> | void;
}

/** Several parts as one. */
export class Lifecycle implements Part {
  readonly #parts: readonly Part[];
  /** The newest first; the first of them perhaps still starting. */
  readonly #begun: Part[] = [];
  #stopping: Promise<void> | null = null;

  /** @param parts Each needs those before it, from its start to its end. */
  constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  /** In order. What has not begun when it is told to stop never does. */
  async start(): Promise<void> {
    for (const part of this.#parts) {
      if (this.#stopping !== null) return;
      this.#begun.unshift(part);
      await part.start();
    }
  }

  /**
   * In reverse, each after the one before it has ended. Safe to repeat. Rejects, at the end, with what the first
   * that failed has thrown.
   */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stopAll());
  }

  async #stopAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const part of this.#begun) {
      try {
        await part.stop();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
