/**
 * Lets so many through at a time, those who ask in turns, and does what takes long in pieces. For what costs much
 * and is asked for by people: however many ask, and whatever for, the rest of the master has its share, and so has
 * each of them.
 */
import {
  EVENT_PAGE_COUNT_MAX,
  EVENT_PAGES_WAITING_MAX,
  LIST_COUNT_MAX,
  LISTS_WAITING_MAX,
  NAMESPACES_AT_ONCE_MAX,
  PREVIEW_COUNT_MAX,
  REBUILD_COUNT_MAX,
} from '../domain/bounds.ts';
import type { Pieces } from '../domain/pieces.ts';
import { Unavailable } from './master-handle.ts';
import type { Clock } from './ports.ts';

/** As many wait already as there may be. */
export class TooMany extends Unavailable {}

/** Who asks, by the name of his token; null: the master itself, which comes first and is never refused. */
export type Asker = string | null;

export class Turnstile {
  readonly #countMax: number;
  readonly #waitingMax: number;
  readonly #what: string;
  #count = 0;
  /** By who asks, in the order of their turns; of each in the order they came. */
  readonly #waiting = new Map<Asker, Set<() => void>>();
  #waitingCount = 0;

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
    return this.#waitingCount;
  }

  /**
   * @param gone Nobody waits for it any more: what has not begun by then never does.
   * @param asker Of his own no more wait than he leaves free for others.
   * @throws {TooMany}
   */
  async during<T>(
    work: (gone: AbortSignal) => Promise<T>,
    gone: AbortSignal = new AbortController().signal,
    asker: Asker = '',
  ): Promise<T> {
    if (this.#count < this.#countMax) this.#count += 1;
    else await this.#place(gone, asker);
    try {
      return await work(gone);
    } finally {
      // The place goes from hand to hand: whoever comes meanwhile stands behind.
      const next = this.#nextInTurn();
      if (next === undefined) this.#count -= 1;
      else next();
    }
  }

  #place(gone: AbortSignal, asker: Asker): Promise<void> {
    const line = this.#waiting.get(asker) ?? new Set();
    const freeCount = this.#waitingMax - this.#waitingCount;
    if (asker !== null && line.size >= freeCount) {
      const whose = freeCount > 0 ? ' by one token' : '';
      return Promise.reject(
        new TooMany(`the master is busy: too many ${this.#what} are asked for${whose}`, 1),
      );
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        gone.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#takeOut(asker, enter);
        reject(new Unavailable('nobody waits for it any more'));
      };
      this.#waiting.set(asker, line.add(enter));
      this.#waitingCount += 1;
      gone.addEventListener('abort', leave, { once: true });
    });
  }

  #nextInTurn(): (() => void) | undefined {
    const [first] = this.#waiting.has(null) ? [null] : this.#waiting.keys();
    const line = first === undefined ? undefined : this.#waiting.get(first);
    if (first === undefined || line === undefined) return undefined;
    const [enter] = line;
    this.#takeOut(first, enter);
    if (line.size === 0) return enter;
    // It is the turn of all others before it is his again.
    this.#waiting.delete(first);
    this.#waiting.set(first, line);
    return enter;
  }

  #takeOut(asker: Asker, enter: (() => void) | undefined): void {
    const line = this.#waiting.get(asker);
    if (enter === undefined || line?.delete(enter) !== true) return;
    this.#waitingCount -= 1;
    if (line.size === 0) this.#waiting.delete(asker);
  }
}

/** `gone` tells the work that nobody waits for it any more. */
export async function whileAsked<T>(work: (gone: AbortSignal) => Promise<T>): Promise<T> {
  const asker = new AbortController();
  try {
    return await work(asker.signal);
  } catch (error) {
    asker.abort();
    throw error;
  }
}

/** For all namespaces together. Whoever follows a feed, or asks for reports, takes nothing from those who ask for lists. */
export interface Turnstiles {
  readonly lists: Turnstile;
  readonly eventPages: Turnstile;
  readonly health: Turnstile;
  readonly reports: Turnstile;
  readonly previews: Turnstile;
  /** Of the states of namespaces, from rows. */
  readonly rebuilds: Turnstile;
}

export function turnstiles(): Turnstiles {
  const oneByOne = { countMax: 1, waitingMax: LISTS_WAITING_MAX };
  return {
    lists: new Turnstile({
      countMax: LIST_COUNT_MAX,
      waitingMax: LISTS_WAITING_MAX,
      what: 'lists',
    }),
    eventPages: new Turnstile({
      countMax: EVENT_PAGE_COUNT_MAX,
      waitingMax: EVENT_PAGES_WAITING_MAX,
      what: 'pages of events',
    }),
    health: new Turnstile({ ...oneByOne, what: 'looks at how work flows' }),
    reports: new Turnstile({ ...oneByOne, what: 'reports' }),
    previews: new Turnstile({
      countMax: PREVIEW_COUNT_MAX,
      waitingMax: LISTS_WAITING_MAX,
      what: 'previews of backfills',
    }),
    rebuilds: new Turnstile({
      countMax: REBUILD_COUNT_MAX,
      waitingMax: NAMESPACES_AT_ONCE_MAX,
      what: 'namespaces',
    }),
  };
}

/** Others wait for so long, and until the piece is done that goes beyond. */
const TURN_MS = 5;

/** What the work comes to. */
export async function inPieces<T>(work: Pieces<T>, clock: Pick<Clock, 'now' | 'soon'>): Promise<T> {
  let turnAt = clock.now();
  let step = work.next();
  while (step.done !== true) {
    if (clock.now() - turnAt >= TURN_MS) {
      await letOthers(clock);
      turnAt = clock.now();
    }
    step = work.next();
  }
  return step.value;
}

/** For work that waits in between: what is returned lets others have their turn, where they have waited for so long. */
export function breathing(clock: Pick<Clock, 'now' | 'soon'>): () => Promise<void> {
  let turnAt = clock.now();
  return async () => {
    if (clock.now() - turnAt < TURN_MS) return;
    await letOthers(clock);
    turnAt = clock.now();
  };
}

/** They have their turn. */
export function letOthers(clock: Pick<Clock, 'soon'>): Promise<void> {
  return new Promise((resolve) => clock.soon(resolve));
}
