/** How the newest runs of a job have ended, one mark each, the newest last: as one reads a row. */
import type { JobSummary } from '@soda-scheduler/protocol';
import { t, wordOf } from '../../words/words.ts';

export function RecentMarks({ of: job }: { readonly of: JobSummary }) {
  const { recent, succeeded, failed } = job;
  if (recent.length === 0) return <span class="none">–</span>;
  const said = t('jobs.recent.said', { succeeded, failed });
  return (
    <span class="marks" role="img" aria-label={said} title={said}>
      {recent.toReversed().map((state, at) => (
        <i key={at} class={`mark mark-${state}`} title={wordOf('state', state)} />
      ))}
    </span>
  );
}
