/** Instants in what people are told of bookings. */
import { instantInWords, wallOf } from '../schedule/local-time.ts';

/** From when to when by the clock of a zone, which is named: a booking that recurs says one; UTC for one that does not. */
export function windowInWords(from: number, to: number, zone: string | null): string {
  if (zone === null) return `${instantInWords(from)} to ${instantInWords(to)}`;
  const at = (instant: number) => instantInWords(wallOf(zone, instant)).slice(0, -1);
  return `${at(from)} to ${at(to)} (${zone})`;
}

/** By the same clock, which is not named again. */
export function beginInWords(at: number, zone: string | null): string {
  return zone === null ? instantInWords(at) : instantInWords(wallOf(zone, at)).slice(0, -1);
}
