/** `soda limit`: what there is of things that tasks of many types take while they run. */
import { type LimitView, type SodaClient, SodaError } from '@soda-scheduler/client';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { ExitCode, exitCodeOf, Failure } from '../exit-code.ts';

export function limitCommand(): Command {
  return new Command('limit')
    .description('List shared limits, set and delete them.')
    .addCommand(listCommand())
    .addCommand(getCommand())
    .addCommand(setCommand())
    .addCommand(deleteCommand());
}

const name = () => new Argument('<name>', 'the limit');

function listCommand(): Command {
  return remoteCommand('list', 'List the shared limits by name, and how far each is used.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const head = ['limit', 'max', 'per', 'used', 'fullest'];
      await output.rows(client.limits.list(), head, (one) => [
        one.name,
        one.max,
        perInWords(one),
        one.used,
        placesInWords(one)[0] ?? null,
      ]);
    });
}

function getCommand(): Command {
  return remoteCommand('get', 'Show a shared limit, and where it is in use.')
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const one = await client.limits.get(of);
      output.fields(one, [
        ['limit', one.name],
        ['max', one.max],
        ['per', perInWords(one)],
        ['used', one.used],
        ...placesInWords(one).map((line) => ['in use', line] as const),
      ]);
    });
}

function setCommand(): Command {
  return remoteCommand('set', 'Set a shared limit, or change it. What is not named stays.')
    .addArgument(name())
    .option('--max <count>', 'so much may be taken in one place', count)
    .option('--per <place>', 'cluster, host, or label:<prefix> (default: cluster)', per)
    .addHelpText(
      'after',
      `
Examples:
  $ soda limit set encoder-sessions --max 3 --per host
  $ soda limit set drm-licences --max 10
  $ soda limit set storage --max 20 --per label:rack
  $ soda type set transcode 'uses=[{"limit":"encoder-sessions","n":1}]'`,
    )
    .action(async (of: string, options: ConnectionOptions & SetOptions) => {
      if (options.max === undefined && options.per === undefined) {
        throw new Failure('say what to set: --max, --per or both', ExitCode.usage);
      }
      const { client, output } = connect(options);
      const known = await knownLimit(client, of);
      const max = options.max ?? known?.max;
      if (max === undefined) throw new Failure('a new limit needs --max', ExitCode.usage);
      const limit = { max, per: options.per ?? known?.per ?? 'cluster' };
      output.sayView(await client.limits.put(of, limit), `set: ${of}`);
    });
}

function deleteCommand(): Command {
  return remoteCommand('delete', 'Delete a shared limit that no type uses.')
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await client.limits.delete(of);
      output.say({ name: of, code: 200 }, `deleted: ${of}`);
    });
}

interface SetOptions {
  readonly max?: number;
  readonly per?: LimitView['per'];
}

/** Null: there is none. */
async function knownLimit(client: SodaClient, of: string): Promise<LimitView | null> {
  try {
    return await client.limits.get(of);
  } catch (error) {
    if (error instanceof SodaError && exitCodeOf(error) === ExitCode.notFound) return null;
    throw error;
  }
}

function perInWords({ per: of }: LimitView): string {
  return typeof of === 'string' ? of : `label:${of.label}`;
}

function placesInWords({ places = [], max }: LimitView): string[] {
  return places.map(({ host, label, used }) => `${used} of ${max} on ${host ?? label ?? ''}`);
}

function count(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a count.');
}

function per(text: string): LimitView['per'] {
  if (text === 'cluster' || text === 'host') return text;
  const label = /^label:(.+)$/.exec(text)?.[1];
  if (label !== undefined) return { label };
  throw new InvalidArgumentError('Expected cluster, host, or label:<prefix>.');
}
