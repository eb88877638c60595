/** Twelve months side by side. Arrows go from day to day: the sheet is one stop of the Tab key. */
import { useRef } from 'preact/hooks';
import { dayAfter, WEEKDAYS } from '../../parts/days.ts';
import { dayText, monthText, weekdayText } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';
import { type Days, monthsOf, type SheetDay, type SheetMonth } from './year.ts';

interface Props {
  readonly of: Days;
  readonly year: number;
  /** Null: whoever looks may change nothing. */
  readonly choose: ((day: SheetDay) => void) | null;
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -7,
  ArrowDown: 7,
};

export function YearSheet({ of: days, year, choose }: Props) {
  const sheet = useRef<HTMLDivElement>(null);
  const today = todayIn(year);
  const step = (event: KeyboardEvent): void => {
    const date = (event.target as HTMLElement).dataset['date'];
    const by = STEPS[event.key];
    if (date === undefined || by === undefined) return;
    const other = sheet.current?.querySelector<HTMLElement>(`[data-date="${dayAfter(date, by)}"]`);
    if (!other) return;
    event.preventDefault();
    other.focus();
  };
  return (
    <>
      <div class="year" ref={sheet} onKeyDown={step}>
        {monthsOf(days, year).map((month) => (
          <Month key={month.month} of={month} today={today} choose={choose} />
        ))}
      </div>
      <p class="legend note">
        {(['off', 'made-up', 'weekend'] as const).map((kind) => (
          <span key={kind}>
            <i class={`day day-${kind}`} aria-hidden="true" /> {t(`calendars.legend.${kind}`)}
          </span>
        ))}
      </p>
    </>
  );
}

/** The one that Tab leads to: today, or the first of another year. */
function todayIn(year: number): string {
  const now = new Date();
  if (now.getFullYear() !== year) return `${year}-01-01`;
  // As the clock of whoever looks has it.
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

interface MonthProps {
  readonly of: SheetMonth;
  readonly today: string;
  readonly choose: Props['choose'];
}

function Month({ of: { month, blankCount, days }, today, choose }: MonthProps) {
  return (
    <section class="month" aria-label={monthText(month)}>
      <h3>{monthText(month)}</h3>
      <div class="days">
        {WEEKDAYS.map((day) => (
          <span key={day} class="soft" aria-hidden="true">
            {weekdayText(day, 'narrow')}
          </span>
        ))}
        {Array.from({ length: blankCount }, (_, at) => (
          <span key={at} />
        ))}
        {days.map((day) => (
          <DayCell key={day.date} of={day} isToday={day.date === today} choose={choose} />
        ))}
      </div>
    </section>
  );
}

interface DayProps {
  readonly of: SheetDay;
  readonly isToday: boolean;
  readonly choose: Props['choose'];
}

function DayCell({ of: day, isToday, choose }: DayProps) {
  const { date, kind, label } = day;
  const said = [dayText(date), t(`calendars.day.${kind}`), label].filter(Boolean).join(' · ');
  const looks = {
    class: `day day-${kind} ${isToday ? 'today' : ''}`,
    title: said,
  };
  const number = Number(date.slice(8));
  if (choose === null) {
    return (
      <span {...looks} role="img" aria-label={said}>
        {number}
      </span>
    );
  }
  return (
    <button
      {...looks}
      type="button"
      data-date={date}
      tabIndex={isToday ? 0 : -1}
      aria-label={said}
      onClick={() => choose(day)}
    >
      {number}
    </button>
  );
}
