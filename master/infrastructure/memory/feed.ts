/** What the feed of a namespace has told, in memory. */
import type { EventPage, EventQuery } from '../../application/ports.ts';
import { type FeedEvent, isWithin, type StoredEvent } from '../../domain/feed/feed-event.ts';

export class MemoryFeed {
  /** By number, without gaps. */
  #events: StoredEvent[] = [];
  #newest = 0;

  get newest(): number {
    return this.#newest;
  }

  /** @throws {Error} their numbers do not follow: nothing of it may be written then. */
  check(events: readonly FeedEvent[]): void {
    for (const [index, { seq }] of events.entries()) {
      const expected = this.#newest + 1 + index;
      if (seq !== expected) throw new Error(`event ${seq} comes where ${expected} is to`);
    }
  }

  write(events: readonly FeedEvent[]): void {
    for (const event of events) this.#events.push({ ...event });
    this.#newest += events.length;
  }

  read(query: EventQuery): EventPage {
    const newest = this.#newest;
    const oldest = this.#events[0]?.seq ?? newest + 1;
    const { taskSeq, limit, lookCount } = query;
    const after = query.after ?? oldest - 1;
    const ofTask = this.#events.filter((one) => one.taskSeq === taskSeq && one.seq > after);
    const end =
      taskSeq === null
        ? Math.min(newest, after + lookCount)
        : (ofTask[lookCount - 1]?.seq ?? newest);
    const found = this.#events.filter(
      (one) => one.seq > after && one.seq <= end && isAskedFor(query, one),
    );
    const events = found.slice(0, limit);
    const last = events.at(-1);
    const isFull = events.length === limit && last !== undefined;
    return { events, next: isFull ? last.seq : Math.max(after, end), oldest, newest };
  }

  drop(before: number): number {
    const kept = this.#events.findIndex(({ at }) => at >= before);
    const count = kept < 0 ? this.#events.length : kept;
    this.#events = this.#events.slice(count);
    return count;
  }
}

function isAskedFor(
  { taskSeq, type, group, kind, within }: EventQuery,
  event: StoredEvent,
): boolean {
  return (
    (taskSeq ?? event.taskSeq) === event.taskSeq &&
    (type ?? event.type) === event.type &&
    (group ?? event.group) === event.group &&
    (kind === null || event.kind === kind || event.kind.startsWith(`${kind}.`)) &&
    (within === null || isWithin(within, event))
  );
}
