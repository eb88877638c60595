/**
 * What is wrong: the verdict of the master with what it has found, what has failed and what was not delivered. What keeps
 * work from being done comes first.
 */
import type { ErrorList, ExecutorList, HealthView, TaskList } from '@soda-scheduler/protocol';
import { call } from '../api/call.ts';
import { masterNow } from '../api/clock.ts';
import { useFrame } from '../frame/context.ts';
import { useAnswer, useResource } from '../frame/resource.ts';
import { Copy } from '../parts/copy.tsx';
import { Time } from '../parts/time.tsx';
import { t, wordOf } from '../words/words.ts';
import { RANKS } from './fleet/findings.ts';
import { isOdd, troubleOf } from './fleet/executors.tsx';

const HOUR_MS = 3_600_000;
const SLOW_MS = 15_000;
const FINDINGS_MAX = 12;

type Link = ReturnType<typeof useFrame>['link'];

interface Finding {
  readonly key: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** Of which kind it is, where the master says it. */
  readonly headline?: string;
  readonly text: string;
  /** What would help. */
  readonly advice?: string;
  /** For a shell. */
  readonly command?: string;
  readonly since?: string | null;
  readonly href: string;
}

const hourAgo = (): string => new Date(masterNow() - HOUR_MS).toISOString();

interface Props {
  /** Null: there is no answer yet. */
  readonly health: HealthView | null;
  /** Null where they are not for whoever looks. */
  readonly executors: ExecutorList | null;
}

export function Wrong({ health, executors }: Props) {
  const { place, link } = useFrame();
  const { namespace } = place;
  const errors = useResource<ErrorList>(
    `errors ${namespace}`,
    (signal) => {
      const query = { from: hourAgo() };
      return call({ path: '/tasks/errors', namespace, query, signal });
    },
    SLOW_MS,
  );
  const lost = useAnswer<TaskList>(
    { path: '/tasks', query: { notification: 'gave_up', limit: 20 } },
    SLOW_MS,
  );
  if (health === null || errors.data === null) return null;
  const findings = [
    ...health.findings.map((finding) => findingOf(finding, link)),
    ...failedOf(errors.data, hourAgo(), link),
    ...(lost.data === null ? [] : gaveUpOf(lost.data, link)),
    ...(executors === null ? [] : oddOf(executors, link)),
  ].sort((a, b) => RANKS[a.severity] - RANKS[b.severity]);
  return (
    <>
      <p class={`verdict verdict-${health.status}`}>
        {wordOf('health', health.status)}
        {!health.figures.fresh && health.figures.at !== null && (
          <span class="warn">
            {' '}
            {t('health.stale')} <Time at={health.figures.at} />
          </span>
        )}
      </p>
      {findings.length > 0 && (
        <ul class="findings" aria-label={t('wrong')}>
          {findings.slice(0, FINDINGS_MAX).map((finding) => (
            <Line key={finding.key} finding={finding} />
          ))}
        </ul>
      )}
      {findings.length > FINDINGS_MAX && (
        <p class="soft">{t('wrong.more', { n: findings.length - FINDINGS_MAX })}</p>
      )}
    </>
  );
}

function Line({ finding }: { readonly finding: Finding }) {
  const { severity, headline, text, advice, command, since, href } = finding;
  return (
    <li class={`finding-${severity}`}>
      <a href={href}>
        {headline !== undefined && <strong>{headline} </strong>}
        {text}
      </a>
      {(since ?? null) !== null && (
        <span class="soft">
          {' '}
          <Time at={since} />
        </span>
      )}
      {advice !== undefined && (
        <p>
          {advice} {command !== undefined && <Copy text={command} label={command} />}
        </p>
      )}
    </li>
  );
}

function findingOf(finding: HealthView['findings'][number], link: Link): Finding {
  const { kind, severity, subject, since, message, cause, advice, command } = finding;
  const [of, name = ''] = subject?.split(/\/(.*)/s) ?? [];
  return {
    key: `${kind} ${subject} ${message}`,
    severity,
    headline: wordOf('finding', kind),
    text: [message, cause].filter((part) => part !== null).join(' '),
    advice,
    command,
    since,
    href:
      of === 'type'
        ? link('type', name)
        : kind === 'callbacks'
          ? link('callbacks')
          : kind === 'failing'
            ? link('failed')
            : link('tasks', null, { state: 'waiting' }),
  };
}

function failedOf({ errors }: ErrorList, from: string, link: Link): Finding[] {
  const [worst] = errors;
  if (worst === undefined) return [];
  const n = errors.reduce((sum, { count }) => sum + count, 0);
  const text = t('wrong.failed', { n, error: wordOf('failure', worst.error) });
  return [{ key: 'failed', severity: 'warning', text, href: link('failed', null, { from }) }];
}

function gaveUpOf({ tasks, next_cursor: next }: TaskList, link: Link): Finding[] {
  if (tasks.length === 0) return [];
  const text = t('wrong.callbacks', { n: tasks.length, more: next === null ? '' : '+' });
  return [{ key: 'callbacks', severity: 'warning', text, href: link('callbacks') }];
}

function oddOf({ executors }: ExecutorList, link: Link): Finding[] {
  return executors.filter(isOdd).map((executor) => {
    const { executor_id: id, state } = executor;
    return {
      key: `executor ${id} ${executor.connected_at}`,
      severity: 'warning',
      text: `${id}: ${troubleOf(executor) || wordOf('executor-state', state)}`,
      href: link('executor', id),
    };
  });
}
