/**
 * `--beside`: speed by turns with another clone, its master and its SDK; load, receiver of callbacks and executors on the
 * wire alone are ours for both. What else the machine does falls on both.
 */
import type Table from 'cli-table3';
import { percentileMs } from '../probe.ts';
import { attempt, type BenchStore, FAILED, rangeOf, type Scenario, tableOf } from '../scenario.ts';
import {
  LATENCY_NAME,
  latencySeconds,
  type MasterKind,
  measureLatency,
  measureThroughput,
  throughputs,
} from '../speed/measure.ts';
import { judge } from './verdict.ts';

const TURN_COUNT = 5;

interface Figure {
  readonly name: string;
  readonly better: 'more' | 'less';
  readonly digits: number;
}

const THROUGHPUT_FIGURES: readonly Figure[] = [
  { name: 'tasks/s', better: 'more', digits: 0 },
  { name: 'µs of CPU a task', better: 'less', digits: 0 },
];
const LATENCY_FIGURES: readonly Figure[] = [
  { name: 'ms at p50', better: 'less', digits: 2 },
  { name: 'ms at p99', better: 'less', digits: 2 },
];

interface Shape {
  readonly name: string;
  readonly figures: readonly Figure[];
  /** One value for each figure. */
  measure(databaseUrl: string | null, kind: MasterKind): Promise<readonly number[]>;
}

/** @param clone folder of the other one. */
export async function compareBeside(
  { stores, scale, roundCount }: Scenario,
  clone: string,
): Promise<Table.Table> {
  const turnCount = roundCount > 1 ? TURN_COUNT : 1;
  const corner = turnCount === 1 ? 'one turn' : `${turnCount} turns: median (min to max)`;
  const table = tableOf([corner, '', 'there', 'here', 'ratio', 'here it is']);
  for (const store of stores)
    for (const shape of shapesOf(scale)) {
      const turns = await takeTurns(store, shape, clone, turnCount);
      const lost = turns.length < turnCount ? `\n${turns.length} of ${turnCount} turns` : '';
      const name = `${store.name}\n${shape.name}${lost}`;
      table.push([name, ...(turns.length === 0 ? [FAILED] : cellsOf(shape.figures, turns))]);
    }
  return table;
}

function shapesOf(scale: number): readonly Shape[] {
  return [
    ...throughputs.map((throughput) => ({
      name: throughput.name,
      figures: THROUGHPUT_FIGURES,
      measure: async (databaseUrl: string | null, kind: MasterKind) => {
        const wanted = { ...throughput, taskCount: throughput.taskCount * scale };
        const { tasksPerSecond, cpuUs } = await measureThroughput(databaseUrl, wanted, kind);
        return [tasksPerSecond, cpuUs];
      },
    })),
    {
      name: LATENCY_NAME,
      figures: LATENCY_FIGURES,
      measure: async (databaseUrl, kind) => {
        const waitedMs = await measureLatency(databaseUrl, latencySeconds(scale), kind);
        return [0.5, 0.99].map((share) => percentileMs(waitedMs, share));
      },
    },
  ];
}

/** A turn of each figure. */
interface Turns {
  readonly there: readonly number[];
  readonly here: readonly number[];
}

/** A turn in which one of them failed is left out. */
async function takeTurns(
  store: BenchStore,
  { name, measure }: Shape,
  clone: string,
  turnCount: number,
): Promise<readonly Turns[]> {
  const turns: Turns[] = [];
  for (let turn = 0; turn < turnCount; turn++) {
    const there = async () => measure(await store.url(), { clone });
    const here = async () => measure(await store.url(), {});
    const both = await attempt(`${name}, ${store.name}, turn ${turn + 1}`, async () => {
      // Nobody is always the first.
      if (turn % 2 === 0) return { there: await there(), here: await here() };
      return { here: await here(), there: await there() };
    });
    if (both !== null) turns.push(both);
  }
  return turns;
}

/** A line for each figure. */
function cellsOf(figures: readonly Figure[], turns: readonly Turns[]): string[] {
  const lines = figures.map(({ name, better, digits }, at) => {
    const there = turns.map((turn) => turn.there[at] ?? Number.NaN);
    const here = turns.map((turn) => turn.here[at] ?? Number.NaN);
    const { ratios, verdict } = judge(there, here, better);
    return [name, rangeOf(there, digits), rangeOf(here, digits), rangeOf(ratios, 2), verdict];
  });
  return Array.from({ length: 5 }, (_, column) => lines.map((line) => line[column]).join('\n'));
}
