/** What the feed has told of a task. */
import type { EventPage } from '@soda-scheduler/protocol';
import { useRef, useState } from 'preact/hooks';
import { call, type Query } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { Section } from '../../parts/page.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import { dataInLine } from './event-data.ts';
import { NOTHING_TOLD, type TaskEvent, toldSince } from './told-events.ts';

const SHOWN = 50;

/** The oldest first; null: nobody knows yet. After the first look each asks for what is new only. */
export function useEvents(taskId: string): readonly TaskEvent[] | null {
  const { namespace } = useFrame().place;
  const told = useRef(NOTHING_TOLD);
  const path = `/task/${encodeURIComponent(taskId)}/events`;
  const { data } = useResource<readonly TaskEvent[]>(`${namespace} ${path}`, async (signal) => {
    const ask = (query: Query) => call<EventPage>({ path, namespace, query, signal });
    told.current = await toldSince(told.current, ask);
    return told.current.events;
  });
  return data;
}

/** @param events the oldest first. */
export function TaskEvents({ events }: { readonly events: readonly TaskEvent[] }) {
  const [isWhole, setWhole] = useState(false);
  if (events.length === 0) return null;
  const shown = isWhole ? events : events.slice(-SHOWN);
  return (
    <Section title={t('events')}>
      <Table of={eventLayout} rows={[...shown].reverse()} />
      {shown.length < events.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          {t('events.all', { n: events.length })}
        </button>
      )}
    </Section>
  );
}

const eventLayout: Layout<TaskEvent> = {
  keyOf: ({ seq }) => String(seq),
  columns: [
    { title: 'when', class: 'num', show: ({ at }) => <Time at={at} /> },
    { title: 'events.what', show: ({ kind }) => wordOf('event', kind) },
    { title: 'attempt', class: 'num', show: ({ attempt }) => attempt },
    {
      title: 'events.who',
      text: 'id',
      show: ({ actor, executor_id: executor }) => actor ?? executor,
    },
    { title: 'events.data', class: 'fill', text: 'whole', show: ({ data }) => dataInLine(data) },
  ],
};
