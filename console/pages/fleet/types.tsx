/** What is set for each type, and what of it waits: those with something to look at first. */
import type { HealthView, TypeList, TypeView } from '@soda-scheduler/protocol';
import { useRef } from 'preact/hooks';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { SodaCommand } from '../../parts/copy.tsx';
import { Link } from '../../parts/link.tsx';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/page.tsx';
import { pausedText } from '../../parts/state.tsx';
import type { Column, Layout } from '../../parts/table.tsx';
import { t, wordOf } from '../../words/words.ts';
import { findingSaid } from '../alerts/finding-said.ts';
import { type Found, worstByType } from './findings.ts';
import { type Order, orderOf, rankOf } from './order.ts';

export function TypesPage() {
  const { may, link } = useFrame();
  const found = worstByType(useAnswer<HealthView>({ path: '/health' }).data);
  const list = useListed<TypeList>('types', { path: '/types', fields: [], limit: 200 });
  const ordered = useOrdered(list.data?.types ?? [], found);
  return (
    <ListPage
      of={list}
      rowsOf={() => ordered}
      layout={typeLayout(found)}
      actions={
        may('PUT /type/{type}') && (
          <a class="button" href={link('define')}>
            {t('define.new')}
          </a>
        )
      }
      empty={
        <Empty title={t('types.none')}>
          <SodaCommand text="soda type set encode limits.max_running=4" />
        </Empty>
      }
    >
      <CountsOfAll />
    </ListPage>
  );
}

/** In an order that lasts a while. */
export function useOrdered(types: readonly TypeView[], found: Found): readonly TypeView[] {
  const { namespace } = useFrame().place;
  const kept = useRef<{ namespace: string; order: Order | null }>({ namespace, order: null });
  const before = kept.current.namespace === namespace ? kept.current.order : null;
  const order = orderOf(types, found, before, Date.now());
  kept.current = { namespace, order };
  const { names } = order;
  return [...types].sort((a, b) => names.indexOf(a.type) - names.indexOf(b.type));
}

/** Nobody counts some groups by type as well: to whoever sees those only, a list would show less than is counted. */
export const useSeesAllCounted = (): boolean => useFrame().me.scope?.groups === undefined;

/** Says so. */
export function CountsOfAll() {
  return useSeesAllCounted() ? null : <p class="note">{t('types.of-all-groups')}</p>;
}

const countOf = (state: keyof TypeView['counts']): Column<TypeView> => ({
  title: `state.${state}`,
  class: state === 'held' ? 'num wide' : 'num',
  show: ({ type, counts }) => <Count type={type} state={state} n={counts[state]} />,
});

function Count({ type, state, n }: { type: string; state: string; n: number }) {
  const isLink = useSeesAllCounted();
  if (n === 0) return <span class="none">0</span>;
  if (!isLink) return <>{n.toLocaleString()}</>;
  return (
    <Link to="tasks" query={{ type, state }}>
      {n.toLocaleString()}
    </Link>
  );
}

export const typeLayout = (found: Found): Layout<TypeView> => ({
  keyOf: ({ type }) => type,
  classOf: (view) => (rankOf(view, found) === 2 && view.paused === null ? 'bad-row' : ''),
  columns: [
    { title: 'type', show: ({ type }) => <Link to="type" name={type} /> },
    countOf('waiting'),
    countOf('running'),
    countOf('held'),
    { title: 'executors', class: 'num', show: ({ executors }) => executors },
    { title: 'types.note', class: 'fill', show: (view) => <TypeNote of={view} found={found} /> },
  ],
});

function TypeNote({
  of: { type, paused, overrides, executors, counts, description },
  found,
}: {
  readonly of: TypeView;
  readonly found: Found;
}) {
  const finding = found.get(type);
  if (paused !== null) {
    return <span class="warn">{pausedText(paused.reason)}</span>;
  }
  if (executors === 0 && counts.waiting > 0) {
    return <span class="error">{t('why.no_executor')}</span>;
  }
  if (finding !== undefined && finding.severity !== 'info') {
    return (
      <span
        class={finding.severity === 'critical' ? 'error' : 'warn'}
        title={findingSaid(finding).text}
      >
        {wordOf('finding', finding.kind)}
      </span>
    );
  }
  if (overrides[0] !== undefined) {
    return (
      <span class="warn">
        {t('types.overridden')} {overrides[0].reason}
      </span>
    );
  }
  if (finding !== undefined) {
    return (
      <span class="soft" title={findingSaid(finding).text}>
        {wordOf('finding', finding.kind)}
      </span>
    );
  }
  return <span class="soft">{description}</span>;
}
