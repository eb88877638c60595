/**
 * Counts how busy each type is, as it happens: from one minute to the next, in memory only. Nobody ever asks the store
 * for it, and a master that ends without warning loses what it has counted since the last minute.
 */
import { LOAD_COUNTED_MAX, LOAD_TYPES_MAX } from '../bounds.ts';
import type { Observation } from '../effects.ts';
import { stateOf } from '../model/executor.ts';
import { type AttemptOutcome, isLoss, isTerminal } from '../model/task.ts';
import { PIECE_COUNT, type Pieces } from '../pieces.ts';
import type { State } from '../state/state.ts';
import { type Backlog, backlogOf } from '../views/backlog.ts';
import type { ObstacleReason } from '../why/asked.ts';
import {
  addFigure,
  addLoad,
  ALL_TYPES,
  DELAY_BOUNDS,
  DELAYS,
  type Load,
  type LoadSample,
  type LoadSum,
  OTHER_TYPES,
  raiseFigure,
} from './figures.ts';

/** What keeps those that wait, in few words. */
const KEPT: { readonly [R in ObstacleReason]?: LoadSum } = {
  paused: 'paused',
  limited: 'limited',
  no_executor: 'no_executor',
  labels_unmatched: 'no_executor',
  reserved: 'no_executor',
  not_ready: 'no_executor',
  all_busy: 'all_busy',
};

const LASTS = ['last_started_at', 'last_ended_at'] as const;

const isFailure = (outcome: AttemptOutcome): boolean =>
  outcome === 'failed' || outcome === 'timed_out' || isLoss(outcome);

export class LoadCounter {
  #types = new Map<string, Load>();

  note(seen: Observation): void {
    if (seen.event === 'task_accepted') addFigure(this.#of(seen.task.type), 'accepted', 1);
    else if (seen.event === 'task_started') {
      const { task, waitedMs } = seen;
      const load = this.#of(task.type);
      const delay = DELAY_BOUNDS.findIndex((bound) => waitedMs <= bound);
      addFigure(load, 'started', 1);
      addFigure(load, DELAYS.at(delay) ?? 'delay_longer', 1);
      raiseFigure(load, 'delay_max_ms', waitedMs);
      raiseFigure(load, 'last_started_at', task.startedAt ?? 0);
    } else if (seen.event === 'attempt_ended') {
      const { task, attempt } = seen;
      if (isFailure(attempt.outcome)) addFigure(this.#of(task.type), 'attempts_failed', 1);
    } else if (seen.event === 'task_finished') {
      const { type, state, finishedAt } = seen.task;
      const load = this.#of(type);
      if (isTerminal(state)) addFigure(load, state, 1);
      raiseFigure(load, 'last_ended_at', finishedAt ?? 0);
    }
  }

  /** Since the last minute was taken. */
  get counted(): ReadonlyMap<string, Load> {
    return this.#types;
  }

  /** What has happened since this was asked last, and how it stands: of all together, and of the busiest. */
  *take(state: State, now: number): Pieces<readonly LoadSample[]> {
    this.#see(yield* backlogOf(state, now));
    const types = [...this.#types].sort(([a, one], [b, other]) => {
      return busyness(other) - busyness(one) || (a < b ? -1 : 1);
    });
    this.#types = new Map();
    const all: Load = { samples: 1, idle: idleCount(state) };
    const rest: Load = {};
    const kept: LoadSample[] = [];
    for (const [index, [type, load]] of types.entries()) {
      if (index % PIECE_COUNT === 0) yield;
      addLoad(all, load);
      if (type !== OTHER_TYPES && kept.length < LOAD_TYPES_MAX) kept.push({ type, load });
      else addLoad(rest, load);
    }
    if (types.length > kept.length) kept.push({ type: OTHER_TYPES, load: rest });
    return [{ type: ALL_TYPES, load: all }, ...kept];
  }

  /** Of a minute that was not written: when each type was started and ended last, which the next one tells. */
  keepLast(samples: readonly LoadSample[]): void {
    for (const { type, load } of samples) {
      for (const name of LASTS) {
        const at = load[name] ?? 0;
        if (at > 0 && type !== ALL_TYPES) raiseFigure(this.#of(type), name, at);
      }
    }
  }

  #see({ types, kept }: Backlog): void {
    for (const { type, waitingCount, heldCount, runningCount, oldestWaitingMs } of types) {
      if (waitingCount + heldCount + runningCount === 0) continue;
      addLoad(this.#of(type), {
        waiting: waitingCount,
        held: heldCount,
        running: runningCount,
        oldest_wait_ms: waitingCount > 0 ? oldestWaitingMs : 0,
      });
    }
    for (const { type, reason, count } of kept) {
      const figure = reason === null ? undefined : KEPT[reason];
      if (figure !== undefined) addFigure(this.#of(type), figure, count);
    }
  }

  #of(type: string): Load {
    const known = this.#types.get(type);
    if (known !== undefined) return known;
    if (this.#types.size >= LOAD_COUNTED_MAX && type !== OTHER_TYPES) return this.#of(OTHER_TYPES);
    const load: Load = {};
    this.#types.set(type, load);
    return load;
  }
}

function busyness({ accepted = 0, started = 0, waiting = 0, held = 0, running = 0 }: Load): number {
  return accepted + started + waiting + held + running;
}

function idleCount({ executors }: State): number {
  let count = 0;
  for (const executor of executors.values()) if (stateOf(executor) === 'idle') count++;
  return count;
}
