/** Reads who is first, or last, of types: of all that is due, also in the store only. Whoever calls steps nothing else meanwhile. */
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
  const wanted: (EdgeWanted & { readonly type: string })[] = [];
  for (const { id: lane, kind, waitingCount, heldCount } of state.lanes.values()) {
    const { type } = kind;
    if (!asked.has(type)) continue;
    if (waitingCount > heldCount) wanted.push({ lane, state: 'waiting', type });
    if (heldCount > 0) wanted.push({ lane, state: 'held', type });
  }
  const found = await store.findEdges(wanted, to, now);
  const edges = new Map<string, Position>();
  for (const [at, { type }] of wanted.entries()) {
    const edge = found[at] ?? null;
    const known = edges.get(type);
    if (edge === null) continue;
    const isBeyond = known === undefined || isBefore(edge, known) === (to === 'first');
    if (isBeyond) edges.set(type, edge);
  }
  return edges;
}
