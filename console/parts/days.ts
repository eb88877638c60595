/** Days, weeks and months as calendars have them, the same in all zones. A day is `2026-11-22`, a month `2026-11`. Pure. */

const DAY_MS = 86_400_000;

/** Days of the week in the order of a calendar: Monday first; 0 is Sunday. */
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 0];

/** @param count so many days later. */
export function dayAfter(day: string, count = 1): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

/** From the one to the other, which has begun: 1 if they are the same. */
export function daysCount(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
}

/** @param by so many months later; below 0 earlier. */
export function monthAfter(month: string, by: number): string {
  const date = new Date(`${month}-01`);
  date.setUTCMonth(date.getUTCMonth() + by);
  return date.toISOString().slice(0, 7);
}

/** Of the years 1970 to 9998: the clocks of all zones can tell when it begins and when it ends. */
export function isMonth(text = ''): text is string {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text) && text >= '1970' && text < '9999';
}

export function isDay(text: string | undefined): text is string {
  const month = text?.slice(0, 7);
  return text !== undefined && isMonth(month) && weeksOf(month).flat().includes(text);
}

/** Its days in weeks that begin on Monday; null where a day is of another month. */
export function weeksOf(month: string): readonly (readonly (string | null)[])[] {
  const first = `${month}-01`;
  const count = daysCount(first, `${monthAfter(month, 1)}-01`) - 1;
  const before = WEEKDAYS.indexOf(new Date(first).getUTCDay());
  return Array.from({ length: Math.ceil((before + count) / WEEKDAYS.length) }, (_, week) =>
    WEEKDAYS.map((_weekday, at) => {
      const later = week * WEEKDAYS.length + at - before;
      return later < 0 || later >= count ? null : dayAfter(first, later);
    }),
  );
}
