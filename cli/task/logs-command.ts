/** `soda task logs`, and of many tasks `soda logs`: what handlers have said, and what they say. */
import { styleText } from 'node:util';
import type { FoundLogLine, LogLine, SodaClient } from '@soda-scheduler/client';
import { logLevels, visibleText } from '@soda-scheduler/protocol';
import { Argument, type Command, Option } from 'commander';
import {
  type ConnectionOptions,
  connect,
  interruptible,
  remoteCommand,
  sayAside,
  tellAbsence,
} from '../connection.ts';
import { Failure } from '../exit-code.ts';
import { instantOf, TIME } from '../instant.ts';
import { count } from '../options.ts';
import type { Output } from '../output.ts';
import { upTo } from './task-search.ts';

type Query = NonNullable<Parameters<SodaClient['logs']>[1]>;

interface LogOptions extends ConnectionOptions, Pick<Query, 'attempt' | 'level' | 'text'> {
  readonly follow?: true;
  readonly firstError?: true;
}

interface SearchOptions extends ConnectionOptions, Pick<Query, 'level' | 'text'> {
  readonly executor?: string;
  readonly type?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
}

const styles = { debug: 'dim', info: null, warn: 'yellow', error: 'red' } as const;

export function logsCommand(): Command {
  return filtered(remoteCommand('logs', 'Show the log of a task; with --follow as it comes.'))
    .addArgument(new Argument('<id>', 'the id of the task'))
    .option('-f, --follow', 'go on with what comes, until the task has ended')
    .option('--attempt <number>', 'of this attempt (default: the newest that has a log)', count)
    .option('--first-error', 'only the first line of level error')
    .addHelpText(
      'after',
      `
A line has when it was said, by the clock of the executor, its level, and the text with its fields; stdout and stderr
of a child are named. --json has all of each line. Lines that were dropped are counted on stderr,
also with --json, where their numbers ("n") are missing.

Examples:
  $ soda task logs -f clip-1
  $ soda task logs clip-1 --first-error
  $ soda task logs clip-1 --attempt 1 --level warn --text 'no space'`,
    )
    .action(async (task: string, options: LogOptions) => {
      const { client, output } = connect(options);
      const { follow = false, firstError = false, attempt, text } = options;
      const level = firstError ? 'error' : options.level;
      const onDropped = (count: number, isAtEnd: boolean) => {
        const what = isAtEnd ? 'lost at the end' : 'dropped here';
        sayAside(`${count} ${count === 1 ? 'line was' : 'lines were'} ${what}`);
      };
      let isFound = false;
      await interruptible(async (signal) => {
        const how = { follow, signal, onDropped, ...tellAbsence() };
        for await (const line of client.logs(task, { attempt, level, text }, how)) {
          isFound = true;
          show(output, line, lineOf(line));
          if (firstError) break;
        }
      });
      if (!isFound && !firstError) {
        const isAnyAsked = level === undefined && text === undefined && attempt === undefined;
        sayAside(`${task} has no ${isAnyAsked ? 'log' : 'such line in its log'}`);
      }
      if (firstError && !isFound) {
        const hint = attempt === undefined ? ' in its newest attempt; --attempt has others' : '';
        throw new Failure(`there is no line of level error${hint}`);
      }
    });
}

/** A line that has others in it goes on below, further right. */
function lineOf({ at, level, stream, text, fields }: LogLine): string {
  const from = stream === 'log' ? '' : ` [${stream}]`;
  const more = fields === undefined ? '' : ` ${JSON.stringify(fields)}`;
  const shown = visibleText(text + more).replaceAll('\n', '\n    ');
  return `${at} ${level.padEnd(5)}${from} ${shown}`;
}

export function searchLogsCommand(): Command {
  return filtered(
    remoteCommand('logs', 'Look for lines in the logs of many tasks, the newest tasks first.'),
  )
    .option('--executor <id>', 'of the attempts that this executor has, or had')
    .option('--type <type>', 'of tasks of this type')
    .option('--from <time>', `said then or later, ${TIME}`)
    .option('--to <time>', 'said before')
    .option('--limit <count>', 'so many lines at most', count)
    .addHelpText(
      'after',
      `
It takes an executor or a type. A line has the task and its attempt before what soda task logs shows of it.

Examples:
  $ soda logs --executor encoder-7 --level error --from -1h
  $ soda logs --type encode --text 'no space' --limit 20`,
    )
    .action(async (options: SearchOptions) => {
      const { client, output } = connect(options);
      const { executor, type, level, text, limit } = options;
      const [from, to] = [instantOf(options.from), instantOf(options.to)];
      const query = { executor_id: executor, type, level, text, from, to };
      await interruptible(async (signal) => {
        for await (const line of upTo(limit, client.searchLogs(query, { signal }))) {
          show(output, line, `${line.task_id}#${line.attempt} ${lineOf(line)}`);
        }
      });
    });
}

function filtered(command: Command): Command {
  return command
    .addOption(new Option('--level <level>', 'of this level and those above it').choices(logLevels))
    .option('--text <text>', 'lines with this text, whatever the case of its letters');
}

function show(output: Output, line: LogLine | FoundLogLine, text: string): void {
  const style = output.isTerminal && !process.env['NO_COLOR'] ? styles[line.level] : null;
  output.safe(line, style === null ? text : styleText(style, text));
}
