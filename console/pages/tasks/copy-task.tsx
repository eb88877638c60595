/** A copy of a task with something else in it: what stands here as it was is not sent, and is as of the task itself. */
import { jsonAt, type TaskView } from '@soda-scheduler/protocol';
import { callForText, type Request } from '../../api/call.ts';
import { masterNow } from '../../api/clock.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { type Field, type Typed, wordsIn } from '../../parts/form/fields.ts';
import { Link } from '../../parts/link.tsx';
import { Head, Loaded } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import { repeatable } from './new-task.tsx';
import { priorityOf, priorityTyped } from './priority.ts';
import { TaskForm, useFilled, useTyped } from './task-form.tsx';

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
  const { typed, set } = useTyped();
  const filled = useFilled(task.type, params, typed);
  if (filled === null) return <p class="loading">{t('loading')}</p>;
  const before = textsOf(task);
  const fields: readonly Field[] = [
    ...filled.fields,
    { name: 'id', label: t('copy-task.id') },
    ...TEXTS.map(({ name, of, label, isRequired }) => ({
      ...{ name, label: t(label), isRequired, initial: before[of] },
    })),
  ];
  return (
    <TaskForm
      {...{ fields, typed, set }}
      of={(key) => requestOf({ task, before, typed, params: filled.changed(), namespace, key })}
      verb={t('copy-task.submit')}
    >
      <p class="soft">
        <Link to="type" name={task.type} /> · {t('copy-task.rest')}{' '}
        {hasPassed(task) && t('copy-task.deadline')}
      </p>
    </TaskForm>
  );
}

const TEXTS = [
  { name: 'task.user.group', of: 'group', label: 'group', isRequired: true },
  { name: 'task.priority', of: 'priority', label: 'task.priority', isRequired: false },
  { name: 'task.labels', of: 'labels', label: 'task.labels', isRequired: false },
  { name: 'task.requires', of: 'requires', label: 'filter.requires', isRequired: false },
] as const;

/** What stands in the form at first. */
function textsOf({ user, priority, labels, requires }: TaskView) {
  return {
    group: user.group,
    priority: priorityTyped(priority),
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
  readonly typed: Typed;
  /** Null: they are those of the task. */
  readonly params: string | null;
  readonly namespace: string;
  readonly key: string | undefined;
}

function requestOf({ task, before, typed, params, namespace, key }: Copied): Request {
  const { id = '' } = typed;
  const now = { ...before };
  for (const { name, of } of TEXTS) now[of] = typed[name] ?? before[of];
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
    ...repeatable(id, key),
  };
}
