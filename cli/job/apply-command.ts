/** `soda job set`, `apply` and `export`: jobs kept in files, and what would change with them. */
import { type JobRequest, type JobView, type SodaClient, SodaError } from '@soda-scheduler/client';
import { Argument, type Command } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import {
  type Change,
  changeInWords,
  changesBetween,
  readDefinitions,
  throwIfAny,
} from '../definition/definition.ts';
import { ExitCode, exitCodeOf, Failure } from '../exit-code.ts';
import type { Output } from '../output.ts';

type NamedJob = JobRequest & { readonly name: string };

/** In a file of jobs, as the documentation has it. */
const EXAMPLE = `
  name: evening-push
  template:
    task: { type: push, params: { channel: 7 } }
    user: { group: live }
  triggers:
    - cron: 0 19 * * 1-5
      zone: Asia/Shanghai
      only_on: china`;

export function setCommand(): Command {
  return remoteCommand('set', 'Make a job, or change it: all of it, as a file says.')
    .addArgument(new Argument('<job>', 'the job'))
    .requiredOption('-f, --file <file>', 'YAML or JSON; - for stdin')
    .option('--dry-run', 'only show what would change')
    .addHelpText('after', `\nSuch a file:${EXAMPLE}`)
    .action(async (name: string, options: ApplyOptions) => {
      const [job, ...others] = await readDefinitions<NamedJob>(options.file, 'name');
      if (job?.name !== name || others.length > 0) {
        throw new Failure(`${options.file}: expected one definition, of ${name}`, ExitCode.usage);
      }
      await apply([job], options);
    });
}

export function applyCommand(): Command {
  return remoteCommand('apply', 'Make jobs as files say, and show what that changes.')
    .requiredOption('-f, --file <file>', 'YAML or JSON, with a `name` in each; - for stdin')
    .option('--dry-run', 'only show what would change')
    .addHelpText(
      'after',
      `
Each takes the place of the whole job before. All of them are checked before one is changed, and none is changed
that somebody else has changed meanwhile (exit code 4). Times up to now stay decided as they were; a job that
is the same already is left alone, and its triggers with it.

Such a file:${EXAMPLE}

Examples:
  $ soda job apply -f jobs.yaml --dry-run
  $ soda job export > jobs.yaml`,
    )
    .action(async (options: ApplyOptions) => {
      await apply(await readDefinitions<NamedJob>(options.file, 'name'), options);
    });
}

interface ApplyOptions extends ConnectionOptions {
  readonly file: string;
  readonly dryRun?: true;
}

export function exportCommand(): Command {
  return remoteCommand('export', 'Print jobs, as "apply" takes them.')
    .addArgument(new Argument('[jobs...]', 'which ones (default: all)'))
    .option('--tag <tag>', 'with this tag only')
    .action(async (given: string[], { tag, ...options }: ConnectionOptions & { tag?: string }) => {
      const { client, output } = connect(options);
      const names = [...given];
      if (names.length === 0) {
        for await (const { name } of client.jobs.list({ tag })) names.push(name);
      }
      const { stringify } = await import('../definition/yaml.ts');
      for (const name of names) {
        const definition = { name, ...definitionOf(await client.jobs.get(name)) };
        if (output.json) output.say(definition, '');
        else process.stdout.write(`---\n${stringify(definition)}`);
      }
    });
}

async function apply(jobs: readonly NamedJob[], options: ApplyOptions): Promise<void> {
  const { client, output } = connect(options);
  for (const plan of await plansOf(client, jobs)) {
    const { name, job, version } = plan;
    if (!options.dryRun && plan.changes !== null) {
      await client.jobs.put(name, job, { version }).catch((error: unknown) => {
        throw named(name, error);
      });
    }
    sayPlan(output, plan, options.dryRun === true);
  }
}

interface Plan {
  readonly name: string;
  readonly job: JobRequest;
  /** 0: there is none yet. */
  readonly version: number;
  /** Null: none. */
  readonly changes: readonly Change[] | null;
  readonly view: JobView;
}

/** Of all of them. @throws {Failure} naming all that is wrong with any. */
async function plansOf(client: SodaClient, jobs: readonly NamedJob[]): Promise<readonly Plan[]> {
  const plans: Plan[] = [];
  const faults: string[] = [];
  for (const { name, ...job } of jobs) {
    try {
      plans.push(await planOf(client, name, job));
    } catch (error) {
      if (!(error instanceof SodaError) || error.code !== 400) throw named(name, error);
      const { errors = [{ field: '', message: error.message }] } = error.problem ?? {};
      for (const { field, message } of errors) {
        faults.push([name, field, message].filter((part) => part !== '').join(': '));
      }
    }
  }
  throwIfAny(faults, 'nothing is applied');
  return plans;
}

/** What the master would make of it. Changes nothing. */
async function planOf(client: SodaClient, name: string, job: JobRequest): Promise<Plan> {
  const before = await knownJob(client, name);
  const view = await client.jobs.put(name, job, { dryRun: true });
  const changes = changesBetween(before === null ? {} : definitionOf(before), definitionOf(view));
  const isChanged = before === null || changes.length > 0;
  return { name, job, version: before?.version ?? 0, changes: isChanged ? changes : null, view };
}

async function knownJob(client: SodaClient, name: string): Promise<JobView | null> {
  try {
    return await client.jobs.get(name);
  } catch (error) {
    if (error instanceof SodaError && exitCodeOf(error) === ExitCode.notFound) return null;
    throw error;
  }
}

/** What it was made of. */
const definitionOf = ({ request }: JobView): object => request as object;

/** Of several jobs, whose failure it is. */
function named(name: string, error: unknown): unknown {
  if (!(error instanceof SodaError)) return error;
  return new Failure(`${name}: ${error.message}`, exitCodeOf(error));
}

function sayPlan(output: Output, { name, version, changes, view }: Plan, isDry: boolean): void {
  const action = changes === null ? 'unchanged' : version === 0 ? 'created' : 'changed';
  const did = isDry && changes !== null ? `would be ${action}` : action;
  const next = view.next.map(({ at, nominal }) => at ?? nominal);
  output.say({ name, action, dry_run: isDry, changes: changes ?? [], next }, `${name}: ${did}`);
  if (output.json) return;
  for (const change of changes ?? []) output.say(null, `  ${changeInWords(change)}`);
  if (changes !== null && next.length > 0) output.say(null, `  next: ${next.join(', ')}`);
  for (const warning of view.warnings) output.say(null, `  warning: ${warning}`);
}
