/**
 * Counts what tasks use, as steps decide it: what one turn adds is a row of its commit, so that a crash loses either
 * both or neither. A task counts for whose it is at that moment, on that day.
 */
import type { Output } from '../effects.ts';
import { type AttemptOutcome, isLoss, type Task, type User } from '../model/task.ts';
import type { State } from '../state/state.ts';
import { dayOf } from './day.ts';
import {
  addFigures,
  DELTA_KEYS_MAX,
  type Figures,
  type UsageDelta,
  usageId,
  type UsageKey,
} from './usage.ts';

export function count(
  state: State,
  out: Output,
  { type, user }: Pick<Task, 'type' | 'user'>,
  now: number,
  figures: Figures,
): void {
  const { counts } = deltaOf(state, out);
  const { key, id } = namedAs(dayOf(state.policy.reportZone, now), type, user);
  const known = counts.get(id);
  if (known === undefined) counts.set(id, { figures, ...key });
  else addFigures(known.figures, figures);
}

/** The newest answer: a task is counted some times, and its neighbours are mostly of whom it is of. */
let newest: { readonly key: UsageKey; readonly id: string } | null = null;

function namedAs(day: string, type: string, user: User): { key: UsageKey; id: string } {
  if (newest === null || !isOf(newest.key, day, type, user)) {
    const { group, project, env, user: name } = user;
    const key = { day, type, group, project, env, user: name };
    newest = { key, id: usageId(key) };
  }
  return newest;
}

function isOf(key: UsageKey, day: string, type: string, user: User): boolean {
  return (
    key.type === type &&
    key.day === day &&
    key.group === user.group &&
    key.project === user.project &&
    key.env === user.env &&
    key.user === user.user
  );
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
