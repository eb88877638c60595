/**
 * With it Node runs TypeScript: `node --import ./scripts/typescript.mjs test/sim/run.ts`. What runs is what is written,
 * without its types: a loader that gives each function its name once more takes a tenth of the time of a simulation.
 */
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Threads run what is compiled.
if (isMainThread) {
  process.setSourceMapsEnabled(true);
  register('./typescript-hooks.mjs', import.meta.url);
}
