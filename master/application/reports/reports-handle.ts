/** What the access layer may ask of reports. Implemented by `reports.ts`. */
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

/** A report would have more rows than `REPORT_ROWS_MAX`. */
export class ReportTooLong extends Error {
  override readonly name = 'ReportTooLong';
}

export interface ReportsHandle {
  /** In which the days of reports begin. @throws {Unavailable} nothing is known yet. */
  readonly zone: string;
  /** It is this day there. @throws {Unavailable} nothing is known yet. */
  readonly today: string;
  /** One for each combination, in any order. @throws {ReportTooLong} @throws {Unavailable} also where too many ask. */
  usage(asked: UsageAsked): Promise<readonly DaySum[]>;
}
