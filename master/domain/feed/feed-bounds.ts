/** What is held at most of what people read while it grows, the feed of events and logs: part of `bounds.ts`. */

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * Bytes of logs of tasks that have yet to be written, or may still grow, of all namespaces; beyond it lines are dropped.
 * One transaction writes so many of them, of so many attempts; so many attempts are held open, which makes their
 * chunks grow: of more, the oldest begin another.
 */
export const LOG_HELD_BYTES_MAX = 32 * MiB;
export const LOG_WRITE_BYTES_MAX = 256 * KiB;
export const LOG_WRITE_COUNT_MAX = 256;
export const LOG_OPEN_COUNT_MAX = 1_000;

/** Chunks of logs that one page looks at: some 5 ms of work. */
export const LOG_CHUNK_COUNT_MAX = 32;

/** Attempts of a namespace of which is known whose lines are theirs; of more, the older half has to be in memory for that. */
export const LOG_ATTEMPT_COUNT_MAX = 20_000;

/**
 * Requests that wait for events or lines of logs, as streams or with `wait`; beyond it a further one is refused with 503, and one of
 * a token with 429 that has as many as are free for others. Each holds a page, until its reader has taken it.
 */
export const EVENT_FOLLOWERS_MAX = 200;

/**
 * Pages of events and logs that are read at a time, and that wait for that, beside all lists: one commit may wake all who follow,
 * and others ask for pages meanwhile; beyond it a request is refused with 503.
 */
export const EVENT_PAGE_COUNT_MAX = 1;
export const EVENT_PAGES_WAITING_MAX = 2 * EVENT_FOLLOWERS_MAX;
