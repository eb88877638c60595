/** All tasks that fit: the filters are in the URL, and what has just been typed is applied when it is done. */
import type { TaskList, TaskSummary } from '@soda-scheduler/protocol';
import { curlOf } from '../../api/call.ts';
import { masterNow } from '../../api/clock.ts';
import { useFrame } from '../../frame/context.ts';
import { BulkBar } from '../../parts/bulk.tsx';
import { Command } from '../../parts/copy.tsx';
import { ExecutorLink, Link } from '../../parts/link.tsx';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/page.tsx';
import { Bar, isEnded, State } from '../../parts/state.tsx';
import type { Layout } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import { TASK_FIELDS, TaskFilters } from './task-filters.tsx';
import { OpenedView, Views } from './views.tsx';

const LIMIT = 50;

export function TasksPage() {
  const { view } = useFrame().place.query;
  return view === undefined ? <Tasks /> : <OpenedView name={view} />;
}

function Tasks() {
  const { link, may } = useFrame();
  const list = useListed<TaskList>('tasks', {
    path: '/tasks',
    fields: TASK_FIELDS,
    limit: LIMIT,
    isTooLittle: ({ tasks }) => tasks.length === 0,
  });
  const { filters, choice } = list;
  const maySteerMany = may('POST /tasks/bulk');
  return (
    <ListPage
      of={list}
      rowsOf={({ tasks }) => tasks}
      layout={taskLayout}
      hasChoice={maySteerMany}
      holds
      actions={
        may('POST /task/submit') && (
          <a class="button" href={link('new-task')}>
            {t('new-task')}
          </a>
        )
      }
      empty={<Nothing hasFilters={Object.keys(filters).length > 0} />}
      noteOf={({ tasks, next_cursor: next }) =>
        tasks.length < LIMIT && next !== null ? t('tasks.more-to-look') : ''
      }
    >
      <Views filters={filters} />
      <TaskFilters of={list} />
      {maySteerMany && (
        <BulkBar
          filters={filters}
          chosen={[...choice.chosen]}
          forget={() => choice.choose(new Set())}
        />
      )}
    </ListPage>
  );
}

function Nothing({ hasFilters }: { readonly hasFilters: boolean }) {
  const { place, me } = useFrame();
  if (hasFilters) {
    return (
      <Empty title={t('tasks.none-fit')}>
        <Link to="tasks">{t('tasks.all')}</Link>
      </Empty>
    );
  }
  const body = { task: { type: 'hello', params: { name: 'Ada' } }, user: { group: 'dev' } };
  const request = {
    method: 'POST',
    path: '/task/submit',
    namespace: place.namespace,
    body,
  } as const;
  const submit = curlOf(request, me.name !== null).replaceAll(/ (?=-H|--data)/g, ' \\\n  ');
  return (
    <Empty title={t('tasks.none')}>
      <p>{t('tasks.none.how')}</p>
      <Command text={submit} />
    </Empty>
  );
}

export const taskLayout: Layout<TaskSummary> = {
  keyOf: ({ task_id: id }) => id,
  columns: [
    { title: 'state', show: ({ state }) => <State of={state} /> },
    {
      title: 'task',
      class: 'named',
      text: 'id',
      show: ({ task_id: id }) => <Link to="task" name={id} />,
    },
    {
      title: 'type',
      class: 'named',
      show: ({ type }) => <span title={type}>{type}</span>,
    },
    {
      title: 'group',
      class: 'named',
      show: ({ user }) => <span title={user.group}>{user.group}</span>,
    },
    { title: 'tasks.what', class: 'fill', show: (task) => <What task={task} /> },
    {
      title: 'executor',
      class: 'named',
      show: ({ executor_id: id }) => <ExecutorLink id={id} />,
    },
    {
      title: 'attempts',
      class: 'num',
      show: ({ attempt: n }) => <span class={n === 0 ? 'zero' : ''}>{n}</span>,
    },
    {
      title: 'when',
      class: 'num',
      show: (task) => (
        <Time at={isEnded(task) ? task.finished_at : (task.started_at ?? task.submitted_at)} />
      ),
    },
  ],
};

/** What there is to say of it, in a line. */
function What({ task }: { readonly task: TaskSummary }) {
  const { task_id: id, state, progress, error, suspended } = task;
  const { due_at: dueAt, failure_reason: reason } = task;
  if (state === 'running' || state === 'offered') {
    return task.cancel_requested_at === null ? (
      <Bar of={id} percent={progress?.percent ?? null} />
    ) : (
      <span class="soft">{t('task.ending')}</span>
    );
  }
  if (error !== null || reason !== null) {
    const text = error?.message ?? wordOf('failure', reason ?? '');
    return (
      <span class={isEnded(task) ? 'error' : 'soft'} title={text}>
        {text}
      </span>
    );
  }
  if (task.notification?.state === 'gave_up')
    return <span class="error">{t('callback.gave_up')}</span>;
  if (state === 'suspended') return <span class="soft">{suspended?.reason}</span>;
  if (state !== 'waiting' || Date.parse(dueAt) <= masterNow()) return null;
  return (
    <span class="soft">
      {t('task.due')} <Time at={dueAt} />
    </span>
  );
}
