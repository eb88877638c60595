/** `soda task change` and `copy`: what is to be another of a task that waits, or of a copy of a task. */
import type { PatchRequest } from '@soda-scheduler/client';
import { Argument, type Command } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { number } from '../options.ts';
import { type FieldOptions, fieldOptions, fieldsOf, readJson } from './submission.ts';

/** As the API has them. */
const UNSETTABLE = [
  'notify_url',
  'priority',
  'labels',
  'requires',
  'run_at',
  'retry',
  'assign_timeout',
  'execution_timeout',
  'stall_timeout',
  'start_timeout',
  'start_timeout_action',
  'needs',
  'uses',
  'deadline',
] as const satisfies readonly (keyof PatchRequest)[];

type ChangeOptions = ConnectionOptions &
  FieldOptions & {
    readonly unset?: string[];
    readonly group?: string;
    readonly atVersion?: number;
    readonly id?: string;
  };

export function changeCommand(): Command {
  return changeOptions(
    remoteCommand(
      'change',
      'Change a task that waits: anything but its id and its type. What is not named stays.',
    ),
  )
    .option('--at-version <version>', 'only if it has this version still', number)
    .addHelpText(
      'after',
      `
A list of labels, required labels or uses takes the place of the one before. Into a pipe: the id.

Examples:
  $ soda task change order-17 --priority urgent
  $ soda task change order-17 --run-at 2026-12-01T08:00:00Z --unset deadline
  $ soda task change order-17 --params @job.json --requires gpu --at-version 3`,
    )
    .action(async (id: string, options: ChangeOptions) => {
      const change = await changeIn(options);
      if (Object.keys(change).length === 0) {
        throw new Failure('nothing to change: say what is to be another', ExitCode.usage);
      }
      const { client, output } = connect(options);
      const changed = await client.change(id, change, { version: options.atVersion });
      output.say(changed, `changed: ${id}`);
    });
}

export function copyCommand(): Command {
  return changeOptions(
    remoteCommand(
      'copy',
      'Submit a task again under another id, ended or not. What is not named is as it was.',
    ),
  )
    .option('--id <id>', 'the id of the copy (default: one is made)')
    .addHelpText(
      'after',
      `
Prints the id of the copy once it is stored. It is due at once, unless --run-at says when, and begins anew: without
the checkpoint of the task.

Examples:
  $ soda task copy order-17
  $ soda task copy order-17 --id order-17-hd --params @hd.json --unset deadline`,
    )
    .action(async (id: string, options: ChangeOptions) => {
      const task = await changeIn(options);
      const { client, output } = connect(options);
      const copy = await client.copy(id, { id: options.id, task });
      output.say(copy, copy.task_id);
    });
}

function changeOptions(command: Command): Command {
  return fieldOptions(command.addArgument(new Argument('<id>', 'the id of the task')))
    .option('--group <group>', 'who the usage counts for')
    .option(
      '--unset <field...>',
      `as of a task that is submitted without it: ${UNSETTABLE.join(', ')}`,
    );
}

async function changeIn(options: ChangeOptions): Promise<PatchRequest> {
  const { unset = [], params, group, project, env, user } = options;
  const unknown = unset.find((name) => !UNSETTABLE.some((one) => one === name));
  if (unknown !== undefined) {
    throw new Failure(`--unset ${unknown}: expected ${UNSETTABLE.join(', ')}`, ExitCode.usage);
  }
  const given = params === undefined ? undefined : await readJson(params);
  const whose = { group, project, env, user };
  const isOther = Object.values(whose).some((value) => value !== undefined);
  const change = { ...fieldsOf(options, given), ...(isOther && { user: whose }) };
  const said = Object.entries(change).filter(([, value]) => value !== undefined);
  const both = said.find(([name]) => unset.includes(name));
  if (both !== undefined) {
    throw new Failure(`--unset ${both[0]}: it is given a value as well`, ExitCode.usage);
  }
  return Object.fromEntries([...said, ...unset.map((name) => [name, null])]) as PatchRequest;
}
