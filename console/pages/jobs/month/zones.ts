/** Days and times by the clocks of a zone, for calendars that people read. A day is `2026-11-22`. Pure. */
import { instantOfWall, wallOf } from '@soda-scheduler/protocol';
import { language } from '../../../words/words.ts';

export function dayIn(zone: string, at: number): string {
  return new Date(wallOf(zone, at)).toISOString().slice(0, 10);
}

/** `03:00`; with seconds where there are some. */
export function timeIn(zone: string, at: number): string {
  const text = new Date(wallOf(zone, at)).toISOString().slice(11, 19);
  return text.endsWith(':00') ? text.slice(0, 5) : text;
}

/** The first instant of a day. */
export function startOf(zone: string, day: string): number {
  return instantOf(zone, `${day}T00:00`);
}

/**
 * When the clocks of a zone show this: `2026-11-22T03:00`. The first time, where they do so twice; what they leave out
 * as they are set forward is as much later.
 */
export function instantOf(zone: string, local: string): number {
  return instantOfWall(zone, Date.parse(`${local}Z`));
}

/** `Mon 23 Nov 19:00`. @param year it is told too. */
export function clockIn(zone: string, at: string, year?: 'year'): string {
  const date = new Date(at);
  const day = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  const seconds = date.getUTCSeconds() === 0 ? {} : ({ second: '2-digit' } as const);
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...seconds } as const;
  const zoned = { timeZone: zone, ...(year && { year: 'numeric' as const }) };
  const told = date.toLocaleTimeString(language(), { ...time, timeZone: zone });
  return `${date.toLocaleDateString(language(), { ...day, ...zoned })} ${told}`;
}
