/** Which days of a calendar are working days, and what they are called. Pure. */
import { dateOf, dayOfDate, weekdayOf } from './local-time.ts';
import type { DaysOf } from './trigger-spec.ts';

export interface CalendarDay {
  readonly date: string;
  /** `work`: also on a weekend, such as a make-up Saturday. */
  readonly kind: 'off' | 'work';
  readonly label?: string | undefined;
}

/** As it is kept and shown. */
export interface CalendarSpec {
  readonly days: readonly CalendarDay[];
  /** Days of the week that are off, 0: Sunday. */
  readonly weekend: readonly number[];
}

/** To look days up in. */
export class Calendar {
  readonly name: string;
  readonly #weekend: readonly number[];
  readonly #days = new Map<number, CalendarDay>();

  constructor(name: string, { days, weekend }: CalendarSpec) {
    this.name = name;
    this.#weekend = weekend;
    for (const day of days) {
      const number = dayOfDate(day.date);
      if (number !== null) this.#days.set(number, day);
    }
  }

  kindOf(day: number): 'off' | 'work' {
    const kind = this.#days.get(day)?.kind;
    return kind ?? (this.#weekend.includes(weekdayOf(day)) ? 'off' : 'work');
  }

  labelOf(day: number): string | null {
    return this.#days.get(day)?.label ?? null;
  }

  has({ days, label }: DaysOf, day: number): boolean {
    if (days !== null && this.kindOf(day) !== days) return false;
    return label === null || this.labelOf(day) === label;
  }

  /** As `a day off (National Day)`: the same of days that follow one another, where nothing differs. */
  say(day: number): string {
    const label = this.labelOf(day);
    const kind = this.kindOf(day) === 'off' ? 'a day off' : 'a working day';
    return label === null ? kind : `${kind} (${label})`;
  }
}

/** Of which it says something. */
export function yearsOf(days: readonly CalendarDay[]): ReadonlySet<number> {
  return new Set(days.map(({ date }) => Number(date.slice(0, 4))));
}

/**
 * What may not be meant: most likely somebody forgot a year.
 * @param years that it says something of. @param today Of the zone that it is looked at in.
 */
export function calendarWarnings(years: ReadonlySet<number>, today: number): string[] {
  if (years.size === 0) return [];
  const date = dateOf(today);
  const year = Number(date.slice(0, 4));
  const missing: number[] = [];
  if (!years.has(year)) missing.push(year);
  // From October on, for that is when holidays of the next year are made known.
  if (date.slice(5) >= '10-01' && !years.has(year + 1)) missing.push(year + 1);
  return missing.map((missed) => `no day of ${missed} is in it: only its weekends are off`);
}
