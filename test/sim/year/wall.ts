/**
 * An independent calendar: what clocks of zones show, as the runtime prints it, and which times triggers have by
 * that, day by day. Shares nothing with the code under test.
 */
import type { CalendarSpec } from '../../../master/domain/schedule/calendar.ts';
import type { DaysOf, TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const formats = new Map<string, Intl.DateTimeFormat>();
const shownBefore = new Map<string, number>();

/** What a clock of the zone shows, as if it were that of UTC. */
export function shownIn(zone: string, at: number): number {
  const key = `${zone}/${at}`;
  let shown = shownBefore.get(key);
  if (shown !== undefined) return shown;
  let format = formats.get(zone);
  if (format === undefined) {
    const style = { dateStyle: 'short', timeStyle: 'medium' } as const;
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, ...style });
    formats.set(zone, format);
  }
  shown = Date.parse(`${format.format(at).replace(' ', 'T')}Z`) + (at % 1_000);
  shownBefore.set(key, shown);
  return shown;
}

/** As `2026-10-01`. */
export const dateIn = (zone: string, at: number): string => dateAt(shownIn(zone, at));
const dateAt = (wall: number): string => new Date(wall).toISOString().slice(0, 10);
export const dayAfter = (date: string, days: number): string =>
  dateAt(Date.parse(date) + days * DAY_MS);

/** When a clock shows that first, or when it has skipped it. */
export function instantIn(zone: string, wall: number): number {
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((at) => shownIn(zone, at) - at);
  const asked = offsets.map((offset) => wall - offset).sort((a, b) => a - b);
  const [first = 0, last = 0] = asked;
  for (const at of asked) if (shownIn(zone, at) === wall) return at;
  let at = first;
  while (at < last && shownIn(zone, at) < wall) at += MINUTE_MS;
  return at;
}

/** Cron expressions that are known here: fixed hours with a day, or every so many hours. */
function cronTimes(expression: string, zone: string, from: number, to: number): number[] {
  const [minute = '', hours = '', monthDay = '', , weekdays = ''] = expression.split(' ');
  const found = new Set<number>();
  if (hours.startsWith('*/')) {
    const step = Number(hours.slice(2));
    for (let at = Math.floor(from / HOUR_MS) * HOUR_MS; at <= to; at += HOUR_MS / 2) {
      const shown = new Date(shownIn(zone, at));
      const isTime = shown.getUTCMinutes() === Number(minute) && shown.getUTCHours() % step === 0;
      if (isTime) found.add(at);
    }
  } else {
    for (let day = dateIn(zone, from - DAY_MS); day <= dateIn(zone, to); day = dayAfter(day, 1)) {
      const date = new Date(day);
      if (monthDay !== '*' && Number(monthDay) !== date.getUTCDate()) continue;
      if (weekdays !== '*' && !weekdays.split(',').map(Number).includes(date.getUTCDay())) continue;
      for (const hour of hours.split(',').map(Number)) {
        found.add(instantIn(zone, Date.parse(day) + hour * HOUR_MS + Number(minute) * MINUTE_MS));
      }
    }
  }
  return [...found].sort((a, b) => a - b);
}

/** What was counted of an expression, for so long. */
const counted = new Map<string, { readonly from: number; readonly times: readonly number[] }>();
const COUNTED_MS = 500 * DAY_MS;

function timesOfCron(expression: string, zone: string, from: number): readonly number[] {
  const key = `${expression} ${zone}`;
  let known = counted.get(key);
  if (known === undefined || from < known.from) {
    known = { from: from - 60 * DAY_MS, times: [] };
    const times = cronTimes(expression, zone, known.from, known.from + COUNTED_MS);
    counted.set(key, (known = { ...known, times }));
  }
  return known.times;
}

/** Those after `from` and up to `to` of a trigger; null: they do not come by themselves. */
export function timesBetween(
  { timing, zone }: TriggerSpec,
  anchorAt: number,
  from: number,
  to: number,
): readonly number[] | null {
  const within = (times: readonly number[]) => times.filter((at) => at > from && at <= to);
  switch (timing.kind) {
    case 'cron':
      return within(timesOfCron(timing.expression, zone, from));
    case 'every': {
      const times: number[] = [];
      const first = Math.max(1, Math.floor((from - anchorAt) / timing.everyMs));
      for (let at = anchorAt + first * timing.everyMs; at <= to; at += timing.everyMs)
        times.push(at);
      return within(times);
    }
    case 'rotate': {
      const times: number[] = [];
      const [hours = 0, minutes = 0] = timing.time.split(':').map(Number);
      for (let day = dateIn(zone, anchorAt); ; day = dayAfter(day, timing.days)) {
        const at = instantIn(zone, Date.parse(day) + hours * HOUR_MS + minutes * MINUTE_MS);
        if (at > to) return within(times);
        if (at > anchorAt) times.push(at);
      }
    }
    default:
      return null;
  }
}

/** Whether that day is left out. */
export function isLeftOut(
  { onlyOn, except }: TriggerSpec,
  calendars: ReadonlyMap<string, CalendarSpec>,
  date: string,
): boolean {
  const has = ({ calendar, days, label }: DaysOf): boolean | null => {
    const spec = calendars.get(calendar);
    if (spec === undefined) return null;
    const day = spec.days.find((one) => one.date === date);
    const kind = day?.kind ?? (spec.weekend.includes(new Date(date).getUTCDay()) ? 'off' : 'work');
    return (days === null || days === kind) && (label === null || label === day?.label);
  };
  return (onlyOn !== null && has(onlyOn) !== true) || (except !== null && has(except) !== false);
}
