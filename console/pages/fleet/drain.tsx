/** To drain executors, one or those that were chosen, and to take them back into work. */
import type { Request } from '../../api/call.ts';
import { ask, type Question, reasonField } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import type { Field } from '../../parts/form/fields.ts';
import { t } from '../../words/words.ts';

export function drainFields(): Field[] {
  return [
    reasonField(),
    {
      name: 'minutes',
      label: t('executor.drain.minutes'),
      kind: 'number',
      hint: t('executor.drain.hint'),
    },
  ];
}

/** @param path of the executor. */
export function drainRequest(
  path: string,
  namespace: string,
  { reason = '', minutes = '' }: Readonly<Record<string, string>>,
): Request {
  return {
    method: 'POST',
    path: `${path}/drain`,
    namespace,
    body: {
      ...(reason !== '' && { reason }),
      ...(minutes !== '' && { timeout: Number(minutes) * 60 }),
    },
  };
}

interface Props {
  /** Their ids. */
  readonly chosen: readonly string[];
  readonly forget: () => void;
  readonly done: () => void;
}

/** What can be done to those that are ticked. */
export function FleetBar({ chosen, forget, done }: Props) {
  const { namespace } = useFrame().place;
  const n = chosen.length;
  if (n === 0) return null;
  const paths = chosen.map((id) => `/executor/${encodeURIComponent(id)}`);
  const after = (): void => {
    forget();
    done();
  };
  const drain: Question = {
    title: t('executor.drain.many', { n }),
    text: chosen.join(', '),
    verb: t('executor.drain.verb'),
    fields: drainFields(),
    request: (values) => paths.map((path) => drainRequest(path, namespace, values)),
    isGoneDone: true,
    done: after,
  };
  const resume: Question = {
    title: t('executor.resume.many', { n }),
    text: chosen.join(', '),
    verb: t('executor.resume.verb'),
    request: () => paths.map((path) => ({ method: 'POST', path: `${path}/resume`, namespace })),
    isGoneDone: true,
    done: after,
  };
  return (
    <div class="bulk">
      <span>{t('bulk.chosen', { n })}</span>
      {[drain, resume].map((question) => (
        <button key={question.verb} type="button" class="quiet" onClick={() => ask(question)}>
          {question.verb}
        </button>
      ))}
      <button type="button" class="quiet" onClick={forget}>
        {t('bulk.none')}
      </button>
    </div>
  );
}
