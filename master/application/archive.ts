/** Where ended tasks are kept beyond their retention: part of the ports. */
import type { Retention } from '../domain/model/task.ts';
import type { ShownTask } from './lists/task-query.ts';

/** A day of history, of one class. */
export interface EndedDay {
  readonly retention: Retention;
  /** In UTC: `2026-11-22`. */
  readonly day: string;
}

/** Some tasks of one namespace, whole and with their attempts: no more than may be worked on without a pause. */
export interface EndedPage {
  readonly namespace: string;
  readonly tasks: readonly ShownTask[];
}

export interface EndedSegment extends EndedDay {
  /**
   * All that it has, each time from the first task on: those of one namespace after those of another, in an order that
   * stays, a few at a time.
   * @throws {Error} one of them cannot be read: none is left out.
   */
  pages(): AsyncIterable<EndedPage>;
}

/** All that a segment had, in a few bytes: of one that has the same, to the last character, the digest is the same. */
export interface Prepared {
  readonly count: number;
  readonly sha256: string;
  /** Of what it was written to. */
  readonly names: readonly string[];
}

/**
 * A segment is dropped after `prepare`, once it `isStill` what was prepared and nothing has come to it since that began.
 * `finish` comes then, before the first row goes: after a crash again, and also where nothing was prepared.
 */
export interface Archive {
  /** Rejects where nothing can be put in, as far as that can be told before. Says what to do. */
  check(): Promise<void>;
  /**
   * Writes all tasks of the segment, in a way that outlasts a power cut, and reads them again. They count for nothing
   * yet: whatever an earlier try has left of it goes.
   */
  prepare(segment: EndedSegment): Promise<Prepared>;
  /** Whether what was prepared is there, and is what the segment has now. */
  isStill(segment: EndedSegment, prepared: Prepared): Promise<boolean>;
  /** Whether something of each of these is there of that day, prepared or counting. Rejects where that cannot be told. */
  holds(day: EndedDay, namespaces: readonly string[]): Promise<boolean>;
  /** From here on what was prepared of that day counts, under these names. Nothing that counted before is touched. */
  finish(day: EndedDay): Promise<readonly string[]>;
}
