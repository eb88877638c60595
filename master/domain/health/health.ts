/**
 * How the work flows, for whoever looks at all of it: does it, do started tasks succeed, and what is in the way.
 * From counters, from the heads of lanes and from what has ended lately; no task is counted by looking at it.
 */
import { FINDINGS_MAX, OUTCOME_MS_MAX } from '../bounds.ts';
import { ALL, sees, type Sight } from '../model/task-filter.ts';
import { absenceOf, isFree } from '../model/executor.ts';
import type { Pieces } from '../pieces.ts';
import type { State } from '../state/state.ts';
import { countLive, type LiveCounts } from '../views/live.ts';
import { type Heads, headsOf } from '../why/heads.ts';
import { counted, inWords } from '../why/words.ts';
import { callbackFindings } from './callbacks.ts';
import { type Finding, SEVERITIES } from './finding.ts';
import type { Outcome, Outcomes } from './outcomes.ts';
import { failureFindings } from './failures.ts';
import { isBlocked, pauseFinding, queueFinding, waitingFindings } from './waiting.ts';

/** `idle`: nothing is due, and nothing runs. `stopped`: nothing runs of what is due, and nothing is about to. */
export type FlowState = 'flowing' | 'idle' | 'stopped';

export interface Health {
  readonly at: number;
  readonly flow: Flow;
  readonly success: Success;
  /** The worst first, and some of them only where there are very many. */
  readonly findings: readonly Finding[];
}

export interface Flow {
  readonly state: FlowState;
  /** For people. */
  readonly message: string;
  /** Due or not; those that are held or suspended come on top. */
  readonly waitingCount: number;
  readonly heldCount: number;
  readonly suspendedCount: number;
  /** Offered ones too. */
  readonly runningCount: number;
  /** How long the first task that is due has waited, as far as memory knows; null: none is. */
  readonly oldestWaitMs: number | null;
  /** False: others are due that were not read yet, and nobody knows since when. */
  readonly isOldestKnown: boolean;
  /** When the newest attempt was started; null: none was since outcomes are remembered. */
  readonly startedAt: number | null;
  readonly executors: {
    readonly connected: number;
    /** Of these: takes tasks, now or once it is done with the one it has. */
    readonly ready: number;
    /** Of these: takes one now. */
    readonly free: number;
  };
}

export interface Success {
  readonly state: 'succeeding' | 'failing' | 'unknown';
  readonly message: string;
  /** Attempts that ended lately, the newest of each type and group, and how many of them failed. */
  readonly attemptCount: number;
  readonly failedCount: number;
  /** Nothing is known of what was before. */
  readonly since: number;
}

/** @param sight What of it may be told: numbers of executors and callbacks are those of all. */
export function* healthOf(
  state: State,
  outcomes: Outcomes,
  now: number,
  sight: Sight,
): Pieces<Health> {
  const found = yield* headsOf(state, now, sight);
  const attempts = yield* outcomes.attempts(sight, now);
  const tries = yield* outcomes.callbacks(sight, now);
  yield;
  const isWhole = sight.types === null && sight.groups === null;
  const failures = failureFindings(attempts);
  yield;
  const live = countLive(state, { type: null, group: null, within: sight });
  const paused = pauseFinding(state, live.waiting, now);
  const findings = [
    ...(paused === null ? [] : [paused]),
    ...waitingFindings(found.heads, now),
    ...failures,
    ...callbackFindings(tries, isWhole ? pendingCountOf(state) : null),
    ...queueFinding(state),
  ];
  yield;
  const success = successOf(attempts, failures.length > 0, outcomes.since, now);
  yield;
  return {
    at: now,
    flow: {
      ...flowOf(found, live, paused, now),
      startedAt: outcomes.startedAt(sight),
      executors: fleetOf(state, sight),
    },
    success,
    findings: worstFirst(findings).slice(0, FINDINGS_MAX),
  };
}

export function worstFirst(findings: readonly Finding[]): readonly Finding[] {
  const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity);
  return findings.toSorted((a, b) => rank(a) - rank(b) || (b.count ?? 0) - (a.count ?? 0));
}

function pendingCountOf({ notifying, notifications }: State): number {
  return notifying.size + notifications.size;
}

function flowOf(
  { heads, unaskedCount }: Heads,
  live: LiveCounts,
  paused: Finding | null,
  now: number,
): Omit<Flow, 'startedAt' | 'executors'> {
  const runningCount = live.offered + live.running;
  const sinces = heads.map(({ since }) => since).filter((since) => since !== null);
  const oldestWaitMs = sinces.length === 0 ? null : now - Math.min(...sinces);
  const isOldestKnown = sinces.length === heads.length;
  const isDue = heads.length > 0;
  const isStopped =
    paused !== null ||
    (runningCount === 0 && isDue && unaskedCount === 0 && heads.every(isBlocked));
  const flow = isStopped ? 'stopped' : runningCount > 0 || isDue ? 'flowing' : 'idle';
  const numbers = { waitingCount: live.waiting, runningCount, oldestWaitMs, isOldestKnown };
  return {
    state: flow,
    message: flowInWords(flow, numbers, paused),
    ...numbers,
    heldCount: live.held,
    suspendedCount: live.suspended,
  };
}

function flowInWords(
  state: FlowState,
  of: Pick<Flow, 'waitingCount' | 'runningCount' | 'oldestWaitMs' | 'isOldestKnown'>,
  paused: Finding | null,
): string {
  const { waitingCount, runningCount } = of;
  const numbers = `${counted(runningCount, 'task')} with executors, ${waitingCount} waiting${oldestInWords(of)}`;
  if (state === 'idle') {
    const later = waitingCount === 0 ? '' : `; ${counted(waitingCount, 'task')} to run later`;
    return `Nothing is due, and nothing runs${later}.`;
  }
  if (state === 'flowing') return `Work flows: ${numbers}.`;
  return `${paused === null ? 'Nothing of what is due can be started' : 'Nothing is started'}: ${numbers}.`;
}

function oldestInWords({
  oldestWaitMs,
  isOldestKnown,
}: Pick<Flow, 'oldestWaitMs' | 'isOldestKnown'>): string {
  if (oldestWaitMs === null) return isOldestKnown ? '' : ', for how long is not known yet';
  return `, the first one for ${inWords(oldestWaitMs)}${isOldestKnown ? '' : ' at least'}`;
}

function fleetOf({ executors }: State, { types }: Sight): Flow['executors'] {
  const counts = { connected: 0, ready: 0, free: 0 };
  for (const executor of executors.values()) {
    if (!executor.connected || !isOfTypes(executor.types, types)) continue;
    counts.connected++;
    if (absenceOf(executor) === null) counts.ready++;
    if (isFree(executor)) counts.free++;
  }
  return counts;
}

function isOfTypes(own: readonly string[], types: Sight['types']): boolean {
  return types === null || own.some((type) => sees({ ...ALL, types }, type, ''));
}

function successOf(
  attempts: ReadonlyMap<string, readonly Outcome[]>,
  isFailing: boolean,
  since: number,
  now: number,
): Success {
  const all = [...attempts.values()].flat();
  const attemptCount = all.length;
  const failedCount = all.filter(({ error }) => error !== null).length;
  const state = attemptCount === 0 ? 'unknown' : isFailing ? 'failing' : 'succeeding';
  const knownMs = Math.min(OUTCOME_MS_MAX, Math.max(0, now - since));
  const of = `of the newest ${counted(attemptCount, 'attempt')}`;
  const message =
    attemptCount === 0
      ? `No attempt has ended in the last ${inWords(knownMs)}.`
      : failedCount === 0
        ? `None ${of} has failed.`
        : `${failedCount} ${of} failed.`;
  return { state, message, attemptCount, failedCount, since };
}
