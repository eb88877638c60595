/** `soda job set`, `apply` and `export`: jobs kept in files, and what would change with them. */
import {
  exactJson,
  type JobRequest,
  type JobView,
  rawJson,
  type SodaClient,
} from '@soda-scheduler/client';
import { firesOf, jsonAt, noSourceWarning } from '@soda-scheduler/protocol';
import { Argument, type Command, Option } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { apply, type Kind, known, printDefinition } from '../definition/apply.ts';
import { readTexts, throwIfAny } from '../definition/definition.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { more, once } from '../options.ts';
import { nextInWords } from './words.ts';

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
    .addOption(
      once(new Option('-f, --file <file>', 'YAML or JSON; - for stdin').makeOptionMandatory()),
    )
    .option('--dry-run', 'only show what would change')
    .addHelpText('after', `\nSuch a file:${EXAMPLE}`)
    .action(async (name: string, options: ApplyOptions & { readonly file: string }) => {
      const [job, ...others] = await jobsIn([options.file]);
      if (job?.name !== name || others.length > 0) {
        throw new Failure(`${options.file}: expected one definition, of ${name}`, ExitCode.usage);
      }
      await applyJobs([job], options);
    });
}

export function applyCommand(): Command {
  return remoteCommand('apply', 'Make jobs as files say, and show what that changes.')
    .requiredOption(
      '-f, --file <file>',
      'YAML or JSON, with a `name` in each; a folder with such files; - for stdin; may be repeated',
      more,
    )
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
  $ soda job apply -f jobs/ -f more.yaml
  $ soda job export > jobs.yaml`,
    )
    .action(async (options: ApplyOptions & { readonly file: readonly string[] }) => {
      await applyJobs(await jobsIn(options.file), options);
    });
}

interface ApplyOptions extends ConnectionOptions {
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
      for (const name of names) {
        const request = exactJson(await client.jobs.get(name), 'request');
        await printDefinition(output, `{"name":${JSON.stringify(name)},${request.slice(1)}`);
      }
    });
}

/** @throws {Failure} */
async function jobsIn(files: readonly string[]): Promise<NamedJob[]> {
  return (await readTexts(files, 'name')).map((text) => {
    const job = JSON.parse(text) as NamedJob;
    const params = jsonAt(text, ['template', 'task', 'params']);
    if (params !== undefined) job.template.task.params = rawJson(params);
    return job;
  });
}

async function applyJobs(jobs: readonly NamedJob[], options: ApplyOptions): Promise<void> {
  const sources: Sources = new Map(jobs.map(({ name, triggers }) => [name, sourcesOf(triggers)]));
  throwIfAny(ringsIn(sources), 'nothing is applied');
  const { client, output } = connect(options);
  const definitions = jobs.map(({ name, ...job }) => [name, job] as const);
  await apply(jobsOf(client, sources), definitions, output, options.dryRun === true);
}

/** By job: those whose ends it waits for. */
type Sources = ReadonlyMap<string, readonly string[]>;

function sourcesOf(triggers: JobRequest['triggers'] | JobView['triggers'] = []): string[] {
  return [triggers].flat().flatMap((trigger) => trigger?.on?.job ?? []);
}

/**
 * Who would wait for itself by way of others in these files, in words. The master checks each against those that it
 * has, and so would find it when some of them are set already.
 */
function ringsIn(sources: Sources): string[] {
  const seen = new Set<string>();
  return [...sources.keys()].flatMap((job) => {
    const ring = ringFrom(job, sources, seen);
    const way = ring?.join(' waits for ');
    return ring === null ? [] : `${job}: triggers: a job does not wait for itself: ${way}`;
  });
}

/** Each waits for the next, and the last is the first; null: there is none. @param seen that lead to none, or are known. */
function ringFrom(
  job: string,
  sources: Sources,
  seen: Set<string>,
  way: readonly string[] = [],
): readonly string[] | null {
  const at = way.indexOf(job);
  if (at >= 0) return [...way.slice(at), job];
  if (seen.has(job)) return null;
  seen.add(job);
  for (const source of sources.get(job) ?? []) {
    const ring = ringFrom(source, sources, seen, [...way, job]);
    if (ring !== null) return ring;
  }
  return null;
}

/** As the master has them. */
async function readSources(client: SodaClient, jobs: Iterable<string>): Promise<Sources> {
  const asTheyAre = new Map<string, readonly string[]>();
  for (const job of jobs) {
    const view = await known(() => client.jobs.get(job));
    asTheyAre.set(job, sourcesOf(view?.triggers));
  }
  return asTheyAre;
}

/** Where a job waits for itself only as long as another still waits as it did before: that one comes first. */
function firstBefore(name: string, asTheyAre: Sources, sources: Sources): string | null {
  const mixed = new Map(asTheyAre).set(name, sources.get(name) ?? []);
  const ring = ringFrom(name, mixed, new Set()) ?? [];
  const first = ring.find((job, at) => {
    const next = ring[at + 1];
    return next !== undefined && sources.get(job)?.includes(next) === false;
  });
  return first === undefined ? null : `apply ${first} first, which still waits as it did before`;
}

/** @param sources Of jobs that are made together: whichever comes first, none of the others is missing. */
function jobsOf(client: SodaClient, sources: Sources): Kind<JobRequest, JobView> {
  let asTheyAre: Promise<Sources> | null = null;
  return {
    key: 'name',
    get: (name) => client.jobs.get(name),
    put: (name, job, options) => client.jobs.put(name, job, options),
    isDefined: () => true,
    definitionOf: (job) => exactJson(job, 'request'),
    adviceOn: async (name, fields) => {
      if (!fields.includes('triggers')) return null;
      asTheyAre ??= readSources(client, sources.keys());
      return firstBefore(name, await asTheyAre, sources);
    },
    besides: ({ next, warnings, triggers, ...job }) => {
      const fires = firesOf({ next, ...job });
      const idle = triggers.flatMap(({ on, name }) =>
        on !== undefined && sources.has(on.job) ? [noSourceWarning(on.job, name)] : [],
      );
      // Not those that are skipped, or merged with others.
      const times = next.flatMap(({ at }) => at ?? []);
      return {
        fields: { next: times, fires: fires.map(({ trigger, at }) => ({ trigger, at })) },
        lines: (isChanged) => [
          ...(isChanged ? fires.map(nextInWords) : []),
          ...warnings
            .filter((warning) => !idle.includes(warning))
            .map((warning) => `warning: ${warning}`),
        ],
      };
    },
  };
}
