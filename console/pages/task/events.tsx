/** What the feed has told of a task. */
import type { EventPage } from '@soda-scheduler/protocol';
import { useAnswer } from '../../frame/resource.ts';
import { Section } from '../../parts/page.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';

const LIMIT = 200;

export function TaskEvents({ taskId }: { readonly taskId: string }) {
  const { data } = useAnswer<EventPage>({
    path: `/task/${encodeURIComponent(taskId)}/events`,
    query: { limit: LIMIT },
  });
  if (data === null || data.events.length === 0) return null;
  return (
    <Section title={t('events')}>
      <Table of={eventLayout} rows={[...data.events].reverse()} />
    </Section>
  );
}

const eventLayout: Layout<EventPage['events'][number]> = {
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
    { title: 'events.data', class: 'fill', text: 'whole', show: ({ data }) => inLine(data) },
  ],
};

/** `state failed, reason non_retryable`. */
function inLine(data: Readonly<Record<string, unknown>>): string {
  return Object.entries(data)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
