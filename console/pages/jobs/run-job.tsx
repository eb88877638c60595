/** Runs a job now: a form made of the schema of its type, filled with the params of its template; else these as JSON. */
import { jsonAt, type JobView } from '@soda-scheduler/protocol';
import { callForText, type Request } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { joined } from '../../parts/form/json-text.ts';
import { Link } from '../../parts/link.tsx';
import { Head, Loaded } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import { TaskForm, useFilled, useTyped } from '../tasks/task-form.tsx';
import { pathOf } from './steer.tsx';

const EVERY_MS = 60_000;

interface Told {
  readonly job: JobView;
  /** Of its template, as they are kept. */
  readonly params: string;
}

export function RunJobPage({ name }: { readonly name: string }) {
  const { namespace } = useFrame().place;
  const told = useResource<Told>(
    `run ${namespace} ${name}`,
    async (signal) => {
      const text = await callForText({ path: pathOf(name), namespace, signal });
      const params = jsonAt(text, ['template', 'task', 'params']) ?? 'null';
      return { job: JSON.parse(text) as JobView, params };
    },
    EVERY_MS,
  );
  return (
    <>
      <Head title={t('run-job', { name })} />
      <Loaded of={told}>{(all) => <RunForm of={all} />}</Loaded>
    </>
  );
}

function RunForm({ of: { job, params } }: { readonly of: Told }) {
  const { namespace } = useFrame().place;
  const { typed, set } = useTyped();
  const filled = useFilled(job.type, params, typed);
  if (filled === null) return <p class="loading">{t('loading')}</p>;
  const requestOf = (key?: string): Request => ({
    method: 'POST',
    path: `${pathOf(job.name)}/run`,
    namespace,
    bodyText: joined([
      // What nobody has changed is that of the template, as it is then.
      ['params', filled.changed() ?? undefined],
      ['key', key && JSON.stringify(key)],
    ]),
  });
  return (
    <TaskForm {...{ fields: filled.fields, typed, set }} of={requestOf} verb={t('jobs.run')}>
      <p class="soft">
        <Link to="job" name={job.name} /> · <Link to="type" name={job.type} /> · {t('run-job.text')}
      </p>
    </TaskForm>
  );
}
