/** `soda job`: what is submitted again and again, when, and what has become of each time. */
import type { JobView } from '@soda-scheduler/client';
import { firesOf } from '@soda-scheduler/protocol';
import { Argument, Command } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { count } from '../options.ts';
import type { Output } from '../output.ts';
import { upTo } from '../task/task-search.ts';
import { applyCommand, exportCommand, setCommand } from './apply-command.ts';
import { backfillCommand } from './backfill-command.ts';
import { nextCommand, runCommand, runsCommand, skipCommand } from './times-command.ts';
import { rollbackCommand, versionsCommand } from './versions-command.ts';
import {
  boundsInWords,
  outcomeInWords,
  recentInWords,
  stillInWords,
  triggerInWords,
} from './words.ts';

export function jobCommand(): Command {
  return new Command('job')
    .description('Have tasks submitted again and again, at times that triggers have.')
    .addCommand(listCommand())
    .addCommand(getCommand())
    .addCommand(setCommand())
    .addCommand(applyCommand())
    .addCommand(exportCommand())
    .addCommand(deleteCommand())
    .addCommand(ableCommand(true))
    .addCommand(ableCommand(false))
    .addCommand(runCommand())
    .addCommand(nextCommand())
    .addCommand(runsCommand())
    .addCommand(skipCommand(true))
    .addCommand(skipCommand(false))
    .addCommand(backfillCommand())
    .addCommand(versionsCommand())
    .addCommand(rollbackCommand());
}

const name = () => new Argument('<job>', 'the job');

interface ListOptions extends ConnectionOptions {
  readonly tag?: string;
  readonly text?: string;
  readonly limit?: number;
}

function listCommand(): Command {
  return remoteCommand('list', 'List jobs by name: what fires them, when next, how they went.')
    .option('--tag <tag>', 'with this tag only')
    .option('--text <text>', 'with this in the name or the description only')
    .option('--limit <count>', 'how many at most (default: all of them)', count)
    .addHelpText(
      'after',
      `
Recent runs: the newest last, . succeeded, F failed, C canceled, E expired.
Into a pipe: the columns of the table, with tabs between.`,
    )
    .action(async ({ tag, text, limit, ...options }: ListOptions) => {
      const { client, output } = connect(options);
      const head = ['job', 'fired', 'next', 'last started', 'recent', 'running', 'tags', 'still'];
      await output.rows(upTo(limit, client.jobs.list({ tag, text })), head, (job) => [
        job.name,
        job.triggers.map(triggerInWords).join('; ') || 'by hand',
        job.next_at,
        job.last_started_at,
        recentInWords(job),
        job.running,
        job.tags.join(' '),
        stillInWords(job),
      ]);
    });
}

function getCommand(): Command {
  return remoteCommand('get', 'Show a job: what it submits, what fires it, and its newest runs.')
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      showJob(output, await client.jobs.get(of));
    });
}

function showJob(output: Output, job: JobView): void {
  output.fields(job, [
    ['job', job.name],
    ['version', job.version],
    ['description', job.description],
    ['still', stillInWords(job)],
    ['type', job.type],
    ['group', job.group],
    ['tags', job.tags.join(' ')],
    ...job.triggers.map((one) => {
      const words = [triggerInWords(one), ...boundsInWords(one)].join(', ');
      const policy = `misfire ${one.misfire}, grace ${one.grace} s, overlap ${one.overlap}`;
      return [`trigger ${one.name}`, `${words} (${policy})`] as const;
    }),
    ['pause after', job.pause_after === null ? null : `${job.pause_after} failures in a row`],
    ...job.blackouts.map(({ from, to, reason }) => {
      return ['black-out', `${from} to ${to}${reason === null ? '' : `: ${reason}`}`] as const;
    }),
    ...firesOf(job).map((time) => ['fires', `${time.at} (${time.trigger})`] as const),
    ...job.next.map((time) => {
      return ['next', `${time.at ?? time.nominal} (${outcomeInWords(time)})`] as const;
    }),
    ['running', job.running],
    ['pending', job.pending],
    ...job.runs.map(({ task_id, state }) => {
      return ['run', `${task_id} ${state ?? 'not kept any more'}`] as const;
    }),
    ...job.warnings.map((warning) => ['warning', warning] as const),
    ['changed', job.by === null ? job.changed_at : `${job.changed_at} by ${job.by}`],
  ]);
}

function deleteCommand(): Command {
  return remoteCommand('delete', 'Delete a job. Runs that have begun go on.')
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await client.jobs.delete(of);
      output.say({ name: of, code: 200 }, `deleted: ${of}`);
    });
}

function ableCommand(isEnabled: boolean): Command {
  const [command, does] = isEnabled
    ? ['enable', 'Let the triggers of a job fire it, those too that were paused.']
    : ['disable', 'Let no trigger fire a job. It can still be run by hand.'];
  return remoteCommand(command, does)
    .addArgument(name())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const job = await (isEnabled ? client.jobs.enable(of) : client.jobs.disable(of));
      output.sayView(
        job,
        `${command}d: ${of}${job.next_at === null ? '' : `, next ${job.next_at}`}`,
      );
    });
}
