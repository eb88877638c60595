/** UTC days, for which history in memory has its segments. */
import { hasBeenFollowed } from '../../domain/model/served-days.ts';
import { type Retention, RETENTIONS } from '../../domain/model/task.ts';

const DAY_MS = 86_400_000;

/** Of each class of how long tasks are kept. */
export type Days = Readonly<Record<Retention, Set<number>>>;

export const noDays = (): Days => ({ short: new Set(), normal: new Set(), long: new Set() });

export const dayOf = (instant: number): number => Math.floor(instant / DAY_MS);

/** In UTC: `2026-11-22`. */
export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** Today and tomorrow, of the classes that are used. */
export function prepareDays(days: Days, now: number, used: readonly Retention[]): void {
  for (const retention of RETENTIONS) {
    if (retention !== 'normal' && !used.includes(retention)) continue;
    days[retention].add(dayOf(now)).add(dayOf(now) + 1);
  }
}

/** Those of the class that were over at the instant, and followed by so many that were served since, the oldest first. */
export function endedBefore(
  days: Days,
  retention: Retention,
  instant: number,
  servedCount: number,
): number[] {
  const known = new Set(RETENTIONS.flatMap((one) => [...days[one]]));
  const followed = { known, today: dayOf(instant) + servedCount, count: servedCount };
  const over = [...days[retention]].filter((day) => (day + 1) * DAY_MS <= instant);
  return over.filter((day) => hasBeenFollowed(day, followed)).sort((a, b) => a - b);
}
