/** What the application asks of what was counted: see `ports.ts`. */
import type { Sight } from '../../domain/model/task-filter.ts';
import type { Figures } from '../../domain/usage/usage.ts';

/** What a day is told apart by. */
export const USAGE_FIELDS = ['group', 'project', 'env', 'user', 'type'] as const;
export type UsageField = (typeof USAGE_FIELDS)[number];

export interface UsageQuery {
  /** `2026-11-22` */
  readonly day: string;
  readonly by: readonly UsageField[];
  /** Null, in these: of all. */
  readonly type: string | null;
  readonly group: string | null;
  readonly within: Sight | null;
}

export interface UsageSum {
  /** Of the fields asked for, in their order; null: it has none. */
  readonly values: readonly (string | null)[];
  readonly figures: Figures;
}

/** Of the database. */
export interface UsageUpkeep {
  /** Adds what commits have counted to the usage of its day, each once; returns how many such rows there were. */
  foldUsage(): Promise<number>;
  /** Removes of the usage of days before that one some thousand rows; returns how many. */
  dropUsage(before: string): Promise<number>;
}

/** Of a namespace. */
export interface UsageReads {
  /** From here on `readUsage` has whatever was committed before. */
  foldUsage(): Promise<void>;
  /** What was counted on one day, for each combination of what it is asked by. */
  readUsage(query: UsageQuery): Promise<readonly UsageSum[]>;
}
