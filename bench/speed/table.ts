/** Without a flag: speed on each store, and their ratio. */
import type Table from 'cli-table3';
import { percentiles } from '../probe.ts';
import { attempt, type BenchStore, FAILED, median, type Scenario, tableOf } from '../scenario.ts';
import {
  LATENCY_NAME,
  latencySeconds,
  measureLatency,
  measureThroughput,
  type Throughput,
  throughputs,
} from './measure.ts';

export async function compareSpeed({ stores, scale, roundCount }: Scenario): Promise<Table.Table> {
  const table = tableOf(['', ...stores.map(({ name }) => name), 'ratio']);
  for (const throughput of throughputs) {
    const wanted = { ...throughput, taskCount: throughput.taskCount * scale };
    const rates: number[] = [];
    const cells: string[] = [];
    for (const store of stores) {
      const cell = await attempt(`${wanted.name}, ${store.name}`, async () => {
        const rounds = await measureRounds(store, wanted, roundCount);
        const rate = median(rounds.rates);
        rates.push(rate);
        const [low, high] = [Math.min(...rounds.rates), Math.max(...rounds.rates)].map(Math.round);
        return `${Math.round(rate)}/s (${low} to ${high})\n${Math.round(median(rounds.cpuUs))} µs of CPU a task`;
      });
      cells.push(cell ?? FAILED);
    }
    const [embedded, server] = rates;
    const ratio = embedded && server ? (embedded / server).toFixed(2) : '';
    table.push([wanted.name, ...cells, ratio]);
  }
  const latencyCells: string[] = [];
  for (const store of stores) {
    const cell = await attempt(`${LATENCY_NAME}, ${store.name}`, async () =>
      percentiles(await measureLatency(await store.url(), latencySeconds(scale))),
    );
    latencyCells.push(cell ?? FAILED);
  }
  table.push([LATENCY_NAME, ...latencyCells, '']);
  return table;
}

async function measureRounds(
  store: BenchStore,
  wanted: Throughput,
  roundCount: number,
): Promise<{ readonly rates: readonly number[]; readonly cpuUs: readonly number[] }> {
  const rates: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < roundCount; round++) {
    const { tasksPerSecond, cpuUs } = await measureThroughput(await store.url(), wanted);
    rates.push(tasksPerSecond);
    cpu.push(cpuUs);
  }
  return { rates, cpuUs: cpu };
}
