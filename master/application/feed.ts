/** What the feed of a namespace has told, for whoever asks, and for whoever waits for more of it. */
import type { News } from './engine/news.ts';
import type { Clock, EventPage, EventQuery, TaskStore } from './ports.ts';

export interface FeedHandle {
  /** @throws {Unavailable} also where too many ask. */
  read(query: Omit<EventQuery, 'lookCount'>): Promise<EventPage>;
  /** Resolves when more has been told than up to that number, after so long at the latest, or when this master stops. */
  news(after: number, withinMs: number): Promise<void>;
  /** By the clock of `news`. */
  now(): number;
  /** No more will be told by this master. */
  readonly isOver: boolean;
}

/** Numbers that one page may look at: some 10 ms of work, in pieces. */
const LOOK_COUNT = 10_000;

interface Told {
  readonly engine: { readonly news: News };
  readonly store: Pick<TaskStore, 'readEvents'>;
  readonly clock: Clock;
}

export class Feed implements FeedHandle {
  readonly #of: Told;
  readonly #inTurn: <T>(work: () => Promise<T>) => Promise<T>;

  /** @param inTurn reads a page when it is its turn. */
  constructor(of: Told, inTurn: <T>(work: () => Promise<T>) => Promise<T>) {
    this.#of = of;
    this.#inTurn = inTurn;
  }

  get isOver(): boolean {
    return this.#of.engine.news.isOver;
  }

  now(): number {
    return this.#of.clock.now();
  }

  read(query: Omit<EventQuery, 'lookCount'>): Promise<EventPage> {
    return this.#inTurn(() => this.#of.store.readEvents({ ...query, lookCount: LOOK_COUNT }));
  }

  news(after: number, withinMs: number): Promise<void> {
    const { engine, clock } = this.#of;
    return engine.news.wait(after, clock, clock.now() + withinMs);
  }
}
