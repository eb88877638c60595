/** Who runs tasks: those with something to look at first, then by id. */
import type { ExecutorList, ExecutorView } from '@soda-scheduler/protocol';
import { FilterForm, TextFilter } from '../../parts/filters.tsx';
import { Link } from '../../parts/link.tsx';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/page.tsx';
import type { Layout } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';

const TERMS = ['label', 'host', 'version'] as const;

export function ExecutorsPage() {
  const list = useListed<ExecutorList>('executors', { path: '/executors', limit: 200 });
  return (
    <ListPage
      of={list}
      rowsOf={({ executors }) => [...executors].sort((a, b) => Number(isOdd(b)) - Number(isOdd(a)))}
      layout={executorLayout}
      summary={list.data !== null && <Summary of={list.data.executors} />}
      empty={<NoExecutor />}
    >
      <FilterForm>
        <TextFilter name="type" label="type" of={list} />
        {TERMS.map((name) => (
          <TextFilter key={name} name={name} label={`executor.${name}`} of={list} />
        ))}
      </FilterForm>
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
  return (
    <Empty title={t('executors.none')}>
      <p>{t('executors.none.how')}</p>
      <pre>{`import { createExecutor } from '@soda-scheduler/executor-sdk';

createExecutor({
  url: '${new URL('.', document.baseURI).href.replace(/[/#]*$/, '')}',
  handlers: { hello: async (task) => ({ said: \`Hello \${task.params.name}\` }) },
}).start();`}</pre>
    </Empty>
  );
}

/** Something that somebody has to look at. */
export const isOdd = ({ ready, state, superseded }: ExecutorView): boolean =>
  ready?.ok === false || state === 'gone' || superseded;

const executorLayout: Layout<ExecutorView> = {
  keyOf: ({ executor_id: id, connected_at: at }) => `${id} ${at}`,
  columns: [
    { title: 'state', show: (executor) => <ExecutorState of={executor} /> },
    {
      title: 'executor',
      text: 'id',
      show: ({ executor_id: id }) => <Link to="executor" name={id} />,
    },
    { title: 'executor.current', class: 'fill', show: (executor) => <Current of={executor} /> },
    { title: 'types', class: 'wide', show: ({ types }) => types.join(' ') },
    { title: 'task.labels', class: 'wide', show: ({ labels }) => labels.join(' ') },
    { title: 'executor.host', class: 'wide', show: ({ host }) => host },
    { title: 'executor.version', class: 'wide', show: ({ version }) => version },
    { title: 'executor.seen', class: 'num', show: ({ last_seen_at: at }) => <Time at={at} /> },
  ],
};

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
      </span>
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
