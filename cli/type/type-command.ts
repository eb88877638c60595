/** `soda type`: which types there are, what is set for each, and what operators have decided about it. */
import type { TypeDefinition, TypeView } from '@soda-scheduler/client';
import { differences } from '@soda-scheduler/protocol';
import { Argument, Command, Option } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { once } from '../options.ts';
import { type Output, pauseInWords } from '../output.ts';
import { INSTANT, instantOf } from '../instant.ts';
import { known } from '../definition/apply.ts';
import { applyCommand, exportCommand } from './apply-command.ts';
import { changeInWords, readDefinitions } from '../definition/definition.ts';
import { assign, definitionOf, type NamedDefinition, overridesInWords } from './definition.ts';

export function typeCommand(): Command {
  return new Command('type')
    .description('List types of tasks, and set what holds for all tasks of one.')
    .addCommand(listCommand())
    .addCommand(getCommand())
    .addCommand(setCommand())
    .addCommand(applyCommand())
    .addCommand(exportCommand())
    .addCommand(deleteCommand())
    .addCommand(pauseCommand())
    .addCommand(resumeCommand())
    .addCommand(overrideCommand());
}

const name = () => new Argument('<type>', 'the type');
const settings = () => new Argument('[settings...]', 'limits.max_running=5 and the like');

function listCommand(): Command {
  return remoteCommand('list', 'List the types, registered or only seen, by name.')
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const head = [
        'type',
        'waiting',
        'held',
        'running',
        'executors',
        'version',
        'owner',
        'paused',
        'override',
      ];
      await output.rows(client.types.list(), head, (one) => [
        one.type,
        one.counts.waiting,
        one.counts.held,
        one.counts.running,
        one.executors,
        one.registered ? one.version : null,
        one.owner ?? null,
        pauseInWords(one),
        overridesInWords(one).join('; '),
      ]);
    });
}

function getCommand(): Command {
  return remoteCommand('get', 'Show one type.')
    .addArgument(name())
    .action(async (type: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      showType(output, await client.types.get(type));
    });
}

function showType(output: Output, one: TypeView): void {
  const { description = null, owner = null, params_schema, ...defined } = definitionOf(one);
  output.fields(one, [
    ['type', one.type],
    ['version', one.registered ? one.version : 'not registered'],
    ['description', description],
    ['owner', owner],
    ['waiting', one.counts.waiting],
    ['held', one.counts.held],
    ['running', one.counts.running],
    ['executors', one.executors],
    ['waits', one.constraint?.message ?? null],
    ['paused', pauseInWords(one)],
    ...overridesInWords(one).map((line) => ['override', line] as const),
    ...differences('{}', JSON.stringify(defined)).map(({ path, after = null }) => {
      return [path, after] as const;
    }),
    ['params schema', params_schema === undefined ? null : JSON.stringify(params_schema)],
  ]);
}

function setCommand(): Command {
  return remoteCommand('set', 'Register a type, or change what is set for it.')
    .addArgument(name())
    .addArgument(settings())
    .addOption(
      once(
        new Option(
          '-f, --file <file>',
          'a whole definition, YAML or JSON, in place of the one before',
        ),
      ),
    )
    .addHelpText(
      'after',
      `
What is not named stays; a key without a value is not set any more. Values are JSON, or text.

Examples:
  $ soda type set transcode owner=media limits.max_running=20 defaults.retry.max_attempts=3
  $ soda type set transcode 'defaults.requires=["gpu"]' defaults.notify_url=
  $ soda type set transcode -f transcode.yaml`,
    )
    .action(
      async (type: string, given: string[], options: ConnectionOptions & { file?: string }) => {
        if (options.file === undefined && given.length === 0) {
          throw new Failure('say what to set: key=value, or -f with a file', ExitCode.usage);
        }
        const { client, output } = connect(options);
        const before = await known(() => client.types.get(type));
        const defined = before === null ? {} : definitionOf(before);
        const definition =
          options.file === undefined ? defined : await fromFile(options.file, type);
        const next: TypeDefinition = { ...definition };
        assign(next, given);
        const version = before?.version ?? 0;
        const view = await client.types.put(type, next, { version });
        output.sayView(view, `set: ${type}`);
        if (output.json) return;
        const [was, is] = [defined, definitionOf(view)].map((one) => JSON.stringify(one));
        for (const change of differences(was ?? '', is ?? '')) {
          output.say(null, `  ${changeInWords(change)}`);
        }
      },
    );
}

async function fromFile(file: string, type: string): Promise<TypeDefinition> {
  const [definition, ...others] = await readDefinitions<NamedDefinition>([file], 'type');
  if (definition !== undefined && definition.type === type && others.length === 0)
    return definition;
  throw new Failure(`${file}: expected one definition, of ${type}`, ExitCode.usage);
}

function deleteCommand(): Command {
  return remoteCommand('delete', 'Forget what is set for a type of which no task waits or runs.')
    .addArgument(name())
    .option('--force', 'also while tasks of it wait or run: they go on without its settings')
    .action(async (type: string, options: ConnectionOptions & { force?: true }) => {
      const { client, output } = connect(options);
      await client.types.delete(type, { force: options.force });
      output.say({ type, code: 200 }, `deleted: ${type}`);
    });
}

function pauseCommand(): Command {
  return remoteCommand('pause', 'Begin no task of a type. What runs goes on.')
    .addArgument(name())
    .option('--reason <text>', 'why, for those whose tasks wait')
    .option('--until <time>', `when it ends: ${INSTANT}`)
    .action(async (type: string, options: ConnectionOptions & PauseOptions) => {
      const { client, output } = connect(options);
      const { reason, until } = options;
      const view = await client.types.pause(type, { reason, until: instantOf(until) });
      output.sayView(view, `paused: ${type}`);
    });
}

interface PauseOptions {
  readonly reason?: string;
  readonly until?: string;
}

function resumeCommand(): Command {
  return remoteCommand('resume', 'Begin tasks of a type again.')
    .addArgument(name())
    .action(async (type: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      output.sayView(await client.types.resume(type), `resumed: ${type}`);
    });
}

function overrideCommand(): Command {
  return remoteCommand('override', 'Have other limits hold than those defined, for a while.')
    .addArgument(name())
    .addArgument(settings())
    .option('--reason <text>', 'why: needed')
    .option('--until <time>', `when it ends: ${INSTANT}`)
    .addOption(new Option('--clear', 'what is defined holds again').conflicts(['reason', 'until']))
    .addHelpText(
      'after',
      `
It takes the place of an override before, and stays whatever is defined meanwhile. A limit of null is none.

Examples:
  $ soda type override transcode limits.max_running=2 --reason "storage is slow"
  $ soda type override transcode --clear`,
    )
    .action(
      async (
        type: string,
        given: string[],
        options: ConnectionOptions & PauseOptions & { clear?: true },
      ) => {
        const { reason, until, clear } = options;
        if ((given.length === 0) !== (clear === true)) {
          throw new Failure(
            'say what is to hold (limits.max_running=2), or --clear',
            ExitCode.usage,
          );
        }
        if (!clear && reason === undefined) throw new Failure('say why: --reason', ExitCode.usage);
        const { client, output } = connect(options);
        const layer = { reason: reason ?? '', until: instantOf(until) };
        assign(layer, given);
        const view = await client.types.override(type, clear ? null : layer);
        output.sayView(view, `${clear ? 'cleared' : 'override'}: ${type}`);
      },
    );
}
