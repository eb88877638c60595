/** Instants, as on a clock. */
import { language } from './words.ts';

/** In the zone of the browser; of another day with the date. */
export function clockOf(at: string, now: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(now).toDateString();
  const time = date.toLocaleTimeString(language(), { hour12: false });
  if (isToday) return time;
  return `${date.toLocaleDateString(language(), { month: 'short', day: 'numeric' })} ${time}`;
}
