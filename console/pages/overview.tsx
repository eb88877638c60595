/** What is wrong first, then what there is: every number is a link to the list behind it. */
import type {
  ExecutorList,
  ExecutorView,
  HealthView,
  TaskCount,
  TypeList,
} from '@soda-scheduler/protocol';
import { useFrame } from '../frame/context.ts';
import { useAnswer } from '../frame/resource.ts';
import { Link } from '../parts/link.tsx';
import { Empty, Figure, Head, Loaded, Section } from '../parts/page.tsx';
import { Table } from '../parts/table.tsx';
import { t, wordOf } from '../words/words.ts';
import { type Found, worstByType } from './fleet/findings.ts';
import { CountsOfAll, typeLayout, useOrdered } from './fleet/types.tsx';
import { PAGE_ROWS, useWhole } from './fleet/whole.ts';
import { LoadCharts } from './reports/load.tsx';
import { Wrong } from './wrong.tsx';

const LIVE = ['waiting', 'held', 'suspended', 'offered', 'running'] as const;

export function OverviewPage() {
  const { may } = useFrame();
  const health = useAnswer<HealthView>({ path: '/health' });
  const counts = useAnswer<TaskCount>({ path: '/tasks/count' });
  const types = useAnswer<TypeList>({ path: '/types', query: { limit: LOOKED_MAX } });
  const executors = useWhole(
    useAnswer<ExecutorList>(
      may('GET /executors') ? { path: '/executors', query: { limit: PAGE_ROWS } } : null,
    ).data,
  );
  return (
    <>
      <Head title={t('overview')} />
      <Wrong health={health.data} executors={executors} />
      <Loaded of={counts}>{(all) => <Counts of={all} executors={executors} />}</Loaded>
      {/* Where nothing was ever submitted it was not busy either. */}
      {types.data !== null && types.data.types.length > 0 && <LoadCharts />}
      <Loaded of={types}>{(list) => <Types of={list} found={worstByType(health.data)} />}</Loaded>
    </>
  );
}

function Counts({
  of: { states },
  executors,
}: {
  readonly of: TaskCount;
  readonly executors: readonly ExecutorView[] | null;
}) {
  const { link } = useFrame();
  const busy = executors?.filter(({ state }) => state === 'busy').length ?? 0;
  const here = executors?.filter(({ connected }) => connected).length ?? 0;
  return (
    <div class="figures">
      {LIVE.filter(
        (state) => (states[state] ?? 0) > 0 || state === 'waiting' || state === 'running',
      ).map((state) => (
        <Figure
          key={state}
          n={(states[state] ?? 0).toLocaleString()}
          href={link('tasks', null, { state })}
        >
          {wordOf('state', state)}
        </Figure>
      ))}
      {executors !== null && (
        <Figure n={`${busy}/${here}`} href={link('executors')}>
          {t('overview.busy')}
        </Figure>
      )}
    </div>
  );
}

const TYPES_MAX = 15;
/** Types of which the worst are shown: a request has no more. */
const LOOKED_MAX = 200;

interface TypesProps {
  readonly of: TypeList;
  readonly found: Found;
}

function Types({ of: { types, next_cursor: next }, found }: TypesProps) {
  const ordered = useOrdered(types, found);
  if (types.length === 0) {
    return (
      <Empty title={t('overview.none')}>
        <p>{t('tasks.none.how')}</p>
        <Link to="tasks">{t('tasks')}</Link>
      </Empty>
    );
  }
  return (
    <Section title={t('types')} actions={<Link to="types">{t('overview.all')}</Link>}>
      <CountsOfAll />
      <Table of={typeLayout(found)} rows={ordered.slice(0, TYPES_MAX)} />
      {next !== null && <p class="note">{t('overview.types-first', { n: types.length })}</p>}
    </Section>
  );
}
