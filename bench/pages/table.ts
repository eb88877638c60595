/** `--pages`: what each question costs, and what scheduling feels of those who ask. */
import type Table from 'cli-table3';
import { percentile, percentiles } from '../probe.ts';
import { type Scenario, tableOf } from '../scenario.ts';
import { type Answers, type Felt, measurePages, type PagesMeasured } from './measure.ts';

const LIVE_COUNT = 1_000_000;
const ENDED_COUNT = 10_000_000;

export async function comparePages({ stores, scale }: Scenario): Promise<Table.Table> {
  const table = tableOf(['', ...stores.map(({ name }) => name)]);
  const size = { liveCount: LIVE_COUNT * scale, endedCount: ENDED_COUNT * scale };
  const measured: PagesMeasured[] = [];
  for (const store of stores) measured.push(await measurePages(await store.url(), size));
  const row = (name: string, cell: (one: PagesMeasured) => string): void => {
    table.push([name, ...measured.map(cell)]);
  };
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  row('ready, all ids known, memory', ({ readyMs, learntMs, rssBytes }) => {
    return `${seconds(readyMs)}, ${seconds(learntMs)}, ${Math.round(rssBytes / 1e6)} MB`;
  });
  const felt = ({ submitMs, livezMs, gapMs }: Felt): string =>
    `submit ${percentiles(submitMs)}\n/livez ${percentiles(livezMs)}\nlongest gap ${gapMs.toFixed(0)} ms`;
  row('before', ({ before }) => felt(before));
  row('while 8 ask', ({ meanwhile, statuses }) => {
    return `${felt(meanwhile)}\nanswers ${JSON.stringify(statuses)}`;
  });
  for (const [at, { name }] of (measured[0]?.answers ?? []).entries()) {
    row(name, ({ answers }) => {
      const { rowCount, pageCount, firstMs, allMs, cpuMs } = answers[at] as Answers;
      const rows = rowCount === null ? '' : `${rowCount} rows, ${+pageCount.toFixed(1)} pages: `;
      const first = `first p50 ${percentile(firstMs, 0.5)}`;
      const all = `p95 ${percentile(allMs, 0.95)}  max ${percentile(allMs, 1)} ms`;
      return `${rows}${first}  ${all}, processor p50 ${percentile(cpuMs, 0.5)} ms`;
    });
  }
  return table;
}
