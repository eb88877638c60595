/** A copy of a task with something else in it: what stands here as it was is not sent, and is as of the task itself. */
import { jsonAt, type TaskView, type TypeView } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { call, callForText, curlOf, type Request } from '../../api/call.ts';
import { masterNow } from '../../api/clock.ts';
import { inWords } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { useAnswer, useResource } from '../../frame/resource.ts';
import { go } from '../../frame/route.ts';
import { Copy } from '../../parts/copy.tsx';
import { indented } from '../../parts/indented.ts';
import { Link } from '../../parts/link.tsx';
import { Head, Loaded, Refused } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import { Line, Params, priorityOf, useValues, type Values } from './new-task.tsx';
import { filledFields, paramsText, type SchemaField } from './schema-fields.ts';

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
  const { place, me } = useFrame();
  const { namespace } = place;
  const { values, set } = useValues();
  const [problem, setProblem] = useState('');
  const type = useAnswer<TypeView>({ path: `/type/${encodeURIComponent(task.type)}` }, EVERY_MS);
  const fields = filledFields(type.data?.params_schema, params);
  const before = textsOf(task, params);
  const request = requestOf({ task, before, values, fields, namespace });
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem('');
    try {
      const { task_id: id } = await call<{ task_id: string }>(request);
      go({ namespace, page: 'task', name: id });
    } catch (error) {
      setProblem(inWords(error));
    }
  };
  if (type.data === null && type.refused === null) return <p class="loading">{t('loading')}</p>;
  const line = (name: keyof typeof before) => ({
    name,
    value: values[name] ?? before[name],
    set: set(name),
  });
  return (
    <form class="sheet" onSubmit={(event) => void submit(event)}>
      <p class="soft">
        <Link to="type" name={task.type} /> · {t('copy-task.rest')}{' '}
        {hasPassed(task) && t('copy-task.deadline')}
      </p>
      <Params fields={fields} values={{ params: before.params, ...values }} set={set} />
      <Line name="id" label={t('copy-task.id')} value={values['id'] ?? ''} set={set('id')} />
      <Line label={t('group')} {...line('group')} isRequired />
      <Line label={t('task.priority')} {...line('priority')} />
      <Line label={t('task.labels')} {...line('labels')} />
      <Line label={t('filter.requires')} {...line('requires')} />
      <Refused why={problem} />
      <footer>
        <button type="submit" class="main">
          {t('copy-task.submit')}
        </button>
        <Copy text={curlOf(request, me.name !== null)} label={t('copy.curl')} />
      </footer>
    </form>
  );
}

/** What stands in the form at first. */
function textsOf({ user, priority, labels, requires }: TaskView, params: string) {
  return {
    group: user.group,
    priority: String(priority),
    labels: labels.join(' '),
    requires: requires.join(' '),
    params: indented(params),
  };
}

/** It would be over before it begins. */
const hasPassed = ({ deadline }: TaskView): boolean =>
  deadline !== null && Date.parse(deadline) <= masterNow();

interface Copied {
  readonly task: TaskView;
  readonly before: ReturnType<typeof textsOf>;
  readonly values: Values;
  readonly fields: readonly SchemaField[] | null;
  readonly namespace: string;
}

/** Params are sent as they were typed: a number of twenty digits keeps all of them. */
function requestOf({ task, before, values, fields, namespace }: Copied): Request {
  const { id = '' } = values;
  const now = { ...before, ...values };
  const listed = (text: string): string[] => text.split(/[\s,]+/).filter((one) => one !== '');
  const changed: Readonly<Record<string, unknown>> = {
    ...(now.group !== before.group && { user: { group: now.group } }),
    ...(now.priority !== before.priority && { priority: priorityOf(now.priority) }),
    ...(now.labels !== before.labels && { labels: listed(now.labels) }),
    ...(now.requires !== before.requires && { requires: listed(now.requires) }),
    ...(hasPassed(task) && { deadline: null }),
  };
  const members = Object.entries(changed).map(
    ([name, value]) => `"${name}":${JSON.stringify(value)}`,
  );
  const [was, is] =
    fields === null
      ? [before.params, now.params]
      : [paramsText(fields, {}), paramsText(fields, values)];
  if (is !== was) members.push(`"params":${is.trim() === '' ? 'null' : is}`);
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
