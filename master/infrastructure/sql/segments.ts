/**
 * History is cut into segments, one table per UTC day in which tasks ended, so that retention
 * drops whole tables and scheduling never pays for history. This file names them and remembers
 * which exist; it makes none.
 */
const DAY_MS = 86_400_000;
/** How the names of all segments begin, and of no other table. */
export const SEGMENT_PREFIX = 'task_history_';

export interface Segment {
  /** Days since the epoch, UTC. */
  readonly day: number;
  readonly table: string;
}

/** The newest answer: nearly all tasks of a commit end on one day. */
let known: Segment = { day: Number.NaN, table: '' };

export function segmentAt(instant: number): Segment {
  const day = Math.floor(instant / DAY_MS);
  if (known.day === day) return known;
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  known = { day, table: SEGMENT_PREFIX + date.replaceAll('-', '') };
  return known;
}

export function nextSegmentAt(instant: number): Segment {
  return segmentAt(instant + DAY_MS);
}

/** Null for a table of another kind. */
export function segmentNamed(table: string): Segment | null {
  const match = /^task_history_(\d{4})(\d\d)(\d\d)$/.exec(table);
  if (match === null) return null;
  return segmentAt(Date.parse(`${match[1]}-${match[2]}-${match[3]}T00:00:00Z`));
}

/** Those of these tables whose day was over before the instant, the oldest first. */
export function endedBefore(tables: readonly string[], instant: number): Segment[] {
  return named(tables)
    .filter(({ day }) => (day + 1) * DAY_MS <= instant)
    .sort((a, b) => a.day - b.day);
}

function named(tables: readonly string[]): Segment[] {
  return tables.map(segmentNamed).filter((segment) => segment !== null);
}

/** The segments that exist. A lookup over all of them is then one statement. */
export class Segments {
  #newestFirst: readonly Segment[] = [];
  /** Days that are on their way out, or out: a list that was read before may still have them. */
  readonly #left = new Map<number, 'dropping' | 'dropped'>();

  get newestFirst(): readonly Segment[] {
    return this.#newestFirst;
  }

  /** Makes this the list of the database; what is changed here while that is read stays changed. */
  async refresh(list: () => Promise<readonly string[]>): Promise<void> {
    const before = this.#newestFirst;
    const found = named(await list());
    const days = new Set(found.map(({ day }) => day));
    const gone = new Set(before.map(({ day }) => day).filter((day) => !days.has(day)));
    const kept = this.#newestFirst.filter(({ day }) => !gone.has(day));
    const others = found.filter((one) => !this.has(one) && !this.#left.has(one.day));
    this.#set([...kept, ...others]);
  }

  has({ day }: Segment): boolean {
    return this.#newestFirst.some((segment) => segment.day === day);
  }

  /** One that has been made. While it is being dropped it stays away: what is put in goes with it. */
  add(segment: Segment): void {
    if (this.#left.get(segment.day) === 'dropping') return;
    this.#left.delete(segment.day);
    if (!this.has(segment)) this.#set([...this.#newestFirst, segment]);
  }

  /** Off the list for good, also where the database then fails to drop it. */
  beginDrop({ day }: Segment): void {
    this.#left.set(day, 'dropping');
    this.#set(this.#newestFirst.filter((segment) => segment.day !== day));
  }

  endDrop({ day }: Segment): void {
    this.#left.set(day, 'dropped');
  }

  #set(segments: readonly Segment[]): void {
    this.#newestFirst = segments.toSorted((a, b) => b.day - a.day);
  }
}
