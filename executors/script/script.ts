/**
 * `script`: a file of this machine, run by an interpreter of a list, only if its content has the digest that was
 * asked for. What is hashed is what is run: a copy that nobody else may enter. Scripts come here with a release,
 * never with a task.
 */
import { createHash } from 'node:crypto';
import { constants, open, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import {
  type Handler,
  NonRetryableError,
  type Task,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { environmentFor } from '../child/environment.ts';
import { exitRule, expectSuccess } from '../child/exit-rule.ts';
import { runProgram } from '../child/run-program.ts';
import { parseParams } from '../params.ts';
import { Scratch } from '../scratch.ts';
import { digest, scriptName, type ScriptSettings } from './settings.ts';

const SCRIPT_BYTES_MAX = 1024 * 1024;
/** The last line of stdout is the result, which may be so long. */
const TAIL_BYTES = 192 * 1024;

export const scriptParams = z.strictObject({
  name: scriptName.describe('Of a file in the folder of the executor.'),
  sha256: digest.optional().describe('Of its content. Needed unless the executor has pinned it.'),
  params: z.unknown().default(null).describe('What the script reads from stdin, as JSON.'),
  exit: exitRule.default({ success: [0], non_retryable: [] }),
  timeout_seconds: z.number().min(0.1).max(2_000_000).optional(),
});

export function scriptHandler(settings: ScriptSettings): Handler {
  const scratch = new Scratch(settings.scratch, 'script');
  let ready: Promise<void> | null = null;
  return async (task, ctx) => {
    const params = parseParams(scriptParams, task.params);
    const interpreter = settings.interpreters[extname(params.name)];
    if (interpreter === undefined) {
      const known = Object.keys(settings.interpreters).join(', ');
      throw new NonRetryableError(`name: expected one that ends in ${known}, not ${params.name}`);
    }
    const content = await readPinned(settings, params.name, params.sha256);
    await (ready ??= scratch.removeOfTheDead());
    return scratch.use(task, async (folder) => {
      const copy = join(folder, params.name);
      await writeFile(copy, content, { mode: 0o400, flag: 'wx' });
      const run = {
        ...commandOf(interpreter, copy),
        cwd: folder,
        env: environmentFor(settings.pass_env, { ...aboutTask(task, ctx), TMPDIR: folder }),
        stdin: JSON.stringify(params.params),
        timeoutMs: params.timeout_seconds === undefined ? null : params.timeout_seconds * 1000,
        outputBytesMax: settings.output_bytes_max,
        tailBytes: TAIL_BYTES,
      };
      const end = await runProgram(run, ctx);
      expectSuccess(params.name, run, end, params.exit);
      return { exit_code: end.code, result: lastLineOf(end.stdout), seconds: end.ranMs / 1000 };
    });
  };
}

function commandOf([program = '', ...args]: readonly string[], script: string) {
  return { program, args: [...args, script] };
}

function aboutTask(task: Task, { attempt, token }: TaskContext): Record<string, string> {
  return {
    SODA_TASK_ID: task.id,
    SODA_ATTEMPT: String(attempt),
    SODA_FENCING_TOKEN: token,
  };
}

/** @throws {NonRetryableError} it is not there, is a link, is too large, or has another content. */
async function readPinned(
  { folder, pinned }: ScriptSettings,
  name: string,
  asked: string | undefined,
): Promise<Buffer> {
  const fixed = Object.hasOwn(pinned, name) ? pinned[name] : undefined;
  const expected = fixed ?? asked;
  if (expected === undefined) {
    throw new NonRetryableError(`sha256: needed, for this executor has not pinned ${name}`);
  }
  if (asked !== undefined && asked !== expected) {
    throw new NonRetryableError(`sha256: this executor has pinned ${name} to ${fixed}`);
  }
  const content = await readWhole(join(folder, name), name);
  const found = createHash('sha256').update(content).digest('hex');
  if (found === expected) return content;
  throw new NonRetryableError(`sha256: ${name} has the content ${found}, not ${expected}`);
}

async function readWhole(path: string, name: string): Promise<Buffer> {
  // Neither a link, nor a pipe that would never end.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ELOOP' ? 'is a link' : code === 'ENOENT' ? 'does not exist' : `${code}`;
    throw new NonRetryableError(`name: ${name} ${why}`);
  });
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new NonRetryableError(`name: ${name} is no file`);
    // Its size may be another one by the time that it is read.
    const room = Buffer.alloc(SCRIPT_BYTES_MAX + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < room.length; length += read) {
      ({ bytesRead: read } = await file.read(room, length, room.length - length, length));
    }
    if (length <= SCRIPT_BYTES_MAX) return room.subarray(0, length);
    throw new NonRetryableError(`name: ${name} has more than ${SCRIPT_BYTES_MAX} bytes`);
  } finally {
    await file.close();
  }
}

/** JSON, if the line is that; else the line. */
function lastLineOf(stdout: string): unknown {
  const line = stdout.trimEnd().split('\n').at(-1) ?? '';
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return line;
  }
}
