/** One calendar: a year as a sheet, whose days are changed where they stand. */
import type { CalendarView } from '@soda-scheduler/protocol';
import { ask } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { type Resource, useAnswer } from '../../frame/resource.ts';
import { go } from '../../frame/route.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { Missing } from '../missing.tsx';
import { Facts, Head, Loaded, Section } from '../../parts/page.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { dayText, TimeInFull, weekdayText } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';
import { calendarForm, dayForm, removalOf } from './change.ts';
import { ImportButton } from './import.tsx';
import { YearSheet } from './sheet.tsx';
import { type Span, spansOf } from './year.ts';

export function CalendarPage({ name }: { readonly name: string }) {
  const calendar = useAnswer<CalendarView>(
    { path: `/calendar/${encodeURIComponent(name)}` },
    15_000,
  );
  return (
    <>
      <Head title={name} actions={calendar.data !== null && <Actions of={calendar} />} />
      <Loaded of={calendar} none={<Missing name={name} list="calendars" />}>
        {(view) => <Shown of={view} reload={calendar.reload} />}
      </Loaded>
    </>
  );
}

function Actions({ of: { data, reload } }: { readonly of: Resource<CalendarView> }) {
  const { namespace } = useFrame().place;
  if (data === null) return null;
  const gone = (): void => go({ namespace, page: 'calendars' });
  return (
    <>
      <ImportButton into={data} />
      <AskButton route="PUT /calendar/{name}" question={calendarForm(data, namespace, reload)} />
      <AskButton route="DELETE /calendar/{name}" question={removalOf(data, namespace, gone)} />
    </>
  );
}

interface ShownProps {
  readonly of: CalendarView;
  readonly reload: () => void;
}

function Shown({ of: calendar, reload }: ShownProps) {
  const { place, may } = useFrame();
  const { namespace, query } = place;
  const { name, days, weekend, description, version, changed_at: changedAt, by } = calendar;
  const asked = Number(query['year']);
  const year = asked >= 1970 && asked <= 9998 ? Math.floor(asked) : new Date().getFullYear();
  const spans = spansOf(days, year);
  return (
    <>
      {calendar.warnings.map((warning) => (
        <p key={warning} class="remark">
          {warning}
        </p>
      ))}
      <Facts
        of={[
          [t('define.description'), description],
          [t('calendars.weekend'), inOrder(weekend).join(', ')],
          [t('calendars.changed'), <TimeInFull key="at" at={changedAt} />],
          [t('operation.by'), by],
          [t('calendars.version'), version],
        ]}
      />
      <Section title={String(year)} actions={<Years of={name} year={year} />}>
        <YearSheet
          of={calendar}
          year={year}
          choose={
            may('PUT /calendar/{name}')
              ? (day) => ask(dayForm(calendar, day, namespace, reload))
              : null
          }
        />
      </Section>
      <Section title={t('calendars.days')}>
        {spans.length === 0 ? (
          <p class="note">{t('calendars.days.none', { year: String(year) })}</p>
        ) : (
          <Table of={spanLayout} rows={spans} />
        )}
      </Section>
    </>
  );
}

/** Of the week, Monday first. */
function inOrder(days: readonly number[]): readonly string[] {
  const fromMonday = (day: number) => (day + 6) % 7;
  return days
    .toSorted((a, b) => fromMonday(a) - fromMonday(b))
    .map((day) => weekdayText(day, 'long'));
}

function Years({ of: name, year }: { readonly of: string; readonly year: number }) {
  const { link } = useFrame();
  return (
    <span class="years">
      {[year - 1, year + 1].map((other) => (
        <a key={other} href={link('calendar', name, { year: String(other) })}>
          {other < year ? `← ${other}` : `${other} →`}
        </a>
      ))}
    </span>
  );
}

const spanLayout: Layout<Span> = {
  keyOf: ({ from }) => from,
  columns: [
    {
      title: 'calendars.day',
      show: ({ from, to }) => (from === to ? dayText(from) : `${dayText(from)} – ${dayText(to)}`),
    },
    { title: 'calendars.day.is', show: ({ kind }) => t(`calendars.set.${kind}`) },
    { title: 'calendars.day.label', class: 'fill', show: ({ label }) => label },
  ],
};
