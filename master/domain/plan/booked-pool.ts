/** Which executors may be booked, as far as the plan goes by it. */

/** Executors with the same types, labels (without those that each has by itself) and reservations. */
export interface BookedPool {
  readonly key: string;
  readonly types: readonly string[];
  readonly labels: readonly string[];
  readonly reserve: readonly string[];
  /** How many of them may be booked at a time. */
  readonly capacity: number;
  /** Those that are known: a booking that names one of them belongs to this pool. */
  readonly executorIds: ReadonlySet<string>;
  /** Its capacity is what somebody has said: which executors and labels there will be nobody knows. */
  readonly isDeclared: boolean;
}

export function isSamePool(one: BookedPool, other: BookedPool): boolean {
  if (one === other) return true;
  if (one.capacity !== other.capacity) return false;
  if (one.executorIds.size !== other.executorIds.size) return false;
  for (const id of one.executorIds) if (!other.executorIds.has(id)) return false;
  return true;
}

/** Of two that have the same name. */
export function hasLost(pool: BookedPool, before: BookedPool): boolean {
  const { capacity, executorIds } = pool;
  if (pool === before) return false;
  if (capacity < before.capacity) return true;
  for (const id of before.executorIds) if (!executorIds.has(id)) return true;
  return false;
}

/** The same, once that executor is in another. */
export function without(pool: BookedPool, executorId: string): BookedPool {
  const executorIds = new Set(pool.executorIds);
  executorIds.delete(executorId);
  return { ...pool, executorIds, capacity: executorIds.size };
}
