/** What is wrong, as far as the master knows: what keeps work from being done comes first. */
import type {
  ErrorList,
  ExecutorList,
  PauseList,
  TaskList,
  TypeList,
} from '@soda-scheduler/protocol';
import type { ComponentChildren } from 'preact';
import { call } from '../api/call.ts';
import { useFrame } from '../frame/context.ts';
import { type Resource, useList, useResource } from '../frame/resource.ts';
import { Section } from '../parts/page.tsx';
import { Time } from '../parts/time.tsx';
import { t, wordOf } from '../words/words.ts';
import { isOdd, troubleOf } from './executors.tsx';

const HOUR_MS = 3_600_000;
const SLOW_MS = 15_000;
const FINDINGS_MAX = 12;

interface Finding {
  readonly key: string;
  /** Work does not get done; else somebody should know. */
  readonly isGrave: boolean;
  readonly text: ComponentChildren;
  readonly href: string;
}

interface Props {
  readonly types: Resource<TypeList>;
  readonly pauses: Resource<PauseList>;
  readonly executors: Resource<ExecutorList>;
}

type Link = ReturnType<typeof useFrame>['link'];

export function Wrong({ types, pauses, executors }: Props) {
  const { place, link } = useFrame();
  const { namespace } = place;
  const errors = useResource<ErrorList>(
    `errors ${namespace}`,
    (signal) => {
      const from = new Date(Date.now() - HOUR_MS).toISOString();
      return call({ path: '/tasks/errors', namespace, query: { from }, signal });
    },
    SLOW_MS,
  );
  const lost = useList<TaskList>('/tasks', { notification: 'gave_up', limit: 20 }, SLOW_MS);
  if (types.data === null || errors.data === null) return null;
  const findings = [
    ...unrunOf(types.data, link),
    ...failedOf(errors.data, link),
    ...(lost.data === null ? [] : gaveUpOf(lost.data, link)),
    ...(executors.data === null ? [] : oddOf(executors.data, link)),
    ...(pauses.data === null ? [] : pausedOf(pauses.data, link)),
  ];
  if (findings.length === 0) return <p class="well">{t('wrong.nothing')}</p>;
  return (
    <Section title={t('wrong')}>
      <ul class="findings">
        {findings.slice(0, FINDINGS_MAX).map(({ key, isGrave, text, href }) => (
          <li key={key} class={isGrave ? 'grave-finding' : ''}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
      {findings.length > FINDINGS_MAX && (
        <p class="soft">{t('wrong.more', { n: findings.length - FINDINGS_MAX })}</p>
      )}
    </Section>
  );
}

function unrunOf({ types }: TypeList, link: Link): Finding[] {
  return types
    .filter(
      ({ counts, executors, paused }) => counts.waiting > 0 && executors === 0 && paused === null,
    )
    .map(({ type, counts }) => ({
      key: `type ${type}`,
      isGrave: true,
      text: t('wrong.no-executor', { n: counts.waiting, type }),
      href: link('type', type),
    }));
}

function failedOf({ errors }: ErrorList, link: Link): Finding[] {
  const [worst] = errors;
  if (worst === undefined) return [];
  const n = errors.reduce((sum, { count }) => sum + count, 0);
  const text = t('wrong.failed', { n, error: wordOf('failure', worst.error) });
  return [{ key: 'failed', isGrave: true, text, href: link('failed') }];
}

function gaveUpOf({ tasks, next_cursor: next }: TaskList, link: Link): Finding[] {
  if (tasks.length === 0) return [];
  const text = t('wrong.callbacks', { n: tasks.length, more: next === null ? '' : '+' });
  const href = link('callbacks');
  return [{ key: 'callbacks', isGrave: true, text, href }];
}

function oddOf({ executors }: ExecutorList, link: Link): Finding[] {
  return executors.filter(isOdd).map((executor) => {
    const { executor_id: id, state } = executor;
    return {
      key: `executor ${id} ${executor.connected_at}`,
      isGrave: false,
      text: `${id}: ${troubleOf(executor) || wordOf('executor-state', state)}`,
      href: link('executor', id),
    };
  });
}

function pausedOf({ pauses }: PauseList, link: Link): Finding[] {
  return pauses.map(({ scope, value, reason, at }) => {
    const isFilter = value !== null && ['group', 'label'].includes(scope);
    return {
      key: `pause ${scope} ${value}`,
      isGrave: false,
      text: (
        <>
          {t('wrong.paused', { what: `${wordOf('scope', scope)} ${value ?? ''}`.trim() })}
          {reason === null ? '' : ` — ${reason}`}{' '}
          <span class="soft">
            <Time at={at} />
          </span>
        </>
      ),
      href:
        scope === 'type' && value !== null
          ? link('type', value)
          : link('tasks', null, { state: 'waiting', ...(isFilter && { [scope]: value }) }),
    };
  });
}
