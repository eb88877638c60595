/** What questions for room cost: one answer asks so many of them at most. */
import type { Part, Place } from './divide.ts';

/** How many are left. */
export interface Looks {
  left: number;
}

/** So many pools that cannot serve take as long as a look at one that can. */
const POOLS_PER_LOOK = 8;
/** To hold a part, and to give it back, takes as long as so many looks. */
const LOOKS_PER_PART = 4;

/** Of one question, in pools. */
export const costIn = (places: readonly Place[]): number =>
  places.reduce((sum, [, { lookCost }]) => sum + lookCost, 0);

/** Of a window that is admitted, or not (null): each pool is asked first whether it may serve it. */
export function admissionCost(
  poolCount: number,
  places: readonly Place[],
  parts: readonly Part[] | null,
): number {
  const held = LOOKS_PER_PART * (parts?.length ?? 0);
  return 1 + poolCount / POOLS_PER_LOOK + costIn(places) + held;
}

export function takeLooks(looks: Looks, cost: number): void {
  looks.left = Math.max(0, looks.left - cost);
}
