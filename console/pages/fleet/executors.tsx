/** Who runs tasks: those with something to look at first, then by id. */
import type { ExecutorList, ExecutorView } from '@soda-scheduler/protocol';
import { useFrame } from '../../frame/context.ts';
import { Command } from '../../parts/copy.tsx';
import { FilterForm, TextFilter } from '../../parts/filters.tsx';
import { Link } from '../../parts/link.tsx';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/page.tsx';
import { sizeOf } from '../../parts/size.ts';
import type { Layout } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import { FleetBar } from './drain.tsx';
import { Versions } from './versions.tsx';
import { PAGE_ROWS, useWhole } from './whole.ts';

const TERMS = ['label', 'host', 'version'] as const;

export function ExecutorsPage() {
  const { may } = useFrame();
  const list = useListed<ExecutorList>('executors', {
    path: '/executors',
    fields: ['type', ...TERMS],
    limit: PAGE_ROWS,
  });
  const all = useWhole(list.data, list.isFirst, list.filters);
  const { choice } = list;
  // Whoever has come back is another row, which nobody has ticked.
  const present = (list.data?.executors ?? []).filter((one) => choice.chosen.has(keyOf(one)));
  const maySteer = may('POST /executor/{executor_id}/drain');
  return (
    <ListPage
      of={list}
      rowsOf={({ executors }) => [...executors].sort((a, b) => Number(isOdd(b)) - Number(isOdd(a)))}
      layout={executorLayout}
      summary={all !== null && <Summary of={all} />}
      hasChoice={maySteer}
      empty={<NoExecutor />}
    >
      {all !== null && <Versions of={all} />}
      <FilterForm>
        <TextFilter name="type" label="type" of={list} />
        {TERMS.map((name) => (
          <TextFilter key={name} name={name} label={`executor.${name}`} of={list} />
        ))}
      </FilterForm>
      {maySteer && (
        <FleetBar
          chosen={[...new Set(present.map(({ executor_id: id }) => id))]}
          forget={() => choice.choose(new Set())}
          done={list.reload}
        />
      )}
    </ListPage>
  );
}

/** How many are in each state. */
function Summary({ of: executors }: { readonly of: readonly ExecutorView[] }) {
  const counts = new Map<string, number>();
  for (const { state } of executors) counts.set(state, (counts.get(state) ?? 0) + 1);
  return (
    <span class="soft">
      {[...counts].map(([state, n]) => `${wordOf('executor-state', state)} ${n}`).join(' · ')}
    </span>
  );
}

function NoExecutor() {
  const { namespace } = useFrame().place;
  const here = namespace === 'default' ? '' : `, namespace: '${namespace}'`;
  return (
    <Empty title={t('executors.none')}>
      <p>{t('executors.none.how')}</p>
      <Command
        text={`import { createExecutor } from '@soda-scheduler/executor-sdk';

await createExecutor({ url: '${new URL('.', document.baseURI).href.replace(/[/#]*$/, '')}'${here} })
  .handle('hello', async (task) => ({ greeting: \`Hello, \${task.params.name}!\` }))
  .start();`}
      />
    </Empty>
  );
}

/** Something that somebody has to look at. */
export const isOdd = ({ ready, state, superseded }: ExecutorView): boolean =>
  ready?.ok === false || state === 'gone' || superseded;

/** Two processes may have one id for a while. */
const keyOf = ({ executor_id: id, connected_at: at }: ExecutorView): string => `${id} ${at}`;

const executorLayout: Layout<ExecutorView> = {
  keyOf,
  columns: [
    { title: 'state', show: (executor) => <ExecutorState of={executor} /> },
    {
      title: 'executor',
      text: 'id',
      show: ({ executor_id: id }) => <Link to="executor" name={id} />,
    },
    { title: 'executor.current', class: 'fill', show: (executor) => <Current of={executor} /> },
    {
      title: 'types',
      class: 'wide',
      show: ({ types, labels }) => (
        <>
          {types.join(' ')} <span class="soft">{labels.join(' ')}</span>
        </>
      ),
    },
    { title: 'executor.host', class: 'wide', show: ({ host }) => host },
    { title: 'executor.version', class: 'wide', show: ({ version }) => version },
    {
      title: 'executor.cpu',
      class: 'num wide',
      show: ({ cpu_percent: percent }) => percent !== null && `${percent} %`,
    },
    {
      title: 'executor.memory',
      class: 'num wide',
      show: ({ rss_bytes: bytes }) => bytes !== null && sizeOf(bytes),
    },
    {
      title: 'executor.disk',
      class: 'num wide',
      show: ({ ready }) => typeof ready?.disk_bytes === 'number' && sizeOf(ready.disk_bytes),
    },
    { title: 'executor.lag', class: 'num wide', show: ({ loop_lag_ms: ms }) => <Lag ms={ms} /> },
    { title: 'executor.seen', class: 'num', show: ({ last_seen_at: at }) => <Time at={at} /> },
  ],
};

/** Handlers that hold their thread for so long are not told to end in time. */
const LAG_MS_WARN = 1_000;

function Lag({ ms }: { readonly ms: number | null }) {
  if (ms === null) return null;
  return <span class={ms < LAG_MS_WARN ? 'soft' : 'warn'}>{Math.round(ms)} ms</span>;
}

function Current({ of: executor }: { readonly of: ExecutorView }) {
  const { current } = executor;
  if (current === null) return <span class="warn">{troubleOf(executor)}</span>;
  return (
    <>
      <span class="id">
        <Link to="task" name={current.task_id} />
      </span>{' '}
      <span class="soft">
        <Time at={current.since} />
      </span>{' '}
      <span class="warn">{troubleOf(executor)}</span>
    </>
  );
}

/** Why it is given nothing. */
export function troubleOf({
  ready,
  superseded,
  draining,
  drain_reason: why,
}: ExecutorView): string {
  if (superseded) return t('executor.superseded');
  if (ready?.ok === false) return ready.reason ?? t('executor.not-ready');
  if (draining) return why ?? '';
  return '';
}

export function ExecutorState({ of: executor }: { readonly of: ExecutorView }) {
  const { state, ready } = executor;
  const isUnready = ready?.ok === false;
  return (
    <span class="state">
      <i class={`dot dot-${isUnready ? 'unready' : state}`} aria-hidden="true" />
      {isUnready ? t('executor.not-ready') : wordOf('executor-state', state)}
    </span>
  );
}
