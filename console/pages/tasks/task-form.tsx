/** A form that submits one task: its fields, its params by their schema or as JSON, and the page of the task once it is there. */
import type { TypeView } from '@soda-scheduler/protocol';
import type { ComponentChildren } from 'preact';
import { call, Refused as RefusedCall, type Request } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { go, staying } from '../../frame/route.ts';
import { type Field, type Typed, WrongField } from '../../parts/form/fields.ts';
import { Fields } from '../../parts/form/form.tsx';
import { useKept } from '../../parts/form/kept.ts';
import { SheetForm, useSending } from '../../parts/form/sending.tsx';
import { indented } from '../../parts/indented.ts';
import { checkedParams, paramsFields, paramsOf } from './params-fields.ts';
import { filledFields, PARAMS } from './schema-fields.ts';

const SCHEMA_MS = 60_000;
const KEY_BYTES = 16;

interface Props {
  readonly fields: readonly Field[];
  readonly typed: Typed;
  readonly set: (name: string, value: string) => void;
  /** What is sent, as it is typed. @param key by which the master knows a repetition; none: for people. @throws {WrongField} */
  readonly of: (key?: string) => Request;
  /** Of the button. */
  readonly verb: string;
  readonly children?: ComponentChildren;
}

export function TaskForm({ fields, typed, set, of: requestOf, verb, children }: Props) {
  const { namespace } = useFrame().place;
  const sending = useSending(fields);
  const keyed = useKeyed(requestOf);
  const submit = async (): Promise<void> => {
    const stays = staying();
    const id = await call<{ task_id: string }>(keyed()).then(
      (answer) => answer.task_id,
      (error: unknown) => idWhereSame(error, fields),
    );
    if (stays()) go({ namespace, page: 'task', name: id });
  };
  return (
    <SheetForm by={sending} submit={submit} verb={verb} of={requestOf}>
      {children}
      <Fields of={fields} typed={typed} set={set} wrong={sending.wrong} />
    </SheetForm>
  );
}

/** Sent again, because the answer was lost, it has the key of before: so there are no two tasks. With anything else in it, another. */
function useKeyed(requestOf: Props['of']): () => Request {
  const [sent, setSent] = useKept<{ readonly text: string; readonly key: string } | null>(
    'sent',
    null,
  );
  return () => {
    const { bodyText = '' } = requestOf();
    const key = sent?.text === bodyText ? sent.key : newKey();
    setSent({ text: bodyText, key });
    return requestOf(key);
  };
}

/** `randomUUID` is only there under TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The id is taken: by this very request, which had arrived, or by another. @throws {unknown} all that it is not. */
function idWhereSame(error: unknown, fields: readonly Field[]): string {
  if (!(error instanceof RefusedCall)) throw error;
  const taken = error.problem as { task_id?: string; same_request?: boolean; message?: string };
  if (taken.same_request === true && taken.task_id !== undefined) return taken.task_id;
  const field = fields.find(({ name }) => name === 'id' || name === 'task.id');
  if (taken.same_request === undefined || field === undefined) throw error;
  throw new WrongField(field.name, taken.message ?? error.message);
}

export function useTyped() {
  const [typed, setTyped] = useKept<Typed>('typed', NOTHING);
  const set = (name: string, value: string) => setTyped((before) => ({ ...before, [name]: value }));
  return { typed, set };
}

const NOTHING: Typed = {};

/** The type whose schema the form is made of. @param name empty: none yet. */
export function useType(name: string) {
  return useAnswer<TypeView>(
    name === '' ? null : { path: `/type/${encodeURIComponent(name)}` },
    SCHEMA_MS,
  );
}

interface Filled {
  readonly fields: readonly Field[];
  /** As JSON, as they were typed; null: nobody has changed them. @throws {WrongField} */
  readonly changed: () => string | null;
}

/** Params that there are already, to be changed; null: the type has not answered yet. @param params as they are stored. */
export function useFilled(type: string, params: string, typed: Typed): Filled | null {
  const { data, refused } = useType(type);
  if (data === null && refused === null) return null;
  const text = indented(params);
  const before = { [PARAMS]: text };
  const now = { ...before, ...typed };
  const fields = filledFields(data?.params_schema, params);
  return {
    fields: paramsFields(fields, text),
    changed: () =>
      paramsOf(fields, now) === paramsOf(fields, before) ? null : checkedParams(fields, now),
  };
}
