/** What is wrong first, then what there is: every number is a link to the list behind it. */
import type { ExecutorList, TaskCount, TypeList } from '@soda-scheduler/protocol';
import { useFrame } from '../frame/context.ts';
import { useList } from '../frame/resource.ts';
import { Empty, Head, Loaded, Section } from '../parts/page.tsx';
import { t, wordOf } from '../words/words.ts';
import { byTrouble, TypeTable } from './fleet/types.tsx';
import { Wrong } from './wrong.tsx';

const LIVE = ['waiting', 'held', 'suspended', 'offered', 'running'] as const;

export function OverviewPage() {
  const { may } = useFrame();
  const counts = useList<TaskCount>('/tasks/count');
  const types = useList<TypeList>('/types', { limit: 200 });
  const executors = useList<ExecutorList>(may('GET /executors') ? '/executors' : null, {
    limit: 200,
  });
  return (
    <>
      <Head title={t('overview')} />
      <Wrong executors={executors.data} />
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
    <Section title={t('types')} actions={<a href={link('types')}>{t('overview.all')}</a>}>
      <TypeTable types={[...types].sort(byTrouble).slice(0, TYPES_MAX)} />
    </Section>
  );
}
