/** A new task: a form made of the schema of its type where there is one, and else its params as JSON. */
import { NEW_TASK_TYPE_PATTERN, TASK_TYPE_EXPECTED, type TypeList } from '@soda-scheduler/protocol';
import type { Request } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { type Field, textOf, type Typed, WrongField } from '../../parts/form/fields.ts';
import { Head } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import { checkedParams, paramsFields } from './params-fields.ts';
import { priorityOf } from './priority.ts';
import { fieldsOf, type SchemaField } from './schema-fields.ts';
import { TaskForm, useType, useTyped } from './task-form.tsx';

const TYPES_MS = 60_000;

export function NewTaskPage() {
  const { type = '' } = useFrame().place.query;
  return (
    <>
      <Head title={t('new-task')} />
      <NewTask key={type} initial={type} />
    </>
  );
}

function NewTask({ initial }: { readonly initial: string }) {
  const { place, me } = useFrame();
  const { typed, set } = useTyped();
  const types = useAnswer<TypeList>({ path: '/types', query: { limit: 200 } }, TYPES_MS);
  const type: Field = {
    ...{ name: 'task.type', label: t('type'), isRequired: true, initial },
    suggestions: types.data?.types.map((one) => one.type) ?? [],
  };
  const chosen = useType(textOf(type, typed));
  const group: Field = {
    ...{ name: 'user.group', label: t('group'), isRequired: true },
    initial: me.scope?.groups?.[0] ?? '',
  };
  const params = fieldsOf(chosen.data?.params_schema);
  const fields: readonly Field[] = [
    { ...type, ...(chosen.data?.description && { hint: chosen.data.description }) },
    group,
    ...paramsFields(params),
    { name: 'task.id', label: t('new-task.id') },
    { name: 'task.priority', label: t('task.priority'), hint: t('define.priority.hint') },
  ];
  const named = {
    type: textOf(type, typed),
    id: typed['task.id'] ?? '',
    priority: typed['task.priority'] ?? '',
    group: textOf(group, typed),
  };
  return (
    <TaskForm
      {...{ fields, typed, set }}
      of={(key) => requestOf({ named, namespace: place.namespace, params, typed, key })}
      verb={t('new-task.submit')}
    />
  );
}

interface Filled {
  readonly named: Readonly<Record<'type' | 'id' | 'priority' | 'group', string>>;
  readonly namespace: string;
  readonly params: readonly SchemaField[] | null;
  readonly typed: Typed;
  readonly key: string | undefined;
}

/** @throws {WrongField} */
function requestOf({ named, namespace, params, typed, key }: Filled): Request {
  const { type, id, priority, group } = named;
  const said = {
    type,
    ...(id !== '' && { id }),
    ...(priority !== '' && { priority: priorityOf(priority) }),
  };
  const task = `${JSON.stringify(said).slice(0, -1)},"params":${paramsBeside(type, () => checkedParams(params, typed))}}`;
  return {
    method: 'POST',
    path: '/task/submit',
    namespace,
    bodyText: `{"task":${task},"user":${JSON.stringify({ group })}}`,
    ...repeatable(id, key),
  };
}

/** The master, which is not asked while params are no JSON, cannot say then that no type is called so. @throws {WrongField} */
function paramsBeside(type: string, read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof WrongField) || NEW_TASK_TYPE_PATTERN.test(type)) throw error;
    throw new WrongField('task.type', TASK_TYPE_EXPECTED, [error, ...error.others]);
  }
}

/** A task that somebody has given an id is known by that. */
export function repeatable(id: string, key: string | undefined): Pick<Request, 'headers'> {
  return id === '' && key !== undefined ? { headers: { 'idempotency-key': key } } : {};
}
