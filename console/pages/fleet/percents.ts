/** Shares as people read them. */

/** Whole percents of all of them, which add up to 100: what cutting takes away goes to those that lose most by it. */
export function percentsOf(counts: readonly number[]): number[] {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return counts.map(() => 0);
  const exact = counts.map((count) => (100 * count) / all);
  const whole = exact.map(Math.floor);
  const missing = 100 - whole.reduce((sum, percent) => sum + percent, 0);
  const restOf = (index: number): number => (exact[index] ?? 0) - (whole[index] ?? 0);
  const raised = new Set(
    [...counts.keys()].sort((a, b) => restOf(b) - restOf(a)).slice(0, missing),
  );
  return whole.map((percent, index) => (raised.has(index) ? percent + 1 : percent));
}
