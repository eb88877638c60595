/** One job: what fires it and why that stands still, its times of a month, its newest runs, and how it was before. */
import { firesOf, jsonAt, type JobView, type RunView } from '@soda-scheduler/protocol';
import { callForText } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { SodaCommand } from '../../parts/copy.tsx';
import { Json } from '../../parts/json.tsx';
import { Link } from '../../parts/link.tsx';
import { Missing } from '../missing.tsx';
import { Empty, Facts, Head, Loaded, Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { lengthOf, TimeInFull, Took } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import { BackfillButton } from './backfill.tsx';
import { JobMonth } from './month/month.tsx';
import { RecentMarks } from './recent.tsx';
import { DeleteButton, EnableButton, JobState, pathOf } from './steer.tsx';
import { Tags } from './tags.tsx';
import { overlapWords, zoneOf, zoneOfJob } from './trigger-words.ts';
import { Triggers } from './triggers.tsx';
import { JobVersions } from './versions.tsx';
import { Zoned } from './zoned.tsx';

interface Told {
  readonly job: JobView;
  readonly template: string;
}

export function JobPage({ name }: { readonly name: string }) {
  const { place, may, link } = useFrame();
  const { namespace } = place;
  const told = useResource<Told>(`job ${namespace} ${name}`, async (signal) => {
    const text = await callForText({ path: pathOf(name), namespace, signal });
    return { job: JSON.parse(text) as JobView, template: jsonAt(text, ['template']) ?? '{}' };
  });
  const job = told.data?.job;
  return (
    <>
      <Head
        title={name}
        actions={
          job !== undefined && (
            <>
              {may('POST /job/{name}/run') && (
                <a class="button" href={link('run-job', name)}>
                  {t('jobs.run')}
                </a>
              )}
              <BackfillButton of={job} />
              {may('PUT /job/{name}') && (
                <a class="button" href={link('define-job', name)}>
                  {t('action.change')}
                </a>
              )}
              <EnableButton of={job} done={told.reload} />
              <DeleteButton of={job} />
            </>
          )
        }
      >
        {job !== undefined && <JobState of={job} />}
      </Head>
      <Loaded of={told} none={<Missing name={name} list="jobs" />}>
        {({ job: view, template }) => <Whole of={view} template={template} reload={told.reload} />}
      </Loaded>
    </>
  );
}

/** When it is fired, whatever is left out before. */
function Next({ of: job }: { readonly of: JobView }) {
  const [next] = firesOf(job);
  const trigger = job.triggers.find(({ name }) => name === next?.trigger);
  return <Zoned at={next?.at ?? null} zone={zoneOf(trigger)} />;
}

interface WholeProps {
  readonly of: JobView;
  readonly template: string;
  readonly reload: () => void;
}

function Whole({ of: job, template, reload }: WholeProps) {
  const { link } = useFrame();
  const { description, warnings, triggers, runs, name } = job;
  const zone = zoneOfJob(triggers);
  return (
    <>
      {description !== null && <p class="said">{description}</p>}
      {warnings.length > 0 && <p class="remark">{warnings.join('\n')}</p>}
      <Facts
        of={[
          [t('jobs.next'), firesOf(job).length > 0 && <Next of={job} />],
          [t('jobs.recent'), job.recent.length > 0 && <RecentMarks of={job} />],
          [t('type'), <Link to="type" name={job.type} />],
          [t('group'), job.group],
          [
            t('jobs.tags'),
            job.tags.length > 0 && (
              <Tags of={job.tags} linkTo={(tag) => link('jobs', null, { tag })} />
            ),
          ],
          [t('job.overlap'), overlapWords(job.overlap)],
          [t('job.misfire'), lateWords(job)],
          [
            t('job.pause-after'),
            job.pause_after !== null && t('job.pause-after.n', { n: job.pause_after }),
          ],
          [
            t('job.changed'),
            <>
              <TimeInFull at={job.changed_at} /> {job.by}
            </>,
          ],
        ]}
      />
      <Triggers of={job} />
      {job.blackouts.length > 0 && (
        <Section title={t('job.blackouts')}>
          <ul class="plain">
            {job.blackouts.map(({ from, to, reason }) => (
              <li key={from}>
                <Zoned at={from} zone={zone} /> – <Zoned at={to} zone={zone} /> {reason}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <JobMonth of={job} reload={reload} />
      <Section
        title={t('runs')}
        actions={<a href={link('tasks', null, { job: name })}>{t('failed.as-list')}</a>}
      >
        {runs.length === 0 ? (
          <Empty title={t('runs.none')}>
            <SodaCommand text={`soda job run ${name}`} />
          </Empty>
        ) : (
          <Table of={runLayoutOf(triggers)} rows={runs} />
        )}
      </Section>
      <JobVersions of={job} done={reload} />
      <Section title={t('job.template')}>
        <Json text={template} label={t('job.template')} />
      </Section>
    </>
  );
}

const lateWords = ({ misfire, grace }: JobView): string =>
  t('job.late', { length: lengthOf(1000 * grace), what: wordOf('misfire', misfire) });

const runLayoutOf = (triggers: JobView['triggers']): Layout<RunView> => ({
  keyOf: ({ task_id: id }) => id,
  columns: [
    {
      title: 'state',
      show: ({ state }) =>
        state === null ? <span class="soft">{t('runs.gone')}</span> : <State of={state} />,
    },
    {
      title: 'task',
      class: 'fill name',
      text: 'id',
      show: ({ task_id: id, state }) => (state === null ? id : <Link to="task" name={id} />),
    },
    { title: 'job.trigger', class: 'wide', show: ({ trigger }) => trigger ?? t('runs.by-hand') },
    {
      title: 'runs.started',
      show: ({ started_at: at, trigger }) => (
        <Zoned at={at} zone={zoneOf(triggers.find(({ name }) => name === trigger))} />
      ),
    },
    {
      title: 'runs.took',
      class: 'num',
      show: ({ started_at: from, finished_at: to }) => <Took from={from} to={to} />,
    },
  ],
});
