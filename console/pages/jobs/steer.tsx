/** What can be done to a job as a whole, and the state that comes of it. */
import type { JobSummary } from '@soda-scheduler/protocol';
import { useFrame } from '../../frame/context.ts';
import { go } from '../../frame/route.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { t } from '../../words/words.ts';

export const pathOf = (name: string): string => `/job/${encodeURIComponent(name)}`;

/** A trigger that failures have paused comes first: somebody has to look at it. */
export function JobState({ of: job }: { readonly of: JobSummary }) {
  const { enabled, triggers, running, pending } = job;
  const paused = triggers.filter((one) => one.paused !== null).length;
  const [dot, word] = !enabled
    ? ['canceled', t('jobs.disabled')]
    : paused > 0
      ? ['paused', t('jobs.paused', { n: paused })]
      : running > 0
        ? ['running', t('jobs.running', { n: running })]
        : ['succeeded', t('jobs.enabled')];
  return (
    <>
      <span class="state">
        <i class={`dot dot-${dot}`} aria-hidden="true" />
        {word}
      </span>
      {pending > 0 && <div class="soft">{t('jobs.pending', { n: pending })}</div>}
    </>
  );
}

interface Props {
  readonly of: JobSummary;
  readonly done: () => void;
  readonly isQuiet?: boolean;
}

/** Enables it too where triggers of it are paused. */
export function EnableButton({ of: job, done, isQuiet = false }: Props) {
  const { namespace } = useFrame().place;
  const { name, enabled, triggers, running } = job;
  const isOn = enabled && triggers.every(({ paused }) => paused === null);
  const verb = isOn ? 'disable' : 'enable';
  return (
    <AskButton
      route={`POST /job/{name}/${verb}`}
      isQuiet={isQuiet}
      question={{
        title: t(`jobs.${verb}`, { name }),
        text: t(`jobs.${verb}.text`, { n: isOn ? running : 0 }),
        verb: t(`jobs.${verb}.verb`),
        request: () => ({ method: 'POST', path: `${pathOf(name)}/${verb}`, namespace }),
        done,
      }}
    />
  );
}

export function DeleteButton({ of: job }: { readonly of: JobSummary }) {
  const { namespace } = useFrame().place;
  const { name, version, triggers, running } = job;
  return (
    <AskButton
      route="DELETE /job/{name}"
      question={{
        title: t('jobs.delete', { name }),
        text: `${t('jobs.delete.text', { n: triggers.length })} ${t('jobs.delete.running', { n: running })}`,
        verb: t('action.delete'),
        isGrave: true,
        request: () => ({
          method: 'DELETE',
          path: pathOf(name),
          namespace,
          headers: { 'if-match': `"${version}"` },
        }),
        done: () => go({ namespace, page: 'jobs' }),
      }}
    />
  );
}
