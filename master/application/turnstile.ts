/**
 * Lets so many through at a time, in the order they came. For what costs much and is asked for
 * by people: however many ask, the rest of the master has its share.
 */
import {
  EVENT_PAGE_COUNT_MAX,
  EVENT_PAGES_WAITING_MAX,
  LIST_COUNT_MAX,
  LISTS_WAITING_MAX,
} from '../domain/bounds.ts';
import { Unavailable } from './master-handle.ts';

/** As many wait already as there may be. */
export class TooMany extends Unavailable {}

export class Turnstile {
  readonly #countMax: number;
  readonly #waitingMax: number;
  readonly #what: string;
  #count = 0;
  readonly #waiting: (() => void)[] = [];

  /** `what` there are too many of, for whoever is turned away. */
  constructor(limits: {
    readonly countMax: number;
    readonly waitingMax: number;
    readonly what: string;
  }) {
    this.#countMax = limits.countMax;
    this.#waitingMax = limits.waitingMax;
    this.#what = limits.what;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** @throws {TooMany} */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#count < this.#countMax) this.#count += 1;
    else await this.#place();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place goes from hand to hand: whoever comes meanwhile stands behind.
      if (next === undefined) this.#count -= 1;
      else next();
    }
  }

  #place(): Promise<void> {
    if (this.#waiting.length >= this.#waitingMax) {
      return Promise.reject(
        new TooMany(`the master is busy: too many ${this.#what} are asked for`, 1),
      );
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** For all namespaces together. Whoever follows a feed takes nothing from those who ask for lists. */
export interface Turnstiles {
  readonly lists: Turnstile;
  readonly eventPages: Turnstile;
}

export function turnstiles(): Turnstiles {
  const what = 'pages of events';
  return {
    lists: new Turnstile({
      countMax: LIST_COUNT_MAX,
      waitingMax: LISTS_WAITING_MAX,
      what: 'lists',
    }),
    eventPages: new Turnstile({
      countMax: EVENT_PAGE_COUNT_MAX,
      waitingMax: EVENT_PAGES_WAITING_MAX,
      what,
    }),
  };
}
