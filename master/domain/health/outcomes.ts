/**
 * How attempts, and tries of callbacks, have ended lately, by type and group: the newest of each, as they are observed.
 * In memory only: of what was before `since` nothing is known.
 */
import { OUTCOME_COUNT_MAX, OUTCOME_MS_MAX, OUTCOME_PAIRS_MAX } from '../bounds.ts';
import type { Observation } from '../effects.ts';
import { Lately } from '../lately.ts';
import { sees, type Sight } from '../model/task-filter.ts';
import type { AttemptOutcome } from '../model/task.ts';
import { PIECE_COUNT, type Pieces } from '../pieces.ts';
import { alike } from '../views/alike.ts';

/** How one has ended. */
export interface Outcome {
  readonly at: number;
  readonly taskId: string;
  /** What went wrong, as all of its like say it; null: nothing. */
  readonly error: string | null;
}

/** Of one type and group. */
interface Newest {
  readonly type: string;
  readonly group: string;
  startedAt: number | null;
  readonly attempts: Outcome[];
  readonly callbacks: Outcome[];
}

/** Each has up to `OUTCOME_COUNT_MAX`. */
const PAIRS_OF_PIECE = PIECE_COUNT / OUTCOME_COUNT_MAX;

/** Those that say nothing of whether work succeeds: nobody has begun it, or somebody has ended it. */
const NEUTRAL: ReadonlySet<AttemptOutcome> = new Set([
  'rejected',
  'assign_timeout',
  'canceled',
  'returned',
]);

export class Outcomes {
  readonly since: number;
  readonly #pairs = new Lately<Newest>(OUTCOME_PAIRS_MAX);

  constructor(since: number) {
    this.since = since;
  }

  note(seen: Observation, at: number): void {
    if (seen.event === 'task_started') {
      this.#of(seen.task.type, seen.task.user.group).startedAt = at;
    } else if (seen.event === 'attempt_ended') {
      const { outcome, error } = seen.attempt;
      if (!NEUTRAL.has(outcome)) this.#noteAttempt(seen.task, at, error?.message ?? outcome);
    } else if (seen.event === 'task_finished') {
      // A success is no attempt by itself, and what else a task ends with is.
      if (seen.task.state === 'succeeded') this.#noteAttempt(seen.task, at, null);
    } else if (seen.event === 'notification_tried') {
      const { type, user, taskId, lastError } = seen.notification;
      const error = seen.outcome === 'delivered' ? null : alike(lastError ?? seen.outcome);
      keep(this.#of(type, user.group).callbacks, { at, taskId, error });
    }
  }

  /** When the newest of what is seen was started; null: nothing is known. */
  startedAt(sight: Sight): number | null {
    let newest: number | null = null;
    for (const { startedAt } of this.#seen(sight)) {
      if (startedAt !== null && startedAt > (newest ?? 0)) newest = startedAt;
    }
    return newest;
  }

  /** Of attempts that have ended lately, by type, the oldest first. */
  *attempts(sight: Sight, now: number): Pieces<ReadonlyMap<string, readonly Outcome[]>> {
    const found = new Map<string, Outcome[]>();
    let lookCount = 0;
    for (const { type, attempts } of this.#seen(sight)) {
      if (++lookCount % PAIRS_OF_PIECE === 0) yield;
      const lately = young(attempts, now);
      if (lately.length === 0) continue;
      const ofType = found.get(type);
      if (ofType === undefined) found.set(type, [...lately]);
      else ofType.push(...lately);
    }
    for (const outcomes of found.values()) {
      outcomes.sort((a, b) => a.at - b.at);
      yield;
    }
    return found;
  }

  /** Of tries of callbacks, the oldest first. */
  *callbacks(sight: Sight, now: number): Pieces<readonly Outcome[]> {
    const found: Outcome[] = [];
    let lookCount = 0;
    for (const { callbacks } of this.#seen(sight)) {
      if (++lookCount % PAIRS_OF_PIECE === 0) yield;
      found.push(...young(callbacks, now));
    }
    return found.sort((a, b) => a.at - b.at);
  }

  *#seen(sight: Sight): Generator<Newest> {
    for (const [, newest] of this.#pairs) {
      if (sees(sight, newest.type, newest.group)) yield newest;
    }
  }

  #noteAttempt(
    task: { readonly id: string; readonly type: string; readonly user: { readonly group: string } },
    at: number,
    message: string | null,
  ): void {
    const error = message === null ? null : alike(message);
    keep(this.#of(task.type, task.user.group).attempts, { at, taskId: task.id, error });
  }

  #of(type: string, group: string): Newest {
    // No type has a blank in it.
    const none = { type, group, startedAt: null, attempts: [], callbacks: [] };
    return this.#pairs.of(`${type} ${group}`, () => none);
  }
}

function keep(outcomes: Outcome[], outcome: Outcome): void {
  if (outcomes.length === OUTCOME_COUNT_MAX) outcomes.shift();
  outcomes.push(outcome);
}

function young(outcomes: readonly Outcome[], now: number): readonly Outcome[] {
  return outcomes.filter(({ at }) => now - at < OUTCOME_MS_MAX);
}
