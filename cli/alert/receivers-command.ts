/** `soda alert receivers`: who is told of alerts, and how. */
import type { AlertReceiverRequest } from '@soda-scheduler/client';
import { alertChannels } from '@soda-scheduler/protocol';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type ConnectionOptions, connect, masterwideCommand } from '../connection.ts';

export function receiversCommand(): Command {
  return new Command('receivers')
    .description('List who is told of alerts, set and delete receivers.')
    .addCommand(listCommand())
    .addCommand(setCommand())
    .addCommand(deleteCommand());
}

const name = () => new Argument('<name>', 'the receiver');
const more = (value: string, before: string[] = []) => [...before, value];

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
    .option('--hook <url>', 'of all others: where messages are posted to')
    .option('--secret <secret>', 'of webhook, feishu and dingtalk: what messages are signed with')
    .option(
      '--template <json>',
      'of json: the body, with {{title}}, {{text}}, {{severity}} and {{count}} in its texts',
      json,
    )
    .addHelpText(
      'after',
      `
All default rules tell every receiver there is. Examples:
  $ soda alert receivers set ops --channel slack --hook https://hooks.slack.com/services/T0/B0/x
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
        ...(hook !== undefined && { url: hook }),
        ...(secret !== undefined && { secret }),
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

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidArgumentError('Expected JSON.');
  }
}
