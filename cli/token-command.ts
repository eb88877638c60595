/** `soda token` and `soda whoami`: who may call what. */
import type { TokenRequest, TokenView } from '@soda-scheduler/client';
import { Argument, Command, Option } from 'commander';
import { type ConnectionOptions, connect, masterwideCommand } from './connection.ts';
import { INSTANT, instantOf } from './instant.ts';
import { more } from './options.ts';

const ROLES = ['read', 'submit', 'operate', 'admin', 'executor'] as const;

export function tokenCommand(): Command {
  return new Command('token')
    .description('Make tokens for people, programs and executors, list and revoke them.')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

const name = () => new Argument('<name>', 'whose it is: 1 to 64 characters of A-Z a-z 0-9 _ . -');

interface CreateOptions extends ConnectionOptions {
  readonly role: TokenRequest['role'];
  readonly inNamespace?: string[];
  readonly group?: string[];
  readonly type?: string[];
  readonly expires?: string;
}

function createCommand(): Command {
  return masterwideCommand('create', 'Make a token and print it, this once.')
    .addArgument(name())
    .addOption(new Option('--role <role>', 'what it opens').choices(ROLES).makeOptionMandatory())
    .option('--in-namespace <name>', 'only this namespace; may be repeated', more)
    .option('--group <group>', 'only what this group submits; may be repeated', more)
    .option('--type <type>', 'only tasks of this type; may be repeated', more)
    .option('--expires <time>', `${INSTANT} (default: never)`)
    .addHelpText(
      'after',
      `
Examples:
  $ soda token create ann --role operate
  $ soda token create cms --role submit --group news --type transcode
  $ soda token create encoder-3 --role executor --in-namespace live > /etc/soda/token`,
    )
    .action(async (of: string, options: CreateOptions) => {
      const { client, output } = connect(options);
      const made = await client.createToken(requestOf(of, options));
      output.say(made, made.token);
      output.hint('Keep it: nobody is told it again.');
    });
}

function requestOf(of: string, options: CreateOptions): TokenRequest {
  const { role, inNamespace: namespaces, group: groups, type: types, expires } = options;
  const expires_at = instantOf(expires);
  const isLimited = [namespaces, groups, types].some((list) => list !== undefined);
  return {
    name: of,
    role,
    ...(isLimited && {
      scope: {
        ...(namespaces && { namespaces }),
        ...(groups && { groups }),
        ...(types && { types }),
      },
    }),
    ...(expires_at !== undefined && { expires_at }),
  };
}

function listCommand(): Command {
  return masterwideCommand('list', 'List the tokens by name, without what is to be sent.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const head = ['token', 'role', 'scope', 'expires', 'made by', 'last used'];
      await output.rows(client.tokens(), head, (one) => [
        one.name,
        one.role,
        scopeInWords(one),
        one.expires_at,
        one.created_by,
        one.last_used_at,
      ]);
    });
}

function revokeCommand(): Command {
  return masterwideCommand('revoke', 'Revoke a token: it opens nothing from then on.')
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await client.revokeToken(of);
      output.say({ name: of, code: 200 }, `revoked: ${of}`);
    });
}

export function whoamiCommand(): Command {
  return masterwideCommand('whoami', 'Say whose the token is, and what it opens.').action(
    async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const me = await client.whoami();
      output.fields(me, [
        ['token', me.name ?? 'none is needed'],
        ['role', me.role],
        ['scope', scopeInWords(me)],
        ['expires', me.expires_at],
      ]);
    },
  );
}

function scopeInWords({ scope }: Pick<TokenView, 'scope'>): string {
  if (scope === null) return 'everything';
  const lists = Object.entries(scope) as [string, readonly string[]][];
  return lists.map(([what, list]) => `${what}: ${list.join(' ')}`).join('; ');
}
