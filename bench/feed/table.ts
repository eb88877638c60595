/**
 * `--feed`: what feed and usage cost, by turns: a master as it is, one that tells nothing, and one that counts nothing
 * either. What else the machine does falls on all of them.
 */
import type Table from 'cli-table3';
import { attempt, type BenchStore, FAILED, rangeOf, type Scenario, tableOf } from '../scenario.ts';
import {
  type MasterKind,
  measureThroughput,
  type Throughput,
  throughputs,
} from '../speed/measure.ts';

const TURN_COUNT = 7;

const SILENT = { SODA_EVENTS: 'none' };
const masters = {
  usual: {},
  silent: { env: SILENT },
  bare: { env: SILENT, script: './feed/uncounted.ts' },
} satisfies Record<string, MasterKind>;
type Name = keyof typeof masters;
const NAMES = Object.keys(masters) as readonly Name[];

/** Processor time of the master for one task, in microseconds, in each turn. */
type Costs = Readonly<Record<Name, number[]>>;

export async function compareFeed({ stores, scale, roundCount }: Scenario): Promise<Table.Table> {
  const heads = ['feed and usage', 'feed', 'as it is', 'no feed', 'neither'];
  const table = tableOf(['µs of CPU of the master a task', ...heads]);
  const turnCount = roundCount > 1 ? TURN_COUNT : 1;
  for (const store of stores) {
    for (const throughput of throughputs) {
      const wanted = { ...throughput, taskCount: throughput.taskCount * scale };
      const costs = await attempt(`${throughput.name}, ${store.name}`, () =>
        measureCosts(store, wanted, turnCount),
      );
      const name = `${store.name}\n${throughput.name}`;
      if (costs === null) table.push([name, FAILED]);
      else {
        const { usual, silent, bare } = costs;
        const ratios = [ratioOf(usual, bare), ratioOf(usual, silent)];
        table.push([name, ...ratios, ...[usual, silent, bare].map((each) => rangeOf(each))]);
      }
    }
  }
  return table;
}

async function measureCosts(
  store: BenchStore,
  wanted: Throughput,
  turnCount: number,
): Promise<Costs> {
  const costs: Costs = { usual: [], silent: [], bare: [] };
  for (let turn = 0; turn < turnCount; turn++) {
    // Nobody is always the first.
    for (const name of turn % 2 === 0 ? NAMES : NAMES.toReversed()) {
      const { cpuUs } = await measureThroughput(await store.url(), wanted, masters[name]);
      costs[name].push(cpuUs);
    }
  }
  return costs;
}

/** The median of those of each turn: what else the machine does for a while falls on both. */
function ratioOf(costs: readonly number[], without: readonly number[]): string {
  const ratios = costs.map((cost, turn) => cost / (without[turn] ?? cost));
  return rangeOf(ratios, 3);
}
