/** `soda blackout`: times at which no job is fired. */
import { Argument, Command } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { INSTANT, instantOf } from '../instant.ts';

export function blackoutCommand(): Command {
  return new Command('blackout')
    .description('Say at which times no job of the namespace is fired.')
    .addCommand(listCommand())
    .addCommand(addCommand())
    .addCommand(deleteCommand());
}

function listCommand(): Command {
  return remoteCommand('list', 'List the black-outs of all jobs. One of a job stands in the job.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const { blackouts } = await client.calendars.blackouts();
      await output.rows(blackouts, ['from', 'to', 'reason'], ({ from, to, reason }) => {
        return [from, to, reason];
      });
    });
}

interface AddOptions extends ConnectionOptions {
  readonly from: string;
  readonly to: string;
  readonly reason?: string;
}

function addCommand(): Command {
  return remoteCommand('add', 'Fire no job from one time up to another. Times in it are skipped.')
    .requiredOption('--from <time>', `the first instant, ${INSTANT}`)
    .requiredOption('--to <time>', `the end, ${INSTANT}`)
    .option('--reason <text>', 'why, for those whose jobs do not run')
    .action(async ({ from, to, reason, ...options }: AddOptions) => {
      const { client, output } = connect(options);
      const { version, blackouts } = await client.calendars.blackouts();
      const added = {
        from: instantOf(from) ?? '',
        to: instantOf(to) ?? '',
        ...(reason !== undefined && { reason }),
      };
      const all = [...blackouts.map(asAsked), added];
      const view = await client.calendars.setBlackouts(all, { version });
      output.sayView(view, `added: ${view.blackouts.length} in all`);
    });
}

function deleteCommand(): Command {
  return remoteCommand('delete', 'Let jobs be fired again in all black-outs that begin then.')
    .addArgument(new Argument('<from>', `the beginning of it, ${INSTANT}`))
    .action(async (from: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const { version, blackouts } = await client.calendars.blackouts();
      const at = new Date(instantOf(from) ?? '').getTime();
      const begins = (one: { readonly from: string }) => Date.parse(one.from) === at;
      const gone = blackouts.filter(begins);
      if (gone.length === 0) {
        throw new Failure(`no black-out begins at ${from}: soda blackout list`, ExitCode.notFound);
      }
      const rest = blackouts.filter((one) => !begins(one)).map(asAsked);
      const view = await client.calendars.setBlackouts(rest, { version });
      output.sayView(view, `deleted: ${gone.map((one) => `${one.from} to ${one.to}`).join(', ')}`);
    });
}

function asAsked({ from, to, reason }: { from: string; to: string; reason: string | null }) {
  return { from, to, ...(reason !== null && { reason }) };
}
