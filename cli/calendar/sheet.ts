/** A year of a calendar as twelve months side by side, in plain text. Pure. */
import type { CalendarView } from '@soda-scheduler/client';

const DAY_MS = 86_400_000;
const MONTHS_A_ROW = 3;
/** Of a month: seven days of three characters, each with its mark. */
const WIDTH = 7 * 4;
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August'],
  ...['September', 'October', 'November', 'December'],
];

/** What stands behind a day: `*` off although it is no weekend, `+` worked although it is one. */
type Mark = '*' | '+' | ' ';

/** Weeks begin on Monday. */
export function yearSheet(calendar: Pick<CalendarView, 'days' | 'weekend'>, year: number): string {
  const kinds = new Map(calendar.days.map(({ date, kind }) => [date, kind]));
  const months = MONTHS.map((name, month) =>
    monthLines(name, year, month, kinds, calendar.weekend),
  );
  const lines: string[] = [];
  for (let at = 0; at < months.length; at += MONTHS_A_ROW) {
    const row = months.slice(at, at + MONTHS_A_ROW);
    const height = Math.max(...row.map((month) => month.length));
    for (let line = 0; line < height; line++) {
      lines.push(
        row
          .map((month) => (month[line] ?? '').padEnd(WIDTH))
          .join('   ')
          .trimEnd(),
      );
    }
    lines.push('');
  }
  return `${lines.join('\n')}* off    + working day although it is a weekend\n`;
}

function monthLines(
  name: string,
  year: number,
  month: number,
  kinds: ReadonlyMap<string, 'off' | 'work'>,
  weekend: readonly number[],
): string[] {
  const lines = [`${name} ${year}`, ' Mo  Tu  We  Th  Fr  Sa  Su '];
  let week = '    '.repeat((new Date(Date.UTC(year, month, 1)).getUTCDay() + 6) % 7);
  for (let at = Date.UTC(year, month, 1); new Date(at).getUTCMonth() === month; at += DAY_MS) {
    const day = new Date(at);
    const kind = kinds.get(day.toISOString().slice(0, 10));
    const isWeekend = weekend.includes(day.getUTCDay());
    week += ` ${String(day.getUTCDate()).padStart(2)}${markOf(kind, isWeekend)}`;
    if (day.getUTCDay() !== 0) continue;
    lines.push(week);
    week = '';
  }
  if (week !== '') lines.push(week);
  return lines;
}

function markOf(kind: 'off' | 'work' | undefined, isWeekend: boolean): Mark {
  if (kind === 'off' && !isWeekend) return '*';
  return kind === 'work' && isWeekend ? '+' : ' ';
}
