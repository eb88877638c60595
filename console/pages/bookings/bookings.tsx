/** Bookings: who has executors when, as a calendar of a day or a week, or as a list; those in trouble first. */
import type { BookingList, BookingView } from '@soda-scheduler/protocol';
import { masterNow } from '../../api/clock.ts';
import { useFrame } from '../../frame/context.ts';
import { SodaCommand } from '../../parts/copy.tsx';
import { FilterForm, type Filters, InstantFilter, Tabs, TextFilter } from '../../parts/filters.tsx';
import { dayAfter, isDay } from '../../parts/days.ts';
import { ExecutorLink, Link } from '../../parts/link.tsx';
import { type Listed, ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty, Head, Loaded } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import type { Layout } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { language, t } from '../../words/words.ts';
import { isInTrouble, servingOf, type Span } from './rows.ts';
import { Sheet } from './sheet.tsx';

const VIEWS = ['week', 'day', 'list'] as const;
type View = (typeof VIEWS)[number];
const SHOWN_MAX = 200;
const FIELDS = ['type', 'group', 'executor', 'from', 'to', 'view', 'by', 'on'] as const;

export function BookingsPage() {
  const { place } = useFrame();
  const { on } = place.query;
  const view = VIEWS.find((each) => each === place.query['view']) ?? 'week';
  const day = isDay(on) ? on : dayOf(masterNow());
  const span = spanOf(view, day);
  const list = useListed<BookingList>('bookings', {
    path: '/bookings',
    fields: FIELDS,
    ...(view !== 'list' && { limit: SHOWN_MAX }),
    queryOf: ({ view: _view, by: _by, on: _on, ...query }) =>
      view === 'list' ? query : { ...query, ...asInstants(span) },
  });
  const tabs = <ViewTabs of={list} current={view} />;
  if (view !== 'list') return <Calendar of={list} tabs={tabs} view={view} day={day} span={span} />;
  return (
    <ListPage
      of={list}
      rowsOf={({ bookings }) => troubledFirst(bookings)}
      layout={layout}
      actions={<BookLink of={list.filters} />}
      empty={<NoBookings />}
    >
      {tabs}
      <FilterForm>
        <TextFilter name="type" label="type" of={list} />
        <TextFilter name="group" label="group" of={list} />
        <TextFilter name="executor" label="executor" of={list} />
        <InstantFilter name="from" label="bookings.after" of={list} />
        <InstantFilter name="to" label="bookings.before" of={list} />
      </FilterForm>
    </ListPage>
  );
}

interface CalendarProps {
  readonly of: Listed<BookingList>;
  readonly tabs: preact.ComponentChildren;
  readonly view: Exclude<View, 'list'>;
  readonly day: string;
  readonly span: Span;
}

function Calendar({ of: list, tabs, view, day, span }: CalendarProps) {
  const by = list.filters['by'] === 'executor' ? 'executor' : 'type';
  const step = view === 'day' ? 1 : 7;
  return (
    <>
      <Head title={t('bookings')} actions={<BookLink of={list.filters} />} />
      {tabs}
      <FilterForm>
        <TextFilter name="type" label="type" of={list} />
        <TextFilter name="group" label="group" of={list} />
        <TextFilter name="executor" label="executor" of={list} />
      </FilterForm>
      <div class="booked-bar">
        <nav class="booked-days" aria-label={t('bookings.days')}>
          <a class="button" href={list.linkTo({ on: dayAfter(day, -step) })}>
            ← <span class="sr">{t('bookings.earlier')}</span>
          </a>
          <a class="button" href={list.linkTo({ on: undefined })}>
            {t('bookings.today')}
          </a>
          <a class="button" href={list.linkTo({ on: dayAfter(day, step) })}>
            → <span class="sr">{t('bookings.later')}</span>
          </a>
          <b>{spanInWords(span, view)}</b>
        </nav>
        <Tabs
          label={t('bookings.rows')}
          of={['type', 'executor'] as const}
          current={by}
          linkTo={(each) => list.linkTo({ by: each === 'type' ? undefined : each })}
        >
          {(each) => t(each === 'type' ? 'bookings.by-type' : 'bookings.by-executor')}
        </Tabs>
      </div>
      <Loaded of={list}>
        {({ bookings, next_cursor: next }) => (
          <>
            <Troubles of={bookings.filter(isInTrouble)} />
            <Sheet of={bookings} by={by} span={span} />
            {next !== null && <p class="note">{t('bookings.more', { n: SHOWN_MAX })}</p>}
            {bookings.length === 0 && <NoBookings />}
          </>
        )}
      </Loaded>
    </>
  );
}

function ViewTabs({ of: list, current }: { of: Listed<BookingList>; current: View }) {
  return (
    <Tabs
      label={t('bookings.view')}
      of={VIEWS}
      current={current}
      linkTo={(view) => list.linkTo({ view: view === 'week' ? undefined : view })}
    >
      {(view) => t(`bookings.view.${view}`)}
    </Tabs>
  );
}

function BookLink({ of: { type, group } }: { readonly of: Filters }) {
  const { link, may } = useFrame();
  if (!may('POST /booking')) return null;
  return (
    <a class="button" href={link('book', null, { type, group })}>
      {t('book.verb')}
    </a>
  );
}

/** What somebody has to look after. */
function Troubles({ of: bookings }: { readonly of: readonly BookingView[] }) {
  if (bookings.length === 0) return null;
  return (
    <ul class="plain booked-troubles">
      {bookings.map((booking) => (
        <li key={booking.booking_id} class="remark">
          <State of={booking.state} /> <Link to="booking" name={booking.booking_id} />{' '}
          {booking.type} · {booking.group} · <Time at={booking.from} /> {troubleOf(booking)}
        </li>
      ))}
    </ul>
  );
}

export function troubleOf({ state, short }: BookingView): string {
  if (short > 0) return t('bookings.short', { n: short });
  return state === 'at_risk' ? t('bookings.at-risk') : '';
}

function NoBookings() {
  return (
    <Empty title={t('bookings.none')}>
      <SodaCommand text="soda booking create --type ffmpeg.push --group class-7 --from +1h --for 2h" />
    </Empty>
  );
}

const troubledFirst = (bookings: readonly BookingView[]): BookingView[] =>
  bookings.toSorted((a, b) => Number(isInTrouble(b)) - Number(isInTrouble(a)));

const layout: Layout<BookingView> = {
  keyOf: ({ booking_id: id }) => id,
  columns: [
    { title: 'state', show: ({ state }) => <State of={state} /> },
    {
      title: 'bookings.booking',
      text: 'id',
      show: ({ booking_id: id }) => <Link to="booking" name={id} />,
    },
    { title: 'type', class: 'fill', show: ({ type }) => <Link to="type" name={type} /> },
    { title: 'group', class: 'wide', show: ({ group }) => group },
    { title: 'bookings.from', class: 'num', show: ({ from }) => <Time at={from} /> },
    { title: 'bookings.to', class: 'num wide', show: ({ to }) => <Time at={to} /> },
    {
      title: 'executors',
      show: (booking) => (
        <>
          {servingOf(booking)}{' '}
          {booking.executors.slice(0, 2).map((id) => (
            <span key={id}>
              <ExecutorLink id={id} />{' '}
            </span>
          ))}
        </>
      ),
    },
    { title: 'bookings.trouble', class: 'wide', show: troubleOf },
  ],
};

/** The day of the browser. */
function dayOf(at: number): string {
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** A day, or the week from its Monday on. */
function spanOf(view: View, day: string): Span {
  const begin = new Date(`${day}T00:00`);
  if (view === 'week') begin.setDate(begin.getDate() - ((begin.getDay() + 6) % 7));
  const end = new Date(begin);
  end.setDate(end.getDate() + (view === 'week' ? 7 : 1));
  return { from: begin.getTime(), to: end.getTime() };
}

const asInstants = ({ from, to }: Span) => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
});

function spanInWords({ from, to }: Span, view: View): string {
  const words = new Intl.DateTimeFormat(language(), {
    weekday: view === 'day' ? 'long' : undefined,
    month: 'long',
    day: 'numeric',
    year: 'numeric',
  });
  return view === 'day' ? words.format(from) : words.formatRange(from, to - 1);
}
