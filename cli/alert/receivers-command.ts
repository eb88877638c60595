/** `soda alert receivers`: who is told of alerts, and how. */
import type { AlertReceiverRequest } from '@soda-scheduler/client';
import { alertChannels } from '@soda-scheduler/protocol';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type ConnectionOptions, connect, masterwideCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { more, textOf } from '../options.ts';

export function receiversCommand(): Command {
  return new Command('receivers')
    .description('List who is told of alerts, set and delete receivers.')
    .addCommand(listCommand())
    .addCommand(setCommand())
    .addCommand(deleteCommand());
}

const name = () => new Argument('<name>', 'the receiver');

function listCommand(): Command {
  return masterwideCommand('list', 'List the receivers by name, without their secrets.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const head = ['receiver', 'channel', 'to', 'secret'];
      await output.rows(client.alerts.receivers(), head, (one) => [
        one.name,
        one.channel,
        one.to?.join(' ') ?? one.url,
        one.has_secret ? 'set' : null,
      ]);
    });
}

interface SetOptions extends ConnectionOptions {
  readonly channel: AlertReceiverRequest['channel'];
  readonly to?: string[];
  readonly hook?: string;
  readonly secret?: string;
  readonly template?: unknown;
}

function setCommand(): Command {
  return masterwideCommand('set', 'Set a receiver, in place of what had that name.')
    .addArgument(name())
    .addOption(
      new Option('--channel <channel>', 'how it is told')
        .choices(alertChannels)
        .makeOptionMandatory(),
    )
    .option('--to <address>', 'of mail: an address; may be repeated', more)
    .option('--hook <url|@file|->', 'of all others: where messages are posted to')
    .option(
      '--secret <secret|@file|->',
      'of webhook, feishu and dingtalk: what messages are signed with',
    )
    .option(
      '--template <json>',
      'of json: the body, with {{title}}, {{text}}, {{severity}} and {{count}} in its texts',
      json,
    )
    .addHelpText(
      'after',
      `
All default rules tell every receiver there is. The URL of a hook is a secret too: from a file, or for - from stdin, it
stands in no list of processes. Examples:
  $ soda alert receivers set ops --channel slack --hook @slack-hook
  $ soda alert receivers set night --channel mail --to ann@example.com --to bob@example.com
  $ soda alert receivers set popo --channel json --hook https://popo.example.com/robot \\
      --template '{"message":"{{text}}"}'
  $ soda alert test ops`,
    )
    .action(async (of: string, options: SetOptions) => {
      const { channel, to, hook, secret, template } = options;
      const { client, output } = connect(options);
      const set = await client.alerts.putReceiver(of, {
        channel,
        ...(to !== undefined && { to }),
        ...(hook !== undefined && { url: await lineOf(hook, '--hook') }),
        ...(secret !== undefined && { secret: await lineOf(secret, '--secret') }),
        ...(template !== undefined && { template }),
      });
      output.sayView(set, `set: ${of}`);
    });
}

function deleteCommand(): Command {
  return masterwideCommand('delete', 'Delete a receiver: it is told nothing from then on.')
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await client.alerts.deleteReceiver(of);
      output.say({ name: of, code: 200 }, `deleted: ${of}`);
    });
}

/** @throws {Failure} it is none. */
async function lineOf(source: string, option: string): Promise<string> {
  const line = (await textOf(source, option)).trim();
  if (line !== '') return line;
  throw new Failure(`${option}: there is nothing in ${source}`, ExitCode.usage);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidArgumentError('Expected JSON.');
  }
}
