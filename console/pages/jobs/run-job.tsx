/** Runs a job now: a form made of the schema of its type, filled with the params of its template; else these as JSON. */
import { jsonAt, type JobView, type TypeView } from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { call, callForText, curlOf, type Request } from '../../api/call.ts';
import { inWords } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { useAnswer, useResource } from '../../frame/resource.ts';
import { go } from '../../frame/route.ts';
import { Copy } from '../../parts/copy.tsx';
import { indented } from '../../parts/indented.ts';
import { Link } from '../../parts/link.tsx';
import { Head, Loaded, Refused } from '../../parts/page.tsx';
import { t } from '../../words/words.ts';
import { Params, useValues } from '../tasks/new-task.tsx';
import { filledFields, paramsText } from '../tasks/schema-fields.ts';
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
  const { place, me } = useFrame();
  const { namespace } = place;
  const { values, set } = useValues();
  const [problem, setProblem] = useState('');
  const type = useAnswer<TypeView>({ path: `/type/${encodeURIComponent(job.type)}` }, EVERY_MS);
  const fields = filledFields(type.data?.params_schema, params);
  const before = indented(params);
  const [was, is] =
    fields === null
      ? [before, values['params'] ?? before]
      : [paramsText(fields, {}), paramsText(fields, values)];
  // What nobody has changed is that of the template, as it is then.
  const request: Request = {
    method: 'POST',
    path: `${pathOf(job.name)}/run`,
    namespace,
    bodyText: is === was ? '{}' : `{"params":${is.trim() === '' ? 'null' : is}}`,
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setProblem('');
    try {
      const { task_id: id } = await call<{ task_id: string }>(request);
      go({ namespace, page: 'task', name: id });
    } catch (error) {
      setProblem(inWords(error));
    }
  };
  if (type.data === null && type.refused === null) return <p class="loading">{t('loading')}</p>;
  return (
    <form class="sheet" onSubmit={(event) => void submit(event)}>
      <p class="soft">
        <Link to="job" name={job.name} /> · <Link to="type" name={job.type} /> · {t('run-job.text')}
      </p>
      <Params fields={fields} values={{ params: before, ...values }} set={set} />
      <Refused why={problem} />
      <footer>
        <button type="submit" class="main">
          {t('jobs.run')}
        </button>
        <Copy text={curlOf(request, me.name !== null)} label={t('copy.curl')} />
      </footer>
    </form>
  );
}
