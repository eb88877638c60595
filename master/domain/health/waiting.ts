/** What keeps tasks that are due from being started, as findings; and what keeps others from being accepted. */
import type { State } from '../state/state.ts';
import { pauseOf } from '../views/pauses.ts';
import type { Facts, Obstacle } from '../why/asked.ts';
import { pausedInWords } from '../why/by-itself.ts';
import type { Head } from '../why/heads.ts';
import { counted, inWords } from '../why/words.ts';
import type { Finding, Severity, WaitingKind } from './finding.ts';

/** Of what executors refuse again and again. */
const REFUSED_MS_MIN = 60_000;

/** Nobody can have it as things are, and time alone does not change that. */
const NOBODY: ReadonlySet<string> = new Set<WaitingKind>([
  'no_executor',
  'labels_unmatched',
  'reserved',
  'draining',
  'not_ready',
]);

/** It does not start before somebody changes something. */
export function isBlocked({ obstacle }: Pick<Head, 'obstacle'>): boolean {
  if (obstacle === null) return false;
  return NOBODY.has(obstacle.reason) || obstacle.reason === 'paused' || isZero(obstacle);
}

/** A limit of nothing at all. */
function isZero({ reason, facts }: Obstacle): boolean {
  return reason === 'limited' && facts.limit?.max === 0;
}

/**
 * One of the whole namespace, or of all of them; null: there is none. Whoever sees a task that it keeps is told of it by that one too.
 * @param count of the tasks that it keeps, those that are seen.
 */
export function pauseFinding(state: State, count: number, now: number): Finding | null {
  const pauses = [pauseOf(state, 'all', ''), pauseOf(state, 'namespace', '')].filter(
    (pause) => pause !== null,
  );
  const [first] = pauses;
  if (first === undefined) return null;
  const { scope, at: since, until, by, reason } = first;
  const name = scope === 'all' ? 'all namespaces' : 'the namespace';
  const rest = until === null ? '' : `, or wait for ${inWords(until - now)}`;
  return {
    kind: 'paused',
    severity: 'warning',
    subject: scope,
    since,
    count,
    message: pausedInWords(pauses, now),
    cause: `${by ?? 'Somebody'} has paused ${name}${reason === null ? '' : `: ${reason}`}`,
    advice: `Resume ${name}${rest}.`,
    facts: { pauses, since, until },
    taskId: null,
  };
}

/** Beside `pauseFinding`, which is told once for all types. */
export function waitingFindings(heads: readonly Head[], now: number): readonly Finding[] {
  return heads.flatMap(({ obstacle, ...head }) => {
    const severity = obstacle && severityOf({ obstacle, ...head }, now);
    return severity ? [findingOf({ obstacle, ...head }, severity, now)] : [];
  });
}

type Kept = Omit<Head, 'obstacle'> & { readonly obstacle: Obstacle };

/** Null: nothing need be said. */
function severityOf({ obstacle, since }: Kept, now: number): Severity | null {
  const { reason, facts } = obstacle;
  // Somebody has meant it so.
  if (facts.booking !== undefined && reason === 'reserved') return 'info';
  if (NOBODY.has(reason)) return 'critical';
  switch (reason) {
    case 'paused': {
      const isOfAll = facts.pauses?.some(({ scope }) => scope === 'all' || scope === 'namespace');
      return isOfAll === true ? null : 'info';
    }
    case 'limited':
      return isZero(obstacle) ? 'warning' : 'info';
    case 'all_busy':
      return 'info';
    case 'cooling_down':
      return since !== null && now - since >= REFUSED_MS_MIN ? 'warning' : null;
    default:
      return null;
  }
}

function findingOf(
  { type, obstacle, task, since, count }: Kept,
  severity: Severity,
  now: number,
): Finding {
  const { message, facts } = obstacle;
  // No other has a severity.
  const kind = obstacle.reason as WaitingKind;
  const oldest = since === null ? '' : `, the first one for ${inWords(now - since)}`;
  return {
    kind,
    severity,
    subject: `type/${type}`,
    since,
    count,
    message: `${counted(count, 'task')} of type ${type} ${count === 1 ? 'waits' : 'wait'}${oldest}.`,
    cause: message,
    advice: ADVICE[kind](type, facts),
    facts,
    taskId: task?.id ?? null,
  };
}

/** Whatever it takes for one task, with numbers, `why` tells of the first one. */
const ADVICE: Record<WaitingKind, (type: string, facts: Facts) => string> = {
  no_executor: (type) => `Start an executor of type ${type}.`,
  labels_unmatched: (type, { nearest }) =>
    `Start an executor of type ${type} with these labels, or give ${nearest?.executorId ?? 'one'} what it lacks.`,
  reserved: (type, { booking }) =>
    booking === undefined
      ? `Start an executor of type ${type} that is not reserved.`
      : `Wait until the booking ends, or start an executor of type ${type}.`,
  draining: (type) => `Resume one of them, or start an executor of type ${type}.`,
  not_ready: (type, { executorId, diskBytes }) => {
    if (diskBytes === undefined) return `Put right what ${executorId ?? 'they'} says.`;
    return executorId === undefined
      ? `Set scratchDir of executors of type ${type}: none says what it has.`
      : `Free disk of ${executorId}, or start an executor of type ${type} that has more.`;
  },
  paused: () => 'Resume it, once what it was paused for is over.',
  limited: (_, { limit }) =>
    `Raise ${limit?.name ?? 'the limit'} if more is meant to run, or wait.`,
  all_busy: (type) => `Start more executors of type ${type} if that is too long, or wait.`,
  cooling_down: () => 'Look at the log of the executors that refuse it.',
};

/** No further task is accepted. None of those of a type: its limit is what somebody has set for it. */
export function queueFinding({ waitingCount, suspendedCount, settings, policy }: State): Finding[] {
  const kept = waitingCount + suspendedCount;
  const { maxWaiting } = settings;
  const isOwn = maxWaiting !== null && waitingCount >= maxWaiting;
  if (!isOwn && kept < policy.waitingCountMax) return [];
  const what = isOwn ? `max_waiting is ${maxWaiting}` : `${policy.waitingCountMax} may be kept`;
  const advice = isOwn
    ? 'Raise max_waiting of the namespace, or start executors.'
    : 'Start executors.';
  return [
    {
      kind: 'queue_full',
      severity: 'critical',
      subject: 'namespace',
      since: null,
      count: kept,
      message: 'Submits are refused: too many tasks wait.',
      cause: `${kept} wait or are suspended, and ${what}.`,
      advice,
      facts: {
        limit: {
          name: isOwn ? 'max_waiting' : 'waiting',
          max: isOwn ? maxWaiting : policy.waitingCountMax,
          used: kept,
        },
      },
      taskId: null,
    },
  ];
}
