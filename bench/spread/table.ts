/** `--spread`: tasks of many namespaces and of many lanes, by turns with as many of one; and namespaces without any. */
import type Table from 'cli-table3';
import { attempt, type BenchStore, FAILED, rangeOf, type Scenario, tableOf } from '../scenario.ts';
import { measureIdle, measureSpread, type Spread } from './measure.ts';

const TASK_COUNT = 20_000;
const TURN_COUNT = 5;
const TOGETHER: Spread = { namespaceCount: 1, groupCount: 1 };
const SPREADS: readonly (Spread & { readonly name: string })[] = [
  { ...TOGETHER, name: '200 namespaces', namespaceCount: 200 },
  { ...TOGETHER, name: '10,000 lanes', groupCount: 10_000 },
];
const IDLE_COUNT = 1_000;

export async function compareSpread({ stores, scale, roundCount }: Scenario): Promise<Table.Table> {
  const table = tableOf(['µs of CPU of the master a task', 'ratio', 'spread', 'in one']);
  const turnCount = roundCount > 1 ? TURN_COUNT : 1;
  const rowOf = async (name: string, measure: () => Promise<readonly string[]>) => {
    const cells = await attempt(name, measure);
    table.push([name, ...(cells ?? [FAILED])]);
  };
  for (const store of stores) {
    for (const { name, ...spread } of SPREADS) {
      await rowOf(`${name}, ${store.name}`, () =>
        measureTurns(store, spread, { taskCount: TASK_COUNT * scale, turnCount }),
      );
    }
    await rowOf(`${IDLE_COUNT.toLocaleString('en')} idle namespaces, ${store.name}`, async () => {
      const alone = await measureIdle(await store.url(), 1);
      const many = await measureIdle(await store.url(), IDLE_COUNT);
      // The process watches its event loop by a timer of its own: what both cost is not all the master's.
      const percent = ((many.cpuUs - alone.cpuUs) / 10_000).toFixed(2);
      const megabytes = ((many.rssBytes - alone.rssBytes) / 1e6).toFixed(0);
      return [`${percent} % of a core and ${megabytes} MB more than with one`];
    });
  }
  return table;
}

async function measureTurns(
  store: BenchStore,
  spread: Spread,
  { taskCount, turnCount }: { readonly taskCount: number; readonly turnCount: number },
): Promise<readonly string[]> {
  const costs = { spread: [] as number[], together: [] as number[] };
  const sides = [
    { of: TOGETHER, into: costs.together },
    { of: spread, into: costs.spread },
  ];
  for (let turn = 0; turn < turnCount; turn++) {
    // Neither is always the first.
    for (const { of, into } of turn % 2 === 0 ? sides : sides.toReversed())
      into.push(await measureSpread(await store.url(), of, taskCount));
  }
  const ratios = costs.spread.map((cost, turn) => cost / (costs.together[turn] ?? cost));
  return [rangeOf(ratios, 2), ...[costs.spread, costs.together].map((each) => rangeOf(each))];
}
