/** One executor: what it does, what it says of itself, what operators have decided, and what it has had. */
import type { ExecutorView, TaskList } from '@soda-scheduler/protocol';
import type { RouteName } from '../../api/me.ts';
import type { Question } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { go } from '../../frame/route.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { Link } from '../../parts/link.tsx';
import { Missing } from '../missing.tsx';
import { Facts, Head, Loaded, Section } from '../../parts/page.tsx';
import { sizeOf } from '../../parts/size.ts';
import { Outcome } from '../../parts/state.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { Time, TimeInFull } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';
import { drainFields, drainRequest } from './drain.tsx';
import { ExecutorState, troubleOf } from './executors.tsx';
import { taskLayout } from '../tasks/tasks.tsx';

export function ExecutorPage({ id }: { readonly id: string }) {
  const path = `/executor/${encodeURIComponent(id)}`;
  const executor = useAnswer<ExecutorView>({ path });
  const tasks = useAnswer<TaskList>({ path: `${path}/tasks`, query: { limit: 20 } });
  return (
    <>
      <Head
        title={id}
        actions={executor.data !== null && <Actions of={executor.data} done={executor.reload} />}
      >
        {executor.data !== null && <ExecutorState of={executor.data} />}
        {executor.data !== null && (
          <Link to="bookings" query={{ executor: id, by: 'executor' }}>
            {t('bookings')}
          </Link>
        )}
      </Head>
      <Loaded of={executor} none={<Missing name={id} list="executors" />}>
        {(view) => <Whole of={view} />}
      </Loaded>
      {tasks.data !== null && tasks.data.tasks.length > 0 && (
        <Section title={t('tasks')}>
          <Table of={taskLayout} rows={tasks.data.tasks} />
        </Section>
      )}
    </>
  );
}

function Whole({ of: view }: { readonly of: ExecutorView }) {
  const { current, override, own, ready } = view;
  const trouble = troubleOf(view);
  return (
    <>
      {trouble !== '' && <p class="remark">{trouble}</p>}
      <Facts
        of={[
          [
            t('executor.current'),
            current && (
              <>
                <span class="id">
                  <Link to="task" name={current.task_id} />
                </span>{' '}
                <Time at={current.since} />
              </>
            ),
          ],
          [t('executor.booked'), view.booked && <Booked by={view.booked} />],
          [t('types'), view.types.join(' ')],
          [t('task.labels'), view.labels.join(' ')],
          [t('executor.reserve'), view.reserve.join(' ')],
          [t('executor.own-labels'), override.labels && (own.labels.join(' ') || '–')],
          [t('executor.own-reserve'), override.reserve && (own.reserve.join(' ') || '–')],
          [t('executor.set-by'), override.by],
          [t('executor.host'), view.host],
          [t('executor.pid'), view.connected && view.pid],
          [t('executor.version'), view.version],
          [t('executor.sdk'), view.sdk],
          [t('executor.since'), view.connected_at && <TimeInFull at={view.connected_at} />],
          [t('executor.seen'), view.last_seen_at && <TimeInFull at={view.last_seen_at} />],
          [t('executor.lease'), view.lease_until && <TimeInFull at={view.lease_until} />],
          [t('executor.lag'), view.loop_lag_ms !== null && `${view.loop_lag_ms} ms`],
          [t('executor.cpu'), view.cpu_percent !== null && `${view.cpu_percent} %`],
          [t('executor.memory'), view.rss_bytes && sizeOf(view.rss_bytes)],
          [t('executor.disk'), ready?.disk_bytes && sizeOf(ready.disk_bytes)],
          [t('executor.drained'), view.drained_at && <TimeInFull at={view.drained_at} />],
          [t('executor.drained-by'), view.drained_by],
          [
            t('executor.drain-deadline'),
            view.drain_deadline && <TimeInFull at={view.drain_deadline} />,
          ],
        ]}
      />
      {view.last.length > 0 && (
        <Section title={t('executor.last')}>
          <Table of={lastLayout} rows={view.last} />
        </Section>
      )}
    </>
  );
}

function Booked({ by }: { readonly by: NonNullable<ExecutorView['booked']> }) {
  const { booking_id: id, state, until } = by;
  return (
    <>
      {id !== null && <Link to="booking" name={id} />} {t(`executor.booked.${state}`)}{' '}
      <TimeInFull at={until} />
    </>
  );
}

type Last = ExecutorView['last'][number];

const lastLayout: Layout<Last> = {
  keyOf: ({ task_id: id, attempt }) => `${id} ${attempt}`,
  columns: [
    { title: 'outcome', show: ({ state }) => <Outcome of={state} /> },
    {
      title: 'task',
      class: 'fill',
      text: 'id',
      show: ({ task_id: id }) => <Link to="task" name={id} />,
    },
    { title: 'type', show: ({ type }) => type },
    { title: 'attempt', class: 'num', show: ({ attempt }) => attempt },
    { title: 'when', class: 'num', show: ({ at }) => <Time at={at} /> },
  ],
};

function Actions({ of: view, done }: { readonly of: ExecutorView; readonly done: () => void }) {
  const { namespace } = useFrame().place;
  const { executor_id: id } = view;
  const path = `/executor/${encodeURIComponent(id)}`;
  const button = (
    verb: 'drain' | 'resume' | 'label' | 'remove',
    route: RouteName,
    rest: Omit<Question, 'title' | 'verb'>,
  ) => {
    const title = t(verb === 'label' ? 'executor.labels' : `executor.${verb}`, { id });
    const words = { title, verb: t(`executor.${verb}.verb`) };
    return <AskButton route={route} question={{ ...words, done, ...rest }} />;
  };
  const isDrained = view.drained_at !== null;
  return (
    <>
      {!isDrained &&
        button('drain', 'POST /executor/{executor_id}/drain', drainOf(view, path, namespace))}
      {isDrained &&
        button('resume', 'POST /executor/{executor_id}/resume', {
          request: () => ({ method: 'POST', path: `${path}/resume`, namespace }),
        })}
      {button('label', 'PATCH /executor/{executor_id}', labelsOf(view, path, namespace))}
      {view.state === 'gone' &&
        button('remove', 'DELETE /executor/{executor_id}', {
          isGrave: true,
          request: () => ({ method: 'DELETE', path, namespace }),
          done: () => go({ namespace, page: 'executors' }),
        })}
    </>
  );
}

function drainOf({ lasting }: ExecutorView, path: string, namespace: string) {
  return {
    text: t(lasting ? 'executor.drain.text' : 'executor.drain.not-lasting'),
    fields: drainFields(),
    request: (values) => drainRequest(path, namespace, values),
  } satisfies Omit<Question, 'title' | 'verb'>;
}

/** Both as they count now; what is emptied is none, and its own word counts again where nothing was changed. */
function labelsOf({ labels, reserve, own }: ExecutorView, path: string, namespace: string) {
  const listed = (text = '', its: readonly string[]) => {
    const all = text.split(/[\s,]+/).filter((one) => one !== '');
    return all.join() === its.join() ? null : all;
  };
  return {
    text: t('executor.label.text'),
    fields: [
      { name: 'labels', label: t('task.labels'), initial: labels.join(' ') },
      { name: 'reserve', label: t('executor.reserve'), initial: reserve.join(' ') },
    ],
    request: ({ labels: given, reserve: kept }) => ({
      method: 'PATCH',
      path,
      namespace,
      body: { labels: listed(given, own.labels), reserve: listed(kept, own.reserve) },
    }),
  } satisfies Omit<Question, 'title' | 'verb'>;
}
