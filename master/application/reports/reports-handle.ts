/** What the access layer may ask of reports. Implemented by `reports.ts`. */
import type { Load, LoadSample } from '../../domain/load/figures.ts';
import type { RecentQuery } from './load-query.ts';
import type { UsageQuery, UsageSum } from './usage-query.ts';

/** Rows of one report, all its pages together; a longer one is refused. */
export const REPORT_ROWS_MAX = 10_000;

/** Of some days together, or each by itself. */
export interface UsageAsked extends Omit<UsageQuery, 'day'> {
  readonly days: readonly string[];
  readonly isByDay: boolean;
}

export interface DaySum extends UsageSum {
  /** Null: of all days together. */
  readonly day: string | null;
}

export interface LoadAsked {
  /** Of these together; null: of all. */
  readonly types: readonly string[] | null;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
}

/** Points of one length, in order; those of which nothing is known are left out. */
export interface LoadSeries {
  readonly stepMs: number;
  readonly points: readonly {
    readonly at: number;
    /** How often somebody has looked, of whichever type. */
    readonly sampleCount: number;
    readonly load: Load;
  }[];
}

export interface Recent {
  readonly since: number;
  /** By name. */
  readonly types: readonly LoadSample[];
}

/** A report would have more rows than `REPORT_ROWS_MAX`. */
export class ReportTooLong extends Error {
  override readonly name = 'ReportTooLong';
}

export interface ReportsHandle {
  /** In which the days of reports begin. @throws {Unavailable} nothing is known yet. */
  readonly zone: string;
  /** It is this day there. @throws {Unavailable} nothing is known yet. */
  readonly today: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** How busy it was: points of minutes, hours or days, as the span is long. @throws {Unavailable} also where too many ask. */
  load(asked: LoadAsked): Promise<LoadSeries>;
  /** What there was in the last hour, what was counted just now too. @throws {Unavailable} also where too many ask. */
  recent(asked: Omit<RecentQuery, 'since'>): Promise<Recent>;
  /** One for each combination, in any order. @throws {ReportTooLong} @throws {Unavailable} also where too many ask. */
  usage(asked: UsageAsked): Promise<readonly DaySum[]>;
}
