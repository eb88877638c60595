/** Shared limits, and how far each is used. */
import type { Supply } from '../limits/supply.ts';
import { nameOfPlace, placesOf, type SharedLimit } from '../model/shared-limit.ts';
import type { State } from '../state/state.ts';

/** Places of one that are told of, the fullest. */
const PLACE_COUNT_MAX = 100;

export interface SeenLimit {
  readonly limit: SharedLimit;
  /** In all places. */
  readonly usedCount: number;
  /** Where it is in use, in the words of people, the fullest first. */
  readonly places: readonly { readonly name: string; readonly usedCount: number }[];
}

/** Up to `count` of them by name, after that one. */
export function limitsAfter({ supplies, executors }: State, after: string, count: number) {
  const names = [...supplies.keys()].filter((name) => name > after).sort();
  const page = names.slice(0, count).map((name) => supplies.get(name) as Supply);
  return page.map((supply) => seen(executors, supply));
}

/** Null: there is no such limit. */
export function seenLimit({ supplies, executors }: State, name: string): SeenLimit | null {
  const supply = supplies.get(name);
  return supply === undefined ? null : seen(executors, supply);
}

/** What is taken in the place where most is. */
export function fullestOf({ used }: Supply): number {
  let most = 0;
  for (const count of used.values()) most = Math.max(most, count);
  return most;
}

function seen(executors: State['executors'], { limit, used }: Supply): SeenLimit {
  let usedCount = 0;
  for (const count of used.values()) usedCount += count;
  if (limit.per === 'cluster') return { limit, usedCount, places: [] };
  const fullest = [...used].sort(([, a], [, b]) => b - a).slice(0, PLACE_COUNT_MAX);
  const hosts = limit.per === 'host' && fullest.length > 0 ? hostNames(executors) : new Map();
  const places = fullest.map(([place, count]) => {
    return { name: hosts.get(place) ?? nameOfPlace(place), usedCount: count };
  });
  return { limit, usedCount, places };
}

/** What hosts call themselves; one on which nobody is connected yet is told by its place. */
function hostNames(executors: State['executors']): Map<string, string> {
  const names = new Map<string, string>();
  for (const executor of executors.values()) {
    const [place = ''] = placesOf('host', executor);
    if (executor.host !== '' && !names.has(place)) names.set(place, executor.host);
  }
  return names;
}
