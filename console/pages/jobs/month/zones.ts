/** Days and times by the clocks of a zone, for calendars that people read. A day is `2026-11-22`. Pure. */
import { language } from '../../../words/words.ts';

const DAY_MS = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Numbers alone, as clocks of the zone show them. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const [day, time] = [{ year: 'numeric', month: '2-digit', day: '2-digit' }, '2-digit'] as const;
  const made = new Intl.DateTimeFormat('en-GB', {
    ...day,
    ...{ hour: time, minute: time, second: time, hourCycle: 'h23', timeZone: zone },
  });
  formats.set(zone, made);
  return made;
}

/** Epoch milliseconds, as if the clocks of the zone were those of UTC. */
function wallOf(zone: string, at: number): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const number = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type));
  return Date.UTC(
    number('year'),
    number('month') - 1,
    ...([number('day'), number('hour'), number('minute'), number('second')] as const),
  );
}

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
  const wall = Date.parse(`${local}Z`);
  const tried = [wall - DAY_MS, wall + DAY_MS].map((at) => wall - (wallOf(zone, at) - at));
  const shown = tried.filter((at) => wallOf(zone, at) === wall);
  return shown.length > 0 ? Math.min(...shown) : Math.max(...tried);
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
