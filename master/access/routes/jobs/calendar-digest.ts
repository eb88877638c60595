/** What lists and warnings tell of calendars. Each row is read once: it may have thousands of days. */
import type { Calendar } from '../../../domain/model/job.ts';
import { type CalendarSpec, yearsOf } from '../../../domain/schedule/calendar.ts';

export type KeptCalendar = CalendarSpec & { readonly description?: string };

interface CalendarDigest extends Omit<KeptCalendar, 'days'> {
  readonly from: string | null;
  readonly to: string | null;
  readonly dayCount: number;
  readonly workCount: number;
  /** Of which it says something. */
  readonly years: ReadonlySet<number>;
}

const known = new WeakMap<Calendar, CalendarDigest>();

/** Some milliseconds, the first time. */
export function digestOf(row: Calendar): CalendarDigest {
  const digest = known.get(row) ?? made(row);
  known.set(row, digest);
  return digest;
}

function made({ text }: Calendar): CalendarDigest {
  const { days, ...rest } = JSON.parse(text) as KeptCalendar;
  return {
    ...rest,
    from: days[0]?.date ?? null,
    to: days.at(-1)?.date ?? null,
    dayCount: days.length,
    workCount: days.filter(({ kind }) => kind === 'work').length,
    years: yearsOf(days),
  };
}
