/**
 * When a task that waits is likely to start. The order is played to the end: each executor that may have it becomes
 * free when what it runs has taken as long as a recent attempt of that type, of those that took longer than it has run
 * already; whoever becomes free first takes the next of those that come first, for as long as a recent attempt of its type
 * took. It is played several times, with run times drawn at random from the recent ones, and the tenth, the middle and
 * the ninth decile of the outcomes are told: the bootstrap (B. Efron, Annals of Statistics 7, 1979), over a queue.
 *
 * Left out is what nobody knows: tasks that come later and go first, executors that come and go, and limits that
 * others reach. Where too little is known there is no estimate.
 */
import { ESTIMATE_ROUND_COUNT_MAX, ESTIMATE_STEP_COUNT_MAX } from '../bounds.ts';
import type { Executor, Occupation } from '../model/executor.ts';
import { Heap } from '../queue/heap.ts';
import { random01 } from '../state/state.ts';
import type { Ahead, Queue } from './ahead.ts';
import type { Asked, Obstacle } from './asked.ts';

export interface Estimate {
  readonly startAt: number;
  /** One in ten starts earlier than this, and one in ten later than `highAt`. */
  readonly lowAt: number;
  readonly highAt: number;
}

/** Fewer say nothing. */
const KNOWN_COUNT_MIN = 5;
const ROUND_COUNT_MIN = 3;

/** What may become free for it, and since when it is at work. */
interface Place {
  readonly type: string | null;
  readonly ranMs: number;
}

/** @param able Executors that might have it if they were free; `ahead`: of what these may have. */
export function estimateOf(
  asked: Asked,
  obstacles: readonly Obstacle[],
  ahead: Ahead,
  able: readonly Executor[],
): Estimate | null {
  const from = beginOf(asked, obstacles);
  if (from === null || ahead.isAtLeast || able.length === 0) return null;
  const { places, queues } = lineOf(asked, obstacles, ahead, able);
  const times = timesOf(asked, places, queues);
  if (times === null) return null;
  const stepCount = queues.reduce((sum, { count }) => sum + count, places.length);
  const roundCount = Math.floor(ESTIMATE_STEP_COUNT_MAX / stepCount);
  const chance = { randomState: asked.task.seq };
  const outcomes: number[] = [];
  const rounds = Math.min(Math.max(roundCount, ROUND_COUNT_MIN), ESTIMATE_ROUND_COUNT_MAX);
  for (let round = 0; round < rounds; round++) {
    const startMs = play(places, queues, times, () => random01(chance));
    outcomes.push(Math.max(from, asked.now + Math.round(startMs)));
  }
  outcomes.sort((a, b) => a - b);
  // Of n drawn, one more falls below the k-th in k of n + 1 cases.
  const placeOf = (part: number) => Math.round(part * (outcomes.length + 1)) - 1;
  const lastPlace = outcomes.length - 1;
  const at = (part: number) => outcomes[Math.min(Math.max(0, placeOf(part)), lastPlace)] ?? from;
  return { startAt: at(0.5), lowAt: at(0.1), highAt: at(0.9) };
}

/** From when on it may start as far as it is known by now; null: nobody knows. */
function beginOf({ now }: Asked, obstacles: readonly Obstacle[]): number | null {
  let from = now;
  for (const { reason, facts } of obstacles) {
    const { until, limit } = facts;
    if (reason === 'all_busy') continue;
    if (reason === 'limited' && limit !== undefined && RUNNING.test(limit.name)) continue;
    if (until === null || until === undefined) return null;
    from = Math.max(from, until);
  }
  return from;
}

/** Limits of a type, or of its groups, which end as attempts do. */
const RUNNING = /^limits\.(per_group\.)?max_running$/;

interface Line {
  readonly places: readonly Place[];
  readonly queues: readonly Queue[];
}

/** Who waits for whom: for executors; or for attempts under a limit that is reached, where these are fewer. */
function lineOf(
  { state, task, now }: Asked,
  obstacles: readonly Obstacle[],
  { queues }: Ahead,
  able: readonly Executor[],
): Line {
  const placeOf = (occupation: Occupation | null): Place => {
    if (occupation === null) return { type: null, ranMs: 0 };
    const { startedAt = null, hiddenMs = 0 } = state.tasks.get(occupation.taskId) ?? {};
    return { type: occupation.type, ranMs: startedAt === null ? 0 : now - startedAt - hiddenMs };
  };
  let line: Line = { places: able.map(({ occupation }) => placeOf(occupation)), queues };
  for (const { facts } of obstacles) {
    if (facts.limit === undefined) continue;
    const isOfGroup = facts.limit.name.startsWith('limits.per_group');
    const counts = (type: string, group: string) =>
      type === task.type && (!isOfGroup || group === task.user.group);
    const places: Place[] = [];
    for (const { occupation } of [...state.executors.values(), ...state.elders.values()]) {
      if (occupation !== null && counts(occupation.type, occupation.group)) {
        places.push(placeOf(occupation));
      }
    }
    if (places.length === 0 || places.length >= line.places.length) continue;
    line = { places, queues: queues.filter(({ lane }) => counts(lane.kind.type, lane.group)) };
  }
  return line;
}

/** Of all types that matter; null: of one of them too little is known. */
function timesOf(
  { state }: Asked,
  places: readonly Place[],
  queues: readonly Queue[],
): ReadonlyMap<string, Float32Array> | null {
  const times = new Map<string, Float32Array>();
  const types = [...places.map(({ type }) => type), ...queues.map(({ lane }) => lane.kind.type)];
  for (const type of new Set(types)) {
    if (type === null) continue;
    const known = state.runTimes.of(type);
    if (known.length < KNOWN_COUNT_MIN) return null;
    times.set(type, known);
  }
  return times;
}

/** In how many milliseconds it starts, if things go so. */
function play(
  places: readonly Place[],
  queues: readonly Queue[],
  times: ReadonlyMap<string, Float32Array>,
  chance: () => number,
): number {
  const free = new Heap<{ at: number }>((a, b) => a.at < b.at);
  for (const { type, ranMs } of places) {
    const known = type === null ? undefined : times.get(type);
    free.push({ at: known === undefined ? 0 : restOf(known, ranMs, chance()) });
  }
  for (const { lane, count } of queues) {
    const known = times.get(lane.kind.type);
    for (let index = 0; index < count; index++) {
      const next = free.first();
      if (next === undefined || known === undefined) break;
      next.at += known[Math.floor(chance() * known.length)] ?? 0;
      free.moved(0);
    }
  }
  return free.first()?.at ?? 0;
}

/** Of those that took longer than this one has run; beyond all of them, at most as long again. */
function restOf(known: Float32Array, ranMs: number, chance: number): number {
  let low = 0;
  let high = known.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((known[middle] ?? 0) > ranMs) high = middle;
    else low = middle + 1;
  }
  const longer = known.length - low;
  if (longer === 0) return ranMs * chance;
  return (known[low + Math.floor(chance * longer)] ?? 0) - ranMs;
}
