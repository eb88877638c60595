/**
 * Seeds that find a mutant soon, where the first ones do not: they are tried first, so that the test of
 * the mutants takes a fifth of the time. A change in how the simulation draws makes them others.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { settingsFor } from '../faults.ts';
import { MUTANT_NAMES, runMutant } from '../mutants.ts';

const FILE = new URL('./seeds.json', import.meta.url);
export const SEED_COUNT_MAX = 60;
/** Of processor time: what is found faster need not be found faster still. */
const QUICK_MS = 100;
/** So many seeds are tried before those that the test tries: of so many those with the shortest runs. */
const SHORT_COUNT = 60;
const DRAWN_COUNT = 3_000;

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

function shortSeeds(): number[] {
  const sizeOf = (seed: number): number => {
    const { stormMs, taskCount, executorCount } = settingsFor(seed);
    return stormMs * taskCount * (1 + executorCount);
  };
  const sizes = new Map(upTo(DRAWN_COUNT).map((seed) => [seed, sizeOf(seed)]));
  const shortestFirst = [...sizes].sort(([, a], [, b]) => a - b).map(([seed]) => seed);
  return shortestFirst.slice(0, SHORT_COUNT);
}

export function knownSeeds(): Readonly<Record<string, number>> {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, number>;
}

/** `npm run sim -- --mutants`: looks for them anew. Takes minutes. */
export async function findSeeds(): Promise<void> {
  const seeds: Record<string, number> = {};
  for (const name of MUTANT_NAMES) {
    let best: { readonly seed: number; readonly costMs: number } | null = null;
    for (const [index, seed] of [1, ...shortSeeds(), ...upTo(SEED_COUNT_MAX)].entries()) {
      if (best !== null && (best.costMs < QUICK_MS || index > SHORT_COUNT)) break;
      const begun = process.cpuUsage();
      const isFound = (await runMutant(name, seed)) !== null;
      const { user, system } = process.cpuUsage(begun);
      const costMs = (user + system) / 1000;
      if (isFound && (best === null || costMs < best.costMs)) best = { seed, costMs };
    }
    console.log(`${best?.seed ?? 'none'}: ${name}`);
    // The test begins with the first by itself.
    if (best !== null && best.seed > 1) seeds[name] = best.seed;
  }
  writeFileSync(FILE, `${JSON.stringify(seeds, null, 2)}\n`);
}
