/**
 * What is defined for a type, to be changed: as a form, or as the JSON that it is. The master says first what it would be, and
 * people see what differs before it is saved; not over what somebody else has changed meanwhile.
 */
import type { TypeView } from '@soda-scheduler/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, callForText, curlOf, type Request } from '../../api/call.ts';
import { ask, NO_REFUSAL, refusalOf, tell } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { go } from '../../frame/route.ts';
import { Copy } from '../../parts/copy.tsx';
import { type Field, type Typed, WrongField } from '../../parts/form/fields.ts';
import { Fields } from '../../parts/form/form.tsx';
import { indented } from '../../parts/indented.ts';
import { Head, Loaded, Refused } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import {
  definitionFields,
  definitionIn,
  type Difference,
  differences,
  withTyped,
} from './definition.ts';

/** What is changed. */
interface Ground {
  /** 0: it is not registered. */
  readonly version: number;
  readonly definition: string;
}
const NOTHING: Ground = { version: 0, definition: '{}' };

/** @param name null: a new type. */
export function DefinePage({ name }: { readonly name: string | null }) {
  const { namespace } = useFrame().place;
  const ground = useResource<Ground>(
    name === null ? null : `define ${namespace} ${name}`,
    async (signal) => {
      const path = `/type/${encodeURIComponent(name ?? '')}`;
      const text = await callForText({ path, namespace, signal });
      return { version: (JSON.parse(text) as TypeView).version, definition: definitionIn(text) };
    },
  );
  if (name === null) return <Definition name={null} ground={NOTHING} />;
  return <Loaded of={ground}>{(found) => <Definition name={name} ground={found} />}</Loaded>;
}

const TYPE: Field = { name: 'type', label: '', isRequired: true };
const JSON_FIELD: Field = { name: 'json', label: '', kind: 'json' };

interface Props {
  readonly name: string | null;
  /** As it is now: what is typed lies over what it was when that was begun. */
  readonly ground: Ground;
}

function Definition({ name, ground }: Props) {
  const { place, me } = useFrame();
  const { namespace } = place;
  const draft = useDraft(name, ground);
  const { from, fields, typed, isJson, defined } = draft;
  const [{ problem, wrong }, setRefusal] = useState(NO_REFUSAL);
  const form = useRef<HTMLFormElement>(null);
  useEffect(
    () => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
    [wrong],
  );

  const type = name ?? typed['type'] ?? '';
  const request = (): Request => ({
    method: 'PUT',
    path: `/type/${encodeURIComponent(type)}`,
    namespace,
    bodyText: defined(),
    headers: { 'if-match': `"${from.version}"` },
  });
  const trying = async (what: () => Promise<void> | void): Promise<void> => {
    setRefusal(NO_REFUSAL);
    try {
      await what();
    } catch (error) {
      setRefusal(refusalOf(error, fields));
    }
  };
  const review = async (): Promise<void> => {
    const made = request();
    await call({ ...made, query: { dry_run: 'true' } });
    const found = differences(from.definition, defined());
    if (found.length === 0 && from.version > 0) tell(t('define.same'));
    else askToSave(made, found, type);
  };
  return (
    <>
      <Head
        title={name === null ? t('define.new') : t('define.title', { type: name })}
        actions={
          <button type="button" onClick={() => void trying(draft.turn)}>
            {t(isJson ? 'define.as-form' : 'define.as-json')}
          </button>
        }
      />
      {ground.version !== from.version && <Newer begin={() => void trying(draft.begin)} />}
      <form
        ref={form}
        class="sheet definition"
        onSubmit={(event) => {
          event.preventDefault();
          void trying(review);
        }}
      >
        <Fields of={fields} typed={typed} set={draft.set} wrong={wrong} />
        {!isJson && <p class="note">{t('define.rest')}</p>}
        <Refused why={problem} />
        <footer>
          <button type="submit" class="main">
            {t('define.review')}
          </button>
          <Curl of={request} needsToken={me.name !== null} />
        </footer>
      </form>
    </>
  );
}

/** What is typed, over what the definition was when that was begun. */
function useDraft(name: string | null, ground: Ground) {
  const [from, setFrom] = useState(ground);
  const [text, setText] = useState(ground.definition);
  const [typed, setTyped] = useState<Typed>({});
  const [isJson, setJson] = useState(false);
  const fields: readonly Field[] = [
    ...(name === null ? [{ ...TYPE, label: t('type') }] : []),
    ...(isJson
      ? [{ ...JSON_FIELD, label: t('define.json'), initial: text }]
      : definitionFields(text)),
  ];
  /** @throws {WrongField} */
  const defined = (): string => (isJson ? checked(typed['json'] ?? text) : withTyped(text, typed));
  const show = (definition: string, asJson: boolean): void => {
    setText(asJson ? indented(definition) : definition);
    setTyped(({ type }): Typed => (type === undefined ? {} : { type }));
    setJson(asJson);
  };
  return {
    ...{ from, fields, typed, isJson, defined },
    set: (field: string, value: string) => setTyped((before) => ({ ...before, [field]: value })),
    /** Shows it in the other way. */
    turn: () => show(defined(), !isJson),
    /** Takes what it is now. */
    begin: () => {
      setFrom(ground);
      show(ground.definition, isJson);
    },
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

interface CurlProps {
  readonly of: () => Request;
  readonly needsToken: boolean;
}

function Curl({ of: request, needsToken }: CurlProps) {
  try {
    return <Copy text={curlOf(request(), needsToken)} label={t('copy.curl')} />;
  } catch {
    // What was typed so far is no request.
    return null;
  }
}

function askToSave(request: Request, found: readonly Difference[], type: string): void {
  ask({
    title: t('define.save', { type }),
    content: <Differences of={found} />,
    verb: t('field.save'),
    request: () => request,
    done: () => go({ namespace: request.namespace ?? 'default', page: 'type', name: type }),
  });
}

function Differences({ of: found }: { readonly of: readonly Difference[] }) {
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
