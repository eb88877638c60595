/** What became of a type in the last hour, to this minute. */
import type { RecentReport } from '@soda-scheduler/protocol';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { Time } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';

/** Nothing where this token may not see it, or where there was never anything. */
export function Recent({ type }: { readonly type: string }) {
  const { may } = useFrame();
  const { data } = useAnswer<RecentReport>(
    may('GET /reports/recent') ? { path: '/reports/recent', query: { type } } : null,
    10_000,
  );
  const [of] = data?.types ?? [];
  if (of === undefined) return null;
  const told = [
    ['recent.accepted', of.accepted.toLocaleString()],
    ['recent.started', of.started.toLocaleString()],
    ['state.succeeded', of.succeeded.toLocaleString()],
    ['state.failed', of.failed.toLocaleString()],
    ['recent.last-start', <Time at={of.last_started_at} />],
    ['recent.last-end', <Time at={of.last_ended_at} />],
  ] as const;
  return (
    <p class="summary">
      <span>{t('recent')}</span>
      {told.map(([name, value]) => (
        <span key={name}>
          {t(name)} <span>{value}</span>
        </span>
      ))}
    </p>
  );
}
