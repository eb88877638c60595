/**
 * A definition that is changed as a form, or as the JSON that it is. The master says first what it would be, and people see
 * what differs before it is saved; not over what somebody else has changed meanwhile.
 */
import { type Difference, differences } from '@soda-scheduler/protocol';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { call, type Request } from '../../api/call.ts';
import { ask, tell } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { useKept } from './kept.ts';
import { go, staying } from '../../frame/route.ts';
import { t } from '../../words/words.ts';
import { indented } from '../indented.ts';
import { Head } from '../page.tsx';
import { type Field, type Typed, WrongField } from './fields.ts';
import { Fields } from './form.tsx';
import { SheetForm, useSending } from './sending.tsx';

/** What is changed. */
export interface Ground {
  /** 0: there is none yet. */
  readonly version: number;
  readonly definition: string;
}

/** What kind of thing is defined. */
export interface Defined {
  /** Where one goes once it is saved. */
  readonly page: string;
  /** Of a new one. */
  readonly nameField: Field;
  readonly title: string;
  /** What the form does not have. */
  readonly rest: string;
  readonly pathOf: (name: string) => string;
  readonly fieldsOf: (definition: string, typed: Typed) => readonly Field[];
  /** The definition with what was typed. @throws {WrongField} */
  readonly withTyped: (definition: string, typed: Typed) => string;
  /** What else of the answer to a trial is to be seen before it is saved. */
  readonly told?: (answer: unknown) => ComponentChildren;
}

const JSON_FIELD: Field = { name: 'json', label: '', kind: 'json' };

interface Props {
  readonly of: Defined;
  /** Null: a new one. */
  readonly name: string | null;
  /** As it is now: what is typed lies over what it was when that was begun. */
  readonly ground: Ground;
}

export function Definition({ of, name, ground }: Props) {
  const { namespace } = useFrame().place;
  const draft = useDraft(of, name, ground);
  const { from, fields, typed, isJson, defined } = draft;
  const sending = useSending(fields);
  const called = name ?? typed[of.nameField.name] ?? '';
  const request = (): Request => ({
    method: 'PUT',
    path: of.pathOf(called),
    namespace,
    bodyText: defined(),
    headers: { 'if-match': `"${from.version}"` },
  });
  const review = async (): Promise<void> => {
    const made = request();
    const stays = staying();
    const answer = await call({ ...made, query: { dry_run: 'true' } });
    if (!stays()) return;
    const found = differences(from.version === 0 ? '{}' : from.definition, defined());
    if (found.length === 0 && from.version > 0) tell(t('define.same'));
    else askToSave(of, made, called, [<Differences of={found} />, of.told?.(answer)]);
  };
  return (
    <>
      <Head
        title={of.title}
        actions={
          <button type="button" onClick={() => void sending.send(draft.turn)}>
            {t(isJson ? 'define.as-form' : 'define.as-json')}
          </button>
        }
      />
      {ground.version !== from.version && <Newer begin={() => void sending.send(draft.begin)} />}
      <SheetForm by={sending} submit={review} verb={t('define.review')} of={request} isWide>
        <Fields of={fields} typed={typed} set={draft.set} wrong={sending.wrong} />
        {!isJson && <p class="note">{of.rest}</p>}
      </SheetForm>
    </>
  );
}

interface Draft {
  readonly from: Ground;
  /** What is shown. */
  readonly text: string;
  readonly typed: Typed;
  readonly isJson: boolean;
}

/** What is typed, over what the definition was when that was begun. */
function useDraft(of: Defined, name: string | null, ground: Ground) {
  const { nameField } = of;
  const [beginning] = useState<Draft>({
    ...{ from: ground, text: ground.definition, typed: {}, isJson: false },
  });
  const [draft, setDraft] = useKept('draft', beginning);
  const { from, text, typed, isJson } = draft;
  const fields: readonly Field[] = [
    ...(name === null ? [nameField] : []),
    ...(isJson
      ? [{ ...JSON_FIELD, label: t('define.json'), initial: text }]
      : of.fieldsOf(text, typed)),
  ];
  /** @throws {WrongField} */
  const defined = (): string =>
    isJson ? checked(typed['json'] ?? text) : of.withTyped(text, typed);
  const show = (of: Ground, definition: string, asJson: boolean): void => {
    const { [nameField.name]: called } = typed;
    setDraft({
      from: of,
      text: asJson ? indented(definition) : definition,
      typed: called === undefined ? {} : { [nameField.name]: called },
      isJson: asJson,
    });
  };
  return {
    ...{ from, fields, typed, isJson, defined },
    set: (field: string, value: string) =>
      setDraft((before) => ({ ...before, typed: { ...before.typed, [field]: value } })),
    /** Shows it in the other way. */
    turn: () => show(from, defined(), !isJson),
    /** Takes what it is now. */
    begin: () => show(ground, ground.definition, isJson),
  };
}

function Newer({ begin }: { readonly begin: () => void }) {
  return (
    <p class="remark">
      {t('define.newer')}{' '}
      <button type="button" onClick={begin}>
        {t('define.anew')}
      </button>
    </p>
  );
}

/** @throws {WrongField} it is no JSON of an object. */
function checked(text: string): string {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text;
  } catch (error) {
    throw new WrongField(JSON_FIELD.name, String(error));
  }
  throw new WrongField(JSON_FIELD.name, t('define.no-object'));
}

function askToSave(
  { page }: Defined,
  request: Request,
  name: string,
  content: ComponentChildren,
): void {
  ask({
    title: t('define.save', { type: name }),
    content,
    verb: t('field.save'),
    request: () => request,
    done: () => go({ namespace: request.namespace ?? 'default', page, name }),
  });
}

export function Differences({ of: found }: { readonly of: readonly Difference[] }) {
  const shown = (json: string | undefined) => json ?? t('define.unset');
  return (
    <ul class="differences" tabIndex={0} aria-label={t('define.differences')}>
      {found.map(({ path, before, after }) => (
        <li key={path}>
          <code>{path}</code>
          <span>
            <del>{shown(before)}</del> → <ins>{shown(after)}</ins>
          </span>
        </li>
      ))}
    </ul>
  );
}
