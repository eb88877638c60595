/** All tasks that fit: the filters are in the URL, and what has just been typed is applied when it is done. */
import type { TaskList, TaskSummary } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { go } from '../../frame/route.ts';
import { BulkBar } from '../../parts/bulk.tsx';
import { ExecutorLink } from '../../parts/executor-link.tsx';
import { Empty, Head, Loaded, Pager } from '../../parts/page.tsx';
import { Bar, isEnded, State } from '../../parts/state.tsx';
import { Time } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import { TaskFilters } from './task-filters.tsx';

const LIMIT = 50;

export function TasksPage() {
  const { place, link, may } = useFrame();
  const { query, namespace } = place;
  const { cursor, ...filters } = query;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const page = useResource<TaskList>(`${namespace} ${JSON.stringify(query)}`, (signal) =>
    call({ path: '/tasks', namespace, query: { ...query, limit: LIMIT }, signal }),
  );
  const change = (changed: Readonly<Record<string, string | undefined>>): void => {
    setChosen(new Set());
    go({ namespace, page: 'tasks', query: { ...filters, ...changed } });
  };
  return (
    <>
      <Head
        title={t('tasks')}
        actions={
          may('POST /task/submit') && (
            <a class="button" href={link('new-task')}>
              {t('new-task')}
            </a>
          )
        }
      />
      <TaskFilters filters={filters} change={change} />
      {may('POST /tasks/bulk') && (
        <BulkBar filters={filters} chosen={[...chosen]} forget={() => setChosen(new Set())} />
      )}
      <Loaded of={page}>
        {({ tasks, next_cursor: next }) => (
          <>
            <TaskTable tasks={tasks} chosen={chosen} choose={setChosen} />
            {tasks.length === 0 && (
              <Nothing next={next} hasFilters={Object.keys(filters).length > 0} />
            )}
            {tasks.length > 0 && tasks.length < LIMIT && next !== null && (
              <p class="note">{t('tasks.more-to-look')}</p>
            )}
            <Pager
              isFirst={cursor === undefined}
              first={link('tasks', null, filters)}
              next={next === null ? null : link('tasks', null, { ...filters, cursor: next })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

/** A page may be empty and yet not be the last. */
function Nothing({
  next,
  hasFilters,
}: {
  readonly next: string | null;
  readonly hasFilters: boolean;
}) {
  const { link } = useFrame();
  if (next !== null) return <Empty title={t('tasks.none-yet')} />;
  if (hasFilters) {
    return (
      <Empty title={t('tasks.none-fit')}>
        <a href={link('tasks')}>{t('tasks.all')}</a>
      </Empty>
    );
  }
  const submit = `curl -sS ${new URL('scheduler/v2/task/submit', document.baseURI).href.replace(/#.*$/, '')} \\
  -H 'content-type: application/json' \\
  -d '{"task":{"type":"hello","params":{"name":"Ada"}},"user":{"group":"dev"}}'`;
  return (
    <Empty title={t('tasks.none')}>
      <p>{t('tasks.none.how')}</p>
      <pre>{submit}</pre>
    </Empty>
  );
}

interface TableProps {
  readonly tasks: readonly TaskSummary[];
  readonly chosen?: ReadonlySet<string>;
  /** Left out: none can be chosen. */
  readonly choose?: (chosen: ReadonlySet<string>) => void;
}

export function TaskTable({ tasks, chosen = new Set(), choose }: TableProps) {
  const { may } = useFrame();
  if (tasks.length === 0) return null;
  const toggle = (ids: readonly string[], isOn: boolean): void => {
    const others = [...chosen].filter((id) => !ids.includes(id));
    choose?.(new Set(isOn ? [...others, ...ids] : others));
  };
  const ids = tasks.map(({ task_id: id }) => id);
  const hasChoice = choose !== undefined && may('POST /tasks/bulk');
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {hasChoice && (
              <th class="tick">
                <input
                  type="checkbox"
                  aria-label={t('tasks.choose-all')}
                  checked={ids.every((id) => chosen.has(id))}
                  onChange={({ currentTarget }) => toggle(ids, currentTarget.checked)}
                />
              </th>
            )}
            <th>{t('state')}</th>
            <th>{t('task')}</th>
            <th class="wide">{t('type')}</th>
            <th class="wide">{t('group')}</th>
            <th class="wide fill">{t('tasks.what')}</th>
            <th class="wide">{t('executor')}</th>
            <th class="num wide">{t('attempts')}</th>
            <th class="num">{t('when')}</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <TaskRow
              key={task.task_id}
              task={task}
              {...(hasChoice && {
                isChosen: chosen.has(task.task_id),
                choose: (isOn: boolean) => toggle([task.task_id], isOn),
              })}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly task: TaskSummary;
  readonly isChosen?: boolean;
  readonly choose?: (isOn: boolean) => void;
}

function TaskRow({ task, isChosen = false, choose }: RowProps) {
  const { link } = useFrame();
  const { task_id: id, type, user, executor_id: executor } = task;
  return (
    <tr>
      {choose !== undefined && (
        <td class="tick">
          <input
            type="checkbox"
            aria-label={id}
            checked={isChosen}
            onChange={({ currentTarget }) => choose(currentTarget.checked)}
          />
        </td>
      )}
      <td>
        <State of={task.state} />
      </td>
      <td class="id">
        <a href={link('task', id)}>{id}</a>
      </td>
      <td class="wide">{type}</td>
      <td class="wide">{user.group}</td>
      <td class="wide fill">
        <What task={task} />
      </td>
      <td class="wide">
        <ExecutorLink id={executor} />
      </td>
      <td class={`num wide ${task.attempts_used === 0 ? 'zero' : ''}`}>{task.attempts_used}</td>
      <td class="num">
        <Time at={isEnded(task) ? task.finished_at : (task.started_at ?? task.submitted_at)} />
      </td>
    </tr>
  );
}

/** What there is to say of it, in a line. */
function What({ task }: { readonly task: TaskSummary }) {
  const { state, progress, error, suspended, due_at: dueAt, failure_reason: reason } = task;
  if (state === 'running' || state === 'offered') {
    return task.cancel_requested_at === null ? (
      <Bar percent={progress?.percent ?? null} />
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
  if (state !== 'waiting' || Date.parse(dueAt) <= Date.now()) return null;
  return (
    <span class="soft">
      {t('task.due')} <Time at={dueAt} />
    </span>
  );
}
