/** A year of a calendar, day by day. Pure. */
import type { CalendarView } from '@soda-scheduler/protocol';
import { dayAfter, monthAfter, weeksOf } from '../../parts/days.ts';

export type Day = CalendarView['days'][number];
export type Days = Pick<CalendarView, 'days' | 'weekend'>;

/**
 * Of a date: `weekend` is off by itself, `off` although it is none, `made-up` is worked although it is one. What a
 * calendar says of a day that is so anyway changes nothing.
 */
export type DayKind = 'work' | 'weekend' | 'off' | 'made-up';

export interface SheetDay {
  /** `2026-10-01` */
  readonly date: string;
  readonly kind: DayKind;
  readonly label: string | undefined;
}

export interface SheetMonth {
  /** `2026-10` */
  readonly month: string;
  /** Before the first day, of a week that begins on Monday. */
  readonly blankCount: number;
  readonly days: readonly SheetDay[];
}

export function monthsOf({ days, weekend }: Days, year: number): readonly SheetMonth[] {
  const said = new Map(days.map((day) => [day.date, day]));
  return Array.from({ length: 12 }, (_, later) => {
    const month = monthAfter(`${year}-01`, later);
    const dates = weeksOf(month).flat();
    const inIt = dates.filter((date) => date !== null);
    return {
      month,
      blankCount: dates.indexOf(inIt[0] ?? null),
      days: inIt.map((date): SheetDay => {
        const { kind, label } = said.get(date) ?? {};
        return { date, kind: kindOf(kind, weekend.includes(new Date(date).getUTCDay())), label };
      }),
    };
  });
}

function kindOf(kind: Day['kind'] | undefined, isWeekend: boolean): DayKind {
  if (kind === 'work') return isWeekend ? 'made-up' : 'work';
  if (isWeekend) return 'weekend';
  return kind === 'off' ? 'off' : 'work';
}

/** Days one after the other of which the same is said. */
export interface Span {
  readonly from: string;
  readonly to: string;
  readonly kind: Day['kind'];
  readonly label: string | undefined;
}

/** What is said of days of that year, in order. */
export function spansOf(days: readonly Day[], year: number): readonly Span[] {
  const spans: Span[] = [];
  for (const { date, kind, label } of days.toSorted((a, b) => (a.date < b.date ? -1 : 1))) {
    if (!date.startsWith(`${year}-`)) continue;
    const last = spans.at(-1);
    const goesOn = last?.kind === kind && last.label === label && dayAfter(last.to) === date;
    if (goesOn) spans.splice(-1, 1, { ...last, to: date });
    else spans.push({ from: date, to: date, kind, label });
  }
  return spans;
}

/** With something else said of the days from one to another. @param said null: as the weekend has it. */
export function withDays(
  days: readonly Day[],
  from: string,
  to: string,
  said: Omit<Day, 'date'> | null,
): readonly Day[] {
  const others = days.filter(({ date }) => date < from || date > to);
  if (said === null) return others;
  const changed: Day[] = [];
  for (let date = from; date <= to; date = dayAfter(date)) changed.push({ date, ...said });
  return [...others, ...changed].sort((a, b) => (a.date < b.date ? -1 : 1));
}
