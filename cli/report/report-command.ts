/** `soda report`: what tasks have used, by whom and by day. */
import type { UsageFigures } from '@soda-scheduler/client';
import { csvLine } from '@soda-scheduler/protocol';
import { Command, Option } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { instantOf } from '../instant.ts';
import { type Cell, Output } from '../output.ts';

interface ReportOptions extends ConnectionOptions {
  readonly from?: string;
  readonly to?: string;
  readonly type?: string;
  readonly group?: string;
  readonly format?: 'table' | 'json' | 'csv';
}

interface UsageOptions extends ReportOptions {
  readonly by?: string;
}

const DAY = 'such as 2026-12-01, or -7d';

export function reportCommand(): Command {
  return new Command('report')
    .description('Tell what tasks have used, and how it went.')
    .addCommand(usageCommand(), { isDefault: true })
    .addCommand(dailyCommand());
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
  return command
    .option('--from <day>', `the first day, ${DAY} (default: today)`)
    .option('--to <day>', 'the last day (default: today)')
    .option('--type <type>', 'of tasks of this type')
    .option('--group <group>', 'of tasks of this group')
    .addOption(
      new Option(
        '--format <format>',
        'how to print it (default: table, or json with --json)',
      ).choices(['table', 'json', 'csv']),
    );
}

function spanOf({ from, to, type, group }: ReportOptions) {
  return { from: instantOf(from), to: instantOf(to), type, group };
}

interface Column<Row> {
  readonly name: string;
  readonly of: (row: Row) => Cell;
}

const column = <Row>(name: string, of: (row: Row) => Cell): Column<Row> => ({ name, of });

/** All that the master counts, in its order. */
function figureColumns<Row extends UsageFigures>(total: UsageFigures): Column<Row>[] {
  const names = Object.keys(total) as (keyof UsageFigures)[];
  return names.map((name) => column(name, (row) => row[name]));
}

/** Lines of JSON, of CSV with its heading, or a table. */
async function print<Row>(
  { format, json }: ReportOptions,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): Promise<void> {
  const head = columns.map(({ name }) => name);
  const cellsOf = (row: Row): Cell[] => columns.map(({ of }) => of(row));
  if (format !== 'csv')
    return new Output(json === true || format === 'json').rows(rows, head, cellsOf);
  for (const cells of [head, ...rows.map(cellsOf)]) process.stdout.write(csvLine(cells));
}
