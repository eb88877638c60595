/**
 * Why a task is where it is. Of one that waits: what keeps it, what comes before it, and the least that would start
 * it. That is found by asking the same rules with one thing changed, so what is told is what would happen.
 */
import {
  type CancelReason,
  isAtRest,
  isTerminal,
  type Notification,
  type Task,
} from '../model/task.ts';
import type { Executor } from '../model/executor.ts';
import { holderOf } from '../steps/occupation.ts';
import { pauseKey, type State } from '../state/state.ts';
import { pausesOn } from '../views/pauses.ts';
import { type Ahead, aheadOf, anotherFor } from './ahead.ts';
import {
  type Asked,
  askedOf,
  type Change,
  type Facts,
  type Obstacle,
  type ObstacleReason,
  withState,
} from './asked.ts';
import { byFleet } from './by-fleet.ts';
import { type Estimate, estimateOf } from './estimate.ts';
import { obstaclesOf } from './obstacles.ts';
import { ABOUT_TO_START, counted, inWords } from './words.ts';

export interface Why {
  readonly reason:
    | ObstacleReason
    | 'about_to_start'
    | 'offered'
    | 'running'
    | 'ending'
    | 'ended'
    | 'callback_pending'
    | 'callback_gave_up';
  readonly message: string;
  readonly facts: Facts;
  /** What else keeps it, once the change is made. */
  readonly behind: readonly Pick<Obstacle, 'reason' | 'message' | 'facts'>[];
  /** Null: it does not wait in any order. */
  readonly ahead: Pick<Ahead, 'count' | 'isAtLeast'> | null;
  /** When it is likely to start as things are; null: nobody knows, or it is not to start. */
  readonly estimate: Estimate | null;
  /** Null: there is nothing to be changed. */
  readonly change: Change | null;
}

interface Question {
  readonly task: Task;
  /** Where it is held: how many are before it. Default: none. */
  readonly heldBefore?: number;
  readonly notification: Notification | null;
}

/** @param isNaming Other tasks are named, not only counted. */
export function whyOf(
  state: State,
  { task, notification, heldBefore = 0 }: Question,
  now: number,
  isNaming: boolean,
): Why {
  if (isAtRest(task)) return whyWaiting({ ...askedOf(state, task, now, isNaming), heldBefore });
  if (isTerminal(task.state)) return whyEnded(task, notification, now);
  return whyWithExecutor(state, task, now);
}

const NOWHERE = { behind: [], ahead: null, estimate: null, change: null } as const;

function whyWaiting(asked: Asked): Why {
  const obstacles = [...obstaclesOf(asked)];
  const [first, ...others] = obstacles;
  const order = asked.task.state === 'waiting' ? orderOf(asked) : null;
  const ahead = order && order.ahead;
  if (first === undefined) {
    return { ...NOWHERE, reason: 'about_to_start', message: ABOUT_TO_START, facts: {}, ahead };
  }
  const { reason, message, facts, otherwise } = first;
  const { change, behind = others } = leastOf(first) ?? { change: null };
  const none = { action: 'none', target: null, value: null } as const;
  return {
    reason,
    message,
    facts,
    behind: behind.map((one) => ({ reason: one.reason, message: one.message, facts: one.facts })),
    ahead,
    estimate: order && estimateOf(asked, obstacles, order.ahead, order.able),
    change: change ?? { ...none, message: otherwise ?? 'Nobody can do anything: wait.' },
  };
}

/** The first that is enough by itself; else the first that ends this obstacle, whatever stands behind it. */
function leastOf(
  obstacle: Obstacle,
): { readonly change: Change; readonly behind: readonly Obstacle[] } | null {
  let least: { change: Change; behind: Obstacle[] } | null = null;
  for (const { change, asked } of obstacle.remedies()) {
    const behind = [...obstaclesOf(asked)];
    if (behind.length === 0) return { change, behind };
    const isGone = behind.every(({ key }) => key !== obstacle.key);
    if (isGone) least ??= { change, behind };
  }
  return least;
}

/** What comes before it, for those who might have it, as if nothing kept it and what shares its fate. */
function orderOf(asked: Asked): { readonly ahead: Ahead; readonly able: readonly Executor[] } {
  const { state, task } = asked;
  const pauses = new Map(state.pauses);
  for (const { scope, value } of pausesOn(state, task)) {
    if (scope === 'group' || scope === 'label') pauses.delete(pauseKey(scope, value));
  }
  const supplies = new Map(state.supplies);
  for (const { limit } of task.uses) supplies.delete(limit);
  const free: Asked = { ...withState(asked, { pauses, supplies }), quota: null };
  const steps = byFleet(free);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const { able } = step.value;
  return { ahead: aheadOf(free, able.length > 0 ? able : [anotherFor(free)]), able };
}

/** It is offered, or runs. */
function whyWithExecutor(state: State, task: Task, now: number): Why {
  const { executorId, attempt, offeredAt, startedAt, cancelReason, assignTimeoutMs } = task;
  const who = executorId ?? '';
  const facts = { executorId: who, attempt };
  if (task.state === 'offered') {
    const since = offeredAt ?? now;
    const until = since + task.hiddenMs + assignTimeoutMs;
    const left =
      until > now ? `it has ${inWords(until - now)} to answer` : 'its time to answer is over';
    const message = `It was offered to executor ${who} ${inWords(now - since)} ago (attempt ${attempt}): ${left}.`;
    return { ...NOWHERE, reason: 'offered', message, facts: { ...facts, since, until } };
  }
  const since = startedAt ?? now;
  const { progressAt: at, progressPercent: percent } = task;
  // What is known from an attempt before stays until this one says something.
  const progress = at === null || at < since ? null : { percent, at };
  const holder = holderOf(state, task);
  const until =
    holder === undefined || holder.connected ? null : holder.lastSeenAt + holder.leaseMs;
  const runs = `It has run on executor ${who} for ${inWords(now - since)} (attempt ${attempt})`;
  const told = cancelReason === null ? '' : ` It was told to end: ${ENDINGS[cancelReason]}.`;
  const lost =
    until === null
      ? ''
      : ` Its executor is not connected: unless it comes back within ${inWords(Math.max(0, until - now))}, the task waits again.`;
  return {
    ...NOWHERE,
    reason: cancelReason === null ? 'running' : 'ending',
    message: `${runs}${progressInWords(progress, now)}.${told}${lost}`,
    facts: { ...facts, since, until, progress },
  };
}

const ENDINGS: Record<CancelReason, string> = {
  canceled: 'it was canceled',
  suspended: 'it is to be suspended',
  execution_timeout: 'it has run for longer than it may',
  stalled: 'it has shown no progress for longer than it may',
  deadline: 'its deadline has passed',
  drain: 'its executor is drained',
  preempted: 'its executor is booked',
  booking_end: 'its booking is over',
};

function progressInWords(progress: Facts['progress'], now: number): string {
  if (!progress) return ', and has not said how far it is';
  const { percent, at } = progress;
  const howFar = percent === null ? 'last progress' : `${Math.round(percent * 10) / 10} %`;
  return `, ${howFar} ${inWords(now - at)} ago`;
}

/** There is nothing to wait for, but perhaps its callback. */
function whyEnded(task: Task, notification: Notification | null, now: number): Why {
  const { state, attempt, attemptsUsed, finishedAt, failureReason, error } = task;
  // What an attempt failed with before somebody canceled the task is not why it ended.
  const isCause = state !== 'succeeded' && (state !== 'canceled' || error?.name === 'booking_end');
  const what = error === null || !isCause ? '' : `: ${error.message}`;
  const how = `It ${ENDED[state as keyof typeof ENDED]}${reasonInWords(task)}`;
  const ago = finishedAt === null ? '' : ` ${inWords(Math.max(0, now - finishedAt))} ago`;
  const tries = attempt === 0 ? ', never started' : `, after ${counted(attempt, 'attempt')}`;
  const message = `${how}${ago}${tries}${what.replace(/\.$/, '')}.`;
  const facts: Facts = {
    since: finishedAt,
    attempt: Math.max(attempt, attemptsUsed),
    failureReason,
    error: isCause ? (error?.message ?? null) : null,
  };
  if (notification === null) return { ...NOWHERE, reason: 'ended', message, facts };
  const { state: of, tries: tryCount, nextTryAt, lastError } = notification;
  const isPending = of === 'pending';
  const callback = {
    state: of,
    tries: tryCount,
    nextTryAt: isPending ? nextTryAt : null,
    lastError,
  };
  const about = { ...NOWHERE, facts: { ...facts, callback } };
  if (of === 'delivered') return { ...about, reason: 'ended', message };
  const failed = `${counted(tryCount, 'try').replace('trys', 'tries')}${lastError === null ? '' : ` (${lastError})`}`;
  if (!isPending) {
    const advice = 'Have it sent again, once its receiver is mended.';
    const change = { action: 'none', target: null, value: null, message: advice } as const;
    const said = `${message} Its callback was given up after ${failed}.`;
    return { ...about, reason: 'callback_gave_up', message: said, change };
  }
  const leftMs = Math.max(0, nextTryAt - now);
  const words =
    leftMs === 0
      ? 'Its callback is being sent'
      : `Its callback is tried again in ${inWords(leftMs)}`;
  const change = {
    action: 'wait_until',
    target: null,
    value: nextTryAt,
    message: `Wait for ${inWords(leftMs)}.`,
  } as const;
  const said = `${message} ${words}, after ${failed}.`;
  return { ...about, reason: 'callback_pending', message: said, change };
}

const ENDED = {
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'was canceled',
  expired: 'expired',
} as const;

const REASONS: Record<NonNullable<Task['failureReason']>, string> = {
  attempts_exhausted: 'its attempts are used up',
  non_retryable: 'its executor said that trying again is of no use',
  input_unavailable: 'what it was to work on is not there, or not to be read',
  crash_budget: 'it lost too many executors without getting further',
  not_started: 'nobody started it in time',
  deadline: 'its deadline passed',
};

function reasonInWords({ failureReason }: Task): string {
  return failureReason === null ? '' : ` (${REASONS[failureReason]})`;
}
