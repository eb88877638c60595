/** Which days a report is about, as the URL says it. */
import { dayAfter, isMonth, monthAfter } from '../../parts/days.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Days begin at one of these, in whatever zone the master counts them. */
const QUARTER_MS = 15 * MINUTE_MS;
const DAYS_BACK: Readonly<Record<string, number>> = { '7d': 6, '30d': 29 };
/** As long as they are kept. */
const MONTH_COUNT = 13;

export const SPANS = ['today', '7d', '30d'] as const;
export const PRESET_SPAN = '7d';

/** As the API has it: without a day it is today, and an instant stands for its day. */
export interface Days {
  readonly from?: string;
  readonly to?: string;
}

export function daysOf(span: string, now: number): Days {
  if (span === 'today') return {};
  if (isMonth(span)) {
    return { from: `${span}-01`, to: dayAfter(`${monthAfter(span, 1)}-01`, -1) };
  }
  const back = DAYS_BACK[span] ?? DAYS_BACK[PRESET_SPAN] ?? 0;
  // Not the very instant: the same is asked for again and again.
  const at = Math.floor(now / QUARTER_MS) * QUARTER_MS - back * DAY_MS;
  return { from: new Date(at).toISOString() };
}

/** The newest first. */
export function months(now: number): string[] {
  const date = new Date(now);
  const current = new Date(Date.UTC(date.getFullYear(), date.getMonth())).toISOString();
  return Array.from({ length: MONTH_COUNT }, (_, back) => monthAfter(current.slice(0, 7), -back));
}
