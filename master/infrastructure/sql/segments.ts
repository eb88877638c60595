/**
 * History is cut into segments, one table per UTC day in which tasks ended and per class of how long
 * they are kept, so that retention drops whole tables and scheduling never pays for history. This file
 * names them and remembers which exist; it makes none.
 */
import { DEFAULT_NAMESPACE_ID } from '../../application/ports.ts';
import { hasBeenFollowed } from '../../domain/model/served-days.ts';
import type { Retention } from '../../domain/model/task.ts';

const DAY_MS = 86_400_000;
/** How the names of all segments begin, and of no other table. */
export const SEGMENT_PREFIX = 'task_history_';
/** The same of those that are as good as gone: nobody reads them, and what is left of them goes. */
export const DROPPED_PREFIX = 'task_dropped_';

export interface Segment {
  /** Days since the epoch, UTC. */
  readonly day: number;
  readonly retention: Retention;
  readonly table: string;
}

/** One that exists. */
export interface ListedSegment extends Segment {
  /** As 2.0.0 made it: its rows are all of `default`, and no index begins with a namespace. */
  readonly isOld: boolean;
}

/** Of each class the newest answer: nearly all tasks of a commit end on one day. */
const known = new Map<Retention, Segment>();

export function segmentAt(retention: Retention, instant: number): Segment {
  const day = Math.floor(instant / DAY_MS);
  const newest = known.get(retention);
  if (newest?.day === day) return newest;
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
  // 2.0.0 knew one class, whose names stay.
  const infix = retention === 'normal' ? '' : `${retention}_`;
  const segment = { day, retention, table: SEGMENT_PREFIX + infix + date };
  known.set(retention, segment);
  return segment;
}

export function nextSegmentAt(retention: Retention, instant: number): Segment {
  return segmentAt(retention, instant + DAY_MS);
}

/** Null for a table of another kind. */
export function segmentNamed(table: string): Segment | null {
  const match = /^task_history_(?:(short|long)_)?(\d{4})(\d\d)(\d\d)$/.exec(table);
  if (match === null) return null;
  const [, retention = 'normal', year, month, day] = match;
  return segmentAt(retention as Retention, Date.parse(`${year}-${month}-${day}T00:00:00Z`));
}

/** What it is called from when on it is as good as gone. */
export const droppedName = ({ table }: Segment): string =>
  table.replace(SEGMENT_PREFIX, DROPPED_PREFIX);

/** Which segment was called so; null for a table of another kind. */
export const droppedNamed = (table: string): Segment | null =>
  table.startsWith(DROPPED_PREFIX)
    ? segmentNamed(table.replace(DROPPED_PREFIX, SEGMENT_PREFIX))
    : null;

/** In UTC: `2026-11-22`. */
export const dateOf = ({ day }: Segment): string =>
  new Date(day * DAY_MS).toISOString().slice(0, 10);

export const hasEndedBefore = ({ day }: Segment, instant: number): boolean =>
  (day + 1) * DAY_MS <= instant;

/**
 * Those of these that are of the class, and whose day was over before the instant and followed by so many
 * that were served since, the oldest first.
 */
export function endedBefore(
  segments: readonly ListedSegment[],
  retention: Retention,
  instant: number,
  servedCount: number,
): ListedSegment[] {
  const known = new Set(segments.map(({ day }) => day));
  const today = Math.floor(instant / DAY_MS) + servedCount;
  return segments
    .filter((segment) => segment.retention === retention && hasEndedBefore(segment, instant))
    .filter(({ day }) => hasBeenFollowed(day, { known, today, count: servedCount }))
    .sort((a, b) => a.day - b.day);
}

/** The segments that exist. A lookup over all of them is then one statement. */
export class Segments {
  #newestFirst: readonly ListedSegment[] = [];
  /** Tables that are on their way out, or out: a list that was read before may still have them. */
  readonly #left = new Map<string, 'dropping' | 'dropped'>();
  /** Tables to which nothing has been planned since somebody began to watch them. */
  readonly #untouched = new Set<string>();

  get newestFirst(): readonly ListedSegment[] {
    return this.#newestFirst;
  }

  /** Those that may have rows of a namespace. */
  of(namespaceId: number): readonly ListedSegment[] {
    if (namespaceId === DEFAULT_NAMESPACE_ID) return this.#newestFirst;
    return this.#newestFirst.filter(({ isOld }) => !isOld);
  }

  /** Makes this the list of the database; what is changed here while that is read stays changed. */
  async refresh(list: () => Promise<readonly ListedSegment[]>): Promise<void> {
    const before = this.#newestFirst;
    const found = new Map((await list()).map((segment) => [segment.table, segment]));
    const gone = before.filter(({ table }) => !found.has(table)).map(({ table }) => table);
    const kept = this.#newestFirst
      .filter(({ table }) => !gone.includes(table))
      .map((one) => ({ ...one, isOld: one.isOld && found.get(one.table)?.isOld !== false }));
    const others = [...found.values()].filter(
      (one) => !this.has(one) && !this.#left.has(one.table),
    );
    this.#set([...kept, ...others]);
  }

  has(segment: Segment): boolean {
    return this.#find(segment) !== undefined;
  }

  /** Whether rows of any namespace may be put in. */
  serves(segment: Segment): boolean {
    return this.#find(segment)?.isOld === false;
  }

  #find({ table }: Segment): ListedSegment | undefined {
    return this.#newestFirst.find((segment) => segment.table === table);
  }

  /** One that serves all. While it is being dropped it stays away: what is put in goes with it. */
  add({ day, retention, table }: Segment): void {
    if (this.#left.get(table) === 'dropping') return;
    this.#left.delete(table);
    const others = this.#newestFirst.filter((segment) => segment.table !== table);
    this.#set([...others, { day, retention, table, isOld: false }]);
  }

  /** From here on `isUntouched` tells whether anything was planned for it. */
  watch({ table }: Segment): void {
    this.#untouched.add(table);
  }

  /** A commit is planned that changes rows of it. */
  touch({ table }: Segment): void {
    this.#untouched.delete(table);
  }

  isUntouched({ table }: Segment): boolean {
    return this.#untouched.has(table);
  }

  /** Off the list: nothing that begins from here on comes to it. */
  beginDrop({ table }: Segment): void {
    this.#left.set(table, 'dropping');
    this.#set(this.#newestFirst.filter((segment) => segment.table !== table));
  }

  /** It stays. */
  cancelDrop(segment: ListedSegment): void {
    this.#left.delete(segment.table);
    this.#set([...this.#newestFirst, segment]);
  }

  endDrop({ table }: Segment): void {
    this.#left.set(table, 'dropped');
  }

  #set(segments: readonly ListedSegment[]): void {
    this.#newestFirst = segments.toSorted((a, b) => b.day - a.day);
  }
}
