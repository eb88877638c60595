/** To book executors: a form, and where they are not free, windows that are; each fills the form. */
import type { BookingResponse, FreeWindow } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { call, Refused as RefusedCall, type Request } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { go, staying } from '../../frame/route.ts';
import { bodyOf, type Field, localOf, type Typed } from '../../parts/form/fields.ts';
import { Fields } from '../../parts/form/form.tsx';
import { useKept } from '../../parts/form/kept.ts';
import { SheetForm, useSending } from '../../parts/form/sending.tsx';
import { Head } from '../../parts/page.tsx';
import { language, t } from '../../words/words.ts';

const NOTHING: Typed = {};

export function BookPage() {
  const { namespace, query } = useFrame().place;
  const [typed, setTyped] = useKept<Typed>('typed', NOTHING);
  const [free, setFree] = useState<FreeInstead | null>(null);
  const fields = fieldsOf(query);
  const sending = useSending(fields);
  const requestOf = (): Request => ({
    method: 'POST',
    path: '/booking',
    namespace,
    body: bodyOf(fields, typed),
  });
  const submit = async (): Promise<void> => {
    const stays = staying();
    setFree(null);
    try {
      const { booking_id: id } = await call<BookingResponse>(requestOf());
      if (stays()) go({ namespace, page: 'booking', name: id });
    } catch (error) {
      const { free: windows, limit } = error instanceof RefusedCall ? error.problem : {};
      if (windows !== undefined) setFree({ windows, limit, wanted: typed });
      throw error;
    }
  };
  const fill = (values: Typed): void => setTyped((before) => ({ ...before, ...values }));
  return (
    <>
      <Head title={t('book')} />
      <SheetForm by={sending} submit={submit} verb={t('book.verb')} of={requestOf}>
        <p class="soft">{t('book.text')}</p>
        <Fields
          of={fields}
          typed={typed}
          set={(name, value) => fill({ [name]: value })}
          wrong={sending.wrong}
        />
        {free !== null && <Free of={free} fill={fill} />}
      </SheetForm>
    </>
  );
}

function fieldsOf({
  type,
  group,
  requires,
}: Readonly<Record<string, string | undefined>>): Field[] {
  const more = t('book.more');
  return [
    { name: 'type', label: t('type'), isRequired: true, ...(type && { initial: type }) },
    { name: 'group', label: t('group'), isRequired: true, ...(group && { initial: group }) },
    { name: 'from', label: t('bookings.from'), kind: 'datetime-local', isRequired: true },
    { name: 'to', label: t('bookings.to'), kind: 'datetime-local', isRequired: true },
    { name: 'count', label: t('bookings.count'), kind: 'number', preset: '1' },
    {
      name: 'requires',
      label: t('bookings.requires'),
      kind: 'words',
      hint: t('book.requires.hint'),
      ...(requires && { initial: requires }),
    },
    {
      name: 'every',
      label: t('bookings.every'),
      kind: 'number',
      unit: 's',
      hint: t('book.every.hint'),
      section: more,
    },
    {
      name: 'zone',
      label: t('book.zone'),
      preset: 'UTC',
      hint: t('book.zone.hint'),
      section: more,
    },
    { name: 'labels', label: t('task.labels'), kind: 'words', section: more },
    {
      name: 'lead',
      label: t('bookings.lead'),
      kind: 'number',
      unit: 's',
      preset: '30',
      section: more,
    },
    {
      name: 'hold',
      label: t('bookings.hold'),
      kind: 'number',
      unit: 's',
      preset: '900',
      section: more,
    },
    {
      name: 'overrun',
      label: t('bookings.overrun'),
      kind: 'select',
      options: ['end', 'allow'],
      inWords: (one) => t(one === 'allow' ? 'bookings.overrun.allow' : 'bookings.overrun.end'),
      initial: 'end',
      section: more,
    },
    {
      name: 'maintenance',
      label: t('bookings.maintenance'),
      kind: 'check',
      hint: t('bookings.maintenance.text'),
      section: more,
    },
  ];
}

/** What is free in place of what was asked for, whatever is typed meanwhile. */
interface FreeInstead {
  readonly windows: readonly FreeWindow[];
  /** That leaves no room for what was asked for, by its name; undefined: none does. */
  readonly limit: string | undefined;
  readonly wanted: Typed;
}

interface FreeProps {
  readonly of: FreeInstead;
  readonly fill: (values: Typed) => void;
}

function Free({ of: { windows, limit, wanted }, fill }: FreeProps) {
  const why = limit === undefined ? '' : t('book.limited', { limit });
  if (windows.length === 0) {
    const recurs = (wanted['every'] ?? '') !== '';
    return (
      <p role="status">
        {why} {t(recurs ? 'book.none-free.all' : 'book.none-free')}
      </p>
    );
  }
  const [from, to] = [Date.parse(wanted['from'] ?? ''), Date.parse(wanted['to'] ?? '')];
  const count = Number(wanted['count'] || 1);
  return (
    <fieldset class="free">
      <legend>{t('book.free')}</legend>
      {why !== '' && <p>{why}</p>}
      {windows.map((window) => {
        const latest = Date.parse(window.to) - (to - from);
        // Inputs are of whole minutes: never before what is free.
        const at =
          Math.ceil(Math.max(Date.parse(window.from), Math.min(from, latest)) / 60_000) * 60_000;
        const executors = Math.min(count, window.count);
        const values = {
          from: localOf(at),
          to: localOf(at + to - from),
          count: String(executors),
        };
        return (
          <button key={`${window.from} ${window.to}`} type="button" onClick={() => fill(values)}>
            <b>{rangeOf(at, at + to - from)}</b>{' '}
            <span class="soft">{t('book.so-many', { n: window.count })}</span>
          </button>
        );
      })}
    </fieldset>
  );
}

function rangeOf(from: number, to: number): string {
  return new Intl.DateTimeFormat(language(), {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
  }).formatRange(from, to);
}
