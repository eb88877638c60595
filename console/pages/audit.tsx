/** Who has changed what, and who was refused: the newest first, of all namespaces. */
import type { AuditList, AuditView } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { useFrame } from '../frame/context.ts';
import { useResource } from '../frame/resource.ts';
import { go } from '../frame/route.ts';
import { Json } from '../parts/json.tsx';
import { Empty, Head, Loaded, Pager } from '../parts/page.tsx';
import { Time } from '../parts/time.tsx';
import { t } from '../words/words.ts';

const TERMS = ['actor', 'action', 'target'] as const;
const EVERY_MS = 15_000;

export function AuditPage() {
  const { place, link } = useFrame();
  const { namespace, query } = place;
  const { cursor, ...filters } = query;
  const list = useResource<AuditList>(
    JSON.stringify(query),
    (signal) => call({ path: '/audit', namespace: null, query, signal }),
    EVERY_MS,
  );
  return (
    <>
      <Head title={t('audit')} />
      <form class="filters" aria-label={t('filters')} onSubmit={(event) => event.preventDefault()}>
        {TERMS.map((name) => (
          <label key={name} class="filter">
            <span>{t(`audit.${name}`)}</span>
            <input
              key={filters[name]}
              defaultValue={filters[name] ?? ''}
              autocomplete="off"
              onChange={({ currentTarget: { value } }) =>
                go({ namespace, page: 'audit', query: { ...filters, [name]: value.trim() } })
              }
            />
          </label>
        ))}
      </form>
      <Loaded of={list}>
        {({ changes, next_cursor: next }) => (
          <>
            {changes.length === 0 ? (
              <Empty title={t(next === null ? 'audit.none' : 'tasks.none-yet')} />
            ) : (
              <Table changes={changes} />
            )}
            <Pager
              isFirst={cursor === undefined}
              first={link('audit', null, filters)}
              next={next === null ? null : link('audit', null, { ...filters, cursor: next })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

function Table({ changes }: { readonly changes: AuditList['changes'] }) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th class="num">{t('when')}</th>
            <th>{t('audit.actor')}</th>
            <th>{t('audit.action')}</th>
            <th>{t('audit.target')}</th>
            <th class="wide">{t('namespace')}</th>
            <th class="wide">{t('audit.address')}</th>
            <th class="fill">{t('audit.change')}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <Row
              key={`${change.at} ${change.actor} ${change.action} ${change.target}`}
              change={change}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ change }: { readonly change: AuditView }) {
  const [isOpen, setOpen] = useState(false);
  const { at, actor, role, action, target, outcome, reason, count, before, after, filter } = change;
  const fields = Object.keys(after ?? before ?? {});
  const said = [
    outcome === 'refused' ? t('audit.refused') : '',
    count === null ? '' : `${count.toLocaleString()} ×`,
    reason ?? '',
    fields.join(', '),
  ].filter((part) => part !== '');
  return (
    <tr>
      <td class="num">
        <Time at={at} />
      </td>
      <td title={role}>{actor ?? '–'}</td>
      <td>{action}</td>
      <td class="id">{target}</td>
      <td class="wide">{change.namespace}</td>
      <td class="wide">{change.address}</td>
      <td class={`fill whole ${outcome === 'refused' ? 'error' : ''}`}>
        {said.join(' · ')}{' '}
        {(before !== null || after !== null || filter !== null) && (
          <button
            type="button"
            class="quiet"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {t('attempts.details')}
          </button>
        )}
        {isOpen && (
          <Json text={JSON.stringify({ filter, before, after })} label={t('audit.change')} />
        )}
      </td>
    </tr>
  );
}
