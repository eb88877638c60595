/**
 * Runs one program to its end, without a shell: its lines go to the log of the task, the end of what it
 * wrote is kept, and it ends when it writes too much or takes too long. That it ends with the attempt is the
 * SDK's doing. Nothing here knows what its exit code means.
 */
import type { Readable } from 'node:stream';
import {
  childEnd,
  endChild,
  NonRetryableError,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';

export interface ProgramRun {
  /** An absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All that it gets: nothing of this process comes with it. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /** Null: as long as the task may. */
  readonly timeoutMs: number | null;
  /** Of stdout and stderr together. */
  readonly outputBytesMax: number;
  /** How much of the end of each is kept. */
  readonly tailBytes: number;
}

export interface ProgramEnd {
  readonly why: 'exited' | 'timed_out' | 'wrote_too_much';
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly outputBytes: number;
  readonly ranMs: number;
}

/**
 * Resolves once it has exited, whatever its exit code, and its process group is gone.
 * @throws {NonRetryableError} it cannot be started.
 * @throws {TaskAborted} the attempt has to end.
 */
export async function runProgram(run: ProgramRun, ctx: TaskContext): Promise<ProgramEnd> {
  const { program, cwd, env, timeoutMs, tailBytes } = run;
  const startedAt = performance.now();
  const child = ctx.spawn(program, run.args, { cwd, env: { ...env }, stdio: 'pipe' });
  const ended = childEnd(child).catch((error: Error) => {
    const message = `${program} cannot be started: ${error.message}`;
    throw new NonRetryableError(message, { cause: error });
  });
  let why: ProgramEnd['why'] = 'exited';
  const end = (reason: ProgramEnd['why']) => {
    if (why !== 'exited') return;
    why = reason;
    endChild(child);
  };
  const timer = timeoutMs === null ? undefined : setTimeout(() => end('timed_out'), timeoutMs);
  let outputBytes = 0;
  const count = (bytes: number) => {
    outputBytes += bytes;
    if (outputBytes > run.outputBytesMax) end('wrote_too_much');
  };
  const stdout = tailOf(child.stdout, tailBytes, count);
  const stderr = tailOf(child.stderr, tailBytes, count);
  ctx.log.capture(child, { stdout: 'info', stderr: 'warn' });
  // It may end without reading what it is given.
  child.stdin?.on('error', () => undefined).end(run.stdin);
  let ranMs = 0;
  child.once('exit', () => {
    ranMs = Math.round(performance.now() - startedAt);
  });
  try {
    const exit = await ended;
    ctx.signal.throwIfAborted();
    return { why, ...exit, stdout: stdout(), stderr: stderr(), outputBytes, ranMs };
  } finally {
    clearTimeout(timer);
  }
}

/** As the end of a sentence about it. */
export function describeEnd(end: ProgramEnd, run: ProgramRun): string {
  if (end.why === 'timed_out') return `ran for ${(run.timeoutMs ?? 0) / 1000} s and was ended`;
  if (end.why === 'wrote_too_much') {
    return `wrote more than ${run.outputBytesMax} bytes and was ended`;
  }
  if (end.signal !== null) return `was ended by ${end.signal}`;
  const last = end.stderr.trimEnd().split('\n').at(-1)?.slice(0, 500) ?? '';
  return `exited with code ${end.code}${last === '' ? '' : `: ${last}`}`;
}

/** Keeps the end of what comes; a character that was cut in two is left out. */
function tailOf(stream: Readable | null, bytesMax: number, count: (bytes: number) => void) {
  let tail = Buffer.alloc(0);
  stream?.on('data', (chunk: Buffer) => {
    count(chunk.length);
    tail = Buffer.concat([tail, chunk]);
    if (tail.length > bytesMax) tail = tail.subarray(tail.length - bytesMax);
  });
  return () => tail.toString('utf8').replace(/^\ufffd+/, '');
}
