/** Questions before a calendar is changed: all of it is sent, and never over what somebody else has made of it meanwhile. */
import type { CalendarRequest, CalendarView } from '@soda-scheduler/protocol';
import type { Request } from '../../api/call.ts';
import type { Question } from '../../frame/asking.tsx';
import { daysCount } from '../../parts/days.ts';
import { type Field, WrongField, YES } from '../../parts/form/fields.ts';
import { dayText, weekdayText } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';
import { type DayKind, type SheetDay, withDays } from './year.ts';

const pathOf = (name: string): string => `/calendar/${encodeURIComponent(name)}`;
/** As the API has it where nothing is said. */
const WEEKEND = ['6', '0'];
/** That are changed at once. */
const DAYS_MAX = 367;

/** To put all of a calendar. @param version that it must have; 0: there must be none. */
function putting(name: string, version: number, namespace: string, body: CalendarRequest): Request {
  const headers = { 'if-match': `"${version}"` };
  return { method: 'PUT', path: pathOf(name), namespace, body, headers };
}

/** @param calendar null: a new one. */
export function calendarForm(
  calendar: CalendarView | null,
  namespace: string,
  done: () => void,
): Question {
  const fields: Field[] = [
    ...(calendar === null ? [{ name: 'name', label: t('calendars.name'), isRequired: true }] : []),
    {
      name: 'weekend',
      label: t('calendars.weekend'),
      kind: 'choices',
      options: ['1', '2', '3', '4', '5', '6', '0'],
      inWords: (day) => weekdayText(Number(day), 'long'),
      initial: (calendar?.weekend.map(String) ?? WEEKEND).join(' '),
    },
    {
      name: 'description',
      label: t('define.description'),
      initial: calendar?.description ?? '',
    },
  ];
  return {
    title: calendar === null ? t('calendars.new') : t('calendars.change', { name: calendar.name }),
    text: t(calendar === null ? 'calendars.new.text' : 'calendars.change.text'),
    verb: t(calendar === null ? 'calendars.new' : 'action.change'),
    fields,
    request: (_, { name = calendar?.name, weekend = [], description }) =>
      putting(name as string, calendar?.version ?? 0, namespace, {
        days: calendar?.days ?? [],
        weekend: (weekend as string[]).map(Number),
        ...(description !== undefined && { description: description as string }),
      }),
    done,
  };
}

export function removalOf({ name }: CalendarView, namespace: string, done: () => void): Question {
  return {
    title: t('calendars.delete', { name }),
    text: t('calendars.delete.text'),
    verb: t('action.delete'),
    isGrave: true,
    fields: [{ name: 'force', label: t('calendars.delete.force'), kind: 'check' }],
    request: ({ force }) => ({
      method: 'DELETE',
      path: pathOf(name),
      namespace,
      query: { force: force === YES ? 'true' : undefined },
    }),
    done,
  };
}

/** What is said of a day, or of some in a row. */
export function dayForm(
  calendar: CalendarView,
  { date, kind, label }: SheetDay,
  namespace: string,
  done: () => void,
): Question {
  const { name, version, days, weekend, description } = calendar;
  return {
    title: dayText(date),
    text: t(`calendars.day.${kind}` satisfies `calendars.day.${DayKind}`),
    verb: t('action.change'),
    fields: [
      {
        name: 'kind',
        label: t('calendars.day.is'),
        kind: 'select',
        options: ['off', 'work', 'weekend'],
        inWords: (one) => t(`calendars.set.${one as 'off' | 'work' | 'weekend'}`),
        initial: days.find((day) => day.date === date)?.kind ?? 'off',
      },
      { name: 'to', label: t('calendars.day.to'), preset: date, hint: t('calendars.day.to.hint') },
      {
        name: 'label',
        label: t('calendars.day.label'),
        initial: label ?? '',
        hint: t('calendars.day.label.hint'),
      },
    ],
    request({ kind: asked }, { to = date, label: called }) {
      checkDate(to as string, date);
      const said = called === undefined ? {} : { label: called as string };
      const of = asked === 'weekend' ? null : { kind: asked as 'off' | 'work', ...said };
      return putting(name, version, namespace, {
        days: [...withDays(days, date, to as string, of)],
        weekend,
        ...(description !== undefined && { description }),
      });
    },
    done,
  };
}

/** @throws {WrongField} it is no day from that one on, within a year. */
function checkDate(to: string, from: string): void {
  const days = daysCount(from, to);
  if (/^\d{4}-\d\d-\d\d$/.test(to) && days >= 1 && days <= DAYS_MAX) return;
  throw new WrongField('to', t('calendars.day.to.wrong', { from }));
}
