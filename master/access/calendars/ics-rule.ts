/**
 * On which days an event comes again (RRULE of RFC 5545), as far as days go: by year, month, week and day. What it does
 * not know it refuses; whatever a rule says, it looks at each day once and ends.
 */
import { civilOf, dayOfDate, monthStart, weekdayOf } from '../../domain/schedule/local-time.ts';

/** A rule that cannot be read; for people. */
export class RuleRefused extends Error {
  override readonly name = 'RuleRefused';
}

const UNITS = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY'] as const;
type Unit = (typeof UNITS)[number];
const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** `nth` null: each; negative: from the end. */
interface Weekday {
  readonly weekday: number;
  readonly nth: number | null;
}

export class IcsRule {
  readonly #from: number;
  readonly #unit: Unit;
  readonly #interval: number;
  readonly #count: number;
  readonly #until: number;
  readonly #months: readonly number[];
  readonly #monthDays: readonly number[];
  readonly #weekdays: readonly Weekday[];
  readonly #weekStart: number;

  /** @param from The first day of the event. @throws {RuleRefused} */
  constructor(text: string, from: number) {
    const parts = partsOf(text);
    const take = (key: string): string | undefined => {
      const value = parts.get(key);
      parts.delete(key);
      return value;
    };
    const freq = take('FREQ');
    const unit = UNITS.find((one) => one === freq);
    if (unit === undefined) throw new RuleRefused(`expected FREQ as one of ${UNITS.join(', ')}`);
    this.#from = from;
    this.#unit = unit;
    this.#interval = whole('INTERVAL', take('INTERVAL') ?? '1', 1, 1_000);
    this.#count = whole('COUNT', take('COUNT') ?? '100000', 1, 100_000);
    this.#until = untilOf(take('UNTIL'));
    this.#months = numbers('BYMONTH', take('BYMONTH'), 1, 12);
    this.#monthDays = numbers('BYMONTHDAY', take('BYMONTHDAY'), -31, 31);
    this.#weekdays = weekdaysOf(take('BYDAY'));
    this.#weekStart = Math.max(0, WEEKDAYS.indexOf(take('WKST') ?? 'MO'));
    const [unknown] = parts.keys();
    if (unknown !== undefined) throw new RuleRefused(`${unknown} is not supported`);
  }

  /** Each day from the first on, up to `last`; null in place of one on which it does not come. */
  *days(last: number): Generator<number | null> {
    let count = 0;
    for (let day = this.#from; day <= Math.min(last, this.#until) && count < this.#count; day++) {
      // The first day of an event always is one.
      const comes = day === this.#from || this.#has(day);
      if (comes) count += 1;
      yield comes ? day : null;
    }
  }

  #has(day: number): boolean {
    const { year, month, day: dayOfMonth } = civilOf(day);
    const first = civilOf(this.#from);
    if (this.#passed(day, year, month) % this.#interval !== 0) return false;
    if (this.#months.length > 0 && !this.#months.includes(month)) return false;
    const begin = day - dayOfMonth + 1;
    const length = monthStart(year, month + 1) - begin;
    const hasDays = this.#monthDays.length > 0 || this.#weekdays.length > 0;
    if (!hasDays) {
      if (this.#unit === 'DAILY') return true;
      if (this.#unit === 'WEEKLY') return weekdayOf(day) === weekdayOf(this.#from);
      if (dayOfMonth !== first.day) return false;
      return this.#unit === 'MONTHLY' || this.#months.length > 0 || month === first.month;
    }
    const isMonthDay =
      this.#monthDays.length === 0 ||
      this.#monthDays.some((of) => dayOfMonth === (of > 0 ? of : length + 1 + of));
    return isMonthDay && this.#isWeekday(day, year, begin, length);
  }

  /** Of its units, since the first. */
  #passed(day: number, year: number, month: number): number {
    const first = civilOf(this.#from);
    switch (this.#unit) {
      case 'YEARLY':
        return year - first.year;
      case 'MONTHLY':
        return (year - first.year) * 12 + month - first.month;
      case 'WEEKLY':
        return (this.#weekOf(day) - this.#weekOf(this.#from)) / 7;
      case 'DAILY':
        return day - this.#from;
    }
  }

  #weekOf(day: number): number {
    return day - ((weekdayOf(day) - this.#weekStart + 7) % 7);
  }

  #isWeekday(day: number, year: number, monthBegin: number, monthLength: number): boolean {
    if (this.#weekdays.length === 0) return true;
    const isOfYear = this.#unit === 'YEARLY' && this.#months.length === 0;
    const begin = isOfYear ? monthStart(year, 1) : monthBegin;
    const length = isOfYear ? monthStart(year, 13) - begin : monthLength;
    return this.#weekdays.some(({ weekday, nth }) => {
      if (weekday !== weekdayOf(day)) return false;
      if (nth === null) return true;
      const at = Math.floor((day - begin) / 7) + 1;
      const fromEnd = -Math.floor((begin + length - 1 - day) / 7) - 1;
      return nth === at || nth === fromEnd;
    });
  }
}

function partsOf(text: string): Map<string, string> {
  const parts = text.trim().toUpperCase().split(';', 20);
  return new Map(
    parts
      .filter((part) => part !== '')
      .map((part) => {
        const [key = '', value = ''] = part.split('=');
        return [/^[A-Z]{1,20}$/.test(key) ? key : 'this', value] as const;
      }),
  );
}

function whole(key: string, text: string, min: number, max: number): number {
  const value = /^[+-]?\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max && (value !== 0 || min === 0)) return value;
  throw new RuleRefused(`expected ${key} from ${min} to ${max}`);
}

function numbers(key: string, text: string | undefined, min: number, max: number): number[] {
  return (text?.split(',', 100) ?? []).map((one) => whole(key, one, min, max));
}

function untilOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)/.exec(text) ?? [];
  const until = year === undefined ? null : dayOfDate(`${year}-${month}-${day}`);
  if (until === null) throw new RuleRefused('expected UNTIL as a date');
  return until;
}

function weekdaysOf(text: string | undefined): Weekday[] {
  return (text?.split(',', 100) ?? []).map((one) => {
    const [, nth, name = ''] = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(one) ?? [];
    const weekday = WEEKDAYS.indexOf(name);
    if (weekday === -1) throw new RuleRefused('expected BYDAY as MO or 4TH or -1FR');
    return { weekday, nth: nth === undefined ? null : whole('BYDAY', nth, -53, 53) };
  });
}
