/** `soda alert rules`: what is looked for, from when on it is raised, and who is told. */
import type { AlertRuleRequest, AlertRuleView, SodaClient } from '@soda-scheduler/client';
import { alertKinds, alertSeverities } from '@soda-scheduler/protocol';
import { Argument, Command, Option } from 'commander';
import { type ConnectionOptions, connect, masterwideCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { more, number } from '../options.ts';

export function rulesCommand(): Command {
  return new Command('rules')
    .description('List the rules of alerts, set and delete them.')
    .addCommand(listCommand())
    .addCommand(setCommand())
    .addCommand(deleteCommand());
}

const name = () => new Argument('<name>', 'the rule');

function listCommand(): Command {
  return masterwideCommand('list', 'List the rules that hold, default ones too, by name.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const head = ['rule', 'kind', 'threshold', 'window', 'severity', 'tells', 'repeat', 'scope'];
      await output.rows(client.alerts.rules(), head, (one) => [
        one.name,
        one.kind,
        one.threshold,
        one.window,
        one.severity,
        one.enabled ? (one.receivers?.join(' ') ?? 'all') : 'off',
        one.repeat,
        scopeInWords(one),
      ]);
    });
}

interface SetOptions extends ConnectionOptions {
  readonly kind?: AlertRuleView['kind'];
  readonly threshold?: number;
  readonly window?: number;
  readonly severity?: (typeof alertSeverities)[number];
  readonly receiver?: string[];
  readonly allReceivers?: boolean;
  readonly repeat?: number | 'never';
  readonly checks?: number;
  readonly reason?: string[];
  readonly inNamespace?: string[];
  readonly type?: string[];
  readonly off?: boolean;
  readonly on?: boolean;
}

function setCommand(): Command {
  return masterwideCommand('set', 'Set a rule, or change it. What is not named stays.')
    .addArgument(name())
    .addOption(
      new Option('--kind <kind>', 'what it looks for (default: that of its name)').choices(
        alertKinds,
      ),
    )
    .option(
      '--threshold <number>',
      'from when on: seconds, percent or a count, by its kind',
      number,
    )
    .option('--window <seconds>', 'of how long ago it counts, where its kind does', number)
    .addOption(new Option('--severity <severity>', 'how grave it is').choices(alertSeverities))
    .option('--receiver <name>', 'tell this one, and no other; may be repeated', more)
    .option('--all-receivers', 'tell all there are')
    .option('--repeat <seconds>', 'tell it again while it lasts; never: once', repeat)
    .option('--checks <count>', 'checks in a row, 15 s apart, to raise and to clear it', number)
    .option('--reason <reason>', 'of oldest_wait: why tasks wait; may be repeated', more)
    .option('--in-namespace <name>', 'only of this namespace; may be repeated', more)
    .option('--type <type>', 'only of this type; may be repeated', more)
    .option('--off', 'do not look for it')
    .option('--on', 'look for it again')
    .addHelpText(
      'after',
      `
Examples:
  $ soda alert rules set no_executor --threshold 300
  $ soda alert rules set backlog --off
  $ soda alert rules set live-waits --kind oldest_wait --type live --threshold 30 --severity critical
  $ soda alert rules set poison --receiver ops`,
    )
    .action(async (of: string, options: SetOptions) => {
      const { client, output } = connect(options);
      const known = await knownRule(client, of);
      const kind = options.kind ?? known?.kind ?? alertKinds.find((one) => one === of);
      if (kind === undefined) throw new Failure('a new rule needs --kind', ExitCode.usage);
      // What stands for one kind need not for another.
      const before = known?.kind === kind ? requestOf(known) : { kind };
      output.sayView(
        await client.alerts.putRule(of, { ...before, ...given(options) }),
        `set: ${of}`,
      );
    });
}

function deleteCommand(): Command {
  return masterwideCommand('delete', 'Delete a rule. A default one that it replaced holds again.')
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await client.alerts.deleteRule(of);
      output.say({ name: of, code: 200 }, `deleted: ${of}`);
    });
}

async function knownRule(client: SodaClient, of: string): Promise<AlertRuleView | null> {
  for await (const rule of client.alerts.rules()) if (rule.name === of) return rule;
  return null;
}

function requestOf(rule: AlertRuleView): AlertRuleRequest {
  const { kind, scope, threshold, window, reasons, severity, receivers, repeat } = rule;
  return {
    ...{ kind, receivers, repeat, checks: rule.checks, enabled: rule.enabled },
    ...(scope && { scope }),
    ...(threshold !== null && { threshold }),
    ...(window !== null && { window }),
    ...(reasons && { reasons }),
    ...(severity && { severity }),
  };
}

function given(options: SetOptions): Partial<AlertRuleRequest> {
  const { threshold, window, severity, receiver, repeat: again, checks, reason } = options;
  const { inNamespace, type, allReceivers, on, off } = options;
  return {
    ...(threshold !== undefined && { threshold }),
    ...(window !== undefined && { window }),
    ...(severity !== undefined && { severity }),
    ...(receiver !== undefined && { receivers: receiver }),
    ...(allReceivers === true && { receivers: null }),
    ...(again !== undefined && { repeat: again === 'never' ? null : again }),
    ...(checks !== undefined && { checks }),
    ...(reason !== undefined && { reasons: reason }),
    ...((inNamespace ?? type) !== undefined && {
      scope: { ...(inNamespace && { namespaces: inNamespace }), ...(type && { types: type }) },
    }),
    ...(on === true && { enabled: true }),
    ...(off === true && { enabled: false }),
  };
}

function scopeInWords({ scope }: AlertRuleView): string | null {
  if (scope === null) return null;
  const lists = Object.entries(scope) as [string, readonly string[]][];
  return lists.map(([what, list]) => `${what}: ${list.join(' ')}`).join('; ');
}

function repeat(text: string): number | 'never' {
  return text === 'never' ? text : number(text);
}
