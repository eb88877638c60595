/**
 * Counts what tasks use, as steps decide it: what one turn adds is a row of its commit, so that a crash loses either
 * both or neither. A task counts for whose it is at that moment, on that day.
 */
import type { Output } from '../effects.ts';
import { type AttemptOutcome, isLoss, type Task } from '../model/task.ts';
import type { State } from '../state/state.ts';
import { dayOf } from './day.ts';
import { addFigures, DELTA_KEYS_MAX, type Figures, usageId, type UsageDelta } from './usage.ts';

export function count(
  state: State,
  out: Output,
  { type, user }: Pick<Task, 'type' | 'user'>,
  now: number,
  figures: Figures,
): void {
  const { group, project, env, user: name } = user;
  const key = { day: dayOf(state.policy.reportZone, now), type, group, project, env, user: name };
  const { counts } = deltaOf(state, out);
  const id = usageId(key);
  const known = counts.get(id);
  if (known === undefined) counts.set(id, { figures, ...key });
  else addFigures(known.figures, figures);
}

/** An attempt is over that an executor has had; an offer that came to nothing is none. */
export function countAttempt(
  state: State,
  out: Output,
  task: Task,
  outcome: AttemptOutcome,
  now: number,
): void {
  if (outcome === 'rejected' || outcome === 'assign_timeout') return;
  const { startedAt, dueAt, submittedAt } = task;
  count(state, out, task, now, {
    attempts: 1,
    ...(outcome === 'timed_out' && { timed_out: 1 }),
    ...(isLoss(outcome) && { lost: 1 }),
    ...(startedAt !== null && {
      wait_ms: Math.max(0, startedAt - Math.max(dueAt, submittedAt)),
      run_ms: Math.max(0, now - startedAt),
    }),
  });
}

/** Of this turn; a row of many keys is followed by another. */
function deltaOf({ term, usage }: State, out: Output): UsageDelta {
  if (out.usage === null || out.usage.counts.size >= DELTA_KEYS_MAX) {
    usage.lastNumber += 1;
    const row: UsageDelta = { term, number: usage.lastNumber, counts: new Map() };
    out.usage = row;
    out.changes.push({ op: 'insert', table: 'usage', key: [term, row.number], row });
  }
  return out.usage;
}
