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

export function segmentAt(instant: number): Segment {
  const day = Math.floor(instant / DAY_MS);
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  return { day, table: SEGMENT_PREFIX + date.replaceAll('-', '') };
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

/** The segments that exist. A lookup over all of them is then one statement. */
export class Segments {
  #newestFirst: readonly Segment[] = [];

  get newestFirst(): readonly Segment[] {
    return this.#newestFirst;
  }

  replace(tables: readonly string[]): void {
    this.#newestFirst = [];
    this.addTables(tables);
  }

  addTables(tables: readonly string[]): void {
    const found = tables.map(segmentNamed).filter((segment) => segment !== null);
    const missing = found.filter((segment) => !this.has(segment));
    this.#set([...this.#newestFirst, ...missing]);
  }

  has({ day }: Segment): boolean {
    return this.#newestFirst.some((segment) => segment.day === day);
  }

  add(segment: Segment): void {
    if (!this.has(segment)) this.#set([...this.#newestFirst, segment]);
  }

  remove({ day }: Segment): void {
    this.#set(this.#newestFirst.filter((segment) => segment.day !== day));
  }

  /** Those whose day was over before the instant. */
  endedBefore(instant: number): Segment[] {
    return this.#newestFirst.filter(({ day }) => (day + 1) * DAY_MS <= instant);
  }

  #set(segments: readonly Segment[]): void {
    this.#newestFirst = segments.toSorted((a, b) => b.day - a.day);
  }
}
