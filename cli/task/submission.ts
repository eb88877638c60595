/** The options of `soda task submit` and its like, and the request they stand for. The master checks values. */
import { type RawJson, rawJson, type TaskInfo, type UserInfo } from '@soda-scheduler/client';
import { priorityNames } from '@soda-scheduler/protocol';
import { type Command, Option } from 'commander';
import { ExitCode, Failure } from '../exit-code.ts';
import { INSTANT, instantOf } from '../instant.ts';
import { number, textOf } from '../options.ts';

/** What may be said of any task. */
export interface FieldOptions {
  readonly params?: string;
  readonly project?: string;
  readonly env?: string;
  readonly user?: string;
  readonly priority?: string;
  readonly label?: string[];
  readonly requires?: string[];
  readonly use?: string[];
  readonly runAt?: string;
  readonly deadline?: string;
  readonly maxAttempts?: number;
  readonly retryInterval?: number | number[];
  readonly assignTimeout?: number;
  readonly executionTimeout?: number;
  readonly stallTimeout?: number;
  readonly startTimeout?: number;
  readonly startTimeoutAction?: 'fail' | 'alert';
  readonly diskBytes?: number;
  readonly notifyUrl?: string;
  readonly booking?: string;
}

export interface SubmitOptions extends FieldOptions {
  readonly type: string;
  readonly group: string;
  readonly id?: string;
}

/** Gives the command the options of the fields of a task. */
export function fieldOptions(command: Command): Command {
  const fields = command
    .option('--params <json|@file|->', 'what the handler gets: JSON, a file, or - for stdin')
    .option('--project <name>', 'project within the group')
    .option('--env <name>', 'environment, such as prod')
    .option('--user <name>', 'who submits')
    .addOption(priorityOption())
    .option(
      '--label <label...>',
      'labels of the task: to find it by, and for executors reserved so',
    )
    .option('--requires <label...>', 'labels that the executor must have, all of them')
    .option(
      '--use <limit...>',
      'what it takes of shared limits while it runs: encoder, or encoder=2',
    )
    .option('--run-at <time>', `not before this time, ${INSTANT}`)
    .option('--deadline <time>', `the end of the task over all its attempts, ${INSTANT}`);
  return limitOptions(fields)
    .option('--disk-bytes <bytes>', 'free disk that its executor must have', number)
    .option('--booking <id>', 'it runs on an executor of this booking, in its window')
    .option('--notify-url <url>', 'where a callback goes when the task has ended');
}

/** How often and for how long. */
function limitOptions(command: Command): Command {
  return command
    .option('--max-attempts <count>', 'tries in all; 0: until success (default: 10)', number)
    .option(
      '--retry-interval <seconds>',
      'longest wait between attempts; below 0: each as long; 1,5,30: one by one (default: 600)',
      numbers,
    )
    .option(
      '--assign-timeout <seconds>',
      'longest time for an executor to say whether it takes it (default: 5)',
      number,
    )
    .option(
      '--execution-timeout <seconds>',
      'longest time for one attempt (default: as the master says)',
      number,
    )
    .option(
      '--stall-timeout <seconds>',
      'longest time without progress in an attempt (default: none)',
      number,
    )
    .option(
      '--start-timeout <seconds>',
      'longest time from due to started (default: as the master says)',
      number,
    )
    .addOption(
      new Option(
        '--start-timeout-action <action>',
        'what happens after that time: it fails, or the master only says so (default: fail)',
      ).choices(['fail', 'alert']),
    );
}

/** One, or a list. */
function numbers(text: string): number | number[] {
  return text.includes(',') ? text.split(',').map(number) : number(text);
}

function priorityOption(): Option {
  const names = Object.keys(priorityNames).join(', ');
  return new Option(
    '--priority <name|seconds>',
    `head start over tasks of the same age: ${names} or seconds`,
  );
}

export function submissionOf(
  options: SubmitOptions,
  params: unknown,
): { readonly task: TaskInfo; readonly user: UserInfo } {
  const { type, group, id, project, env, user } = options;
  return {
    task: { id, type, ...fieldsOf(options, params) },
    user: { group, project, env, user },
  };
}

export function fieldsOf(
  { maxAttempts, retryInterval, ...options }: FieldOptions,
  params: unknown,
): Omit<TaskInfo, 'id' | 'type'> {
  const retry = { max_attempts: maxAttempts, interval: retryInterval };
  return {
    params,
    priority: priorityOf(options.priority),
    labels: options.label,
    requires: options.requires,
    uses: options.use?.map(useOf),
    run_at: instantOf(options.runAt),
    deadline: instantOf(options.deadline),
    retry: maxAttempts === undefined && retryInterval === undefined ? undefined : retry,
    assign_timeout: options.assignTimeout,
    execution_timeout: options.executionTimeout,
    stall_timeout: options.stallTimeout,
    start_timeout: options.startTimeout,
    start_timeout_action: options.startTimeoutAction,
    needs: options.diskBytes === undefined ? undefined : { disk_bytes: options.diskBytes },
    booking: options.booking,
    notify_url: options.notifyUrl,
  };
}

/** `encoder=2`, or `encoder` for one. */
function useOf(text: string): { limit: string; n: number } {
  const [limit = '', n = '1', ...rest] = text.split('=');
  if (rest.length === 0 && /^\d{1,7}$/.test(n)) return { limit, n: Number(n) };
  throw new Failure(`--use ${text}: expected a limit, or limit=count`, ExitCode.usage);
}

/** A name, or seconds. Of the two only the master knows which names there are. */
function priorityOf(text: string | undefined): TaskInfo['priority'] {
  const seconds = Number(text);
  return (text === undefined || Number.isNaN(seconds) ? text : seconds) as TaskInfo['priority'];
}

/** JSON as it stands, or from a file after `@`, or from stdin for `-`; to be sent as it is written. */
export async function readJson(source: string): Promise<RawJson> {
  const given = await textOf(source, '--params');
  try {
    return rawJson(given);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(`--params: ${reason}`, ExitCode.usage);
  }
}
