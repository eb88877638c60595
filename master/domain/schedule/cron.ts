/**
 * What a cron expression says: which days, and which times of a day. Five fields, or six with the seconds first.
 * Pure, and without zones: what becomes of an hour that is skipped or comes twice is not decided here.
 */
import { civilOf, monthStart, weekdayOf } from './local-time.ts';

export interface Cron {
  /** In order. */
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** Whether a `*` or a step stands in the hour: then it goes by the time that has passed, not by the clock. */
  readonly isByElapsed: boolean;
  readonly months: ReadonlySet<number>;
  readonly days: CronDays;
}

interface CronDays {
  /** Null: all. Where both are set, one of them suffices. */
  readonly ofMonth: readonly DayOfMonth[] | null;
  readonly ofWeek: readonly DayOfWeek[] | null;
}

type DayOfMonth = number | 'L' | 'LW' | { readonly nearest: number };
/** `nth` 6: the last of the month; null: each. */
interface DayOfWeek {
  readonly weekday: number;
  readonly nth: number | null;
}

/** What is wrong with an expression, for people, with what may have been meant. */
export class CronRefused extends Error {
  override readonly name = 'CronRefused';
}

const LAST = 6;
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const FIELDS = {
  second: { min: 0, max: 59, names: [] as string[] },
  minute: { min: 0, max: 59, names: [] as string[] },
  hour: { min: 0, max: 23, names: [] as string[] },
  'day of month': { min: 1, max: 31, names: [] as string[] },
  month: { min: 1, max: 12, names: MONTHS },
  // 7 is Sunday, too.
  'day of week': { min: 0, max: 7, names: WEEKDAYS },
};
type Field = keyof typeof FIELDS;

/** What others call so, in fields. */
const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const DAY_SECONDS = 86_400;
/** As February has them in a leap year. */
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** @throws {CronRefused} It cannot be read, or no day is ever as it says. */
export function cronOf(expression: string): Cron {
  const fields = expression.trim().split(/\s+/);
  const nickname = NICKNAMES[expression.trim().toLowerCase()];
  if (nickname !== undefined) throw new CronRefused(`expected fields: write ${nickname}`);
  if (fields.length === 7) {
    throw new CronRefused('expected 5 or 6 fields, not 7: a year is given by start_at and end_at');
  }
  if (fields.length !== 5 && fields.length !== 6) {
    const found = `found ${fields.length}`;
    throw new CronRefused(
      `expected 5 fields (minute, hour, day of month, month, day of week), or 6 with the second first: ${found}`,
    );
  }
  if (fields.length === 5) fields.unshift('0');
  const [second = '', minute = '', hour = '', ofMonth = '', month = '', ofWeek = ''] = fields;
  const cron: Cron = {
    seconds: numbersOf('second', second),
    minutes: numbersOf('minute', minute),
    hours: numbersOf('hour', hour),
    isByElapsed: /[*?/]/.test(hour),
    months: new Set(numbersOf('month', month)),
    days: { ofMonth: daysOfMonth(ofMonth), ofWeek: daysOfWeek(ofWeek) },
  };
  refuseImpossible(cron);
  return cron;
}

const isStar = (text: string): boolean => text === '*' || text === '?';

function numbersOf(field: Field, text: string): number[] {
  const found = new Set(text.split(',').flatMap((part) => range(field, part)));
  return [...found].sort((a, b) => a - b);
}

/** `*`, `5`, `1-5`, each of the ranges also with a step. */
function range(field: Field, part: string): number[] {
  const { min, max } = FIELDS[field];
  const [span = '', step, ...more] = part.split('/');
  if (more.length > 0) throw refusal(field, part, 'one / at most');
  const isAll = isStar(span);
  const [first = '', last, ...others] = span.split('-');
  if (others.length > 0) throw refusal(field, part, 'one - at most');
  if (step !== undefined && !isAll && last === undefined) {
    throw refusal(field, part, `a range before the /: ${first}-${max}/${step}`);
  }
  const from = isAll ? min : number(field, first, part);
  const to = isAll ? max : last === undefined ? from : number(field, last, part);
  if (from > to) {
    throw refusal(field, part, `the smaller one first: ${from}-${max},${min}-${to}`);
  }
  const every = step === undefined ? 1 : stepOf(field, step, part);
  const numbers: number[] = [];
  for (let value = from; value <= to; value += every) numbers.push(value);
  return numbers;
}

function stepOf(field: Field, text: string, part: string): number {
  const { max } = FIELDS[field];
  const step = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (step >= 1 && step <= max) return step;
  throw refusal(field, part, `a step of 1 to ${max}`);
}

function number(field: Field, text: string, part: string): number {
  const { min, max, names } = FIELDS[field];
  const named = names.indexOf(text.toUpperCase());
  if (named !== -1) return named + min;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : -1;
  if (value >= min && value <= max) return value;
  const words = names.length > 0 ? `, or ${names[0]} to ${names.at(-1)}` : '';
  throw refusal(field, part, `${min} to ${max}${words}`);
}

function refusal(field: Field, part: string, expected: string): CronRefused {
  const shown = /^[\w*?,/#-]{1,20}$/.test(part) ? `, not ${part}` : '';
  return new CronRefused(`expected in the ${field} ${expected}${shown}`);
}

function daysOfMonth(text: string): CronDays['ofMonth'] {
  if (isStar(text)) return null;
  return text.split(',').flatMap((part): DayOfMonth[] => {
    const upper = part.toUpperCase();
    if (upper === 'L' || upper === 'LW') return [upper];
    const [, nearest] = /^(\d{1,2})W$/.exec(upper) ?? [];
    if (nearest !== undefined) return [{ nearest: number('day of month', nearest, part) }];
    return range('day of month', part);
  });
}

function daysOfWeek(text: string): CronDays['ofWeek'] {
  if (isStar(text)) return null;
  return text.split(',').flatMap((part): DayOfWeek[] => {
    const [, day, nth] = /^([A-Za-z]{3}|\d)#([1-5L])$/i.exec(part) ?? [];
    const [, ofLast] = /^([A-Za-z]{3}|\d)L$/i.exec(part) ?? [];
    const named = day ?? ofLast;
    if (named !== undefined) {
      const weekday = number('day of week', named, part) % 7;
      return [{ weekday, nth: nth === undefined || /l/i.test(nth) ? LAST : Number(nth) }];
    }
    const span = part
      .toUpperCase()
      .replace(/^SUN-/, '0-')
      .replace(/-SUN(?=$|\/)/, '-7');
    return range('day of week', span).map((value) => ({ weekday: value % 7, nth: null }));
  });
}

function refuseImpossible({ days, months }: Cron): void {
  const { ofMonth, ofWeek } = days;
  if (ofMonth === null || ofWeek !== null) return;
  const longest = Math.max(...[...months].map((month) => LENGTHS[month - 1] ?? 0));
  const isPossible = ofMonth.some((day) => {
    if (typeof day === 'string') return true;
    return (typeof day === 'number' ? day : day.nearest) <= longest;
  });
  if (isPossible) return;
  throw new CronRefused(
    `expected a date that exists: none of its months has more than ${longest} days (L: the last one)`,
  );
}

/** Whether it is one of its days. */
export function hasDay({ months, days }: Cron, day: number): boolean {
  const { year, month, day: dayOfMonth } = civilOf(day);
  if (!months.has(month)) return false;
  const { ofMonth, ofWeek } = days;
  if (ofMonth === null && ofWeek === null) return true;
  const first = day - dayOfMonth + 1;
  const last = monthStart(year, month + 1) - 1;
  const isOfMonth = ofMonth?.some((wanted) => day === dayIn(wanted, first, last)) ?? false;
  return isOfMonth || (ofWeek?.some((wanted) => isWeekday(wanted, day, first, last)) ?? false);
}

/** The day of a month, given by its first and last; null: it has none such. */
function dayIn(wanted: DayOfMonth, first: number, last: number): number | null {
  if (wanted === 'L') return last;
  if (wanted === 'LW') return nearestWorkday(last, first, last);
  if (typeof wanted === 'object') {
    const day = first + wanted.nearest - 1;
    return day > last ? null : nearestWorkday(day, first, last);
  }
  return first + wanted - 1;
}

/** Monday to Friday, in the same month: of a Saturday the day before, of a Sunday that after. */
function nearestWorkday(day: number, first: number, last: number): number {
  const weekday = weekdayOf(day);
  if (weekday === 6) return day === first ? day + 2 : day - 1;
  if (weekday === 0) return day === last ? day - 2 : day + 1;
  return day;
}

function isWeekday({ weekday, nth }: DayOfWeek, day: number, first: number, last: number): boolean {
  if (weekdayOf(day) !== weekday) return false;
  if (nth === null) return true;
  return nth === LAST ? day + 7 > last : Math.floor((day - first) / 7) + 1 === nth;
}

/** The first of its days from that one on, not after `last`; null: there is none. */
export function nextDay(cron: Cron, from: number, last: number): number | null {
  let day = from;
  while (day <= last) {
    const { year, month } = civilOf(day);
    if (!cron.months.has(month)) day = monthStart(year, month + 1);
    else if (hasDay(cron, day)) return day;
    else day += 1;
  }
  return null;
}

/** The least time between two of its times, in seconds, whatever is left out or comes twice: a day at most. */
export function leastGapOf({ seconds, minutes, hours }: Cron): number {
  const [first = 0] = seconds;
  const last = seconds.at(-1) ?? first;
  let least = Math.min(
    DAY_SECONDS,
    ...seconds.slice(1).map((each, at) => each - (seconds[at] ?? 0)),
  );
  const starts = hours.flatMap((hour) => minutes.map((minute) => (hour * 60 + minute) * 60));
  // Behind the last of a day comes the first of the next.
  const next = (starts[0] ?? 0) + DAY_SECONDS;
  for (const [at, start] of starts.entries()) {
    least = Math.min(least, (starts[at + 1] ?? next) + first - (start + last));
  }
  return least;
}
