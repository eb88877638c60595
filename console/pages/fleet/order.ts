/** The order of types: those with something to look at first. Who reads a list finds each where it was. Pure. */
import type { TypeView } from '@soda-scheduler/protocol';
import type { Found } from './findings.ts';

/** So long each stays where it is, whatever waits. */
const STAYS_MS = 60_000;

/** Those that nobody runs, or that something grave was found of, are 2, and others of which something waits 1. */
export function rankOf({ type, counts, executors, paused }: TypeView, found: Found): number {
  if (found.get(type)?.severity === 'critical') return 2;
  return counts.waiting === 0 ? 0 : paused !== null || executors === 0 ? 2 : 1;
}

/** Within these those come first of which most waits. */
const byTrouble =
  (found: Found) =>
  (a: TypeView, b: TypeView): number =>
    rankOf(b, found) - rankOf(a, found) ||
    b.counts.waiting - a.counts.waiting ||
    a.type.localeCompare(b.type);

export interface Order {
  readonly since: number;
  readonly names: readonly string[];
  /** Of which there was something grave since then. */
  readonly grave: ReadonlySet<string>;
}

/** @param before null: there was none yet. @returns `before`, unless it is old, there is another type, or one got worse. */
export function orderOf(
  types: readonly TypeView[],
  found: Found,
  before: Order | null,
  now: number,
): Order {
  const grave = types.filter((view) => rankOf(view, found) === 2).map(({ type }) => type);
  const holds =
    before !== null &&
    now - before.since < STAYS_MS &&
    types.every(({ type }) => before.names.includes(type)) &&
    grave.every((type) => before.grave.has(type));
  if (holds) return before;
  const names = [...types].sort(byTrouble(found)).map(({ type }) => type);
  return { since: now, names, grave: new Set(grave) };
}
