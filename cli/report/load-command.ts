/** `soda report load` and `recent`: how busy it was, and what has happened in the last hour. */
import type { LoadPoint } from '@soda-scheduler/client';
import { Command } from 'commander';
import { connect, remoteCommand } from '../connection.ts';
import { instantOf, TIME } from '../instant.ts';
import { Output } from '../output.ts';
import { column, type FormatOptions, print, withFormat } from './columns.ts';

interface TypeOptions extends FormatOptions {
  readonly type?: string;
}

interface LoadOptions extends TypeOptions {
  readonly from?: string;
  readonly to?: string;
}

/** In the order of a report. */
const FIGURES: readonly (keyof LoadPoint)[] = [
  'accepted',
  'started',
  'succeeded',
  'failed',
  'canceled',
  'expired',
  'attempts_failed',
  'waiting',
  'held',
  'paused',
  'limited',
  'no_executor',
  'all_busy',
  'running',
  'executors_idle',
  'oldest_wait_ms',
  'start_delay_p95_ms',
  'start_delay_max_ms',
];

/** What is drawn above the table. */
const DRAWN = ['accepted', 'waiting', 'running', 'failed'] as const;
const BARS = '▁▂▃▄▅▆▇█';
const BAR_COUNT_MAX = 60;

export function loadCommand(): Command {
  return withFormat(
    remoteCommand('load', 'Tell how many tasks came, waited, ran and ended, point by point.')
      .option('--type <type>', 'of tasks of this type (default: of all)')
      .option('--from <time>', `from when on, ${TIME} (default: 24 hours before the end)`)
      .option('--to <time>', 'until when (default: now)'),
  )
    .addHelpText(
      'after',
      `
A point is a minute, of more than a day an hour, of more than two months a day. One that is missing is of a time of which
nothing is known. What waits and runs is what was seen once a minute; of longer points the average of that.

Examples:
  $ soda report load --from -1h
  $ soda report load --type encode --from -30d --format csv`,
    )
    .action(async ({ from, to, type, ...options }: LoadOptions) => {
      const { client } = connect(options);
      const [first, last] = [instantOf(from), instantOf(to)];
      const { points, resolution_ms } = await client.reports.load({
        ...(first !== undefined && { from: first }),
        ...(last !== undefined && { to: last }),
        ...(type !== undefined && { type }),
      });
      const isTable = options.format === undefined || options.format === 'table';
      if (isTable && new Output(options.json).isTerminal) draw(points, resolution_ms);
      await print(options, points, [
        column('at', ({ at }: LoadPoint) => at),
        ...FIGURES.map((name) => column(name, (point: LoadPoint) => point[name])),
      ]);
    });
}

export function recentCommand(): Command {
  return withFormat(
    remoteCommand('recent', 'Tell what became of the tasks of each type in the last hour.').option(
      '--type <type>',
      'of this type only',
    ),
  )
    .addHelpText(
      'after',
      `
Examples:
  $ soda report recent
  $ soda report recent --type encode --format json`,
    )
    .action(async ({ type, ...options }: TypeOptions) => {
      const { client } = connect(options);
      const { types } = await client.reports.recent(type === undefined ? {} : { type });
      type Row = (typeof types)[number];
      const names = ['type', 'accepted', 'started', 'succeeded', 'failed'] as const;
      const times = ['last_started_at', 'last_ended_at'] as const;
      await print(
        options,
        types,
        [...names, ...times].map((name) => column(name, (row: Row) => row[name])),
      );
    });
}

/** One line for each figure, as high as the highest of it. */
function draw(points: readonly LoadPoint[], stepMs: number): void {
  if (points.length < 2) return;
  for (const name of DRAWN) {
    const drawn = points.map(({ at, [name]: value }) => ({ at, value }));
    process.stdout.write(`${name.padEnd(10)}${sparkline(drawn, stepMs)}\n`);
  }
}

/** From the first point to the last, and the highest; a blank: nothing is known. */
export function sparkline(
  points: readonly { readonly at: string; readonly value: number }[],
  stepMs: number,
): string {
  const first = Date.parse(points[0]?.at ?? '');
  const count = (Date.parse(points.at(-1)?.at ?? '') - first) / stepMs + 1;
  const perBar = Math.ceil(count / BAR_COUNT_MAX);
  const bars: (number | undefined)[] = Array.from({ length: Math.ceil(count / perBar) });
  for (const { at, value } of points) {
    const bar = Math.floor((Date.parse(at) - first) / stepMs / perBar);
    bars[bar] = Math.max(bars[bar] ?? 0, value);
  }
  const most = Math.max(...bars.map((bar) => bar ?? 0));
  const text = bars.map((bar) => {
    if (bar === undefined) return ' ';
    return BARS[Math.round((bar / Math.max(1, most)) * (BARS.length - 1))];
  });
  return `${text.join('')}  ${most}`;
}
