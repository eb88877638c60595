/**
 * A gate for each value that params of a type have at the pointer of `limits.concurrency`: so many of its tasks have a
 * place at a time, and the others are held in the store. A gate is in memory while somebody has a place of it, or
 * is held.
 */
import { valueAt } from '../model/params-value.ts';
import type { Concurrency } from '../model/task-type.ts';
import { longHashOf } from '../queue/hash.ts';
import { type Position, Window } from '../queue/window.ts';

/** A task that has a place while it waits. */
export interface Candidate extends Position {
  readonly taskId: string;
}

export interface Gate {
  readonly key: number;
  /** Null: rows are all that is known of it, and none of them has been read. */
  type: string | null;
  /** No task has this key by what is set now: whoever is held by it asks anew. */
  isStale: boolean;
  /** Attempts that executors have, also those that are over for their tasks. */
  attemptCount: number;
  /** Tasks that wait in memory, and those that have come from there and are in the store only. In order. */
  candidates: Window<Candidate>;
  /** Rows that are `held`. */
  heldCount: number;
}

/** Nobody has a place of it. */
export function createGate(key: number, type: string | null): Gate {
  return { key, type, isStale: false, attemptCount: 0, candidates: noCandidates(), heldCount: 0 };
}

export const noCandidates = (): Window<Candidate> => new Window((one) => one);

/** How many more may have a place; less than 0, where the limit was another. */
export function freeOf(gate: Gate, concurrency: Concurrency | null): number {
  // One of its tasks is to be read: that tells what it is.
  if (gate.type === null) return 1;
  if (concurrency === null || gate.isStale) return Number.POSITIVE_INFINITY;
  return concurrency.max - gate.attemptCount - gate.candidates.size;
}

/** The gate of such params; null: they have no value there, or null. */
export function gateKeyIn(type: string, pointer: string, params: string): number | null {
  const value = valueAt(params, pointer);
  return value === null || value === 'null' ? null : longHashOf(`${type}\n${pointer}\n${value}`);
}
