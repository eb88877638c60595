/**
 * Root hooks of every mocha run: what a test file opened (timers, sockets, servers, processes)
 * must be closed when it ends. A leak fails the file and is named, instead of hanging the run. So does a promise
 * that is rejected while nobody listens: mocha says nothing of it in parallel mode.
 * In parallel mode the hooks run around each file; in serial mode around all of them.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** What is closed at the end of a test needs some turns of the event loop, of a machine that may be busy. */
const SETTLE_MS = 20_000;
const POLL_MS = 20;

let before = new Map<string, number>();
let rejected: unknown[] = [];

const onRejection = (reason: unknown): void => {
  // Mocha tells of each once more.
  if (!rejected.includes(reason)) rejected.push(reason);
};

/** How many resources of each kind keep the event loop alive. */
function openResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function leaks(): string[] {
  return [...openResources()]
    .map(([kind, count]) => ({ kind, count: count - (before.get(kind) ?? 0) }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${kind}`);
}

export const mochaHooks = {
  async beforeAll(): Promise<void> {
    // Mocha starts the timer of an asynchronous hook after its first await: here and below alike.
    await delay(1);
    rejected = [];
    process.on('unhandledRejection', onRejection);
    before = openResources();
  },

  async afterAll(): Promise<void> {
    let left: string[] = [];
    for (let waitedMs = 0; waitedMs < SETTLE_MS; waitedMs += POLL_MS) {
      await delay(POLL_MS);
      left = leaks();
      if (left.length === 0) break;
    }
    process.off('unhandledRejection', onRejection);
    for (const reason of rejected) console.log('    rejected, and nobody listens:', reason);
    const problems = [
      ...(left.length > 0 ? [`left open: ${left.join(', ')}`] : []),
      ...rejected.map((reason) => `rejected, and nobody listens: ${String(reason)}`),
    ];
    if (problems.length > 0) throw new Error(problems.join('; '));
  },
};
