/** Namespaces: what waits and runs in each, what is set for it, and pauses. */
import type { NamespaceList, NamespaceView } from '@soda-scheduler/protocol';
import { type Question, reasonAndUntil, reasonField, untilField } from '../frame/asking.tsx';
import { hrefOf } from '../frame/place.ts';
import { AskButton } from '../parts/ask-button.tsx';
import { ListPage, useListed } from '../parts/list-page.tsx';
import { pausedText } from '../parts/state.tsx';
import type { Column, Layout } from '../parts/table.tsx';
import { t, wordOf } from '../words/words.ts';

const RETENTIONS = ['short', 'normal', 'long'];

export function NamespacesPage() {
  const list = useListed<NamespaceList>('namespaces', {
    path: '/namespaces',
    namespace: null,
    limit: 100,
  });
  return (
    <ListPage
      of={list}
      rowsOf={({ namespaces }) => namespaces}
      layout={namespaceLayout}
      actions={
        <AskButton route="PUT /namespace/{namespace}" question={settingsOf(null, list.reload)} />
      }
    />
  );
}

const countOf = (state: 'waiting' | 'running' | 'held'): Column<NamespaceView> => ({
  title: `state.${state}`,
  class: state === 'held' ? 'num wide' : 'num',
  show: ({ name, counts }) => (
    <a href={hrefOf({ namespace: name, page: 'tasks', query: { state } })}>
      {counts[state].toLocaleString()}
    </a>
  ),
});

const namespaceLayout: Layout<NamespaceView> = {
  keyOf: ({ name }) => name,
  columns: [
    {
      title: 'namespace',
      show: ({ name }) => <a href={hrefOf({ namespace: name, page: 'overview' })}>{name}</a>,
    },
    countOf('waiting'),
    countOf('running'),
    countOf('held'),
    {
      title: 'namespaces.max-waiting',
      class: 'num wide',
      show: ({ max_waiting: max }) => max ?? '–',
    },
    {
      title: 'namespaces.max-running',
      class: 'num wide',
      show: ({ max_running: max }) => max ?? '–',
    },
    {
      title: 'namespaces.retention',
      class: 'wide',
      show: ({ retention }) => wordOf('retention', retention),
    },
    {
      title: 'types.note',
      class: 'fill',
      text: 'warn',
      show: ({ paused, pauses }) => (
        <>
          {paused !== null && pausedText(paused.reason)}{' '}
          {pauses > 0 && t('namespaces.pauses', { n: pauses })}
        </>
      ),
    },
    {
      title: 'action.change',
      isTitleHidden: true,
      class: 'num',
      show: (view, reload) => <Actions of={view} done={reload} />,
    },
  ],
};

function Actions({ of: view, done }: { readonly of: NamespaceView; readonly done: () => void }) {
  const { name, paused } = view;
  const pause = { scope: 'namespace', value: name };
  return (
    <>
      {paused?.scope !== 'all' && (
        <AskButton route="POST /pause" about={{ pause }} question={pauseOf(view, done)} />
      )}{' '}
      <AskButton route="PUT /namespace/{namespace}" question={settingsOf(view, done)} />{' '}
      {name !== 'default' && (
        <AskButton route="DELETE /namespace/{namespace}" question={deletionOf(name, done)} />
      )}
    </>
  );
}

function pauseOf({ name, paused }: NamespaceView, done: () => void): Question {
  const verb = paused === null ? 'pause' : 'resume';
  return {
    title: t(`namespaces.${verb}`, { name }),
    ...(paused === null && { text: t('type.pause.text'), fields: [reasonField(), untilField()] }),
    verb: t(`type.${verb}.verb`),
    request: (values) => ({
      method: 'POST',
      path: `/${verb}`,
      namespace: name,
      body: { scope: 'namespace', ...reasonAndUntil(values) },
    }),
    done,
  };
}

function deletionOf(name: string, done: () => void): Question {
  return {
    title: t('namespaces.delete', { name }),
    verb: t('action.delete'),
    isGrave: true,
    request: () => ({ method: 'DELETE', path: `/namespace/${name}`, namespace: null }),
    done,
  };
}

/** Null: a new one. */
function settingsOf(view: NamespaceView | null, done: () => void): Question {
  const limitOf = (text = ''): number | null => (text === '' ? null : Number(text));
  return {
    title: view === null ? t('namespaces.new') : t('namespaces.change', { name: view.name }),
    verb: t(view === null ? 'namespaces.new' : 'action.change'),
    fields: [
      ...(view === null ? [{ name: 'name', label: t('tokens.name'), isRequired: true }] : []),
      {
        name: 'waiting',
        label: t('namespaces.max-waiting'),
        kind: 'number',
        initial: String(view?.max_waiting ?? ''),
        hint: t('namespaces.limit.hint'),
      },
      {
        name: 'running',
        label: t('namespaces.max-running'),
        kind: 'number',
        initial: String(view?.max_running ?? ''),
      },
      {
        name: 'retention',
        label: t('namespaces.retention'),
        kind: 'select',
        options: RETENTIONS,
        inWords: (one) => wordOf('retention', one),
        initial: view?.retention ?? 'normal',
      },
    ],
    request: ({ name = view?.name, waiting, running, retention }) => ({
      method: 'PUT',
      path: `/namespace/${encodeURIComponent(name ?? '')}`,
      namespace: null,
      body: { max_waiting: limitOf(waiting), max_running: limitOf(running), retention },
    }),
    done,
  };
}
