/** `soda report`: what tasks have used, by whom and by day; how busy it was in `load-command.ts`. */
import type { UsageFigures } from '@soda-scheduler/client';
import { Command } from 'commander';
import { connect, remoteCommand } from '../connection.ts';
import { instantOf } from '../instant.ts';
import { type Column, column, type FormatOptions, print, withFormat } from './columns.ts';
import { loadCommand, recentCommand } from './load-command.ts';

interface ReportOptions extends FormatOptions {
  readonly from?: string;
  readonly to?: string;
  readonly type?: string;
  readonly group?: string;
}

interface UsageOptions extends ReportOptions {
  readonly by?: string;
}

const DAY = 'such as 2026-12-01, or -7d';

export function reportCommand(): Command {
  return new Command('report')
    .description('Tell what tasks have used, and how it went.')
    .addCommand(usageCommand(), { isDefault: true })
    .addCommand(dailyCommand())
    .addCommand(loadCommand())
    .addCommand(recentCommand());
}

function usageCommand(): Command {
  return withSpan(
    remoteCommand('usage', 'Tell who has used how much, by group, type and the like.'),
  )
    .option(
      '--by <fields>',
      'what to tell apart: day, group, project, env, user, type, with commas (default: group,type)',
    )
    .addHelpText(
      'after',
      `
Times are sums, in milliseconds, over all attempts that have ended. A report has 10,000 rows at most.

Examples:
  $ soda report --from -30d --by group,project
  $ soda report usage --from 2026-11-01 --to 2026-11-30 --by day,type --format csv`,
    )
    .action(async (options: UsageOptions) => {
      const { client } = connect(options);
      const report = await client.reports.usage({ ...spanOf(options), by: options.by });
      const fields = report.by as (keyof (typeof report.usage)[number])[];
      await print(options, report.usage, [
        ...fields.map((name) =>
          column(name, (row: (typeof report.usage)[number]) => row[name] ?? null),
        ),
        ...figureColumns(report.total),
      ]);
    });
}

function dailyCommand(): Command {
  return withSpan(
    remoteCommand('daily', 'Tell how many tasks there were on each day, and how they ended.'),
  )
    .addHelpText(
      'after',
      `
Examples:
  $ soda report daily --from -30d
  $ soda report daily --from -7d --type encode --format json`,
    )
    .action(async (options: ReportOptions) => {
      const { client } = connect(options);
      const { days, total } = await client.reports.daily(spanOf(options));
      type Day = (typeof days)[number];
      await print(options, days, [
        column('day', (one: Day) => one.day),
        column('success_share', (one: Day) => one.success_share),
        ...figureColumns<Day>(total),
      ]);
    });
}

function withSpan(command: Command): Command {
  return withFormat(
    command
      .option('--from <day>', `the first day, ${DAY} (default: today)`)
      .option('--to <day>', 'the last day (default: today)')
      .option('--type <type>', 'of tasks of this type')
      .option('--group <group>', 'of tasks of this group'),
  );
}

function spanOf({ from, to, type, group }: ReportOptions) {
  return { from: instantOf(from), to: instantOf(to), type, group };
}

/** All that the master counts, in its order. */
function figureColumns<Row extends UsageFigures>(total: UsageFigures): Column<Row>[] {
  const names = Object.keys(total) as (keyof UsageFigures)[];
  return names.map((name) => column(name, (row) => row[name]));
}
