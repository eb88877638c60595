/** What fires a job: when, by which calendar, how often it has, and why one stands still. */
import { firesOf, type JobView, type TriggerView } from '@soda-scheduler/protocol';
import { useFrame } from '../../frame/context.ts';
import { Link } from '../../parts/link.tsx';
import { Section } from '../../parts/page.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { TimeInFull } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';
import { ownSettings, triggerWords, zoneOf } from './trigger-words.ts';
import { Zoned } from './zoned.tsx';

export function Triggers({ of: job }: { readonly of: JobView }) {
  const { triggers } = job;
  return (
    <Section title={t('job.triggers')}>
      {triggers.length === 0 ? (
        <p class="soft">{t('jobs.by-hand')}</p>
      ) : (
        <Table of={layoutOf(job)} rows={triggers} />
      )}
    </Section>
  );
}

const layoutOf = (job: JobView): Layout<TriggerView> => ({
  keyOf: ({ name }) => name,
  classOf: ({ paused }) => (paused === null ? '' : 'bad-row'),
  columns: [
    { title: 'job.trigger', show: ({ name }) => name },
    {
      title: 'jobs.when',
      class: 'fill name',
      text: 'whole',
      show: (one) => <When of={one} job={job} />,
    },
    {
      title: 'state',
      show: ({ paused, enabled, failures_in_row: failures }) =>
        paused !== null ? (
          <span class="state">
            <i class="dot dot-paused" aria-hidden="true" />
            {t('state.paused')}
          </span>
        ) : !enabled || !job.enabled ? (
          t('jobs.disabled')
        ) : (
          <>
            {t('jobs.enabled')}
            {failures > 0 && <div class="error">{t('job.failures', { n: failures })}</div>}
          </>
        ),
    },
    {
      title: 'jobs.next',
      show: (one) => {
        const next = firesOf(job).find(({ trigger }) => trigger === one.name);
        return <Zoned at={next?.at ?? null} zone={zoneOf(one)} />;
      },
    },
    {
      title: 'jobs.last',
      class: 'wide',
      show: (one) => <Zoned at={one.last_at} zone={zoneOf(one)} />,
    },
    {
      title: 'job.fired',
      class: 'num wide',
      show: ({ runs, max_runs: max }) =>
        max === undefined
          ? runs.toLocaleString()
          : `${runs.toLocaleString()} / ${max.toLocaleString()}`,
    },
  ],
});

/** In words, as it is written, and on which days. */
function When({ of: trigger, job }: { readonly of: TriggerView; readonly job: JobView }) {
  const settings = ownSettings(trigger, job);
  const { cron, only_on: only, except, shift, paused } = trigger;
  const words = triggerWords(trigger);
  return (
    <>
      {words} {cron !== undefined && cron !== words && <code class="soft">{cron}</code>}{' '}
      {trigger.kind === 'cron' && <span class="soft">{trigger.zone}</span>}
      {only !== undefined && <Days of={only} title={t('trigger.only-on')} />}
      {except !== undefined && <Days of={except} title={t('trigger.except')} />}
      {shift !== undefined && shift !== 'skip' && (
        <div class="soft">{t(`trigger.shift.${shift}`)}</div>
      )}
      {settings.length > 0 && <div class="soft">{settings.join(' · ')}</div>}
      {paused !== null && (
        <div class="error">
          {paused.reason}{' '}
          <small>
            <TimeInFull at={paused.at} />
          </small>
        </div>
      )}
      {trigger.on !== undefined && <OtherJob name={trigger.on.job} />}
    </>
  );
}

interface DaysProps {
  readonly of: NonNullable<TriggerView['only_on']>;
  readonly title: string;
}

function Days({ of: days, title }: DaysProps) {
  const { calendar, label = '' } = typeof days === 'string' ? { calendar: days } : days;
  return (
    <div class="soft">
      {title} <Link to="calendar" name={calendar} /> {label}
    </div>
  );
}

function OtherJob({ name }: { readonly name: string }) {
  const { link } = useFrame();
  return (
    <div>
      <a href={link('job', name)}>{name}</a>
    </div>
  );
}
