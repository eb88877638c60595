/** UTC days, for which history in memory has its segments. */
const DAY_MS = 86_400_000;

export const dayOf = (instant: number): number => Math.floor(instant / DAY_MS);

/** Those of now and the near future. */
export function prepareDays(days: Set<number>, now: number): void {
  days.add(dayOf(now)).add(dayOf(now) + 1);
}

/** Those that were over at the instant. */
export function endedBefore(days: ReadonlySet<number>, instant: number): Set<number> {
  return new Set([...days].filter((day) => (day + 1) * DAY_MS <= instant));
}
