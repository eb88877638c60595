/** A form that submits one task: its fields, its params by their schema or as JSON, and the page of the task once it is there. */
import type { TypeView } from '@soda-scheduler/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { call, curlOf, type Request } from '../../api/call.ts';
import { inWords } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { go, staying } from '../../frame/route.ts';
import { Copy } from '../../parts/copy.tsx';
import { indented } from '../../parts/indented.ts';
import { Refused } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import { Label, ParamField } from './params-form.tsx';
import { filledFields, paramsText, type SchemaField } from './schema-fields.ts';

const SCHEMA_MS = 60_000;

interface Props {
  /** What is sent, as it is typed so far. */
  readonly of: Request;
  /** Of the button. */
  readonly verb: string;
  readonly children: ComponentChildren;
}

export function TaskForm({ of: request, verb, children }: Props) {
  const { place, me } = useFrame();
  const [problem, setProblem] = useState('');
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem('');
    const stays = staying();
    try {
      const { task_id: id } = await call<{ task_id: string }>(request);
      if (stays()) go({ namespace: place.namespace, page: 'task', name: id });
    } catch (error) {
      setProblem(inWords(error));
    }
  };
  return (
    <form class="sheet" onSubmit={(event) => void submit(event)}>
      {children}
      <Refused why={problem} />
      <footer>
        <button type="submit" class="main">
          {verb}
        </button>
        <Copy text={curlOf(request, me.name !== null)} label={t('copy.curl')} />
      </footer>
    </form>
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

/** The type whose schema the form is made of. @param name empty: none yet. */
export function useType(name: string) {
  return useAnswer<TypeView>(
    name === '' ? null : { path: `/type/${encodeURIComponent(name)}` },
    SCHEMA_MS,
  );
}

interface Filled {
  readonly fields: readonly SchemaField[] | null;
  readonly values: Values;
  /** As JSON, as they were typed; null: nobody has changed them. */
  readonly changed: string | null;
}

/** Params that there are already, to be changed; null: the type has not answered yet. @param params as they are stored. */
export function useFilled(type: string, params: string, typed: Values): Filled | null {
  const { data, refused } = useType(type);
  if (data === null && refused === null) return null;
  const values = { params: indented(params), ...typed };
  const fields = filledFields(data?.params_schema, params);
  const is = paramsOf(fields, values);
  const was = paramsOf(fields, { params: indented(params) });
  return { fields, values, changed: is === was ? null : is };
}

/** Params are sent as they were typed: a number of twenty digits keeps all of them. */
export function paramsOf(fields: readonly SchemaField[] | null, values: Values): string {
  const text = fields === null ? (values['params'] ?? '{}') : paramsText(fields, values);
  return text.trim() === '' ? 'null' : text;
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
      <Label of={label} isRequired={isRequired} />
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
