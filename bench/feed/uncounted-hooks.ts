/** What Node calls for each module of `uncounted.ts`, in a thread apart. */
import type { LoadHook } from 'node:module';

const COUNTING = '/master/dist/domain/usage/count.js';
const NOTHING =
  'export const countsNothing = true; export function count() {} export function countAttempt() {}';

export const load: LoadHook = (url, context, nextLoad) =>
  url.endsWith(COUNTING)
    ? { format: 'module', source: NOTHING, shortCircuit: true }
    : nextLoad(url, context);
