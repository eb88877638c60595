/** What the feed of a namespace has told, for whoever asks, and for whoever waits for more of it. */
import type { News } from './engine/news.ts';
import type { Clock, EventPage, EventQuery } from './ports.ts';

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

export class Feed implements FeedHandle {
  readonly #news: News;
  readonly #clock: Clock;
  readonly #ask: (query: EventQuery) => Promise<EventPage>;

  constructor(news: News, clock: Clock, ask: (query: EventQuery) => Promise<EventPage>) {
    this.#news = news;
    this.#clock = clock;
    this.#ask = ask;
  }

  get isOver(): boolean {
    return this.#news.isOver;
  }

  now(): number {
    return this.#clock.now();
  }

  read(query: Omit<EventQuery, 'lookCount'>): Promise<EventPage> {
    return this.#ask({ ...query, lookCount: LOOK_COUNT });
  }

  news(after: number, withinMs: number): Promise<void> {
    return this.#news.wait(after, this.#clock, this.#clock.now() + withinMs);
  }
}
