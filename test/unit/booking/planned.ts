/** Pools and windows, as tests of the plan have them, and how these are booked. */
import type { BookedPool } from '../../../master/domain/plan/booked-pool.ts';
import type { Wish } from '../../../master/domain/plan/divide.ts';
import { BookingPlan } from '../../../master/domain/plan/plan.ts';
import type { PlannedWindow } from '../../../master/domain/plan/planned-window.ts';

export const pool = (
  key: string,
  capacity: number,
  more: Partial<BookedPool> = {},
): BookedPool => ({
  key,
  types: ['push'],
  labels: [],
  reserve: [],
  capacity,
  executorIds: new Set<string>(),
  isDeclared: false,
  ...more,
});

export const wish = (from: number, to: number, count = 1, more: Partial<Wish> = {}): Wish => ({
  type: 'push',
  requires: [],
  labels: [],
  from,
  to,
  count,
  leadMs: 0,
  ceilings: [],
  ...more,
});

/** @returns Null: it does not fit. */
export function bookOne(plan: BookingPlan, each: Wish, order: number): PlannedWindow | null {
  const admission = plan.admit([each]);
  if ('refused' in admission) return null;
  const parts = admission.divisions[0] ?? null;
  const window = { ...each, id: `b${order}`, order, parts };
  plan.put(window);
  return window;
}

/** One after the other. @returns Those that were accepted. */
export function book(plan: BookingPlan, wishes: readonly Wish[]): PlannedWindow[] {
  return wishes
    .map((each, order) => bookOne(plan, each, order))
    .filter((window) => window !== null);
}

export function planOf(pools: readonly BookedPool[]): BookingPlan {
  const plan = new BookingPlan();
  plan.setPools(pools);
  return plan;
}
