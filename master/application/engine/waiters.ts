/** Who waits for the loop: for an answer to what was asked, or to look at the state once that is written. */
import type { Reply } from '../../domain/effects.ts';
import type { RequestId } from '../../domain/events.ts';
import type { State } from '../../domain/state/state.ts';

interface Waiter<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

export class Waiters {
  #lastRequest: RequestId = 0;
  readonly #asked = new Map<RequestId, Waiter<Reply> & { readonly since: number }>();
  readonly #looking: Waiter<State>[] = [];
  /** Why nobody is let in to look: what was to be written is lost, and when there will be another state nobody knows. */
  #lost: Error | null = null;

  /** Whoever has waited longest for an answer, since then; undefined: nobody does. */
  get oldestSince(): number | undefined {
    const [oldest] = this.#asked.values();
    return oldest?.since;
  }

  /** @param post is given the number that the answer is to have. */
  ask(now: number, post: (request: RequestId) => void): Promise<Reply> {
    const request = ++this.#lastRequest;
    return new Promise((resolve, reject) => {
      this.#asked.set(request, { since: now, resolve, reject });
      post(request);
    });
  }

  answer(request: RequestId, reply: Reply): void {
    const waiter = this.#asked.get(request);
    this.#asked.delete(request);
    waiter?.resolve(reply);
  }

  look(): Promise<State> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    return new Promise((resolve, reject) => this.#looking.push({ resolve, reject }));
  }

  /** All of it is written: they see it before the next step changes it. */
  show(state: State): void {
    this.#lost = null;
    for (const { resolve } of this.#looking.splice(0)) resolve(state);
  }

  /** Also whoever comes to look before there is something to be shown again. */
  rejectAll(error: Error): void {
    this.#lost = error;
    const waiters = [...this.#asked.values(), ...this.#looking.splice(0)];
    this.#asked.clear();
    for (const { reject } of waiters) reject(error);
  }
}
