/** `soda task logs`: what the handler of a task has said, and what it says. */
import { styleText } from 'node:util';
import type { LogLine, SodaClient } from '@soda-scheduler/client';
import { logLevels, visibleText } from '@soda-scheduler/protocol';
import { Argument, type Command, Option } from 'commander';
import {
  type ConnectionOptions,
  connect,
  interruptible,
  remoteCommand,
  tellAbsence,
} from '../connection.ts';
import { Failure } from '../exit-code.ts';
import { number } from './task-search.ts';

type Query = NonNullable<Parameters<SodaClient['logs']>[1]>;

interface LogOptions extends ConnectionOptions, Pick<Query, 'attempt' | 'level' | 'text'> {
  readonly follow?: true;
  readonly firstError?: true;
}

const styles = { debug: 'dim', info: null, warn: 'yellow', error: 'red' } as const;

export function logsCommand(): Command {
  return remoteCommand('logs', 'Show the log of a task; with --follow as it comes.')
    .addArgument(new Argument('<id>', 'the id of the task'))
    .option('-f, --follow', 'go on with what comes, until the task has ended')
    .option('--attempt <number>', 'of this attempt (default: the newest that has a log)', number)
    .addOption(new Option('--level <level>', 'of this level and those above it').choices(logLevels))
    .option('--text <text>', 'lines with this text, whatever the case of its letters')
    .option('--first-error', 'only the first line of level error')
    .addHelpText(
      'after',
      `
A line has when it was said, by the clock of the executor, its level, and the text with its fields; stdout and stderr
of a child are named. --json has all of each line. Lines that were dropped are counted on stderr.

Examples:
  $ soda task logs -f clip-1
  $ soda task logs clip-1 --first-error
  $ soda task logs clip-1 --attempt 1 --level warn --text 'no space'`,
    )
    .action(async (task: string, options: LogOptions) => {
      const { client, output } = connect(options);
      const { follow = false, firstError = false, attempt, text } = options;
      const level = firstError ? 'error' : options.level;
      const query = {
        ...(attempt !== undefined && { attempt }),
        ...(level !== undefined && { level }),
        ...(text !== undefined && { text }),
      };
      const onDropped = (count: number) => output.hint(`${count} lines were dropped here`);
      const isPlain = !output.isTerminal || Boolean(process.env['NO_COLOR']);
      let isFound = false;
      await interruptible(async (signal) => {
        const how = { follow, signal, onDropped, ...tellAbsence() };
        for await (const line of client.logs(task, query, how)) {
          isFound = true;
          output.safe(line, isPlain ? lineOf(line) : styled(line));
          if (firstError) break;
        }
      });
      if (firstError && !isFound) throw new Failure('there is no line of level error');
    });
}

/** A line that has others in it goes on below, further right. */
function lineOf({ at, level, stream, text, fields }: LogLine): string {
  const from = stream === 'log' ? '' : ` [${stream}]`;
  const more = fields === undefined ? '' : ` ${JSON.stringify(fields)}`;
  const shown = visibleText(text + more).replaceAll('\n', '\n    ');
  return `${at} ${level.padEnd(5)}${from} ${shown}`;
}

function styled(line: LogLine): string {
  const style = styles[line.level];
  return style === null ? lineOf(line) : styleText(style, lineOf(line));
}
