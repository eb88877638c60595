/** One command on many tasks, or past times of a job: how far it is, what it could not do, and how to stop it. */
import type { OperationView } from '@soda-scheduler/protocol';
import { useFrame } from '../frame/context.ts';
import { useAnswer } from '../frame/resource.ts';
import { AskButton } from '../parts/ask-button.tsx';
import { Link } from '../parts/link.tsx';
import { Missing } from './missing.tsx';
import { Facts, Head, Loaded, Section } from '../parts/page.tsx';
import { Bar, State } from '../parts/state.tsx';
import { type Layout, Table } from '../parts/table.tsx';
import { TimeInFull } from '../parts/time.tsx';
import { t, wordOf } from '../words/words.ts';

const EVERY_MS = 1_000;

export function OperationPage({ id }: { readonly id: string }) {
  const operation = useAnswer<OperationView>(
    { path: `/operation/${encodeURIComponent(id)}` },
    EVERY_MS,
  );
  return (
    <Loaded
      of={operation}
      none={
        <>
          <Head title={id} />
          <Missing name={id} list="operations" />
        </>
      }
    >
      {(view) => (
        <>
          <Head title={titleOf(view)} actions={<Steering view={view} done={operation.reload} />}>
            <State of={view.state} />
          </Head>
          <Bar of={titleOf(view)} percent={percentOf(view)} />
          <Facts
            of={[
              [
                t('operation.total'),
                `${view.exact ? '' : t('bulk.about')}${view.total.toLocaleString()}`,
              ],
              [t('operation.done'), view.done.toLocaleString()],
              [t('operation.asked'), view.asked > 0 && view.asked.toLocaleString()],
              [t('operation.skipped'), view.skipped > 0 && view.skipped.toLocaleString()],
              [t('operation.failed'), view.failed > 0 && view.failed.toLocaleString()],
              [t('job'), view.filter?.['job'] && <Link to="job" name={`${view.filter['job']}`} />],
              [t('operation.filter'), <FilterText of={view.filter} />],
              [t('field.reason'), view.reason],
              [t('operation.by'), view.by],
              [t('operation.began'), <TimeInFull at={view.created_at} />],
              [t('operation.ended'), view.ended_at && <TimeInFull at={view.ended_at} />],
            ]}
          />
          {view.problems.length > 0 && (
            <Section title={t('operation.problems')}>
              <Table of={problemLayout} rows={view.problems} />
            </Section>
          )}
        </>
      )}
    </Loaded>
  );
}

function titleOf({ action: name, filter }: OperationView): string {
  const action = wordOf('action', name);
  return name === 'backfill'
    ? t('operation.backfill', { action, job: filter?.['job'] ?? '' })
    : t('operation.title', { action });
}

function percentOf({ state, total, done, asked, skipped, failed }: OperationView): number {
  if (state === 'done' || total === 0) return 100;
  return Math.min(99, ((done + asked + skipped + failed) / total) * 100);
}

function FilterText({ of: filter }: { readonly of: OperationView['filter'] }) {
  if (filter === null) return <>{t('operation.named')}</>;
  const text = Object.entries(filter)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  return <span class="id">{text === '' ? t('operation.all') : text}</span>;
}

function Steering({ view, done }: { readonly view: OperationView; readonly done: () => void }) {
  const { namespace } = useFrame().place;
  const verbs =
    view.state === 'running' ? (['pause', 'cancel'] as const) : (['resume', 'cancel'] as const);
  if (view.ended_at !== null) return null;
  return (
    <>
      {verbs.map((verb) => (
        <AskButton
          key={verb}
          route={`POST /operation/{operation_id}/${verb}`}
          question={{
            title: t(`operation.${verb}`),
            verb: t(`operation.${verb}.verb`),
            isGrave: verb === 'cancel',
            request: () => ({
              method: 'POST',
              path: `/operation/${encodeURIComponent(view.operation_id)}/${verb}`,
              namespace,
            }),
            done,
          }}
        />
      ))}
    </>
  );
}

type Problem = OperationView['problems'][number];

const problemLayout: Layout<Problem> = {
  keyOf: ({ task_id: id, message }) => `${id} ${message}`,
  columns: [
    { title: 'outcome', show: ({ kind }) => t(`operation.${kind}`) },
    { title: 'task', text: 'id', show: ({ task_id: id }) => id && <Link to="task" name={id} /> },
    { title: 'events.data', class: 'fill', text: 'whole', show: ({ message }) => message },
  ],
};
