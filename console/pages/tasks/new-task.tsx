/** A new task: a form made of the schema of its type where there is one, and else its params as JSON. */
import type { TypeList, TypeView } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { call, curlOf, type Request } from '../../api/call.ts';
import { inWords } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { go } from '../../frame/route.ts';
import { Copy } from '../../parts/copy.tsx';
import { Head, Refused } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import { ParamField } from './params-form.tsx';
import { fieldsOf, paramsText, type SchemaField } from './schema-fields.ts';

const SCHEMA_MS = 60_000;

export function NewTaskPage() {
  const { place, me } = useFrame();
  const { namespace } = place;
  const [type, setType] = useState(place.query['type'] ?? '');
  const { values, set } = useValues();
  const [problem, setProblem] = useState('');
  const types = useAnswer<TypeList>({ path: '/types', query: { limit: 200 } }, SCHEMA_MS);
  const chosen = useAnswer<TypeView>(
    type === '' ? null : { path: `/type/${encodeURIComponent(type)}` },
    SCHEMA_MS,
  );
  const fields = fieldsOf(chosen.data?.params_schema);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem('');
    try {
      const { task_id: id } = await call<{ task_id: string }>(
        requestOf(type, namespace, values, fields),
      );
      go({ namespace, page: 'task', name: id });
    } catch (error) {
      setProblem(inWords(error));
    }
  };
  return (
    <>
      <Head title={t('new-task')} />
      <form class="sheet" onSubmit={(event) => void submit(event)}>
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
        <Refused why={problem} />
        <footer>
          <button type="submit" class="main">
            {t('new-task.submit')}
          </button>
          <Copy
            text={curlOf(requestOf(type, namespace, values, fields), me.name !== null)}
            label={t('copy.curl')}
          />
        </footer>
      </form>
    </>
  );
}

/** What was typed, by the names of fields; those of params have a slash before it. */
export type Values = Readonly<Record<string, string>>;

export function useValues() {
  const [values, setValues] = useState<Values>({});
  const set = (name: string) => (value: string) =>
    setValues((before) => ({ ...before, [name]: value }));
  return { values, set };
}

interface ParamsProps {
  readonly fields: readonly SchemaField[] | null;
  readonly values: Values;
  readonly set: (name: string) => (value: string) => void;
}

export function Params({ fields, values, set }: ParamsProps) {
  if (fields !== null) {
    return (
      <>
        {fields.map((field) => (
          <ParamField
            key={field.name}
            field={field}
            value={values[`/${field.name}`] ?? field.preset}
            set={set(`/${field.name}`)}
          />
        ))}
      </>
    );
  }
  return (
    <label class="field">
      <span>{t('new-task.params')}</span>
      <textarea
        name="params"
        rows={10}
        spellcheck={false}
        value={values['params'] ?? '{}'}
        onInput={({ currentTarget }) => set('params')(currentTarget.value)}
      />
    </label>
  );
}

interface LineProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
  readonly isRequired?: boolean;
  readonly list?: string;
}

export function Line({ name, label, value, set, isRequired = false, list }: LineProps) {
  return (
    <label class="field">
      <span>
        {label}
        {isRequired && <b title={t('field.required')}> *</b>}
      </span>
      <input
        name={name}
        list={list}
        required={isRequired}
        autocomplete="off"
        value={value}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
    </label>
  );
}

/** Seconds, or a name for some. */
export function priorityOf(text: string): number | string {
  return /^-?\d+$/.test(text) ? Number(text) : text;
}

/** Params are sent as they were typed: a number of twenty digits keeps all of them. */
function requestOf(
  type: string,
  namespace: string,
  values: Values,
  fields: readonly SchemaField[] | null,
): Request {
  const { id = '', priority = '', group = '', params = '{}' } = values;
  const text = fields === null ? params : paramsText(fields, values);
  const named = {
    type,
    ...(id !== '' && { id }),
    ...(priority !== '' && { priority: priorityOf(priority) }),
  };
  const task = `${JSON.stringify(named).slice(0, -1)},"params":${text.trim() === '' ? 'null' : text}}`;
  return {
    method: 'POST',
    path: '/task/submit',
    namespace,
    bodyText: `{"task":${task},"user":${JSON.stringify({ group })}}`,
  };
}
