/** What is wrong first, then what there is: every number is a link to the list behind it. */
import type {
  ExecutorList,
  PauseList,
  TaskCount,
  TypeList,
  TypeView,
} from '@soda-scheduler/protocol';
import { useFrame } from '../frame/context.ts';
import { useList } from '../frame/resource.ts';
import { Empty, Head, Loaded, Section } from '../parts/page.tsx';
import { t, wordOf } from '../words/words.ts';
import { Wrong } from './wrong.tsx';

const LIVE = ['waiting', 'held', 'suspended', 'offered', 'running'] as const;

export function OverviewPage() {
  const { may } = useFrame();
  const counts = useList<TaskCount>('/tasks/count');
  const types = useList<TypeList>('/types', { limit: 200 });
  const pauses = useList<PauseList>('/pauses', { limit: 200 });
  const executors = useList<ExecutorList>(may('GET /executors') ? '/executors' : null, {
    limit: 200,
  });
  return (
    <>
      <Head title={t('overview')} />
      <Wrong types={types} pauses={pauses} executors={executors} />
      <Loaded of={counts}>{(all) => <Counts of={all} executors={executors.data} />}</Loaded>
      <Loaded of={types}>{(list) => <Types of={list.types} />}</Loaded>
    </>
  );
}

function Counts({
  of: { states },
  executors,
}: {
  readonly of: TaskCount;
  readonly executors: ExecutorList | null;
}) {
  const { link } = useFrame();
  const busy = executors?.executors.filter(({ state }) => state === 'busy').length ?? 0;
  const here = executors?.executors.filter(({ connected }) => connected).length ?? 0;
  return (
    <div class="figures">
      {LIVE.filter(
        (state) => (states[state] ?? 0) > 0 || state === 'waiting' || state === 'running',
      ).map((state) => (
        <a key={state} href={link('tasks', null, { state })}>
          <b>{(states[state] ?? 0).toLocaleString()}</b> {wordOf('state', state)}
        </a>
      ))}
      {executors !== null && (
        <a href={link('executors')}>
          <b>
            {busy}/{here}
          </b>{' '}
          {t('overview.busy')}
        </a>
      )}
    </div>
  );
}

/** Those of which most waits come first, and before them those that nobody runs. */
const byTrouble = (a: TypeView, b: TypeView): number =>
  rankOf(b) - rankOf(a) || b.counts.waiting - a.counts.waiting || a.type.localeCompare(b.type);
const rankOf = ({ counts, executors, paused }: TypeView): number =>
  counts.waiting === 0 ? 0 : paused !== null || executors === 0 ? 2 : 1;

const TYPES_MAX = 15;

function Types({ of: types }: { readonly of: TypeList['types'] }) {
  const { link } = useFrame();
  if (types.length === 0) {
    return (
      <Empty title={t('overview.none')}>
        <p>{t('tasks.none.how')}</p>
        <a href={link('tasks')}>{t('tasks')}</a>
      </Empty>
    );
  }
  return (
    <Section title={t('types')}>
      <TypeTable types={[...types].sort(byTrouble).slice(0, TYPES_MAX)} />
    </Section>
  );
}

function TypeTable({ types }: { readonly types: TypeList['types'] }) {
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
            <tr key={view.type} class={rankOf(view) === 2 && view.paused === null ? 'bad-row' : ''}>
              <td>
                <a href={link('tasks', null, { type: view.type })}>{view.type}</a>
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
  if (executors === 0 && counts.waiting > 0)
    return <span class="error">{t('why.no_executor')}</span>;
  if (overrides[0] !== undefined) {
    return (
      <span class="warn">
        {t('types.overridden')} {overrides[0].reason}
      </span>
    );
  }
  return <span class="soft">{description}</span>;
}
