/** Shared limits are set, changed and deleted: each at once, whatever waits or runs. */
import { SHARED_LIMITS_MAX } from '../bounds.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event } from '../events.ts';
import { tell } from '../feed/tell.ts';
import { isPlaceOf, type SharedLimit } from '../model/shared-limit.ts';
import type { State } from '../state/state.ts';
import { openUsersOf, takeLimit } from '../limits/supplies.ts';

type OnLimit = Extract<Event, { type: 'limitSet' }>;

/** A command on one shared limit, and its answer. */
export function onLimit(state: State, event: OnLimit, now: number, out: Output): void {
  const { name, limit } = event;
  const reply =
    limit === null ? limitRemoved(state, name, now, out) : limitSet(state, limit, now, out);
  out.effects.push({ type: 'reply', request: event.request, reply });
}

function limitSet(state: State, row: SharedLimit, now: number, out: Output): CommandOutcome {
  const { name } = row;
  const isNew = !state.supplies.has(name);
  if (isNew && state.supplies.size >= SHARED_LIMITS_MAX) {
    return { kind: 'full', message: `there are ${SHARED_LIMITS_MAX} limits: delete one` };
  }
  const strayCount = countElsewhere(state, row);
  if (strayCount > 0) {
    const message = `attempts that have taken of it, counted otherwise: ${strayCount}; \`per\` can be another once they have ended`;
    return { kind: 'conflict', message };
  }
  takeLimit(state, row);
  openUsersOf(state, name);
  out.changes.push({ op: 'put', table: 'limit', key: name, row });
  tell(state, out, 'limit.changed', now, {}, { limit: name, max: row.max });
  return { kind: 'done', isNew };
}

/** Attempts that took of it in a place which it has not any more: nobody could say how far it is used. */
function countElsewhere({ holdings }: State, { name, per }: SharedLimit): number {
  let count = 0;
  for (const { taken } of holdings.values()) {
    if (taken.some(({ limit, place }) => limit === name && !isPlaceOf(per, place))) count++;
  }
  return count;
}

function limitRemoved(state: State, name: string, now: number, out: Output): CommandOutcome {
  if (!state.supplies.has(name)) return { kind: 'unknown', message: 'there is no such limit' };
  for (const { type, uses } of state.types.values()) {
    if (uses.every(({ limit }) => limit !== name)) continue;
    return { kind: 'conflict', message: `type ${type} uses it` };
  }
  state.supplies.delete(name);
  openUsersOf(state, name);
  out.changes.push({ op: 'remove', table: 'limit', key: name, expect: 'any' });
  tell(state, out, 'limit.deleted', now, {}, { limit: name });
  return { kind: 'done' };
}

/** Of those that a definition or a task names, one that there is not; undefined: there are all. */
export function missingLimit(
  { supplies }: Pick<State, 'supplies'>,
  uses: readonly { readonly limit: string }[],
): string | undefined {
  return uses.find(({ limit }) => !supplies.has(limit))?.limit;
}
