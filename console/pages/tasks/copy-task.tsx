/** A copy of a task with something else in it: what stands here as it was is not sent, and is as of the task itself. */
import { jsonAt, type TaskView } from '@soda-scheduler/protocol';
import { callForText, type Request } from '../../api/call.ts';
import { masterNow } from '../../api/clock.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { wordsIn } from '../../parts/form/fields.ts';
import { Link } from '../../parts/link.tsx';
import { Head, Loaded } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import { priorityOf } from './new-task.tsx';
import { Line, Params, TaskForm, useFilled, useValues, type Values } from './task-form.tsx';

const EVERY_MS = 60_000;

interface Told {
  readonly task: TaskView;
  /** Its params, as they are stored. */
  readonly params: string;
}

export function CopyTaskPage({ id }: { readonly id: string }) {
  const { namespace } = useFrame().place;
  const told = useResource<Told>(
    `copy ${namespace} ${id}`,
    async (signal) => {
      const path = `/task/${encodeURIComponent(id)}`;
      const text = await callForText({ path, namespace, signal });
      return { task: JSON.parse(text) as TaskView, params: jsonAt(text, ['params']) ?? 'null' };
    },
    EVERY_MS,
  );
  return (
    <>
      <Head title={t('copy-task', { id })} />
      <Loaded of={told}>{(all) => <CopyForm of={all} />}</Loaded>
    </>
  );
}

function CopyForm({ of: { task, params } }: { readonly of: Told }) {
  const { namespace } = useFrame().place;
  const { values, set } = useValues();
  const filled = useFilled(task.type, params, values);
  if (filled === null) return <p class="loading">{t('loading')}</p>;
  const before = textsOf(task);
  const line = (name: keyof typeof before) => ({
    name,
    value: values[name] ?? before[name],
    set: set(name),
  });
  return (
    <TaskForm
      of={requestOf({ task, before, values, params: filled.changed, namespace })}
      verb={t('copy-task.submit')}
    >
      <p class="soft">
        <Link to="type" name={task.type} /> · {t('copy-task.rest')}{' '}
        {hasPassed(task) && t('copy-task.deadline')}
      </p>
      <Params fields={filled.fields} values={filled.values} set={set} />
      <Line name="id" label={t('copy-task.id')} value={values['id'] ?? ''} set={set('id')} />
      <Line label={t('group')} {...line('group')} isRequired />
      <Line label={t('task.priority')} {...line('priority')} />
      <Line label={t('task.labels')} {...line('labels')} />
      <Line label={t('filter.requires')} {...line('requires')} />
    </TaskForm>
  );
}

/** What stands in the form at first. */
function textsOf({ user, priority, labels, requires }: TaskView) {
  return {
    group: user.group,
    priority: String(priority),
    labels: labels.join(' '),
    requires: requires.join(' '),
  };
}

/** It would be over before it begins. */
const hasPassed = ({ deadline }: TaskView): boolean =>
  deadline !== null && Date.parse(deadline) <= masterNow();

interface Copied {
  readonly task: TaskView;
  readonly before: ReturnType<typeof textsOf>;
  readonly values: Values;
  /** Null: they are those of the task. */
  readonly params: string | null;
  readonly namespace: string;
}

function requestOf({ task, before, values, params, namespace }: Copied): Request {
  const { id = '' } = values;
  const now = { ...before, ...values };
  const changed: Readonly<Record<string, unknown>> = {
    ...(now.group !== before.group && { user: { group: now.group } }),
    ...(now.priority !== before.priority && { priority: priorityOf(now.priority) }),
    ...(now.labels !== before.labels && { labels: wordsIn(now.labels) }),
    ...(now.requires !== before.requires && { requires: wordsIn(now.requires) }),
    ...(hasPassed(task) && { deadline: null }),
  };
  const members = Object.entries(changed).map(
    ([name, value]) => `"${name}":${JSON.stringify(value)}`,
  );
  if (params !== null) members.push(`"params":${params}`);
  const parts = [
    ...(id === '' ? [] : [`"id":${JSON.stringify(id)}`]),
    ...(members.length === 0 ? [] : [`"task":{${members.join(',')}}`]),
  ];
  return {
    method: 'POST',
    path: `/task/${encodeURIComponent(task.task_id)}/copy`,
    namespace,
    bodyText: `{${parts.join(',')}}`,
  };
}
