/** What can be done to a task in its state, by whoever may. */
import type { TaskView } from '@soda-scheduler/protocol';
import type { RouteName } from '../../api/me.ts';
import { type Question, reasonField } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { go } from '../../frame/route.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { isEnded } from '../../parts/state.tsx';
import { t } from '../../words/words.ts';

type Verb =
  | 'cancel'
  | 'suspend'
  | 'resume'
  | 'first'
  | 'last'
  | 'retry'
  | 'redeliver'
  | 'change'
  | 'delete';

const WAITING: readonly Verb[] = ['first', 'last', 'change', 'suspend', 'cancel'];
const RUNNING: readonly Verb[] = ['suspend', 'cancel'];
const ENDED: readonly Verb[] = ['retry', 'redeliver', 'delete'];

function verbsFor(task: TaskView): readonly Verb[] {
  if (isEnded(task))
    return ENDED.filter((verb) => verb !== 'redeliver' || task.notification !== null);
  if (task.state === 'suspended') return ['resume', 'change', 'cancel'];
  return task.state === 'waiting' || task.state === 'held' ? WAITING : RUNNING;
}

export function TaskActions({
  task,
  reload,
}: {
  readonly task: TaskView;
  readonly reload: () => void;
}) {
  const { place, link, may } = useFrame();
  const { namespace } = place;
  return (
    <>
      {may('POST /task/{task_id}/copy') && (
        <a class="button" href={link('copy-task', task.task_id)}>
          {t('action.copy')}
        </a>
      )}
      {verbsFor(task).map((verb) => (
        <AskButton
          key={verb}
          route={routeOf(verb)}
          question={questionOf(verb, task, namespace, reload)}
        />
      ))}
    </>
  );
}

function routeOf(verb: Verb): RouteName {
  if (verb === 'change') return 'PATCH /task/{task_id}';
  if (verb === 'delete') return 'DELETE /task/{task_id}';
  return `POST /task/{task_id}/${verb}`;
}

function questionOf(verb: Verb, task: TaskView, namespace: string, reload: () => void): Question {
  const { task_id: id } = task;
  const path = `/task/${encodeURIComponent(id)}`;
  const about = {
    title: t(verb === 'retry' ? 'task.retry-it' : `task.${verb}`, { id }),
    verb: t(`action.${verb}`),
    done: reload,
  };
  switch (verb) {
    case 'change':
      return changeOf(task, { ...about }, { path, namespace });
    case 'delete':
      return {
        ...about,
        isGrave: true,
        request: () => ({ method: 'DELETE', path, namespace }),
        done: () => go({ namespace, page: 'tasks' }),
      };
    case 'cancel':
    case 'suspend':
      return {
        ...about,
        isGrave: verb === 'cancel',
        ...(task.state === 'running' && { text: t(`task.${verb}.running`) }),
        fields: [reasonField()],
        request: ({ reason = '' }) => ({
          method: 'POST',
          path: `${path}/${verb}`,
          namespace,
          body: reason === '' ? {} : { reason },
        }),
      };
    default:
      return { ...about, request: () => ({ method: 'POST', path: `${path}/${verb}`, namespace }) };
  }
}

/** What operators change in a hurry; all the rest is for a copy, or for the command line. */
function changeOf(
  { priority, version }: TaskView,
  about: Pick<Question, 'title' | 'verb' | 'done'> & { readonly done: () => void },
  { path, namespace }: { readonly path: string; readonly namespace: string },
): Question {
  return {
    ...about,
    fields: [
      {
        name: 'priority',
        label: t('task.priority'),
        kind: 'number',
        initial: String(priority),
        hint: t('task.priority.hint'),
      },
      { name: 'run_at', label: t('task.run_at'), kind: 'datetime-local' },
      { name: 'deadline', label: t('task.deadline'), kind: 'datetime-local' },
      { name: 'labels', label: t('task.labels'), hint: t('task.labels.hint') },
    ],
    request: ({ priority: changed = '', run_at: runAt = '', deadline = '', labels = '' }) => ({
      method: 'PATCH',
      path,
      namespace,
      headers: { 'if-match': `"${version}"` },
      body: {
        ...(changed !== '' && Number(changed) !== priority && { priority: Number(changed) }),
        ...(runAt !== '' && { run_at: new Date(runAt).toISOString() }),
        ...(deadline !== '' && { deadline: new Date(deadline).toISOString() }),
        ...(labels.trim() !== '' && { labels: labels.trim().split(/[\s,]+/) }),
      },
    }),
  };
}
