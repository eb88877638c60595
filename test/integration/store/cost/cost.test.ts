/**
 * What a task costs, counted, on whichever machine: statements, rows and values that go to the database, frames to
 * executors, and what the process takes of the machine. A change that makes one of them dearer fails here by its name;
 * one that makes it cheaper lowers it here.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { describeCountedStores } from '../counted-store.ts';
import type { Spending } from './spending.ts';
import { startEngine } from './thousand-tasks.ts';

interface Cost {
  readonly commits: number;
  readonly statements: number;
  readonly runs: number;
  readonly values: number;
  readonly frames: number;
}

/**
 * A server is sent the rows of a statement together, new ones as text, others by the values that they differ in; to a file most
 * are each a run, with its values.
 */
const MOST = {
  SQLite: { commits: 126, statements: 756, runs: 4_497, frames: 1_000 },
  MariaDB: { commits: 126, statements: 760, runs: 760, values: 13_401, frames: 1_000 },
};
const FILE_VALUES_MOST = { plain: 102_844, notified: 108_844 };
/**
 * Some of it is chance: what is compiled meanwhile, and where the machine is busy, what the runtime does at times. So it is
 * the least of some processes that counts. Whoever waits for a server allocates and calls as often as he looks whether it
 * has answered.
 */
const SPENDING_MOST: Record<'SQLite' | 'MariaDB', Partial<Spending>> = {
  SQLite: {
    allocatedBytes: 34_000_000,
    writtenBytes: 10_800_000,
    writeCalls: 4_950,
    readCalls: 330,
  },
  MariaDB: { writtenBytes: 1_330_000 },
};
const YOUNG_MB = 256;
const PROCESS_COUNT_MAX = 3;

describeCountedStores('the cost of a thousand tasks', (open, name) => {
  for (const [what, notifyUrl] of [
    ['plain', null],
    ['notified', 'http://a.example/'],
  ] as const) {
    it(`${what}, to eight executors`, async () => {
      const { store, counts } = await open();
      const tasks = await startEngine(store);
      counts.reset();
      const frames = await tasks.run(notifyUrl);
      const cost: Cost = {
        commits: counts.commitCount,
        statements: counts.statementCount,
        runs: counts.runCount,
        values: counts.valueCount,
        frames,
      };
      await tasks.stop();
      expectAtMost(cost, { values: FILE_VALUES_MOST[what], ...MOST[name] });
    });
  }

  it('of memory, bytes and calls', async function () {
    if (!existsSync('/proc/self/io')) this.skip();
    const { url } = await open();
    const flags = [`--min-semi-space-size=${YOUNG_MB}`, `--max-semi-space-size=${YOUNG_MB}`];
    const least: { -readonly [name in keyof Spending]?: number } = {};
    for (let count = 0; count < PROCESS_COUNT_MAX; count++) {
      const child = fork(new URL('spending.ts', import.meta.url), [url, String(count)], {
        execArgv: ['--import=./scripts/typescript.mjs', ...flags],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const exited = once(child, 'exit');
      const [spending] = (await Promise.race([once(child, 'message'), exited])) as [Spending];
      expect(await exited).to.deep.equal([0, null]);
      for (const of of Object.keys(spending) as (keyof Spending)[]) {
        // Below nothing: it was collected in between, and says nothing.
        if (spending[of] > 0)
          least[of] = Math.min(least[of] ?? Number.POSITIVE_INFINITY, spending[of]);
      }
      if (isAtMost(least, SPENDING_MOST[name])) return;
    }
    expectAtMost(least, SPENDING_MOST[name]);
  });
});

const isAtMost = <T extends object>(cost: Partial<T>, most: Partial<T>): boolean =>
  (Object.keys(most) as (keyof T)[]).every((of) => {
    const figure = cost[of];
    return typeof figure === 'number' && figure <= (most[of] as number);
  });

function expectAtMost<T extends object>(cost: Partial<T>, most: Partial<T>): void {
  for (const of of Object.keys(most) as (keyof T)[]) {
    expect(cost[of], String(of)).to.be.at.most(most[of] as number);
  }
}
