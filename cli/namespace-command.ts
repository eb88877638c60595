/** `soda namespace`: the parts of a master that know nothing of one another, and their limits. */
import type { NamespaceSettings, NamespaceView } from '@soda-scheduler/client';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type ConnectionOptions, connect, masterwideCommand } from './connection.ts';
import { ExitCode, Failure } from './exit-code.ts';
import { pauseInWords } from './output.ts';
import { INSTANT, instantOf } from './instant.ts';

export function namespaceCommand(): Command {
  return new Command('namespace')
    .description('List namespaces, make and change them.')
    .addCommand(listCommand())
    .addCommand(getCommand())
    .addCommand(setCommand())
    .addCommand(deleteCommand());
}

const name = () => new Argument('<name>', 'its name: 1 to 32 characters of a-z 0-9 -');

function listCommand(): Command {
  return masterwideCommand('list', 'List all namespaces, by name.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const head = [
        'namespace',
        'waiting',
        'held',
        'running',
        'max waiting',
        'max running',
        'retention',
        'paused',
      ];
      await output.rows(client.namespaces(), head, (one) => [
        one.name,
        one.counts.waiting,
        one.counts.held,
        one.counts.running,
        one.max_waiting,
        one.max_running,
        one.retention,
        pausedInWords(one),
      ]);
    });
}

function getCommand(): Command {
  return masterwideCommand('get', 'Show one namespace.')
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const one = await client.namespace(of);
      output.fields(one, [
        ['namespace', one.name],
        ['paused', pausedInWords(one)],
        ['pauses', one.pauses || null],
        ['retention', one.retention],
        ['waiting', outOf(one.counts.waiting + one.counts.held, one.max_waiting)],
        ['held', one.counts.held],
        ['running', outOf(one.counts.running, one.max_running)],
      ]);
    });
}

function setCommand(): Command {
  return masterwideCommand('set', 'Make a namespace, or change it. What is not named stays.')
    .addArgument(name())
    .option('--max-waiting <count>', 'refuse tasks while so many wait; none: no limit', limit)
    .option('--max-running <count>', 'run so many at the same time; none: no limit', limit)
    .addOption(
      new Option('--retention <class>', 'how long tasks are kept that end from now on').choices([
        'short',
        'normal',
        'long',
      ]),
    )
    .option('--pause [reason]', 'begin nothing until --resume; what runs goes on')
    .option('--until <time>', `with --pause: ${INSTANT}`)
    .addOption(new Option('--resume', 'end a pause').conflicts(['pause', 'until']))
    .addHelpText(
      'after',
      `
Examples:
  $ soda namespace set video --max-running 20
  $ soda namespace set video --pause "storage is full" --until 2030-01-31T06:00:00Z
  $ soda task submit --namespace video --type transcode --group news`,
    )
    .action(async (of: string, options: ConnectionOptions & SetOptions) => {
      const { client, output } = connect(options);
      output.sayView(await client.setNamespace(of, settingsOf(options)), `set: ${of}`);
    });
}

function deleteCommand(): Command {
  return masterwideCommand('delete', 'Delete a namespace in which there is nothing any more.')
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await client.deleteNamespace(of);
      output.say({ name: of, code: 200 }, `deleted: ${of}`);
    });
}

interface SetOptions {
  readonly maxWaiting?: number | 'none';
  readonly maxRunning?: number | 'none';
  readonly retention?: NamespaceView['retention'];
  readonly pause?: string | true;
  readonly until?: string;
  readonly resume?: true;
}

function settingsOf(options: SetOptions): NamespaceSettings {
  const { maxWaiting, maxRunning, retention, pause, until, resume } = options;
  if (until !== undefined && pause === undefined) {
    throw new Failure('--until says when a pause ends: give --pause too', ExitCode.usage);
  }
  const reason = typeof pause === 'string' ? pause : undefined;
  return {
    ...(maxWaiting !== undefined && { max_waiting: maxWaiting === 'none' ? null : maxWaiting }),
    ...(maxRunning !== undefined && { max_running: maxRunning === 'none' ? null : maxRunning }),
    ...(retention !== undefined && { retention }),
    ...(resume === true && { paused: null }),
    ...(pause !== undefined && { paused: { reason, until: instantOf(until) } }),
  };
}

/** Where all are, it is not a matter of this one. */
function pausedInWords(one: NamespaceView): string | null {
  const words = pauseInWords(one);
  return one.paused?.scope === 'all' ? `with all namespaces, ${words}` : words;
}

function outOf(count: number, max: number | null): string {
  return max === null ? String(count) : `${count} of ${max}`;
}

function limit(text: string): number | 'none' {
  if (text === 'none') return text;
  if (/^\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a count, or none.');
}
