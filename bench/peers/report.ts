/** What was measured, for people: a table, JSON with every sample, and a chart. */
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import Table from 'cli-table3';
import { percentile } from '../probe.ts';
import { type Shape, SHAPES, TITLES } from './cases.ts';
import type { Compared, Sample } from './measure.ts';

interface Figure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

function figureOf(values: readonly number[]): Figure | null {
  const sorted = [...values].sort((a, b) => a - b);
  const [min, median, max] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  return min === undefined || median === undefined || max === undefined
    ? null
    : { median, min, max };
}

const wordsOf = ({ median, min, max }: Figure): string =>
  `${Math.round(median)} (${Math.round(min)} to ${Math.round(max)})`;

function cellOf(samples: readonly Sample[], shape: Shape): string {
  if (samples.length === 0) return '';
  if (shape === 'paced') {
    const at = (share: number) =>
      figureOf(samples.map(({ waitedMs }) => Number(percentile(waitedMs, share))))?.median ?? 0;
    return `${at(0.5)}, ${at(0.99)}`;
  }
  const rate = figureOf(samples.map(({ tasksPerSecond }) => tasksPerSecond));
  const cpu = figureOf(samples.flatMap(({ cpuUs }) => cpuUs ?? []));
  return `${rate && wordsOf(rate)}${cpu ? `\n${Math.round(cpu.median)} µs` : ''}`;
}

const namesIn = (samples: readonly Sample[]): string[] => [
  ...new Set(samples.map(({ contender }) => contender)),
];

/** Tasks a second: median (min to max); of ours also the processor time of the master for a task. */
export function tableOf({ samples }: Compared): Table.Table {
  const head = ['tasks/s', ...SHAPES.map((shape) => TITLES[shape])];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const name of namesIn(samples)) {
    const of = (shape: Shape) =>
      samples.filter((one) => one.contender === name && one.shape === shape);
    table.push([name, ...SHAPES.map((shape) => cellOf(of(shape), shape))]);
  }
  return table;
}

/** With the machine; of the waits only what is read of them. */
export async function writeJson(file: string, { samples, leftOut }: Compared): Promise<void> {
  const machine = {
    cores: os.cpus().length,
    processor: os.cpus()[0]?.model ?? 'unknown',
    memoryBytes: os.totalmem(),
    node: process.version,
    load: os.loadavg(),
  };
  const measured = samples.map(({ waitedMs, ...sample }) => ({
    ...sample,
    p50Ms: Number(percentile(waitedMs, 0.5)),
    p99Ms: Number(percentile(waitedMs, 0.99)),
  }));
  const report = { at: new Date().toISOString(), machine, leftOut, samples: measured };
  await writeFile(file, `${JSON.stringify(report, null, 1)}\n`);
}

const BAR_PX = { height: 16, gap: 6, labels: 330, width: 420, margin: 12, head: 28 };
const TITLE = 'Tasks a second: median of all rounds, and a line from the least to the most';

/** Bars of the best rate of each, one by one and in batches, with a line from the least to the most; for both themes. */
export function chartOf({ samples }: Compared): string {
  const rows: { label: string; figure: Figure }[] = [];
  for (const shape of ['best', 'batch'] as const) {
    const found = namesIn(samples).flatMap((name) => {
      const of = samples.filter((one) => one.contender === name && one.shape === shape);
      const figure = figureOf(of.map(({ tasksPerSecond }) => tasksPerSecond));
      return figure === null
        ? []
        : [{ label: `${name}${shape === 'batch' ? ', batches' : ''}`, figure }];
    });
    rows.push(...found.sort((a, b) => b.figure.median - a.figure.median));
  }
  const { height, gap, labels, width, margin, head } = BAR_PX;
  const most = Math.max(...rows.map(({ figure }) => figure.max), 1);
  const x = (value: number): number => Math.round((value / most) * width);
  const bars = rows.map(({ label, figure }, index) => {
    const y = head + margin + index * (height + gap);
    const middle = y + height / 2;
    const kind = label.startsWith('Soda') ? 'ours' : 'peer';
    return [
      `<text class="label" x="${labels - 8}" y="${middle}">${label}</text>`,
      `<rect class="${kind}" x="${labels}" y="${y}" width="${x(figure.median)}" height="${height}"/>`,
      `<path d="M${labels + x(figure.min)} ${middle}H${labels + x(figure.max)}"/>`,
      `<text x="${labels + x(figure.max) + 6}" y="${middle}">${Math.round(figure.median)}</text>`,
    ].join('');
  });
  const size = `${labels + width + 70} ${rows.length * (height + gap) + 2 * margin + head}`;
  const style =
    'text{font:12px system-ui,sans-serif;fill:#24292f;dominant-baseline:central}.label{text-anchor:end}' +
    '.ours{fill:#54aeff}.peer{fill:#afb8c1}path{stroke:#24292f}' +
    '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.ours{fill:#1f6feb}.peer{fill:#484f58}path{stroke:#e6edf3}}';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" role="img"><title>${TITLE}</title><style>${style}</style><text x="${margin}" y="${head}">${TITLE}</text>${bars.join('')}</svg>\n`;
}
