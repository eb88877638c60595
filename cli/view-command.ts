/** `soda view`: lists that people look at again and again, saved for all. */
import type { SodaClient, ViewQuery } from '@soda-scheduler/client';
import { Argument, Command } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from './connection.ts';
import { ExitCode, Failure } from './exit-code.ts';
import { isRelative } from './instant.ts';
import { queryOf, type SearchOptions, searchOptions, sortOption } from './task/task-search.ts';

export function viewCommand(): Command {
  return new Command('view')
    .description('Save lists of tasks by name, for all who may see them.')
    .addCommand(listCommand())
    .addCommand(setCommand())
    .addCommand(deleteCommand());
}

const name = () => new Argument('<name>', 'the view');

function listCommand(): Command {
  return remoteCommand('list', 'List the saved views by name, and what they look for.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await output.rows(client.views.list(), ['view', 'looks for'], (view) => [
        view.name,
        Object.entries(view.query)
          .map(([filter, value]) => `${filter}=${String(value)}`)
          .join(' '),
      ]);
    });
}

function setCommand(): Command {
  const command = remoteCommand('set', 'Save a view, in place of what had that name.');
  return searchOptions(command.addArgument(name()))
    .addOption(sortOption())
    .addHelpText(
      'after',
      `
Examples:
  $ soda view set broken-inputs --state failed --error 'moov atom'
  $ soda task list --view broken-inputs`,
    )
    .action(async (of: string, options: ConnectionOptions & SearchOptions) => {
      if (isRelative(options.from) || isRelative(options.to)) {
        const why = 'a view keeps a time as it is: give one that does not count from now';
        throw new Failure(why, ExitCode.usage);
      }
      const query: ViewQuery = queryOf(options);
      if (Object.keys(query).length === 0) {
        throw new Failure('say what it looks for: --state, --type or the like', ExitCode.usage);
      }
      const { client, output } = connect(options);
      output.sayView(await client.views.put(of, query), `set: ${of}`);
    });
}

function deleteCommand(): Command {
  return remoteCommand('delete', 'Delete a saved view.')
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await client.views.delete(of);
      output.say({ name: of, code: 200 }, `deleted: ${of}`);
    });
}

/** What a view looks for. @throws {Failure} there is none of that name. */
export async function savedQuery(client: SodaClient, wanted: string): Promise<ViewQuery> {
  for await (const view of client.views.list()) if (view.name === wanted) return view.query;
  throw new Failure(`there is no view ${wanted}: soda view list`, ExitCode.notFound);
}
