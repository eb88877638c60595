/** What the tasks of one namespace have used, in memory. */
import type { UsageQuery, UsageSum } from '../../application/reports/usage-query.ts';
import {
  addCount,
  addFigures,
  boundedTo,
  hasRoomFor,
  type UsageCount,
  type UsageDelta,
} from '../../domain/usage/usage.ts';

export class MemoryUsage {
  /** By day. */
  readonly #days = new Map<string, Map<string, UsageCount>>();

  add({ counts }: UsageDelta): void {
    const days = new Set([...counts.values()].map(({ day }) => day));
    for (const day of days) {
      const known = this.#days.get(day) ?? new Map<string, UsageCount>();
      this.#days.set(day, known);
      const ofDay = new Map([...counts].filter(([, one]) => one.day === day));
      const kept = hasRoomFor(ofDay.size, { count: known.size }) ? ofDay : bounded(ofDay, known);
      for (const one of kept.values()) addCount(known, one);
    }
  }

  read({ day, by, type, group, within }: UsageQuery): readonly UsageSum[] {
    const sums = new Map<string, UsageSum>();
    for (const one of this.#days.get(day)?.values() ?? []) {
      const isAskedFor =
        (type ?? one.type) === one.type &&
        (group ?? one.group) === one.group &&
        (within?.types?.includes(one.type) ?? true) &&
        (within?.groups?.includes(one.group) ?? true);
      if (!isAskedFor) continue;
      const values = by.map((field) => one[field]);
      const id = values.join('\n');
      const sum = sums.get(id) ?? { values, figures: {} };
      sums.set(id, sum);
      addFigures(sum.figures, one.figures);
    }
    return [...sums.values()];
  }

  drop(before: string): number {
    let count = 0;
    for (const [day, counts] of this.#days) {
      if (day >= before) continue;
      count += counts.size;
      this.#days.delete(day);
    }
    return count;
  }
}

function bounded(counts: Map<string, UsageCount>, known: ReadonlyMap<string, UsageCount>) {
  const ofGroups = new Map<string, number>();
  for (const { group } of known.values()) ofGroups.set(group, (ofGroups.get(group) ?? 0) + 1);
  return boundedTo(counts, new Set(known.keys()), { count: known.size, ofGroups });
}
