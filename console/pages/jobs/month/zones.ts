/** Days and times by the clocks of a zone, for calendars that people read. A day is `2026-11-22`, a month `2026-11`. Pure. */

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DAYS_OF_WEEK = 7;

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
  const wall = Date.parse(day);
  const offsetAt = (at: number): number => wallOf(zone, at) - at;
  const guess = wall - offsetAt(wall);
  const found = wall - offsetAt(guess);
  // Clocks that are set forward at midnight have no such instant: the first after it.
  return dayIn(zone, found) === day ? found : guess;
}

export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
}

/** @param by so many months later; below 0 earlier. */
export function monthAfter(month: string, by: number): string {
  const date = new Date(`${month}-01`);
  date.setUTCMonth(date.getUTCMonth() + by);
  return date.toISOString().slice(0, 7);
}

export const isMonth = (text: string | undefined): text is string =>
  /^\d{4}-(0[1-9]|1[0-2])$/.test(text ?? '');

/** Its days in weeks that begin on Monday; null where a day is of another month. */
export function weeksOf(month: string): readonly (readonly (string | null)[])[] {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const count = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const before = (new Date(`${month}-01`).getUTCDay() + 6) % DAYS_OF_WEEK;
  return Array.from({ length: Math.ceil((before + count) / DAYS_OF_WEEK) }, (_, week) =>
    Array.from({ length: DAYS_OF_WEEK }, (__, weekday) => {
      const day = week * DAYS_OF_WEEK + weekday - before + 1;
      return day < 1 || day > count ? null : `${month}-${String(day).padStart(2, '0')}`;
    }),
  );
}
