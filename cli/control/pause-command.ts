/** `soda pause`, `soda resume` and `soda pauses`: groups, labels, namespaces, and all of them. */
import type { PauseRequest, ScopedPause, SodaClient } from '@soda-scheduler/client';
import { Argument, type Command } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { pauseInWords } from '../output.ts';
import { INSTANT, instantOf } from '../instant.ts';

type Scope = PauseRequest['scope'];

interface PauseOptions extends ConnectionOptions {
  readonly reason?: string;
  readonly until?: string;
}

export function pauseCommand(): Command {
  return withScope('pause', 'Begin no task of a group, with a label, of a namespace, or at all.')
    .option('--reason <text>', 'why, for those whose tasks wait')
    .option('--until <time>', `when it ends: ${INSTANT}`)
    .addHelpText(
      'after',
      `
What runs goes on. One type: "soda type pause".

Examples:
  $ soda pause group news --reason "storage is full"
  $ soda pause label gpu --until +2h
  $ soda pause namespace video
  $ soda pause all --reason "moving the database"`,
    )
    .action(async (scope: Scope, given: string | undefined, options: PauseOptions) => {
      const { client, output, value } = meant(scope, given, options);
      const { reason, until } = options;
      const asked = { scope, value, reason, until: instantOf(until) };
      output.sayView(await client.pauses.begin(asked), `paused: ${inWords(scope, given)}`);
    });
}

export function resumeCommand(): Command {
  return withScope('resume', 'End such a pause: its tasks are begun again.').action(
    async (scope: Scope, given: string | undefined, options: ConnectionOptions) => {
      const { client, output, value } = meant(scope, given, options);
      const what = inWords(scope, given);
      if (!(await isPaused(client, scope, value))) {
        throw new Failure(`${what} is not paused: see "soda pauses"`, ExitCode.notFound);
      }
      output.sayView(await client.pauses.end({ scope, value }), `resumed: ${what}`);
    },
  );
}

export function pausesCommand(): Command {
  return remoteCommand('pauses', 'List what is paused, by whom, why and until when; types too.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await output.rows(client.pauses.list(), ['scope', 'value', 'by', 'paused'], (one) => [
        one.scope,
        one.value,
        one.by,
        pauseInWords({ paused: one }),
      ]);
    });
}

function withScope(name: string, description: string): Command {
  return remoteCommand(name, description)
    .addArgument(
      new Argument('<scope>', 'what is meant').choices(['group', 'label', 'namespace', 'all']),
    )
    .addArgument(new Argument('[value]', 'the group, the label or the namespace'));
}

/** A namespace that is named is the one that is asked. */
function meant(scope: Scope, given: string | undefined, options: ConnectionOptions) {
  if ((scope === 'group' || scope === 'label') && given === undefined) {
    throw new Failure(`say which ${scope}`, ExitCode.usage);
  }
  if (scope === 'all' && given !== undefined) {
    throw new Failure('all is all: it takes no value', ExitCode.usage);
  }
  if (scope !== 'namespace') return { ...connect(options), value: given };
  return {
    ...connect({ ...options, ...(given !== undefined && { namespace: given }) }),
    value: undefined,
  };
}

async function isPaused(client: SodaClient, scope: Scope, value: string | undefined) {
  const isIt = (one: ScopedPause) => one.scope === scope && one.value === (value ?? null);
  for await (const one of client.pauses.list()) if (isIt(one)) return true;
  return false;
}

function inWords(scope: Scope, value: string | undefined): string {
  if (scope === 'all') return 'all namespaces';
  return value === undefined ? 'the namespace' : `${scope} ${value}`;
}
