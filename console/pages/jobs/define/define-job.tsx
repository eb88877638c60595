/** A job that is made, or changed: as a form, or as JSON; with its next times, before it is saved. */
import { firesOf, jsonAt, type JobView } from '@soda-scheduler/protocol';
import { callForText } from '../../../api/call.ts';
import { useFrame } from '../../../frame/context.ts';
import { useResource } from '../../../frame/resource.ts';
import { type Defined, Definition, type Ground } from '../../../parts/form/definition.tsx';
import { Loaded } from '../../../parts/page.tsx';
import { t, wordOf } from '../../../words/words.ts';
import { jobFields, withTyped } from './job-fields.ts';
import { pathOf } from '../steer.tsx';
import { zoneOf } from '../trigger-words.ts';
import { Zoned } from '../zoned.tsx';

/** @param name null: a new job. */
export function DefineJobPage({ name }: { readonly name: string | null }) {
  const { namespace } = useFrame().place;
  const ground = useResource<Ground>(
    name === null ? null : `define-job ${namespace} ${name}`,
    async (signal) => {
      const text = await callForText({ path: pathOf(name ?? ''), namespace, signal });
      const { version } = JSON.parse(text) as JobView;
      return { version, definition: jsonAt(text, ['request']) ?? '{}' };
    },
  );
  const of: Defined = {
    page: 'job',
    nameField: { name: 'name', label: t('tokens.name'), isRequired: true, preset: 'nightly' },
    title: name === null ? t('jobs.new') : t('define.title', { type: name }),
    rest: t('job.rest'),
    pathOf,
    fieldsOf: jobFields,
    withTyped,
    told: (answer) => <NextTimes of={answer as JobView} />,
  };
  if (name === null) return <Definition of={of} name={null} ground={beginning()} />;
  return (
    <Loaded of={ground}>{(found) => <Definition of={of} name={name} ground={found} />}</Loaded>
  );
}

/** What a new one says at first. */
function beginning(): Ground {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const template = { task: { type: '', params: {} }, user: { group: '' } };
  const triggers = [{ cron: '0 3 * * *', zone }];
  return { version: 0, definition: JSON.stringify({ template, triggers }) };
}

/** By what it would be: some times, and of each trigger one that fires. */
function NextTimes({ of: job }: { readonly of: JobView }) {
  const shown = new Set(job.next.map(({ trigger, nominal }) => `${trigger} ${nominal}`));
  const later = firesOf(job).filter(({ trigger, nominal }) => !shown.has(`${trigger} ${nominal}`));
  return (
    <>
      {job.warnings.length > 0 && <p class="remark">{job.warnings.join('\n')}</p>}
      <h3>{t('job.next-times')}</h3>
      {job.next.length === 0 && <p class="soft">{t('jobs.by-hand')}</p>}
      <ul class="plain">
        {[...job.next, ...later].map(({ trigger, nominal, at, outcome, reason }) => (
          <li key={`${trigger} ${nominal}`}>
            <Zoned
              at={at ?? nominal}
              zone={zoneOf(job.triggers.find(({ name }) => name === trigger))}
            />{' '}
            {outcome !== 'runs' && wordOf('turn', outcome)} <span class="soft">{reason}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
