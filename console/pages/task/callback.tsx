/** The callback of a task: where it goes, what became of it, and, where the feed tells of tries, each of them. */
import type { TaskView } from '@soda-scheduler/protocol';
import { Facts, Section } from '../../parts/page.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { Time, TimeInFull } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import type { TaskEvent } from './told-events.ts';

interface Props {
  readonly notification: NonNullable<TaskView['notification']>;
  readonly events: readonly TaskEvent[] | null;
}

export function Callback({ notification, events }: Props) {
  const { state, last_status: status, last_error: error, tries } = notification;
  return (
    <Section title={t('callback')}>
      <Facts
        of={[
          [
            t('state'),
            <span class={state === 'gave_up' ? 'error' : ''}>
              {state === null ? t('callback.later') : wordOf('callback', state)}
            </span>,
          ],
          [t('callback.url'), <span class="id whole">{notification.url}</span>],
          [t('callback.tries'), tries],
          [t('callback.answer'), status],
          [t('task.error'), error && <span class="error whole">{error}</span>],
          [
            t('callback.next'),
            notification.next_try_at && <TimeInFull at={notification.next_try_at} />,
          ],
          [
            t('callback.delivered-at'),
            notification.delivered_at && <TimeInFull at={notification.delivered_at} />,
          ],
        ]}
      />
      {tries > 0 && events !== null && <Tries of={events.filter(isTry).reverse()} />}
    </Section>
  );
}

const isTry = ({ kind }: TaskEvent): boolean => kind === 'task.callback_tried';

/** The newest first. They are told by the feed only, and only where it tells everything. */
function Tries({ of: tries }: { readonly of: readonly TaskEvent[] }) {
  if (tries.length === 0) return <p class="soft">{t('callback.untold')}</p>;
  return <Table of={tryLayout} rows={tries} />;
}

const tryLayout: Layout<TaskEvent> = {
  keyOf: ({ seq }) => String(seq),
  columns: [
    { title: 'when', class: 'num', show: ({ at }) => <Time at={at} /> },
    {
      title: 'outcome',
      show: ({ data: { outcome } }) => wordOf('try', typeof outcome === 'string' ? outcome : ''),
    },
    {
      title: 'callback.answer',
      class: 'num',
      show: ({ data: { status } }) => (status === null ? '' : JSON.stringify(status)),
    },
    {
      title: 'task.error',
      class: 'fill',
      text: 'whole',
      show: ({ data: { error } }) => (typeof error === 'string' ? error : ''),
    },
  ],
};
