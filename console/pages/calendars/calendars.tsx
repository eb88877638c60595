/** Calendars: which there are, of which years they say something, and what is missing. */
import type { CalendarList, CalendarSummary } from '@soda-scheduler/protocol';
import { useFrame } from '../../frame/context.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { SodaCommand } from '../../parts/copy.tsx';
import { Link } from '../../parts/link.tsx';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/page.tsx';
import type { Layout } from '../../parts/table.tsx';
import { dayText, Time } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';
import { calendarForm } from './change.ts';
import { ImportButton } from './import.tsx';
import { CalendarTabs } from './tabs.tsx';

export function CalendarsPage() {
  const { namespace } = useFrame().place;
  const list = useListed<CalendarList>('calendars', { path: '/calendars', limit: 200, fields: [] });
  return (
    <ListPage
      of={list}
      rowsOf={({ calendars }) => calendars}
      layout={calendarLayout}
      actions={
        <>
          <ImportButton into={null} />
          <AskButton
            route="PUT /calendar/{name}"
            question={calendarForm(null, namespace, list.reload)}
          />
        </>
      }
      empty={
        <Empty title={t('calendars.none')}>
          <SodaCommand text="soda calendar set china -f holidays.ics" />
        </Empty>
      }
    >
      <CalendarTabs current="calendars" />
    </ListPage>
  );
}

const calendarLayout: Layout<CalendarSummary> = {
  keyOf: ({ name }) => name,
  columns: [
    { title: 'calendars.name', show: ({ name }) => <Link to="calendar" name={name} /> },
    { title: 'calendars.off', class: 'num', show: (one) => one.day_count - one.work_count },
    { title: 'calendars.made-up', class: 'num', show: ({ work_count: count }) => count },
    {
      title: 'calendars.span',
      class: 'wide',
      show: ({ from, to }) => from !== null && to !== null && `${dayText(from)} – ${dayText(to)}`,
    },
    {
      title: 'define.description',
      class: 'fill',
      text: 'whole',
      show: ({ description, warnings }) => (
        <>
          {description}
          {warnings.map((warning) => (
            <div key={warning} class="warn">
              {warning}
            </div>
          ))}
        </>
      ),
    },
    { title: 'calendars.changed', class: 'num wide', show: (one) => <Time at={one.changed_at} /> },
  ],
};
