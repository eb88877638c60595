/**
 * Seeds that find a mutant soon, where the first ones do not: they are tried first, so that the test of
 * the mutants takes a fifth of the time. A change in how the simulation draws makes them others.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { MUTANT_NAMES, runMutant } from '../mutants.ts';

const FILE = new URL('./seeds.json', import.meta.url);
export const SEED_COUNT_MAX = 60;
/** Of processor time: what is found faster need not be found faster still. */
const QUICK_MS = 100;
/** So many seeds are tried for a quicker one than the first that was found. */
const MORE_COUNT = 20;

export function knownSeeds(): Readonly<Record<string, number>> {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, number>;
}

/** `npm run sim -- --mutants`: looks for them anew. Takes minutes. */
export async function findSeeds(): Promise<void> {
  const seeds: Record<string, number> = {};
  for (const name of MUTANT_NAMES) {
    let best: { readonly seed: number; readonly costMs: number } | null = null;
    let firstAt = SEED_COUNT_MAX;
    let spentMs = 0;
    for (let seed = 1; seed <= Math.min(SEED_COUNT_MAX, firstAt + MORE_COUNT); seed++) {
      const begun = process.cpuUsage();
      const isFound = (await runMutant(name, seed)) !== null;
      const { user, system } = process.cpuUsage(begun);
      const costMs = (user + system) / 1000;
      if (best === null) spentMs += costMs;
      if (!isFound) continue;
      firstAt = Math.min(firstAt, seed);
      if (best === null || costMs < best.costMs) best = { seed, costMs };
      if (best.costMs < QUICK_MS) break;
    }
    console.log(`${best?.seed ?? 'none'}: ${name}`);
    if (best !== null && spentMs - best.costMs > QUICK_MS) seeds[name] = best.seed;
  }
  writeFileSync(FILE, `${JSON.stringify(seeds, null, 2)}\n`);
}
