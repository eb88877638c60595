/**
 * What is defined for a type, to be changed: as a form, or as the JSON that it is.
 */
import type { TypeView } from '@soda-scheduler/protocol';
import { callForText } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { type Defined, Definition, type Ground } from '../../parts/form/definition.tsx';
import { Loaded } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import { definitionFields, definitionIn, withTyped } from './definition.ts';

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
  const of: Defined = {
    page: 'type',
    nameField: { name: 'type', label: t('type'), isRequired: true },
    title: name === null ? t('define.new') : t('define.title', { type: name }),
    rest: t('define.rest'),
    pathOf: (type) => `/type/${encodeURIComponent(type)}`,
    fieldsOf: definitionFields,
    withTyped,
  };
  if (name === null) return <Definition of={of} name={null} ground={NOTHING} />;
  return (
    <Loaded of={ground}>{(found) => <Definition of={of} name={name} ground={found} />}</Loaded>
  );
}
