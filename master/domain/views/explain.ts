/** Why a waiting task does not run yet, in short: the first of all that `why/` knows of, as the view of a task has it. */
import type { ReachedLimit } from '../limits/quota.ts';
import { positionOf } from '../queue/agenda.ts';
import type { ScopedPause } from '../model/pause.ts';
import type { Task } from '../model/task.ts';
import type { State } from '../state/state.ts';
import { pausesOn } from './pauses.ts';
import { askedOf, type ObstacleReason } from '../why/asked.ts';
import { nobodyInWords } from '../why/by-fleet.ts';
import { pausedInWords } from '../why/by-itself.ts';
import { obstaclesOf } from '../why/obstacles.ts';
import { ABOUT_TO_START, counted } from '../why/words.ts';

/** What this view has always called some of them. */
const NAMES = {
  backing_off: 'not_due',
  reserved: 'labels_unmatched',
  kept: 'all_busy',
} as const satisfies Partial<Record<ObstacleReason, ObstacleReason>>;

export interface WaitingReason {
  /** `reserved`: for a booking alone. */
  readonly reason: Exclude<ObstacleReason, 'backing_off' | 'kept'> | 'about_to_start';
  readonly message: string;
  /**
   * Waiting tasks of the same kind that come first, of its group alone where the groups of the type take
   * turns; null where that is not known from memory.
   */
  readonly ahead: number | null;
  /** Of `paused`: all that concern it. */
  readonly pauses?: readonly ScopedPause[];
  /** Of `limited`. */
  readonly limit?: ReachedLimit;
}

/** Of a waiting task; the first reason that applies, in words for people. `isNaming`: also which tasks come first. */
export function explain(state: State, task: Task, now: number, isNaming = true): WaitingReason {
  const [first] = obstaclesOf(askedOf(state, task, now, isNaming));
  const ahead = task.state === 'waiting' ? countAhead(state, task) : null;
  if (first === undefined) return { reason: 'about_to_start', message: ABOUT_TO_START, ahead };
  const { facts, key } = first;
  const message = key === 'all_busy' ? first.message + inLine(state, task, ahead) : first.message;
  const isRenamed = first.reason in NAMES && facts.booking === undefined;
  const reason = isRenamed ? NAMES[first.reason as keyof typeof NAMES] : first.reason;
  return {
    reason: reason as WaitingReason['reason'],
    message,
    ahead,
    ...(facts.pauses && { pauses: facts.pauses }),
    ...(facts.limit && { limit: facts.limit }),
  };
}

/** Of a type of which no task that waits is in memory: what holds for all of them, or null. */
export function explainType(state: State, type: string, now: number): WaitingReason | null {
  const pauses = pausesOn(state, { type });
  if (pauses.length > 0) {
    return { reason: 'paused', message: pausedInWords(pauses, now), ahead: null, pauses };
  }
  for (const { connected, types } of state.executors.values()) {
    if (connected && types.includes(type)) return null;
  }
  return { reason: 'no_executor', message: nobodyInWords(type), ahead: null };
}

function countAhead({ lanes, shares }: State, task: Task): number | null {
  const own = lanes.get(task.lane);
  if (own === undefined) return null;
  const position = positionOf(task);
  let ahead = 0;
  for (const { ready } of shares.has(task.type) ? [own] : own.kind.lanes.values()) {
    if (!ready.covers(position)) return null;
    ahead += ready.countBefore(position);
  }
  return ahead;
}

/** What comes before it, in words. */
function inLine({ lanes, shares }: State, task: Task, ahead: number | null): string {
  if (!shares.has(task.type)) return ahead === null ? '' : ` ${ahead} of its kind come first.`;
  const own = lanes.get(task.lane);
  const others = [...(own?.kind.lanes.values() ?? [])].filter(
    (lane) => lane !== own && lane.waitingCount > 0,
  );
  const place = ahead === null ? '' : ` ${ahead} of its group come first.`;
  return `${place} Its group takes turns with ${counted(others.length, 'other group')}.`;
}
