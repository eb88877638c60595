/** What is set for each type, and what of it waits: those with something to look at first. */
import type { TypeList, TypeView } from '@soda-scheduler/protocol';
import { useFrame } from '../../frame/context.ts';
import { useList } from '../../frame/resource.ts';
import { Empty, Head, Loaded, Pager } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';

const LIMIT = 200;

export function TypesPage() {
  const { place, link } = useFrame();
  const { cursor } = place.query;
  const list = useList<TypeList>('/types', { limit: LIMIT, cursor });
  return (
    <>
      <Head title={t('types')} />
      <Loaded of={list}>
        {({ types, next_cursor: next }) => (
          <>
            {types.length === 0 ? (
              <Empty title={t('types.none')}>
                <pre>soda type set encode limits.max_running=4</pre>
              </Empty>
            ) : (
              <TypeTable types={[...types].sort(byTrouble)} />
            )}
            <Pager
              isFirst={cursor === undefined}
              first={link('types')}
              next={next === null ? null : link('types', null, { cursor: next })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

/** Those of which most waits come first, and before them those that nobody runs. */
export const byTrouble = (a: TypeView, b: TypeView): number =>
  rankOf(b) - rankOf(a) || b.counts.waiting - a.counts.waiting || a.type.localeCompare(b.type);
const rankOf = ({ counts, executors, paused }: TypeView): number =>
  counts.waiting === 0 ? 0 : paused !== null || executors === 0 ? 2 : 1;

/** For whoever sees some groups only: nobody counts them by type as well. */
export function CountsOfAll() {
  const { scope } = useFrame().me;
  return scope?.groups === undefined ? null : <p class="note">{t('types.of-all-groups')}</p>;
}

export function TypeTable({ types }: { readonly types: TypeList['types'] }) {
  const { link } = useFrame();
  const count = (type: string, state: string, n: number) => (
    <td class={state === 'held' ? 'num wide' : 'num'}>
      {n === 0 ? (
        <span class="none">0</span>
      ) : (
        <a href={link('tasks', null, { type, state })}>{n.toLocaleString()}</a>
      )}
    </td>
  );
  return (
    <>
      <CountsOfAll />
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>{t('type')}</th>
              <th class="num">{t('state.waiting')}</th>
              <th class="num">{t('state.running')}</th>
              <th class="num wide">{t('state.held')}</th>
              <th class="num">{t('executors')}</th>
              <th class="fill">{t('types.note')}</th>
            </tr>
          </thead>
          <tbody>
            {types.map((view) => (
              <tr
                key={view.type}
                class={rankOf(view) === 2 && view.paused === null ? 'bad-row' : ''}
              >
                <td>
                  <a href={link('type', view.type)}>{view.type}</a>
                </td>
                {count(view.type, 'waiting', view.counts.waiting)}
                {count(view.type, 'running', view.counts.running)}
                {count(view.type, 'held', view.counts.held)}
                <td class="num">{view.executors}</td>
                <td class="fill">
                  <TypeNote of={view} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function TypeNote({
  of: { paused, overrides, executors, counts, description },
}: {
  readonly of: TypeView;
}) {
  if (paused !== null) {
    return (
      <span class="warn">
        {t('state.paused')} {paused.reason}
      </span>
    );
  }
  if (executors === 0 && counts.waiting > 0) {
    return <span class="error">{t('why.no_executor')}</span>;
  }
  if (overrides[0] !== undefined) {
    return (
      <span class="warn">
        {t('types.overridden')} {overrides[0].reason}
      </span>
    );
  }
  return <span class="soft">{description}</span>;
}
