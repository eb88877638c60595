/**
 * Tells whether an id that a client chose is free, and keeps it so until its task is committed:
 * of two submits with one id the second is looked up after the first has ended. Lookups that
 * come while one is under way are answered together by the next.
 */
import type { TaskStore } from '../ports.ts';

type Waiting = {
  readonly ids: readonly string[];
  readonly resolve: (taken: Map<string, string>) => void;
  readonly reject: (error: unknown) => void;
};

export class IdRegister {
  readonly #store: Pick<TaskStore, 'findIds'>;
  readonly #held = new Map<string, Promise<void>>();
  #waiting: Waiting[] = [];
  #looking = false;

  constructor(store: Pick<TaskStore, 'findIds'>) {
    this.#store = store;
  }

  /**
   * Runs `submit` with the request hashes of those `ids` that are taken, while no other submit of
   * any of them is under way.
   */
  async during<T>(
    ids: readonly string[],
    submit: (taken: Map<string, string>) => Promise<T>,
  ): Promise<T> {
    for (let other = this.#holderOf(ids); other !== undefined; other = this.#holderOf(ids)) {
      await other;
    }
    const { promise, resolve } = withResolver();
    for (const id of ids) this.#held.set(id, promise);
    try {
      return await submit(await this.#look(ids));
    } finally {
      for (const id of ids) this.#held.delete(id);
      resolve();
    }
  }

  #holderOf(ids: readonly string[]): Promise<void> | undefined {
    for (const id of ids) {
      const held = this.#held.get(id);
      if (held !== undefined) return held;
    }
    return undefined;
  }

  #look(ids: readonly string[]): Promise<Map<string, string>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ids, resolve, reject });
      if (!this.#looking) void this.#lookAll();
    });
  }

  async #lookAll(): Promise<void> {
    this.#looking = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        const taken = await this.#store.findIds(group.flatMap((waiting) => waiting.ids));
        for (const waiting of group) waiting.resolve(taken);
      } catch (error) {
        for (const waiting of group) waiting.reject(error);
      }
    }
    this.#looking = false;
  }
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
