/** A file as others publish it (iCalendar), or as `soda calendar set` takes it (JSON), made a calendar. */
import { useRef } from 'preact/hooks';
import type { CalendarView } from '@soda-scheduler/protocol';
import { ask, tell } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { go } from '../../frame/route.ts';
import { t } from '../../words/words.ts';

/** A master takes no more. */
const BYTES_MAX = 1024 * 1024;

interface Into {
  readonly name: string;
  readonly version: number;
}

/** @param into null: a new one. */
export function ImportButton({ into }: { readonly into: Into | null }) {
  const { may, place } = useFrame();
  const input = useRef<HTMLInputElement>(null);
  if (!may('PUT /calendar/{name}')) return null;
  const chosen = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > BYTES_MAX) tell(t('calendars.import.large'));
    else askToImport(file.name, await file.text(), into, place.namespace);
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept=".ics,.json,text/calendar,application/json"
        aria-label={t('calendars.import')}
        onChange={({ currentTarget }) => {
          void chosen(currentTarget.files?.[0]);
          // The same file may be chosen again once it was changed.
          currentTarget.value = '';
        }}
      />
      <button type="button" onClick={() => input.current?.click()}>
        {t('calendars.import')}
      </button>
    </>
  );
}

function askToImport(file: string, text: string, into: Into | null, namespace: string): void {
  const isIcs = /^\s*BEGIN:VCALENDAR/i.test(text);
  const initial = into?.name ?? file.replace(/\.\w+$/, '').replaceAll(/[^\w.:-]/g, '-');
  ask({
    title: t('calendars.import.title', { file }),
    text: isIcs
      ? t('calendars.import.ics', { n: text.split(/^BEGIN:VEVENT/im).length - 1 })
      : t('calendars.import.json'),
    verb: t('calendars.import.verb'),
    fields:
      into === null
        ? [{ name: 'name', label: t('calendars.name'), initial, isRequired: true }]
        : [],
    request: ({ name = initial }) => ({
      method: 'PUT',
      path: `/calendar/${encodeURIComponent(name)}`,
      namespace,
      bodyText: text,
      headers: {
        'if-match': `"${into?.version ?? 0}"`,
        ...(isIcs && { 'content-type': 'text/calendar' }),
      },
    }),
    done: (answer) => {
      const { name } = answer as CalendarView;
      go({ namespace, page: 'calendar', name });
    },
  });
}
