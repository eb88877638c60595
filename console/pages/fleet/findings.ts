/** What the master has found about types: the worst of each. */
import type { HealthView } from '@soda-scheduler/protocol';

export type HealthFinding = HealthView['findings'][number];
/** By type. */
export type Found = ReadonlyMap<string, HealthFinding>;

/** The worst comes first. */
export const RANKS = { critical: 0, warning: 1, info: 2 } as const;

/** @param health null: it is not known yet. */
export function worstByType(health: HealthView | null): Found {
  const worst = new Map<string, HealthFinding>();
  for (const finding of health?.findings ?? []) {
    const { subject, severity } = finding;
    if (subject?.startsWith('type/') !== true) continue;
    const type = subject.slice('type/'.length);
    const known = worst.get(type);
    if (known === undefined || RANKS[severity] < RANKS[known.severity]) worst.set(type, finding);
  }
  return worst;
}
