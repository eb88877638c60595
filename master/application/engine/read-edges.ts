/**
 * Who is first, or last, of types: of all that is due. What lanes have in memory says so of most; the others are read. Whoever
 * calls steps nothing else meanwhile.
 */
import { positionOf } from '../../domain/queue/agenda.ts';
import type { Lane } from '../../domain/queue/lane.ts';
import { isBefore, type Position, type QueueEnd } from '../../domain/queue/window.ts';
import type { State } from '../../domain/state/state.ts';
import type { EdgeWanted, TaskStore } from '../ports.ts';

/** By type; without those of which nothing is due. */
export async function readEdges(
  store: TaskStore,
  state: State,
  to: QueueEnd,
  types: Iterable<string>,
  now: number,
): Promise<ReadonlyMap<string, Position>> {
  const asked = new Set(types);
  const edges = new Map<string, Position>();
  const take = (type: string, edge: Position | null): void => {
    const known = edges.get(type);
    if (edge === null) return;
    const isBeyond = known === undefined || isBefore(edge, known) === (to === 'first');
    if (isBeyond) edges.set(type, edge);
  };
  const wanted: (EdgeWanted & { readonly type: string })[] = [];
  const isInMemory = knowsAllDue(state, now);
  for (const lane of state.lanes.values()) {
    const { id, waitingCount, heldCount } = lane;
    const { type } = lane.kind;
    if (!asked.has(type)) continue;
    const known = isInMemory ? edgeInMemory(lane, to) : undefined;
    if (known !== undefined) take(type, known);
    else if (waitingCount > heldCount) wanted.push({ lane: id, state: 'waiting', type });
    if (heldCount > 0) wanted.push({ lane: id, state: 'held', type });
  }
  const found = wanted.length === 0 ? [] : await store.findEdges(wanted, to, now);
  for (const [at, { type }] of wanted.entries()) take(type, found[at] ?? null);
  return edges;
}

/** Whether all that is due by now stands in a lane: what has just become due is let in by the next event. */
function knowsAllDue({ delayed }: State, now: number): boolean {
  const isNextLater = (delayed.first()?.dueAt ?? Number.POSITIVE_INFINITY) > now;
  return isNextLater && (delayed.until === null || delayed.until.time > now);
}

/** Of those that wait and are not held; null: none is due; undefined: that end of the lane is in the store only. */
function edgeInMemory({ ready }: Lane, to: QueueEnd): Position | null | undefined {
  const task = to === 'first' ? ready.first() : ready.last();
  if (ready.complete) return task === undefined ? null : positionOf(task);
  return to === 'first' && task !== undefined ? positionOf(task) : undefined;
}
