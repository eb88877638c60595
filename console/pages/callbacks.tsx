/** Callbacks that have not arrived: those that were given up, and those that are still tried. */
import type { TaskList, TaskSummary } from '@soda-scheduler/protocol';
import { useFrame } from '../frame/context.ts';
import { askForMany } from '../parts/bulk.tsx';
import { Tabs } from '../parts/filters.tsx';
import { Link } from '../parts/link.tsx';
import { ListPage, useListed } from '../parts/list-page.tsx';
import { Empty } from '../parts/page.tsx';
import type { Layout } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { t, wordOf } from '../words/words.ts';

const STATES = ['gave_up', 'pending', 'delivered'] as const;

export function CallbacksPage() {
  const { place, may } = useFrame();
  const list = useListed<TaskList>('callbacks', {
    path: '/tasks',
    preset: { notification: 'gave_up' },
    fields: ['notification'],
    limit: 50,
    isTooLittle: ({ tasks }) => tasks.length === 0,
  });
  const { filters: filter } = list;
  const { notification: state } = filter;
  return (
    <ListPage
      of={list}
      rowsOf={({ tasks }) => tasks}
      layout={callbackLayout}
      actions={
        may('POST /tasks/bulk') &&
        state !== 'pending' && (
          <button
            type="button"
            onClick={() => void askForMany(place.namespace, 'redeliver', { filter })}
          >
            {t('callbacks.redeliver')}
          </button>
        )
      }
      empty={<Empty title={t(`callbacks.none.${state === 'gave_up' ? 'gave_up' : 'other'}`)} />}
    >
      <Tabs of={STATES} current={state} linkTo={(one) => list.linkTo({ notification: one })}>
        {(one) => wordOf('callbacks', one)}
      </Tabs>
    </ListPage>
  );
}

const callbackLayout: Layout<TaskSummary> = {
  keyOf: ({ task_id: id }) => id,
  columns: [
    { title: 'task', text: 'id', show: ({ task_id: id }) => <Link to="task" name={id} /> },
    { title: 'group', class: 'wide', show: ({ user }) => user.group },
    {
      title: 'callback.url',
      class: 'fill',
      text: 'id',
      show: ({ notification }) => <span title={notification?.url}>{notification?.url}</span>,
    },
    { title: 'callback.tries', class: 'num', show: ({ notification }) => notification?.tries },
    { title: 'task.error', text: 'error', show: ({ notification }) => notification?.last_error },
    {
      title: 'when',
      class: 'num',
      show: ({ notification, finished_at: at }) => (
        <Time at={notification?.delivered_at ?? notification?.next_try_at ?? at} />
      ),
    },
  ],
};
