/**
 * `shell.command`: one program of a list, with arguments that no shell ever sees. Its lines are the log of the
 * task, its exit code says how the task ends.
 */
import { realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { type Handler, NonRetryableError } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { environmentFor } from '../child/environment.ts';
import { exitRule, expectSuccess } from '../child/exit-rule.ts';
import { runProgram } from '../child/run-program.ts';
import { argument, parseParams } from '../params.ts';
import { type AllowedProgram, type CommandSettings, wholePattern } from './settings.ts';

const TAIL_BYTES = 8 * 1024;

export const commandParams = z.strictObject({
  command: z
    .array(argument)
    .min(1)
    .max(256)
    .describe('The absolute path of an allowed program, and its arguments.'),
  cwd: z.string().max(1024).default('.').describe('Inside the root of the executor.'),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), argument).default({}),
  stdin: z.string().max(65_536).default(''),
  exit: exitRule.default({ success: [0], non_retryable: [] }),
  timeout_seconds: z.number().min(0.1).max(2_000_000).optional(),
});

export function commandHandler(settings: CommandSettings): Handler {
  const programs = new Map(settings.programs.map((program) => [program.path, program]));
  return async (task, ctx) => {
    const params = parseParams(commandParams, task.params);
    const [path = '', ...args] = params.command;
    const program = programs.get(path);
    if (program === undefined) {
      throw new NonRetryableError(
        `command: ${path} is none of the programs of this executor: ${[...programs.keys()].join(', ')}`,
      );
    }
    expectArguments(program, args);
    const foreign = Object.keys(params.env).find((name) => !settings.task_env.includes(name));
    if (foreign !== undefined) {
      throw new NonRetryableError(`env: ${foreign} is not among task_env of this executor`);
    }
    const run = {
      program: path,
      args,
      cwd: await directoryIn(settings.root, params.cwd),
      env: environmentFor(settings.pass_env, params.env),
      stdin: params.stdin,
      timeoutMs: params.timeout_seconds === undefined ? null : params.timeout_seconds * 1000,
      outputBytesMax: settings.output_bytes_max,
      tailBytes: TAIL_BYTES,
    };
    const end = await runProgram(run, ctx);
    expectSuccess(path, run, end, params.exit);
    return {
      exit_code: end.code,
      stdout: end.stdout,
      stderr: end.stderr,
      output_bytes: end.outputBytes,
      seconds: end.ranMs / 1000,
    };
  };
}

/** Each argument as a whole matches one of the patterns, where there are any. */
function expectArguments({ path, args: patterns }: AllowedProgram, args: readonly string[]): void {
  if (patterns === null) return;
  const allowed = patterns.map(wholePattern);
  const odd = args.findIndex((given) => !allowed.some((one) => one.test(given)));
  if (odd < 0) return;
  throw new NonRetryableError(
    `command.${odd + 1}: this executor does not let ${path} have the argument ${JSON.stringify(args[odd]?.slice(0, 200))}`,
  );
}

/** Links are followed before the check, so that one that leads outside is refused. */
async function directoryIn(root: string, given: string): Promise<string> {
  const real = await realpath(root);
  const wanted = resolve(real, given);
  const inside = (path: string) => {
    const way = relative(real, path);
    return way !== '..' && !way.startsWith(`..${sep}`);
  };
  // Checked before the file system is asked, so that nobody learns what exists outside.
  if (!inside(wanted)) throw new NonRetryableError(`cwd: ${given} is outside the root`);
  const found = await realpath(wanted).catch(() => null);
  if (found === null) throw new NonRetryableError(`cwd: ${given} does not exist`);
  if (!inside(found)) throw new NonRetryableError(`cwd: ${given} is outside the root`);
  if (!(await stat(found)).isDirectory()) {
    throw new NonRetryableError(`cwd: ${given} is no directory`);
  }
  return found;
}
