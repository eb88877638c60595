/** `soda job run`, `next`, `runs`, `skip` and `unskip`: single times of a job. */
import type { OccurrenceView } from '@soda-scheduler/client';
import { firesOf, occurrenceStates } from '@soda-scheduler/protocol';
import { Argument, type Command, Option } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { INSTANT, instantOf, TIME } from '../instant.ts';
import { count } from '../options.ts';
import { readJson } from '../task/submission.ts';
import { upTo } from '../task/task-search.ts';
import { nextInWords, nominalInWords, noneInWords, outcomeInWords } from './words.ts';

const name = () => new Argument('<job>', 'the job');
const trigger = () => new Option('--trigger <name>', 'of this trigger only');

interface RunOptions extends ConnectionOptions {
  readonly params?: string;
  readonly key?: string;
}

export function runCommand(): Command {
  return remoteCommand('run', 'Run a job now, whatever its triggers say.')
    .addArgument(name())
    .option('--params <json|@file|->', 'in place of those of its template')
    .option('--key <key>', 'the same key never makes two runs')
    .addHelpText('after', '\nExamples:\n  $ soda task watch $(soda job run nightly)')
    .action(async (of: string, { params, key, ...options }: RunOptions) => {
      const { client, output } = connect(options);
      const given = params === undefined ? undefined : await readJson(params);
      const run = await client.jobs.run(of, { key, params: given });
      output.sayView(run, run.task_id);
    });
}

interface NextOptions extends ConnectionOptions {
  readonly count?: number;
  readonly trigger?: string;
  readonly from?: string;
}

export function nextCommand(): Command {
  return remoteCommand('next', 'Show the next times of a job, and what calendars make of them.')
    .addArgument(name())
    .option('--count <count>', 'how many (default: 5)', count)
    .addOption(trigger())
    .option('--from <time>', `after this time, ${INSTANT} (default: now)`)
    .action(async (of: string, { count, trigger, from, ...options }: NextOptions) => {
      const { client, output } = connect(options);
      const times = await client.jobs.next(of, { count, trigger, from: instantOf(from) });
      const head = ['trigger', 'time', 'fires', 'there', 'zone', 'what'];
      await output.rows(times, head, (time) => [
        time.trigger,
        time.nominal,
        time.at,
        time.local,
        time.zone,
        outcomeInWords(time),
      ]);
      const isLeftOut = times.length > 0 && times.every(({ at }) => at === null);
      if (isLeftOut && from === undefined) {
        for (const time of firesOf(await client.jobs.get(of))) {
          if (trigger === undefined || time.trigger === trigger) {
            output.hint(`soda: ${nextInWords(time)}`);
          }
        }
      }
      if (times.length === 0) output.hint(`soda: ${noneInWords(await client.jobs.get(of))}`);
    });
}

interface RunsOptions extends ConnectionOptions {
  readonly trigger?: string;
  readonly state?: OccurrenceView['state'];
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
}

export function runsCommand(): Command {
  return remoteCommand('runs', 'List what has become of the times of a job, newest first.')
    .addArgument(name())
    .addOption(trigger())
    .addOption(new Option('--state <state>', 'in this state only').choices(occurrenceStates))
    .option('--from <time>', `times from then on, ${TIME}`)
    .option('--to <time>', `times before then, ${TIME}`)
    .option('--limit <count>', 'how many at most (default: 20)', count)
    .addHelpText('after', '\nInto a pipe: the columns of the table, with tabs between.')
    .action(async (of: string, { limit = 20, from, to, trigger, state, ...rest }: RunsOptions) => {
      const { client, output } = connect(rest);
      const filter = { trigger, state, from: instantOf(from), to: instantOf(to) };
      const found = upTo(limit, client.jobs.occurrences(of, filter));
      const head = ['time', 'trigger', 'state', 'task', 'decided', 'why'];
      await output.rows(found, head, (one) => [
        nominalInWords(one),
        one.trigger,
        one.state,
        one.task_id,
        one.noticed_at,
        one.message,
      ]);
    });
}

export function skipCommand(isSkipped: boolean): Command {
  const [command, does] = isSkipped
    ? ['skip', 'Do not run a job at one time that is to come.']
    : ['unskip', 'Run a job at a time that was to be skipped.'];
  return remoteCommand(command, does)
    .addArgument(name())
    .addArgument(new Argument('<time>', 'as "soda job next" has it'))
    .addOption(new Option('--trigger <name>', 'of this trigger (default: the only one)'))
    .action(
      async (of: string, nominal: string, options: ConnectionOptions & { trigger?: string }) => {
        const { client, output } = connect(options);
        const time = { trigger: options.trigger, nominal };
        await (isSkipped ? client.jobs.skip(of, time) : client.jobs.unskip(of, time));
        output.say({ name: of, nominal, code: 200 }, `${command}ped: ${of} at ${nominal}`);
      },
    );
}
