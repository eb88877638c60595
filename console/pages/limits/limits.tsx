/** Shared limits: how much there is, how much of it is taken, and where. */
import type { LimitList, LimitView } from '@soda-scheduler/protocol';
import type { Question } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { SodaCommand } from '../../parts/copy.tsx';
import type { Field } from '../../parts/form/fields.ts';
import { Link } from '../../parts/link.tsx';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/page.tsx';
import { Bar } from '../../parts/state.tsx';
import type { Layout } from '../../parts/table.tsx';
import { t } from '../../words/words.ts';
import { LimitTabs } from './tabs.tsx';

export function LimitsPage() {
  const { namespace } = useFrame().place;
  const list = useListed<LimitList>('limits', { path: '/limits', fields: [], limit: 200 });
  return (
    <ListPage
      of={list}
      rowsOf={({ limits }) => limits}
      layout={limitLayout}
      actions={
        <AskButton route="PUT /limit/{name}" question={limitForm(null, namespace, list.reload)} />
      }
      empty={
        <Empty title={t('limits.none')}>
          <SodaCommand text="soda limit set drm-licences --max 10" />
        </Empty>
      }
    >
      <LimitTabs current="limits" />
    </ListPage>
  );
}

const limitLayout: Layout<LimitView> = {
  keyOf: ({ name }) => name,
  classOf: (limit) => (isFull(limit) ? 'bad-row' : ''),
  columns: [
    { title: 'limits.limit', show: ({ name }) => <Link to="limit" name={name} /> },
    { title: 'limits.taken', class: 'num', show: ({ used }) => used.toLocaleString() },
    { title: 'limits.max', class: 'num', show: ({ max }) => max.toLocaleString() },
    { title: 'limits.per', class: 'wide', show: ({ per }) => perInWords(per) },
    { title: 'limits.fullest', class: 'fill', show: (limit) => <Fullest of={limit} /> },
    {
      title: 'action.change',
      isTitleHidden: true,
      class: 'num',
      show: (limit, reload) => <LimitActions of={limit} done={reload} />,
    },
  ],
};

/** What is taken in the place where most is. */
const mostOf = ({ used, places }: LimitView): number =>
  places === undefined ? used : (places[0]?.used ?? 0);

const isFull = (limit: LimitView): boolean => mostOf(limit) >= limit.max;

function Fullest({ of: limit }: { readonly of: LimitView }) {
  const { name, max, places } = limit;
  const [first] = places ?? [];
  return (
    <span class="state">
      <Bar of={name} percent={max === 0 ? 100 : (100 * mostOf(limit)) / max} />
      <span class="soft">{first?.host ?? first?.label}</span>
    </span>
  );
}

export function perInWords(per: LimitView['per']): string {
  return typeof per === 'string'
    ? t(`limits.per.${per}`)
    : t('limits.per.label', { label: `${per.label}:` });
}

interface ActionProps {
  readonly of: LimitView;
  readonly done: () => void;
  /** Once it is deleted. Default: `done`. */
  readonly gone?: () => void;
}

export function LimitActions({ of: limit, done, gone = done }: ActionProps) {
  const { namespace } = useFrame().place;
  return (
    <>
      <AskButton route="PUT /limit/{name}" question={limitForm(limit, namespace, done)} />{' '}
      <AskButton route="DELETE /limit/{name}" question={removalOf(limit, namespace, gone)} />
    </>
  );
}

const pathOf = (name: string): string => `/limit/${encodeURIComponent(name)}`;

function removalOf({ name }: LimitView, namespace: string, done: () => void): Question {
  return {
    title: t('limits.delete', { name }),
    text: t('limits.delete.text'),
    verb: t('action.delete'),
    isGrave: true,
    request: () => ({ method: 'DELETE', path: pathOf(name), namespace }),
    done,
  };
}

/** @param limit null: a new one. */
function limitForm(limit: LimitView | null, namespace: string, done: () => void): Question {
  const counted = limit?.per ?? 'cluster';
  const [initial, label] = typeof counted === 'string' ? [counted, ''] : ['label', counted.label];
  return {
    title: limit === null ? t('limits.new') : t('limits.change', { name: limit.name }),
    text: t('limits.text'),
    verb: t(limit === null ? 'limits.new' : 'action.change'),
    fields: ({ per = initial }): Field[] => [
      ...(limit === null ? [{ name: 'name', label: t('tokens.name'), isRequired: true }] : []),
      {
        name: 'max',
        label: t('limits.max'),
        kind: 'number',
        initial: String(limit?.max ?? ''),
        isRequired: true,
      },
      {
        name: 'per',
        label: t('limits.per'),
        kind: 'select',
        options: ['cluster', 'host', 'label'],
        inWords: (one) =>
          one === 'label'
            ? t('limits.per.label', { label: '…:' })
            : perInWords(one as LimitView['per']),
        initial,
      },
      ...(per === 'label'
        ? [
            {
              name: 'label',
              label: t('limits.label'),
              initial: label,
              preset: 'rack',
              isRequired: true,
              hint: t('limits.label.hint'),
            },
          ]
        : []),
    ],
    request: ({ per }, { name = limit?.name, max, label: prefix }) => ({
      method: 'PUT',
      path: pathOf(name as string),
      namespace,
      body: { max, per: per === 'label' ? { label: prefix } : per },
    }),
    done,
  };
}
