/** Saved views are set and deleted. They change nothing of what is scheduled. */
import { VIEWS_MAX } from '../bounds.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event } from '../events.ts';
import type { State } from '../state/state.ts';

type OnView = Extract<Event, { type: 'viewSet' }>;

/** A command on one view, and its answer. */
export function onView(state: State, event: OnView, out: Output): void {
  out.effects.push({ type: 'reply', request: event.request, reply: decide(state, event, out) });
}

function decide({ views }: State, { name, query }: OnView, out: Output): CommandOutcome {
  const isNew = !views.has(name);
  if (query === null) {
    if (isNew) return { kind: 'unknown', message: 'there is no such view' };
    views.delete(name);
    out.changes.push({ op: 'remove', table: 'view', key: name, expect: 'any' });
    return { kind: 'done' };
  }
  if (isNew && views.size >= VIEWS_MAX) {
    return { kind: 'full', message: `there are ${VIEWS_MAX} views: delete one` };
  }
  const row = { name, query };
  views.set(name, row);
  out.changes.push({ op: 'put', table: 'view', key: name, row });
  return { kind: 'done', isNew };
}
