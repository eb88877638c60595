/** Instants in what people are told of bookings. */
import { timeOf } from '../schedule/local-time.ts';
import { dayOf } from '../usage/day.ts';

/** By UTC, to the second. */
export function instantInWords(at: number): string {
  const seconds = Math.floor(timeOf(at) / 1000);
  const two = (n: number) => String(n).padStart(2, '0');
  const time = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${dayOf('UTC', at)}T${time.map(two).join(':')}Z`;
}
