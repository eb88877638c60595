/** Who has changed what, and who was refused: the newest first, of all namespaces. */
import type { AuditList, AuditView } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { FilterForm, TextFilter } from '../parts/filters.tsx';
import { Json } from '../parts/json.tsx';
import { ListPage, useListed } from '../parts/list-page.tsx';
import { Empty } from '../parts/page.tsx';
import type { Layout } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { t, wordOf } from '../words/words.ts';

const TERMS = ['actor', 'action', 'target'] as const;

export function AuditPage() {
  const list = useListed<AuditList>('audit', {
    path: '/audit',
    namespace: null,
    fields: TERMS,
    everyMs: 15_000,
    isTooLittle: ({ changes }) => changes.length === 0,
  });
  return (
    <ListPage
      of={list}
      rowsOf={({ changes }) => changes}
      layout={auditLayout}
      empty={<Empty title={t('audit.none')} />}
    >
      <FilterForm>
        {TERMS.map((name) => (
          <TextFilter key={name} name={name} label={`audit.${name}`} of={list} />
        ))}
      </FilterForm>
    </ListPage>
  );
}

const auditLayout: Layout<AuditView> = {
  keyOf: ({ at, actor, action, target }) => `${at} ${actor} ${action} ${target}`,
  columns: [
    { title: 'when', class: 'num', show: ({ at }) => <Time at={at} /> },
    {
      title: 'audit.actor',
      show: ({ actor, role }) => <span title={wordOf('role', role)}>{actor ?? '–'}</span>,
    },
    { title: 'audit.action', show: ({ action }) => <Action of={action} /> },
    { title: 'audit.target', text: 'id', show: ({ target }) => target },
    { title: 'namespace', class: 'wide', show: ({ namespace }) => namespace },
    { title: 'audit.address', class: 'wide', show: ({ address }) => address },
    {
      title: 'audit.change',
      class: 'fill',
      text: 'whole',
      show: (change) => <Change of={change} />,
    },
  ],
};

/** By what it is called in a filter, too. */
function Action({ of: action }: { readonly of: string }) {
  const inWords = wordOf('did', action);
  return (
    <>
      {inWords} {inWords !== action && <small>{action}</small>}
    </>
  );
}

function Change({ of: change }: { readonly of: AuditView }) {
  const [isOpen, setOpen] = useState(false);
  const { outcome, reason, count, before, after, filter } = change;
  const fields = Object.keys(after ?? before ?? {});
  const said = [
    outcome === 'refused' ? t('audit.refused') : '',
    count === null ? '' : `${count.toLocaleString()} ×`,
    reason ?? '',
    fields.join(', '),
  ].filter((part) => part !== '');
  return (
    <span class={outcome === 'refused' ? 'error' : ''}>
      {said.join(' · ')}{' '}
      {(before !== null || after !== null || filter !== null) && (
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('attempts.details')}
        </button>
      )}
      {isOpen && (
        <Json text={JSON.stringify({ filter, before, after })} label={t('audit.change')} />
      )}
    </span>
  );
}
