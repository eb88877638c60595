/** UTC days, for which history in memory has its segments. */
import { type Retention, RETENTIONS } from '../../domain/model/task.ts';

const DAY_MS = 86_400_000;

/** Of each class of how long tasks are kept. */
export type Days = Readonly<Record<Retention, Set<number>>>;

export const noDays = (): Days => ({ short: new Set(), normal: new Set(), long: new Set() });

export const dayOf = (instant: number): number => Math.floor(instant / DAY_MS);

/** Today and tomorrow, of the classes that are used. */
export function prepareDays(days: Days, now: number, used: readonly Retention[]): void {
  for (const retention of RETENTIONS) {
    if (retention !== 'normal' && !used.includes(retention)) continue;
    days[retention].add(dayOf(now)).add(dayOf(now) + 1);
  }
}

/** Those that were over at the instant. */
export function endedBefore(days: ReadonlySet<number>, instant: number): Set<number> {
  return new Set([...days].filter((day) => (day + 1) * DAY_MS <= instant));
}
