/** `soda type apply` and `export`: definitions kept in files, and what would change with them. */
import {
  type SodaClient,
  SodaError,
  type TypeDefinition,
  type TypeView,
} from '@soda-scheduler/client';
import { Argument, type Command } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { ExitCode, exitCodeOf, Failure } from '../exit-code.ts';
import type { Output } from '../output.ts';
import {
  type Change,
  changeInWords,
  changesBetween,
  readDefinitions,
  throwIfAny,
} from '../definition/definition.ts';
import { definitionOf, type NamedDefinition, overridesInWords } from './definition.ts';

export function applyCommand(): Command {
  return remoteCommand('apply', 'Define types as files say, and show what that changes.')
    .requiredOption('-f, --file <file>', 'YAML or JSON, with a `type` in each; - for stdin')
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
    .action(async (options: ConnectionOptions & { file: string; dryRun?: true }) => {
      const definitions = await readDefinitions<NamedDefinition>(options.file, 'type');
      const { client, output } = connect(options);
      const plans = await plansOf(client, definitions);
      for (const plan of plans) {
        if (!options.dryRun && plan.changes !== null) {
          const { definition, version } = plan;
          await client.types.put(plan.type, definition, { version }).catch((error: unknown) => {
            throw named(plan.type, error);
          });
        }
        sayPlan(output, plan, options.dryRun === true);
      }
    });
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
      const { stringify } = await import('../definition/yaml.ts');
      for (const name of names) {
        const definition = { type: name, ...definitionOf(await client.types.get(name)) };
        if (output.json) output.say(definition, '');
        else process.stdout.write(`---\n${stringify(definition)}`);
      }
    });
}

interface Plan {
  readonly type: string;
  readonly definition: TypeDefinition;
  readonly isNew: boolean;
  readonly version: number;
  /** Null: none. */
  readonly changes: readonly Change[] | null;
  readonly view: TypeView;
}

/** Of all of them. @throws {Failure} naming all that is wrong with any. */
async function plansOf(
  client: SodaClient,
  definitions: readonly NamedDefinition[],
): Promise<readonly Plan[]> {
  const plans: Plan[] = [];
  const faults: string[] = [];
  for (const { type, ...definition } of definitions) {
    try {
      plans.push(await planOf(client, type, definition));
    } catch (error) {
      if (!(error instanceof SodaError) || error.code !== 400) throw named(type, error);
      const { errors = [{ field: '', message: error.message }] } = error.problem ?? {};
      for (const { field, message } of errors) {
        faults.push([type, field, message].filter((part) => part !== '').join(': '));
      }
    }
  }
  throwIfAny(faults, 'nothing is applied');
  return plans;
}

/** What the master would make of it. Changes nothing. */
async function planOf(client: SodaClient, type: string, definition: TypeDefinition): Promise<Plan> {
  const before = await knownType(client, type);
  const view = await client.types.put(type, definition, { dryRun: true });
  const changes = changesBetween(before === null ? {} : definitionOf(before), definitionOf(view));
  const isNew = before?.registered !== true;
  const version = before?.version ?? 0;
  return {
    type,
    definition,
    isNew,
    version,
    view,
    changes: isNew || changes.length > 0 ? changes : null,
  };
}

/** Null: nobody knows of it. */
export async function knownType(client: SodaClient, type: string): Promise<TypeView | null> {
  try {
    return await client.types.get(type);
  } catch (error) {
    if (error instanceof SodaError && exitCodeOf(error) === ExitCode.notFound) return null;
    throw error;
  }
}

/** Of several types, whose failure it is. */
function named(type: string, error: unknown): unknown {
  if (!(error instanceof SodaError)) return error;
  return new Failure(`${type}: ${error.message}`, exitCodeOf(error));
}

function sayPlan(output: Output, { type, isNew, changes, view }: Plan, isDry: boolean): void {
  const action = changes === null ? 'unchanged' : isNew ? 'created' : 'changed';
  const { overrides } = view;
  const did = isDry && changes !== null ? `would be ${action}` : action;
  output.say(
    { type, action, dry_run: isDry, changes: changes ?? [], overrides },
    `${type}: ${did}`,
  );
  if (output.json) return;
  for (const change of changes ?? []) output.say(null, `  ${changeInWords(change)}`);
  for (const line of overridesInWords(view)) output.say(null, `  holds before it: ${line}`);
}
