/**
 * Which days of history a master has served to their end. All that is known of that is which days have
 * segments: those of a day and the next are made together, while it lasts. Knows no clock.
 */

/**
 * Whether `count` days, each served to its end, have followed that day by `today`. Days since the epoch, UTC.
 * @param known all that have a segment, of any class.
 */
export function hasBeenFollowed(
  day: number,
  { known, today, count }: { known: ReadonlySet<number>; today: number; count: number },
): boolean {
  let served = 0;
  for (const one of known) {
    if (one > day && one < today && known.has(one + 1)) served += 1;
  }
  return served >= count;
}
