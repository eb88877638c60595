/** All jobs by name: when each runs, what became of its newest runs, and which of them stand still. */
import type { JobList, JobSummary } from '@soda-scheduler/protocol';
import { useFrame } from '../../frame/context.ts';
import { SodaCommand } from '../../parts/copy.tsx';
import { FilterForm, type Search, Tabs, TextFilter } from '../../parts/filters.tsx';
import { Link } from '../../parts/link.tsx';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/page.tsx';
import type { Layout } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';
import { RecentMarks } from './recent.tsx';
import { EnableButton, JobState } from './steer.tsx';
import { Tags } from './tags.tsx';
import { triggerWords, zoneOfNext } from './trigger-words.ts';
import { Zoned } from './zoned.tsx';

const EXAMPLE = `soda job apply -f - <<'EOF'
name: nightly
template:
  task: { type: report, params: {} }
  user: { group: ops }
triggers:
  - cron: 0 3 * * *
    zone: ${Intl.DateTimeFormat().resolvedOptions().timeZone}
EOF`;

export function JobsPage() {
  const { may, link } = useFrame();
  const list = useListed<JobList>('jobs', { path: '/jobs' });
  const { tag, text } = list.filters;
  const isFiltered = Object.keys(list.filters).length > 0;
  return (
    <ListPage
      of={list}
      rowsOf={({ jobs }) => jobs}
      layout={layoutOf(list)}
      actions={
        may('PUT /job/{name}') && (
          <a class="button" href={link('define-job')}>
            {t('jobs.new')}
          </a>
        )
      }
      empty={
        isFiltered ? (
          <Empty title={t('jobs.none-fit')}>
            <a href={link('jobs')}>{t('jobs.all')}</a>
          </Empty>
        ) : (
          <Empty title={t('jobs.none')}>
            <SodaCommand text={EXAMPLE} />
          </Empty>
        )
      }
    >
      <Tabs
        of={[undefined, 'true', 'false'] as const}
        current={list.filters['enabled']}
        linkTo={(enabled) => list.linkTo({ enabled })}
      >
        {(enabled) =>
          t(
            enabled === undefined
              ? 'filter.all-states'
              : enabled === 'true'
                ? 'jobs.on'
                : 'jobs.off',
          )
        }
      </Tabs>
      <FilterForm>
        <TextFilter name="text" label="jobs.text" of={list} />
        <TextFilter name="tag" label="jobs.tag" of={list} />
        {(tag !== undefined || text !== undefined) && (
          <a href={list.linkTo({ tag: undefined, text: undefined })}>{t('filter.none')}</a>
        )}
      </FilterForm>
    </ListPage>
  );
}

const layoutOf = (list: Search): Layout<JobSummary> => ({
  keyOf: ({ name }) => name,
  classOf: (job) => (job.recent[0] === 'failed' || isPaused(job) ? 'bad-row' : ''),
  columns: [
    {
      title: 'job',
      show: ({ name, description, tags }) => (
        <>
          <Link to="job" name={name} />
          {description !== null && <div class="soft cut">{description}</div>}
          <Tags of={tags} linkTo={(tag) => list.linkTo({ tag })} />
        </>
      ),
    },
    {
      title: 'jobs.when',
      class: 'fill name',
      text: 'whole',
      show: ({ triggers }) =>
        triggers.length === 0 ? (
          <span class="soft">{t('jobs.by-hand')}</span>
        ) : (
          triggers
            .slice(0, TRIGGERS_SHOWN)
            .map((trigger) => <div key={trigger.name}>{triggerWords(trigger)}</div>)
        ),
    },
    { title: 'state', show: (job) => <JobState of={job} /> },
    {
      title: 'jobs.next',
      show: (job) => <Zoned at={job.next_at} zone={zoneOfNext(job)} />,
    },
    {
      title: 'jobs.last',
      class: 'wide',
      show: ({ last_started_at: started, last_ended_at: ended }) => (
        <>
          <Time at={started} />
          {ended !== null && (
            <div>
              <small>
                {t('jobs.ended')} <Time at={ended} />
              </small>
            </div>
          )}
        </>
      ),
    },
    { title: 'jobs.recent', show: (job) => <RecentMarks of={job} /> },
    {
      title: 'action.change',
      isTitleHidden: true,
      class: 'num',
      show: (job, reload) => <EnableButton of={job} done={reload} isQuiet />,
    },
  ],
});

const TRIGGERS_SHOWN = 3;

const isPaused = ({ triggers }: JobSummary): boolean =>
  triggers.some(({ paused }) => paused !== null);
