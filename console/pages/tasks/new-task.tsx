/** A new task: a form made of the schema of its type where there is one, and else its params as JSON. */
import type { TypeList } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import type { Request } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { Head } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import { fieldsOf, type SchemaField } from './schema-fields.ts';
import { Line, Params, paramsOf, TaskForm, useType, useValues, type Values } from './task-form.tsx';

const TYPES_MS = 60_000;

export function NewTaskPage() {
  const { place, me } = useFrame();
  const { namespace } = place;
  const [type, setType] = useState(place.query['type'] ?? '');
  const { values, set } = useValues();
  const types = useAnswer<TypeList>({ path: '/types', query: { limit: 200 } }, TYPES_MS);
  const chosen = useType(type);
  const fields = fieldsOf(chosen.data?.params_schema);
  return (
    <>
      <Head title={t('new-task')} />
      <TaskForm of={requestOf(type, namespace, values, fields)} verb={t('new-task.submit')}>
        <Line name="type" label={t('type')} value={type} set={setType} isRequired list="types" />
        <datalist id="types">
          {types.data?.types.map((one) => (
            <option key={one.type} value={one.type} />
          ))}
        </datalist>
        {chosen.data?.description !== undefined && <p class="soft">{chosen.data.description}</p>}
        <Line
          name="group"
          label={t('group')}
          value={values['group'] ?? me.scope?.groups?.[0] ?? ''}
          set={set('group')}
          isRequired
        />
        <Params fields={fields} values={values} set={set} />
        <Line name="id" label={t('new-task.id')} value={values['id'] ?? ''} set={set('id')} />
        <Line
          name="priority"
          label={t('task.priority')}
          value={values['priority'] ?? ''}
          set={set('priority')}
        />
      </TaskForm>
    </>
  );
}

/** Seconds, or a name for some. */
export function priorityOf(text: string): number | string {
  return /^-?\d+$/.test(text) ? Number(text) : text;
}

function requestOf(
  type: string,
  namespace: string,
  values: Values,
  fields: readonly SchemaField[] | null,
): Request {
  const { id = '', priority = '', group = '' } = values;
  const named = {
    type,
    ...(id !== '' && { id }),
    ...(priority !== '' && { priority: priorityOf(priority) }),
  };
  const task = `${JSON.stringify(named).slice(0, -1)},"params":${paramsOf(fields, values)}}`;
  return {
    method: 'POST',
    path: '/task/submit',
    namespace,
    bodyText: `{"task":${task},"user":${JSON.stringify({ group })}}`,
  };
}
