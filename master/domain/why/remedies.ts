/** What several obstacles have in common: who is there, and that somebody waits or starts executors. */
import {
  absenceOf,
  endsInTime,
  type Executor,
  isFree,
  mayRun,
  pinnedTo,
  pinOf,
} from '../model/executor.ts';
import { aheadOf, anotherFor } from './ahead.ts';
import type { Asked, Obstacle, Remedy } from './asked.ts';
import { comeFirst, inWords, withLabels } from './words.ts';

export function connectedIn({ fleet }: Asked): readonly Executor[] {
  return fleet.filter((one) => absenceOf(one) !== 'away');
}

/** It is free, and no booking keeps it from a task that takes so long. */
export function takesNow({ state, task, now }: Asked, executor: Executor): boolean {
  return isFree(executor) && endsInTime(executor, task, state.policy.cancelGraceMs, now);
}

/** It needs but to wait. */
export function waiting(
  asked: Asked,
  obstacle: Pick<Obstacle, 'reason' | 'key' | 'message' | 'facts'>,
  until: number,
): Obstacle {
  const message = `Wait for ${inWords(until - asked.now)}.`;
  const change = { action: 'wait_until', target: null, value: until, message } as const;
  return { ...obstacle, remedies: () => [{ change, asked: { ...asked, now: until } }] };
}

/** As many as it takes, so that those that come first have one each. */
export function started(asked: Asked, verb = 'Start'): Remedy {
  const { fleet } = asked;
  const another = anotherFor(asked);
  const withOne = { ...asked, fleet: [...fleet, another] };
  const free = withOne.fleet.filter((one) => takesNow(asked, one) && mayRun(one, asked.task));
  const ahead = aheadOf(withOne, free);
  const count = Math.max(1, ahead.count + 1 - (free.length - 1));
  const { type, requires: labels } = asked.task;
  const executorId = pinnedTo(labels);
  const isFirst = connectedIn(asked).every(({ types }) => !types.includes(type));
  const one = isFirst ? 'an executor' : 'another executor';
  const named = executorId === null ? one : `executor ${executorId}`;
  const what = count === 1 ? named : `${ahead.isAtLeast ? 'at least ' : ''}${count} executors`;
  const others = labels.filter((label) => label !== pinOf(executorId ?? ''));
  const why = count === 1 ? '' : ` (${comeFirst(ahead.count)})`;
  return {
    change: {
      action: 'start_executor',
      target: executorId === null ? `type/${type}` : `executor/${executorId}`,
      value: { count, type, labels: others, executorId },
      message: `${verb} ${what} of type ${type}${withLabels(others)}${why}.`,
    },
    asked: { ...withOne, moreCount: count - 1 },
  };
}
