/**
 * What is wrong: the verdict of the master with what it has found, what has failed and what was not delivered. What keeps
 * work from being done comes first.
 */
import type {
  ErrorList,
  ExecutorView,
  HealthView,
  RecentReport,
  TaskList,
} from '@soda-scheduler/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { masterNow } from '../api/clock.ts';
import { useFrame } from '../frame/context.ts';
import { useAnswer, useResource } from '../frame/resource.ts';
import { Copy } from '../parts/copy.tsx';
import { Time } from '../parts/time.tsx';
import { language, speakOfAll, t, wordOf } from '../words/words.ts';
import { findingSaid } from './alerts/finding-said.ts';
import { RANKS } from './fleet/findings.ts';
import { isOdd, troubleOf } from './fleet/executors.tsx';

const HOUR_MS = 3_600_000;
const SLOW_MS = 15_000;
const FINDINGS_MAX = 12;
/** What is found no more is shown for so long. */
const STAYS_MS = 60_000;

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
  readonly executors: readonly ExecutorView[] | null;
}

export function Wrong({ health, executors }: Props) {
  const findings = useFindings(health, executors);
  const areSentencesHere = useSentences();
  if (health === null || findings === null || !areSentencesHere) return null;
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

/** What is found is said in English by the master; the sentences of another language are not of the first load. */
function useSentences(): boolean {
  const spoken = language();
  const [loaded, setLoaded] = useState('en-GB');
  const isHere = spoken === 'en-GB' || spoken === loaded;
  useEffect(() => {
    if (isHere) return;
    // Without them, as the master says it.
    const done = (): void => setLoaded(spoken);
    speakOfAll().then(done, done);
  }, [isHere, spoken]);
  return isHere;
}

/** Null: not all is known yet. */
function useFindings(
  health: Props['health'],
  executors: Props['executors'],
): readonly Lasting[] | null {
  const { place, link, may } = useFrame();
  const { namespace } = place;
  const errors = useResource<ErrorList>(
    `errors ${namespace}`,
    (signal) => {
      const query = { from: hourAgo() };
      return call({ path: '/tasks/errors', namespace, query, signal });
    },
    SLOW_MS,
  );
  // One request looks at so many tasks: whether there are more, and how many, is known by type.
  const isPart = (errors.data?.next_cursor ?? null) !== null;
  const recent = useAnswer<RecentReport>(
    isPart && may('GET /reports/recent') ? { path: '/reports/recent' } : null,
    SLOW_MS,
  );
  const lost = useAnswer<TaskList>(
    { path: '/tasks', query: { notification: 'gave_up', limit: 20 } },
    SLOW_MS,
  );
  const isKnown = health !== null && errors.data !== null;
  const found = !isKnown
    ? []
    : [
        ...health.findings.map((finding) => findingOf(finding, link)),
        ...failedOf(errors.data, recent.data, hourAgo(), link),
        ...(lost.data === null ? [] : gaveUpOf(lost.data, link)),
        ...(executors === null ? [] : oddOf(executors, link)),
      ];
  const findings = useLasting(found, namespace);
  return isKnown ? findings : null;
}

interface Lasting extends Finding {
  readonly isOver: boolean;
}

/** Some come and go every few seconds: each stays for a while, so that what is below does not jump. */
function useLasting(found: readonly Finding[], namespace: string): readonly Lasting[] {
  const kept = useRef({ namespace, byKey: new Map<string, { finding: Finding; at: number }>() });
  if (kept.current.namespace !== namespace) kept.current = { namespace, byKey: new Map() };
  const { byKey } = kept.current;
  const now = Date.now();
  const here = new Set<string>();
  for (const finding of found) {
    const key = here.has(finding.key) ? `${finding.key} ${finding.text}` : finding.key;
    here.add(key);
    byKey.set(key, { finding, at: now });
  }
  const all: Lasting[] = [];
  for (const [key, { finding, at }] of byKey) {
    if (now - at >= STAYS_MS) byKey.delete(key);
    else all.push({ ...finding, key, isOver: !here.has(key) });
  }
  const shown = all.length > FINDINGS_MAX ? all.filter(({ isOver }) => !isOver) : all;
  return shown.sort((a, b) => RANKS[a.severity] - RANKS[b.severity]);
}

function Line({ finding }: { readonly finding: Lasting }) {
  const { severity, headline, text, advice, command, since, href, isOver } = finding;
  return (
    <li class={isOver ? 'soft' : `finding-${severity}`}>
      {isOver && `${t('wrong.over')} `}
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
  const { kind, severity, subject, since, command } = finding;
  const [of, name = ''] = subject?.split(/\/(.*)/s) ?? [];
  return {
    // What it says changes as long as it lasts.
    key: `${kind} ${subject}`,
    severity,
    headline: wordOf('finding', kind),
    ...findingSaid(finding),
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

/** @param recent null: it is not known how many have failed besides those that were looked at. */
function failedOf(
  { errors, looked_at: looked, next_cursor: next }: ErrorList,
  recent: RecentReport | null,
  from: string,
  link: Link,
): Finding[] {
  const [worst] = errors;
  if (worst === undefined) return [];
  const all = recent?.types.reduce((sum, { failed }) => sum + failed, 0) ?? 0;
  const n = next === null ? looked : Math.max(all, looked);
  // With the figures of the hour all are counted, but for types beyond the first page of them.
  const isAll = next === null || (all >= looked && recent?.next_cursor === null);
  const values = { n, more: isAll ? '' : '+', looked, error: wordOf('failure', worst.error) };
  const text = t(next === null ? 'wrong.failed' : 'wrong.failed.many', values);
  return [{ key: 'failed', severity: 'warning', text, href: link('failed', null, { from }) }];
}

function gaveUpOf({ tasks, next_cursor: next }: TaskList, link: Link): Finding[] {
  if (tasks.length === 0) return [];
  const text = t('wrong.callbacks', { n: tasks.length, more: next === null ? '' : '+' });
  return [{ key: 'callbacks', severity: 'warning', text, href: link('callbacks') }];
}

function oddOf(executors: readonly ExecutorView[], link: Link): Finding[] {
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
