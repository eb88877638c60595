/** Namespaces: what waits and runs in each, what is set for it, and pauses. */
import type { NamespaceList, NamespaceView } from '@soda-scheduler/protocol';
import { call } from '../api/call.ts';
import { ask, type Question, reasonAndUntil, reasonField, untilField } from '../frame/asking.tsx';
import { useFrame } from '../frame/context.ts';
import { hrefOf } from '../frame/place.ts';
import { useResource } from '../frame/resource.ts';
import { Head, Loaded, Pager } from '../parts/page.tsx';
import { t } from '../words/words.ts';

const LIMIT = 100;
const RETENTIONS = ['short', 'normal', 'long'];

export function NamespacesPage() {
  const { place, link, may } = useFrame();
  const { cursor } = place.query;
  const list = useResource<NamespaceList>(cursor ?? '', (signal) =>
    call({ path: '/namespaces', namespace: null, query: { limit: LIMIT, cursor }, signal }),
  );
  const { reload } = list;
  return (
    <>
      <Head
        title={t('namespaces')}
        actions={
          may('PUT /namespace/{namespace}') && (
            <button type="button" onClick={() => ask(settingsOf(null, reload))}>
              {t('namespaces.new')}
            </button>
          )
        }
      />
      <Loaded of={list}>
        {({ namespaces, next_cursor: next }) => (
          <>
            <Table namespaces={namespaces} done={reload} />
            <Pager
              isFirst={cursor === undefined}
              first={link('namespaces')}
              next={next === null ? null : link('namespaces', null, { cursor: next })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

interface TableProps {
  readonly namespaces: readonly NamespaceView[];
  readonly done: () => void;
}

function Table({ namespaces, done }: TableProps) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>{t('namespace')}</th>
            <th class="num">{t('state.waiting')}</th>
            <th class="num">{t('state.running')}</th>
            <th class="num wide">{t('state.held')}</th>
            <th class="num wide">{t('namespaces.max-waiting')}</th>
            <th class="num wide">{t('namespaces.max-running')}</th>
            <th class="wide">{t('namespaces.retention')}</th>
            <th class="fill">{t('types.note')}</th>
            <th>
              <span class="sr">{t('action.change')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {namespaces.map((view) => (
            <Row key={view.name} view={view} done={done} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ view, done }: { readonly view: NamespaceView; readonly done: () => void }) {
  const { may } = useFrame();
  const { name, counts, paused, pauses } = view;
  const to = (state: string) => hrefOf({ namespace: name, page: 'tasks', query: { state } });
  return (
    <tr>
      <td>
        <a href={hrefOf({ namespace: name, page: 'overview' })}>{name}</a>
      </td>
      <td class="num">
        <a href={to('waiting')}>{counts.waiting.toLocaleString()}</a>
      </td>
      <td class="num">
        <a href={to('running')}>{counts.running.toLocaleString()}</a>
      </td>
      <td class="num wide">
        <a href={to('held')}>{counts.held.toLocaleString()}</a>
      </td>
      <td class="num wide">{view.max_waiting ?? '–'}</td>
      <td class="num wide">{view.max_running ?? '–'}</td>
      <td class="wide">{view.retention}</td>
      <td class="fill warn">
        {paused !== null && `${t('state.paused')} ${paused.reason ?? ''}`}{' '}
        {pauses > 0 && t('namespaces.pauses', { n: pauses })}
      </td>
      <td class="num">
        {paused?.scope !== 'all' &&
          may('POST /pause', { pause: { scope: 'namespace', value: name } }) && (
            <button type="button" onClick={() => ask(pauseOf(view, done))}>
              {t(paused === null ? 'type.pause.verb' : 'type.resume.verb')}
            </button>
          )}{' '}
        {may('PUT /namespace/{namespace}') && (
          <button type="button" onClick={() => ask(settingsOf(view, done))}>
            {t('action.change')}
          </button>
        )}{' '}
        {may('DELETE /namespace/{namespace}') && name !== 'default' && (
          <button type="button" class="warned" onClick={() => ask(deletionOf(name, done))}>
            {t('action.delete')}
          </button>
        )}
      </td>
    </tr>
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
