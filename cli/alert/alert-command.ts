/** `soda alert`: what is raised, who silences it, what is said, and whether receivers hear it. */
import type { AlertView, SodaClient } from '@soda-scheduler/client';
import { alertSeverities } from '@soda-scheduler/protocol';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import {
  type ConnectionOptions,
  connect,
  masterwideCommand,
  remoteCommand,
  sayAside,
} from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { INSTANT, instantOf } from '../instant.ts';
import { receiversCommand } from './receivers-command.ts';
import { rulesCommand } from './rules-command.ts';

export function alertCommand(): Command {
  return new Command('alert')
    .description('See what is raised, silence it, and say by which rules who is told.')
    .addCommand(listCommand())
    .addCommand(silenceCommand())
    .addCommand(rulesCommand())
    .addCommand(receiversCommand())
    .addCommand(testCommand())
    .addCommand(sendCommand());
}

interface ListOptions extends ConnectionOptions {
  readonly state: 'raised' | 'cleared';
  readonly inNamespace?: string;
}

function listCommand(): Command {
  return masterwideCommand('list', 'List what is raised, the newest first.')
    .addOption(
      new Option('--state <state>', 'raised, or cleared: what is over')
        .choices(['raised', 'cleared'])
        .default('raised'),
    )
    .option('--in-namespace <name>', 'only of this namespace')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async ({ state, inNamespace, ...options }: ListOptions) => {
      const { client, output } = connect(options);
      const head = [
        'alert',
        'severity',
        'rule',
        'namespace',
        'for',
        'told',
        'message',
        'to mend it',
      ];
      const query = { state, namespace: inNamespace };
      const hasReceivers = await anyReceiver(client);
      await output.rows(client.alerts.list(query), head, (one) => [
        one.id,
        one.severity,
        one.rule,
        one.namespace,
        inWords(one.lasts),
        toldInWords(one, hasReceivers),
        one.message,
        one.change,
      ]);
      if (hasReceivers !== false) return;
      sayAside('nobody is told of alerts: there is no receiver (soda alert receivers set --help)');
    });
}

interface SilenceOptions extends ConnectionOptions {
  readonly until?: string;
  readonly reason?: string;
  readonly end?: boolean;
}

function silenceCommand(): Command {
  return masterwideCommand('silence', 'Have nobody told of an alert for a while.')
    .addArgument(new Argument('<alert>', 'its id'))
    .option('--until <time>', INSTANT)
    .option('--reason <text>', 'why, for whoever looks at it')
    .option('--end', 'tell of it again, from now on')
    .addHelpText(
      'after',
      `
Examples:
  $ soda alert silence al-0123456789abcdef01234567 --until +4h --reason 'a disk comes at ten'
  $ soda alert silence al-0123456789abcdef01234567 --end`,
    )
    .action(async (id: string, { until, reason, end, ...options }: SilenceOptions) => {
      if ((until === undefined) === (end === undefined)) {
        throw new Failure('say --until when, or --end', ExitCode.usage);
      }
      const { client, output } = connect(options);
      const one = await client.alerts.silence(id, instantOf(until) ?? null, { reason });
      const how = one.silenced_until === null ? 'told again' : `until ${one.silenced_until}`;
      output.sayView(one, `silenced: ${id}, ${how}`);
    });
}

function testCommand(): Command {
  return masterwideCommand('test', 'Tell a receiver that this is a test, and say how that went.')
    .addArgument(new Argument('<receiver>', 'its name'))
    .action(async (name: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const tried = await client.alerts.test(name);
      if (output.json || tried.delivered) output.sayView(tried, `taken: ${name}`);
      if (tried.delivered) return;
      throw new Failure(output.json ? '' : `${name} has not taken it: ${tried.error}`);
    });
}

interface SendOptions extends ConnectionOptions {
  readonly severity: AlertView['severity'];
  readonly field?: Record<string, string>;
}

function sendCommand(): Command {
  return remoteCommand('send', 'Raise an alert; in the same words, but for numbers, it is counted.')
    .addArgument(new Argument('<message>', 'what is wrong'))
    .addOption(
      new Option('--severity <severity>', 'how grave it is')
        .choices(alertSeverities)
        .default('warning'),
    )
    .option('--field <name=value>', 'what else is to be told; may be repeated', field)
    .addHelpText(
      'after',
      `
Examples:
  $ soda alert send 'the intake disk is 95 % full' --severity critical --field host=nas-1`,
    )
    .action(async (message: string, { severity, field: fields, ...options }: SendOptions) => {
      const { client, output } = connect(options);
      const said = await client.alert(severity, message, fields);
      const ids = said.alerts.join(' ');
      const isOmitted = ids === '' && said.omitted > 0;
      const outcome = ids === '' ? 'said, and no rule is for it' : `raised: ${ids}`;
      if (output.json || !isOmitted) output.sayView(said, outcome);
      if (!isOmitted) return;
      const why = 'not raised: too many messages are raised already (soda alert list)';
      throw new Failure(output.json ? '' : why);
    });
}

function field(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Expected name=value.');
  return { ...before, [name]: value ?? '' };
}

/** Null: whoever asks may not know. */
async function anyReceiver({ alerts }: SodaClient): Promise<boolean | null> {
  try {
    return (await alerts.receivers()[Symbol.asyncIterator]().next()).done !== true;
  } catch {
    return null;
  }
}

/** Who has been told, and who has not. */
function toldInWords(
  { deliveries, silenced_until: until, told_at: at }: AlertView,
  hasReceivers: boolean | null,
): string | null {
  if (until !== null && Date.parse(until) > Date.now()) return `silenced until ${until}`;
  const newest = new Map(deliveries.map((one) => [one.receiver, one]));
  if (newest.size === 0) {
    if (hasReceivers === false) return 'nobody: there is no receiver';
    // To whom is remembered for the newest only, and told to those who may see receivers.
    return at === null ? null : `at ${at}`;
  }
  return [...newest.values()]
    .map(({ receiver, state }) => (state === 'delivered' ? receiver : `${receiver} (${state})`))
    .join(', ');
}

/** To the minute, beyond the first. */
function inWords(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  const parts = [days > 0 ? `${days} d` : '', hours > 0 ? `${hours} h` : '', `${minutes % 60} min`];
  return parts
    .filter((part) => part !== '')
    .slice(0, 2)
    .join(' ');
}
