/** One shared limit: what is taken of it where, and by which types. */
import type { LimitView, TypeList } from '@soda-scheduler/protocol';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { go } from '../../frame/route.ts';
import { Link } from '../../parts/link.tsx';
import { Missing } from '../missing.tsx';
import { Facts, Head, Loaded, Section } from '../../parts/page.tsx';
import { Bar } from '../../parts/state.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { t } from '../../words/words.ts';
import { CountsOfAll } from '../fleet/types.tsx';
import { LimitActions, perInWords } from './limits.tsx';

export function LimitPage({ name }: { readonly name: string }) {
  const { place } = useFrame();
  const limit = useAnswer<LimitView>({ path: `/limit/${encodeURIComponent(name)}` });
  const types = useAnswer<TypeList>({ path: '/types', query: { limit: 200 } }, 15_000);
  const { namespace } = place;
  return (
    <>
      <Head
        title={name}
        actions={
          limit.data !== null && (
            <LimitActions
              of={limit.data}
              done={limit.reload}
              gone={() => go({ namespace, page: 'limits' })}
            />
          )
        }
      />
      <Loaded of={limit} none={<Missing name={name} list="limits" />}>
        {(view) => (
          <>
            <Facts
              of={[
                [t('limits.max'), view.max.toLocaleString()],
                [t('limits.per'), perInWords(view.per)],
                [t('limits.taken'), view.used.toLocaleString()],
              ]}
            />
            {view.places !== undefined && view.places.length > 0 && (
              <Section title={t('limits.places')}>
                <Table of={placesOf(view.max)} rows={view.places} />
              </Section>
            )}
          </>
        )}
      </Loaded>
      {limit.data !== null && (
        <Loaded of={types}>{(list) => <Takers of={list.types} limit={name} />}</Loaded>
      )}
    </>
  );
}

type Place = NonNullable<LimitView['places']>[number];
const nameOf = ({ host, label }: Place): string => host ?? label ?? '';

const placesOf = (max: number): Layout<Place> => ({
  keyOf: nameOf,
  columns: [
    { title: 'limits.place', show: nameOf },
    { title: 'limits.taken', class: 'num', show: ({ used }) => `${used} / ${max}` },
    {
      title: 'limits.fullest',
      class: 'fill',
      isTitleHidden: true,
      show: (place) => (
        <Bar of={nameOf(place)} percent={max === 0 ? 100 : (100 * place.used) / max} />
      ),
    },
  ],
});

type Type = TypeList['types'][number];

function Takers({ of: types, limit }: { readonly of: readonly Type[]; readonly limit: string }) {
  const takers = types.filter(({ uses = [] }) => uses.some((use) => use.limit === limit));
  return (
    <Section title={t('limits.takers')}>
      <CountsOfAll />
      {takers.length > 0 && <Table of={takersOf(limit)} rows={takers} />}
      <p class="note">{t('limits.takers.note')}</p>
    </Section>
  );
}

const takersOf = (limit: string): Layout<Type> => ({
  keyOf: ({ type }) => type,
  columns: [
    { title: 'type', class: 'fill', show: ({ type }) => <Link to="type" name={type} /> },
    {
      title: 'limits.each',
      class: 'num',
      show: ({ uses = [] }) => uses.find((use) => use.limit === limit)?.n,
    },
    ...(['running', 'waiting'] as const).map((state) => ({
      title: `state.${state}` as const,
      class: 'num',
      show: ({ type, counts }: Type) => (
        <Link to="tasks" query={{ type, state }}>
          {counts[state].toLocaleString()}
        </Link>
      ),
    })),
  ],
});
