/** What the application asks of how busy types were: see `ports.ts`. */
import type { Load, LoadSample } from '../../domain/load/figures.ts';

/** For how long minutes are kept, and hours. */
export const LOAD_MINUTE_DAYS = 30;
export const LOAD_HOUR_DAYS = 400;

/** Minutes that one row is about. */
export type LoadSpan = 1 | 60;

export interface LoadQuery {
  /** Of all these together. */
  readonly types: readonly string[];
  readonly span: LoadSpan;
  /** Rows of so many milliseconds, by UTC, are one point. */
  readonly stepMs: number;
  /** Epoch milliseconds; `to` is no more in it. */
  readonly from: number;
  readonly to: number;
}

export interface LoadPoint {
  readonly at: number;
  readonly load: Load;
}

/** Types by name, after that one. */
export interface RecentQuery {
  readonly after: string;
  readonly limit: number;
  /** Only these; null: all. */
  readonly among: readonly string[] | null;
  /** What was counted in minutes that have begun since. */
  readonly since: number;
}

/** Of one namespace. */
export interface LoadSamples {
  readonly namespaceId: number;
  readonly samples: readonly LoadSample[];
}

/** Of the database. */
export interface LoadUpkeep {
  /** Adds to the minute that begins at `at`, to its hour, and to what there ever was, of each type. */
  addLoad(at: number, of: readonly LoadSamples[]): Promise<void>;
  /**
   * Removes some thousand rows of minutes, or of hours, that began before that instant; with the hours goes what there
   * ever was of types of which nothing has started or ended since. Returns how many.
   */
  dropLoad(span: LoadSpan, before: number): Promise<number>;
}

/** Of a namespace. */
export interface LoadReads {
  /** Those of which there are rows, in order. */
  readLoad(query: LoadQuery): Promise<readonly LoadPoint[]>;
  /** What was accepted, started, succeeded and failed since, with when the last has started and ended: ever. */
  readRecent(query: RecentQuery): Promise<readonly LoadSample[]>;
}
