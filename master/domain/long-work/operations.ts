/** Long work as operators begin, pause and end it. */
import { WORK_KNOWN_COUNT_MAX, WORK_OPEN_COUNT_MAX } from '../bounds.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event } from '../events.ts';
import { tell } from '../feed/tell.ts';
import type { State } from '../state/state.ts';
import { ended, isOver } from './work.ts';
import { askForWork, openWorkCount, putWork } from './works.ts';

type WorkEvent = Extract<Event, { type: 'workRequested' | 'workSteered' }>;

/** What is asked of it as a whole. */
export function onWork(state: State, event: WorkEvent, now: number, out: Output): void {
  const reply =
    event.type === 'workRequested'
      ? workRequested(state, event, now, out)
      : workSteered(state, event, now, out);
  out.effects.push({ type: 'reply', request: event.request, reply });
  askForWork(state, out);
}

/** One that is there was asked for before: it is answered as if it were new. */
function workRequested(
  state: State,
  { work }: Extract<Event, { type: 'workRequested' }>,
  now: number,
  out: Output,
): CommandOutcome {
  if (state.works.byId.has(work.id)) return { kind: 'done' };
  const openCount = openWorkCount(state);
  if (openCount >= WORK_OPEN_COUNT_MAX) {
    return { kind: 'full', message: `${openCount} operations are under way already` };
  }
  if (state.works.byId.size >= WORK_KNOWN_COUNT_MAX) {
    const message = `${state.works.byId.size} operations were begun in the last ten minutes`;
    return { kind: 'full', message };
  }
  const { id: operation_id, request } = work;
  tell(state, out, 'operation.began', now, {}, { operation_id, action: request.action });
  putWork(state, { ...work, createdAt: now }, now, out);
  return { kind: 'done' };
}

function workSteered(
  state: State,
  { workId, to }: Extract<Event, { type: 'workSteered' }>,
  now: number,
  out: Output,
): CommandOutcome {
  const work = state.works.byId.get(workId);
  if (work === undefined) return { kind: 'unknown', message: 'There is no such operation.' };
  if (work.state === to) return { kind: 'done' };
  if (isOver(work)) return { kind: 'conflict', message: `The operation is ${work.state} already.` };
  putWork(state, to === 'canceled' ? ended(work, to, now) : { ...work, state: to }, now, out);
  return { kind: 'done' };
}
