/** What is paused now, by whom, why and until when; to pause more, and to end it. */
import type { PauseList } from '@soda-scheduler/protocol';
import { may as mayOf, type PauseOf } from '../../api/me.ts';
import {
  ask,
  type Question,
  reasonAndUntil,
  reasonField,
  untilField,
} from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { SodaCommand } from '../../parts/copy.tsx';
import { Link } from '../../parts/link.tsx';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/page.tsx';
import type { Layout } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import { LimitTabs } from './tabs.tsx';

type Pause = PauseList['pauses'][number];
type Scope = Pause['scope'];

const SCOPES: readonly Scope[] = ['group', 'type', 'label', 'namespace', 'all'];

export function PausesPage() {
  const { me, place } = useFrame();
  const { namespace } = place;
  const list = useListed<PauseList>('pauses', { path: '/pauses', fields: [], limit: 200 });
  const [group = ''] = me.scope?.groups ?? [];
  const [type = ''] = me.scope?.types ?? [];
  const scopes = SCOPES.filter((scope) =>
    mayPause(me, scope, scope === 'group' ? group : scope === 'type' ? type : namespace),
  );
  return (
    <ListPage
      of={list}
      rowsOf={({ pauses }) => pauses}
      layout={pauseLayout}
      actions={
        scopes.length > 0 && (
          <button type="button" onClick={() => ask(pauseForm(scopes, namespace, list.reload))}>
            {t('pauses.new')}
          </button>
        )
      }
      empty={
        <Empty title={t('pauses.none')}>
          <SodaCommand text="soda pause group news --reason 'storage is full'" />
        </Empty>
      }
    >
      <LimitTabs current="pauses" />
    </ListPage>
  );
}

type Me = ReturnType<typeof useFrame>['me'];

function mayPause(me: Me, scope: Scope, value: string): boolean {
  if (scope === 'type') {
    return mayOf(me, 'POST /type/{type}/pause', value === '' ? {} : { type: value });
  }
  return mayOf(me, 'POST /pause', { pause: { scope, value } satisfies PauseOf });
}

const pauseLayout: Layout<Pause> = {
  keyOf: ({ scope, value }) => `${scope} ${value}`,
  columns: [
    { title: 'pauses.what', show: (pause) => <What of={pause} /> },
    { title: 'field.reason', class: 'fill', text: 'whole', show: ({ reason }) => reason },
    { title: 'operation.by', class: 'wide', show: ({ by }) => by },
    { title: 'type.since', class: 'num wide', show: ({ at }) => <Time at={at} /> },
    { title: 'field.until', class: 'num', show: ({ until }) => <Time at={until} /> },
    {
      title: 'type.resume.verb',
      isTitleHidden: true,
      class: 'num',
      show: (pause, reload) => <End of={pause} done={reload} />,
    },
  ],
};

function What({ of: { scope, value } }: { readonly of: Pause }) {
  const word = wordOf('pause-scope', scope);
  if (value === null) return <>{word}</>;
  return (
    <>
      <span class="soft">{word}</span>{' '}
      {scope === 'type' ? (
        <Link to="type" name={value} />
      ) : scope === 'group' || scope === 'label' ? (
        <Link to="tasks" query={{ [scope]: value, state: 'waiting' }}>
          {value}
        </Link>
      ) : (
        value
      )}
    </>
  );
}

function End({ of: pause, done }: { readonly of: Pause; readonly done: () => void }) {
  const { namespace } = useFrame().place;
  const { scope, value, reason } = pause;
  const what = `${wordOf('pause-scope', scope)} ${value ?? ''}`.trim();
  const isType = scope === 'type';
  return (
    <AskButton
      route={isType ? 'POST /type/{type}/resume' : 'POST /resume'}
      about={isType ? { type: value ?? '' } : { pause: { scope, value: value ?? namespace } }}
      question={{
        title: t('pauses.end.title', { what }),
        ...(reason !== null && { text: reason }),
        verb: t('type.resume.verb'),
        request: () => requestOf('resume', scope, value, namespace, {}),
        done,
      }}
    />
  );
}

function pauseForm(scopes: readonly Scope[], namespace: string, done: () => void): Question {
  const [first = 'group'] = scopes;
  return {
    title: t('pauses.new'),
    text: t('type.pause.text'),
    verb: t('type.pause.verb'),
    fields: ({ scope = first }) => [
      {
        name: 'scope',
        label: t('pauses.what'),
        kind: 'select',
        options: scopes,
        inWords: (one) => wordOf('pause-scope', one),
        initial: first,
      },
      ...(hasValue(scope)
        ? [{ name: 'value', label: wordOf('pause-scope', scope), isRequired: true }]
        : []),
      reasonField(),
      untilField(),
    ],
    request: ({ scope, value = '', ...rest }) =>
      requestOf(
        'pause',
        scope as Scope,
        hasValue(scope) ? value : null,
        namespace,
        reasonAndUntil(rest),
      ),
    done,
  };
}

const hasValue = (scope = ''): boolean => scope !== 'all' && scope !== 'namespace';

/** Types have a route of their own. */
function requestOf(
  verb: 'pause' | 'resume',
  scope: Scope,
  value: string | null,
  namespace: string,
  body: object,
) {
  return scope === 'type'
    ? ({
        method: 'POST',
        path: `/type/${encodeURIComponent(value ?? '')}/${verb}`,
        namespace,
        body,
      } as const)
    : ({
        method: 'POST',
        path: `/${verb}`,
        namespace,
        body: { scope, ...(value !== null && { value }), ...body },
      } as const);
}
