/** Without a flag: speed on each store, and their ratio. */
import type Table from 'cli-table3';
import { percentiles } from '../probe.ts';
import { median, type Scenario, showStep, tableOf } from '../scenario.ts';
import { LATENCY_PER_SECOND, measureLatency, measureThroughput, throughputs } from './measure.ts';

const LATENCY_SECONDS = 10;

export async function compareSpeed({ stores, scale, roundCount }: Scenario): Promise<Table.Table> {
  const table = tableOf(['', ...stores.map(({ name }) => name), 'ratio']);
  for (const throughput of throughputs) {
    const wanted = { ...throughput, taskCount: throughput.taskCount * scale };
    const medians: number[] = [];
    const cells: string[] = [];
    for (const store of stores) {
      const rates: number[] = [];
      const cpu: number[] = [];
      for (let round = 0; round < roundCount; round++) {
        const { tasksPerSecond, cpuUs } = await measureThroughput(await store.url(), wanted);
        rates.push(tasksPerSecond);
        cpu.push(cpuUs);
      }
      medians.push(median(rates));
      const [low, high] = [Math.min(...rates), Math.max(...rates)].map(Math.round);
      cells.push(
        `${Math.round(median(rates))}/s (${low} to ${high})\n${Math.round(median(cpu))} µs of CPU a task`,
      );
      showStep();
    }
    const ratio = medians.length < 2 ? '' : ((medians[0] ?? 0) / (medians[1] ?? 1)).toFixed(2);
    table.push([wanted.name, ...cells, ratio]);
  }
  const latencyCells: string[] = [];
  for (const store of stores) {
    const seconds = Math.max(2, LATENCY_SECONDS * scale);
    latencyCells.push(percentiles(await measureLatency(await store.url(), seconds)));
    showStep();
  }
  table.push([`submit to handler start, ${LATENCY_PER_SECOND}/s`, ...latencyCells, '']);
  return table;
}
