/** What questions for room cost: one answer asks so many of them at most. */
import type { Place } from './divide.ts';

/** How many are left. */
export interface Looks {
  left: number;
}

/** Of one question, in pools. */
export const costIn = (places: readonly Place[]): number =>
  places.reduce((sum, [, { lookCost }]) => sum + lookCost, 0);

export function takeLooks(looks: Looks, cost: number): void {
  looks.left = Math.max(0, looks.left - cost);
}
