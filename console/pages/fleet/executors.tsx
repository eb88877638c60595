/** Who runs tasks: those with something to look at first, then by id. */
import type { ExecutorList, ExecutorView } from '@soda-scheduler/protocol';
import { call } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { go } from '../../frame/route.ts';
import { Empty, Head, Loaded, Pager } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';

const LIMIT = 200;
const TERMS = ['type', 'label', 'host', 'version'] as const;

export function ExecutorsPage() {
  const { place, link } = useFrame();
  const { namespace, query } = place;
  const { cursor, ...filters } = query;
  const list = useResource<ExecutorList>(`${namespace} ${JSON.stringify(query)}`, (signal) =>
    call({ path: '/executors', namespace, query: { ...query, limit: LIMIT }, signal }),
  );
  return (
    <>
      <Head title={t('executors')}>
        {list.data !== null && <Summary of={list.data.executors} />}
      </Head>
      <form class="filters" aria-label={t('filters')} onSubmit={(event) => event.preventDefault()}>
        {TERMS.map((name) => (
          <label key={name} class="filter">
            <span>{t(name === 'type' ? 'type' : `executor.${name}`)}</span>
            <input
              key={filters[name]}
              defaultValue={filters[name] ?? ''}
              autocomplete="off"
              onChange={({ currentTarget: { value } }) =>
                go({ namespace, page: 'executors', query: { ...filters, [name]: value.trim() } })
              }
            />
          </label>
        ))}
      </form>
      <Loaded of={list}>
        {({ executors, next_cursor: next }) => (
          <>
            {executors.length === 0 ? <NoExecutor /> : <Table executors={executors} />}
            <Pager
              isFirst={cursor === undefined}
              first={link('executors', null, filters)}
              next={next === null ? null : link('executors', null, { ...filters, cursor: next })}
            />
          </>
        )}
      </Loaded>
    </>
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

function Table({ executors }: { readonly executors: readonly ExecutorView[] }) {
  const oddFirst = [...executors].sort((a, b) => Number(isOdd(b)) - Number(isOdd(a)));
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>{t('state')}</th>
            <th>{t('executor')}</th>
            <th class="fill">{t('executor.current')}</th>
            <th class="wide">{t('types')}</th>
            <th class="wide">{t('task.labels')}</th>
            <th class="wide">{t('executor.host')}</th>
            <th class="wide">{t('executor.version')}</th>
            <th class="num">{t('executor.seen')}</th>
          </tr>
        </thead>
        <tbody>
          {oddFirst.map((executor) => (
            <Row key={`${executor.executor_id} ${executor.connected_at}`} executor={executor} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ executor }: { readonly executor: ExecutorView }) {
  const { link } = useFrame();
  const { executor_id: id, current } = executor;
  return (
    <tr>
      <td>
        <ExecutorState of={executor} />
      </td>
      <td class="id">
        <a href={link('executor', id)}>{id}</a>
      </td>
      <td class="fill">
        {current !== null && (
          <>
            <a class="id" href={link('task', current.task_id)}>
              {current.task_id}
            </a>{' '}
            <span class="soft">
              <Time at={current.since} />
            </span>
          </>
        )}
        {current === null && <span class="warn">{troubleOf(executor)}</span>}
      </td>
      <td class="wide">{executor.types.join(' ')}</td>
      <td class="wide">{executor.labels.join(' ')}</td>
      <td class="wide">{executor.host}</td>
      <td class="wide">{executor.version}</td>
      <td class="num">
        <Time at={executor.last_seen_at} />
      </td>
    </tr>
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
