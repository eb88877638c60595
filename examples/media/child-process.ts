/**
 * Runs one ffmpeg or ffprobe to its end. That it ends on abort, and with this process, is the
 * SDK's doing; here it also ends on a stall, and what it writes to stderr is kept bounded. Nothing
 * here knows what the arguments mean.
 */
import type { ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import { ChildGroups, type TaskContext } from '@soda-scheduler/executor-sdk';

const STDERR_TAIL_LENGTH = 8192;
const NICENESS = 10;
/** How long the pipes of an ended child are read on, where a stray grandchild holds them open. */
const DRAIN_MS = 1_000;

export interface RunOptions {
  readonly signal: AbortSignal;
  /** Of the attempt; where there is none, the child ends by the signal all the same. */
  readonly spawn?: TaskContext['spawn'];
  /** Ends the child when `onStdout` returned true for none of its output for so long. */
  readonly stallMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly killGraceMs: number;
  /** Returns true where the text shows that the child moved forward. */
  readonly onStdout?: (text: string) => boolean;
  readonly onStderr?: (text: string) => void;
  /** Where its lines of stderr go. */
  readonly log?: TaskContext['log'];
}

export interface ChildEnd {
  /** `aborted` and `stalled`: it was made to end. */
  readonly why: 'exited' | 'aborted' | 'stalled';
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of what it wrote to stderr, at most 8192 characters. */
  readonly stderr: string;
}

/**
 * Resolves once the child has exited, whatever its exit code, and its group is gone.
 * @throws where the program cannot be started.
 */
export async function runChild(
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<ChildEnd> {
  const { signal, killGraceMs } = options;
  if (signal.aborted) return { why: 'aborted', code: null, signal: null, stderr: '' };
  const groups = new ChildGroups(signal);
  const { spawn = groups.spawn.bind(groups) } = options;
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: childEnvironment(),
    killGraceMs,
  });
  const exited = onceExited(child, program);
  const { stdout, stderr: log } = child;
  if (child.pid === undefined || stdout === null || log === null) return never(exited);

  giveWay(child.pid);
  let why: ChildEnd['why'] = 'exited';
  let killTimer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    if (why === 'exited') why = 'aborted';
  };
  signal.addEventListener('abort', onAbort);
  const stallTimer = setTimeout(() => {
    if (why !== 'exited') return;
    why = 'stalled';
    signalGroup(child, 'SIGTERM');
    killTimer = setTimeout(() => signalGroup(child, 'SIGKILL'), killGraceMs);
  }, options.stallMs);

  let stderr = '';
  log.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_TAIL_LENGTH);
    options.onStderr?.(text);
  });
  stdout.setEncoding('utf8').on('data', (text: string) => {
    if (options.onStdout?.(text)) stallTimer.refresh();
  });
  options.log?.capture(child, { stderr: 'warn' });
  const drained = onceDrained(child);

  try {
    const end = await exited;
    await drained();
    return { why, ...end, stderr };
  } finally {
    clearTimeout(stallTimer);
    clearTimeout(killTimer);
    signal.removeEventListener('abort', onAbort);
    groups.close();
  }
}

export function describeExit(end: ChildEnd): string {
  return end.signal === null ? `exited with code ${end.code}` : `was ended by ${end.signal}`;
}

/** Neither secrets of the executor nor `FFREPORT`, which would make ffmpeg write a file. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', AV_LOG_FORCE_NOCOLOR: '1' };
  for (const name of ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH']) {
    if (process.env[name] !== undefined) env[name] = process.env[name];
  }
  return env;
}

/** One that could not be started says so by an error. */
async function never(exited: Promise<unknown>): Promise<never> {
  await exited;
  throw new Error('a child without a process id has exited');
}

/** To the executor, and to whatever else is on the machine: encoding takes all that it gets. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already, or is below that.
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The whole group is gone, which is what was wanted.
  }
}

function onceExited(child: ChildProcess, program: string) {
  return new Promise<Pick<ChildEnd, 'code' | 'signal'>>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      reject(new Error(`${program} cannot be started: ${error.message}`, { cause: error }));
    });
  });
}

/** After the exit: waits for what is left in the pipes, but not for one who holds them open. */
function onceDrained(child: ChildProcess): () => Promise<void> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return async () => {
    const timer = setTimeout(() => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, DRAIN_MS);
    await closed;
    clearTimeout(timer);
  };
}
