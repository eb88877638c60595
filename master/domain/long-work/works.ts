/** All long work of a namespace: whose turn it is, what is written of it, and when it is forgotten. */
import { WORK_AT_ONCE_COUNT } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { tell } from '../feed/tell.ts';
import type { State } from '../state/state.ts';
import { forgettable, isOver, isReady, type Work } from './work.ts';

/** Asks for the next slice, where there is any. */
export function askForWork(state: State, out: Output): void {
  if (state.loading.has('work') || !state.accepting || nextWork(state) === null) return;
  state.loading.add('work');
  out.loads.push({ type: 'work' });
}

/** Whose turn it is: those that have begun first take turns, and the others wait. */
export function nextWork({ works }: State): Work | null {
  const atOnce: Work[] = [];
  for (const work of works.byId.values()) {
    if (isReady(work)) atOnce.push(work);
    if (atOnce.length === WORK_AT_ONCE_COUNT) break;
  }
  const last = atOnce.findIndex(({ id }) => id === works.lastId);
  return atOnce[(last + 1) % atOnce.length] ?? null;
}

/** It is so from here on; told of where it is over. */
export function putWork(state: State, work: Work, now: number, out: Output): void {
  state.works.byId.set(work.id, work);
  out.changes.push({ op: 'put', table: 'work', key: work.id, row: work });
  if (!isOver(work)) return;
  out.observed.push({ event: 'work_ended', work });
  const { id: operation_id, state: how } = work;
  tell(state, out, 'operation.ended', now, {}, { operation_id, state: how });
  forgetOldWork(state, now, out);
}

/** What has been over for long. */
export function forgetOldWork(state: State, now: number, out: Output): void {
  for (const { id } of forgettable(state.works.byId.values(), now)) {
    state.works.byId.delete(id);
    out.changes.push({ op: 'remove', table: 'work', key: id, expect: 'any' });
  }
}

/** As the rows have it, in any order; it goes on. */
export function recallWork(state: State, rows: readonly Work[], out: Output): void {
  const inOrder = rows.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  for (const work of inOrder) state.works.byId.set(work.id, work);
  askForWork(state, out);
}

/** Of those that are not over. */
export function openWorkCount({ works }: Pick<State, 'works'>): number {
  let count = 0;
  for (const work of works.byId.values()) if (!isOver(work)) count += 1;
  return count;
}
