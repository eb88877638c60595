/** `soda type apply` and `export`: definitions kept in files, and what would change with them. */
import type { SodaClient, TypeDefinition, TypeView } from '@soda-scheduler/client';
import { Argument, type Command } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { apply, type Kind, printDefinition } from '../definition/apply.ts';
import { readDefinitions } from '../definition/definition.ts';
import { more } from '../options.ts';
import { definitionOf, type NamedDefinition, overridesInWords } from './definition.ts';

export function applyCommand(): Command {
  return remoteCommand('apply', 'Define types as files say, and show what that changes.')
    .requiredOption(
      '-f, --file <file>',
      'YAML or JSON, with a `type` in each; a folder with such files; - for stdin; may be repeated',
      more,
    )
    .option('--dry-run', 'only show what would change')
    .addHelpText(
      'after',
      `
Each definition takes the place of the whole one before. All of them are checked before one is changed, and none is
changed that somebody else has changed meanwhile (exit code 4). What operators have set with "soda type
override" or "pause" stays as it is, and is shown.

Examples:
  $ soda type apply -f types.yaml --dry-run
  $ soda type export > types.yaml`,
    )
    .action(async (options: ConnectionOptions & { file: readonly string[]; dryRun?: true }) => {
      const read = await readDefinitions<NamedDefinition>(options.file, 'type');
      const { client, output } = connect(options);
      const definitions = read.map(({ type, ...definition }) => [type, definition] as const);
      await apply(typesOf(client), definitions, output, options.dryRun === true);
    });
}

function typesOf(client: SodaClient): Kind<TypeDefinition, TypeView> {
  return {
    key: 'type',
    get: (type) => client.types.get(type),
    put: (type, definition, options) => client.types.put(type, definition, options),
    isDefined: ({ registered }) => registered,
    definitionOf: (view) => JSON.stringify(definitionOf(view)),
    besides: (view) => ({
      fields: { overrides: view.overrides },
      lines: () => overridesInWords(view).map((line) => `holds before it: ${line}`),
    }),
  };
}

export function exportCommand(): Command {
  return remoteCommand('export', 'Print definitions of types, as "apply" takes them.')
    .addArgument(new Argument('[types...]', 'which ones (default: all that are registered)'))
    .action(async (types: string[], options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const names = [...types];
      if (names.length === 0) {
        for await (const { type, registered } of client.types.list()) {
          if (registered) names.push(type);
        }
      }
      for (const type of names) {
        const definition = definitionOf(await client.types.get(type));
        await printDefinition(output, JSON.stringify({ type, ...definition }));
      }
    });
}
