/**
 * How far a shared limit is used, in each of its places. It counts, and says whether there is room; who has
 * it, and who is told of room that comes, is the matter of `supplies.ts`.
 */
import { placesOf, type SharedLimit, type Taken, type Use } from '../model/shared-limit.ts';
import type { Kind } from '../queue/lane.ts';

export interface Supply {
  /** As its row is now. */
  limit: SharedLimit;
  /** What attempts have taken, by place; without those of which nothing is. */
  readonly used: Map<string, number>;
  /** Kinds of tasks that take more than one: they may have to wait for several to end. */
  readonly wide: Map<Kind, number>;
  /** Types of which a task waits beside an idle executor, since there was no room for it. */
  readonly turnedAway: Set<string>;
}

/** Nothing is counted yet. */
export function createSupply(limit: SharedLimit): Supply {
  return { limit, used: new Map(), wide: new Map(), turnedAway: new Set() };
}

export function usedAt({ used }: Supply, place: string): number {
  return used.get(place) ?? 0;
}

/** Whether so much can be taken there now. */
export function hasRoomAt(supply: Supply, place: string, n: number): boolean {
  return usedAt(supply, place) + n <= supply.limit.max;
}

/** It was taken (1), or is free again (-1). */
export function countTaken({ used }: Supply, { place, n }: Taken, by: 1 | -1): void {
  const count = (used.get(place) ?? 0) + by * n;
  if (count === 0) used.delete(place);
  else used.set(place, count);
}

/** Tasks of the kind come, or there are none any more (`isThere`). */
export function noteKind(
  supplies: ReadonlyMap<string, Supply>,
  kind: Kind,
  isThere: boolean,
): void {
  for (const { limit, n } of kind.uses) {
    const wide = supplies.get(limit)?.wide;
    if (isThere && n > 1) wide?.set(kind, n);
    else wide?.delete(kind);
  }
}

/** What of the uses is limited at present, with its supply. */
export function* limitedUses(
  supplies: ReadonlyMap<string, Supply>,
  uses: readonly Use[],
): Generator<readonly [supply: Supply, n: number]> {
  for (const { limit, n } of uses) {
    const supply = supplies.get(limit);
    if (supply !== undefined) yield [supply, n];
  }
}

/** Whether there is room for all that a task of the kind takes where the executor is, whoever else waits for it. */
export function hasSupplies(
  supplies: ReadonlyMap<string, Supply>,
  { uses }: Pick<Kind, 'uses'>,
  executor: Parameters<typeof placesOf>[1],
): boolean {
  for (const [supply, n] of limitedUses(supplies, uses)) {
    const places = placesOf(supply.limit.per, executor);
    if (places.length === 0 || !places.every((place) => hasRoomAt(supply, place, n))) return false;
  }
  return true;
}
