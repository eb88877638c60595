/** `soda calendar`: days by which jobs are fired or not. */
import type { CalendarRequest, CalendarView } from '@soda-scheduler/client';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { once, textOf } from '../options.ts';
import { type Output, plain } from '../output.ts';
import { yearSheet } from './sheet.ts';

export function calendarCommand(): Command {
  return new Command('calendar')
    .description('Say which days are working days and which are off, for jobs to go by.')
    .addCommand(listCommand())
    .addCommand(getCommand())
    .addCommand(setCommand())
    .addCommand(previewCommand())
    .addCommand(deleteCommand());
}

const name = () => new Argument('<calendar>', 'the calendar');

function listCommand(): Command {
  return remoteCommand('list', 'List the calendars by name.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const head = ['calendar', 'days', 'worked', 'from', 'to', 'warning'];
      await output.rows(client.calendars.list(), head, (one) => [
        one.name,
        one.day_count,
        one.work_count,
        one.from,
        one.to,
        one.warnings.join('; '),
      ]);
    });
}

function getCommand(): Command {
  return remoteCommand('get', 'Show a calendar: what it says of which days.')
    .addArgument(name())
    .addOption(new Option('--yaml', 'as "set" takes it').conflicts('json'))
    .action(async (of: string, options: ConnectionOptions & { yaml?: true }) => {
      const { client, output } = connect(options);
      const calendar = await client.calendars.get(of);
      if (options.yaml !== true) {
        showCalendar(output, calendar);
        return;
      }
      const { stringify } = await import('../definition/yaml.ts');
      const { description, days, weekend } = calendar;
      process.stdout.write(stringify({ name: of, description, weekend, days }));
    });
}

function showCalendar(output: Output, calendar: CalendarView): void {
  output.fields(calendar, [
    ['calendar', calendar.name],
    ['version', calendar.version],
    ['description', calendar.description ?? null],
    ['weekend', calendar.weekend.join(' ')],
    ...calendar.days.map(
      ({ date, kind, label = '' }) => [date, `${kind} ${label}`.trim()] as const,
    ),
    ...calendar.warnings.map((warning) => ['warning', warning] as const),
  ]);
}

interface SetOptions extends ConnectionOptions {
  readonly file: string;
}

function setCommand(): Command {
  return remoteCommand('set', 'Make a calendar, or change it: all of it, as a file says.')
    .addArgument(name())
    .addOption(
      once(
        new Option(
          '-f, --file <file>',
          'YAML or JSON, or iCalendar (.ics); - for stdin',
        ).makeOptionMandatory(),
      ),
    )
    .addHelpText(
      'after',
      `
Triggers go by it at once. Of iCalendar: events of whole days are days off, and working days where their
title or category says so.

Such a file:
  name: china
  days:
    - { date: 2026-10-01, kind: off, label: National Day }
    - { date: 2026-10-10, kind: work, label: make-up day }

Examples:
  $ soda calendar set china -f china.ics
  $ soda calendar preview china 2026`,
    )
    .action(async (of: string, { file, ...options }: SetOptions) => {
      const { client, output } = connect(options);
      const text = await textOf(file === '-' ? file : `@${file}`, '--file');
      const calendar = isIcs(file, text)
        ? await client.calendars.putIcs(of, text)
        : await client.calendars.put(of, await definitionIn(file, text, of));
      output.sayView(calendar, `set: ${of}, ${calendar.days.length} days`);
      if (output.json) return;
      for (const warning of calendar.warnings) output.say(null, `  warning: ${warning}`);
    });
}

/** By what it begins with; a file that is called so is no YAML, whatever is in it. */
const isIcs = (file: string, text: string): boolean =>
  /^\s*BEGIN:VCALENDAR/i.test(text) || /\.ics$/i.test(file);

/** @throws {Failure} */
async function definitionIn(file: string, text: string, name: string): Promise<CalendarRequest> {
  const { documentsIn } = await import('../definition/yaml.ts');
  const refuse = (why: string) => new Failure(`${file}: ${why}`, ExitCode.usage);
  const [document, ...others] = documentsIn(text);
  const fault = document?.errors[0];
  if (fault !== undefined) throw refuse(fault.message);
  const found = document?.toJS() as unknown;
  if (found === null || found === undefined) throw refuse('there is no definition in it');
  const isOne = typeof found === 'object' && !Array.isArray(found) && others.length === 0;
  const { name: said = name, ...calendar } = found as CalendarRequest & { name?: string };
  if (isOne && said === name) return calendar;
  throw refuse(`expected one definition, of ${name}`);
}

function previewCommand(): Command {
  return remoteCommand('preview', 'Print a year of a calendar, and what its days are called.')
    .addArgument(name())
    .addArgument(new Argument('[year]', 'which one (default: this year)').argParser(yearOf))
    .action(async (of: string, given: number | undefined, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const year = given ?? new Date().getFullYear();
      const calendar = await client.calendars.get(of);
      const days = calendar.days.filter(({ date }) => date.startsWith(`${year}-`));
      const labels = days
        .filter(({ label }) => label !== undefined)
        .map(({ date, kind, label = '' }) => `${date}  ${kind.padEnd(4)}  ${plain(label)}\n`);
      output.safe({ name: of, year, days }, `${yearSheet(calendar, year)}\n${labels.join('')}`);
    });
}

/** @throws {InvalidArgumentError} */
function yearOf(text: string): number {
  if (/^[12]\d{3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a year, as 2026.');
}

function deleteCommand(): Command {
  return remoteCommand('delete', 'Delete a calendar that no trigger goes by.')
    .addArgument(name())
    .option('--force', 'also while triggers go by it: they fire on no day by it then')
    .action(async (of: string, options: ConnectionOptions & { force?: true }) => {
      const { client, output } = connect(options);
      await client.calendars.delete(of, { force: options.force });
      output.say({ name: of, code: 200 }, `deleted: ${of}`);
    });
}
