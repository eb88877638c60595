/** Public holidays of China in 2026 and the working days that make up for them, as the State Council has made them known. */
import type { CalendarSpec } from '../../../master/domain/schedule/calendar.ts';

const off: readonly [label: string, from: string, to: string][] = [
  ['元旦', '2026-01-01', '2026-01-03'],
  ['春节', '2026-02-15', '2026-02-23'],
  ['清明节', '2026-04-04', '2026-04-06'],
  ['劳动节', '2026-05-01', '2026-05-05'],
  ['端午节', '2026-06-19', '2026-06-21'],
  ['中秋节', '2026-09-25', '2026-09-27'],
  ['国庆节', '2026-10-01', '2026-10-07'],
];

export const workdays2026: ReadonlySet<string> = new Set([
  '2026-01-04',
  '2026-02-14',
  '2026-02-28',
  '2026-05-09',
  '2026-09-20',
  '2026-10-10',
]);

const holidays = off.flatMap(([label, from, to]) => {
  const days: { date: string; kind: 'off'; label: string }[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000) {
    days.push({ date: new Date(at).toISOString().slice(0, 10), kind: 'off', label });
  }
  return days;
});

export const holidays2026: ReadonlySet<string> = new Set(holidays.map(({ date }) => date));

export const china2026: CalendarSpec = {
  days: [
    ...holidays,
    ...[...workdays2026].map((date) => ({ date, kind: 'work' as const, label: '班' })),
  ],
  weekend: [6, 0],
};
