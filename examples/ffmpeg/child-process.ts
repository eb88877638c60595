/**
 * Runs one ffmpeg or ffprobe and makes sure that it ends: on abort, on a stall, and when this
 * process dies. The child leads its own process group, and signals go to the whole group. What
 * it writes to stderr is kept bounded. Nothing here knows what the arguments mean.
 */
import { type ChildProcess, spawn } from 'node:child_process';

const STDERR_TAIL_LENGTH = 8192;
/** How long the pipes of an ended child are read on, where a stray grandchild holds them open. */
const DRAIN_MS = 1_000;

export interface RunOptions {
  readonly signal: AbortSignal;
  /** Ends the child when `onStdout` returned true for none of its output for so long. */
  readonly stallMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly killGraceMs: number;
  /** Returns true where the text shows that the child moved forward. */
  readonly onStdout?: (text: string) => boolean;
  readonly onStderr?: (text: string) => void;
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
  const child = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: childEnvironment(),
  });
  const exited = onceExited(child, program);
  if (child.pid === undefined) await exited;
  const guard = guardGroup(child);

  let why: ChildEnd['why'] = 'exited';
  let killTimer: NodeJS.Timeout | undefined;
  const stop = (reason: ChildEnd['why']) => {
    if (why !== 'exited') return;
    why = reason;
    signalGroup(child, 'SIGTERM');
    killTimer = setTimeout(() => signalGroup(child, 'SIGKILL'), options.killGraceMs);
  };
  const onAbort = () => stop('aborted');
  if (options.signal.aborted) stop('aborted');
  options.signal.addEventListener('abort', onAbort);
  const stallTimer = setTimeout(() => stop('stalled'), options.stallMs);

  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_TAIL_LENGTH);
    options.onStderr?.(text);
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (options.onStdout?.(text)) stallTimer.refresh();
  });
  const drained = onceDrained(child);

  try {
    const { code, signal } = await exited;
    // A grandchild may have survived its parent; it must neither run on nor hold the pipes.
    signalGroup(child, 'SIGKILL');
    await drained();
    return { why, code, signal, stderr };
  } finally {
    clearTimeout(stallTimer);
    clearTimeout(killTimer);
    options.signal.removeEventListener('abort', onAbort);
    guard.kill('SIGKILL');
  }
}

export function describeExit(end: ChildEnd): string {
  return end.signal === null ? `exited with code ${end.code}` : `was ended by ${end.signal}`;
}

/** Neither secrets of the executor nor `FFREPORT`, which would make ffmpeg write a file. */
function childEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', AV_LOG_FORCE_NOCOLOR: '1' };
  for (const name of ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH']) {
    if (process.env[name] !== undefined) env[name] = process.env[name];
  }
  return env;
}

/**
 * Ends the process group that `child` leads when this process is gone, even by SIGKILL: a shell
 * waits on a pipe that only this process holds. It is needed for ffmpeg, which does not end when
 * the readers of its pipes die (measured: it ignores SIGPIPE). To be killed once `child` ended.
 */
export function guardGroup(child: ChildProcess): ChildProcess {
  const script = 'read -r _; kill -s KILL -- "-$1"';
  const guard = spawn('/bin/sh', ['-c', script, 'group-guard', String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  // Without a shell there is no guard; everything else works.
  guard.on('error', () => {});
  guard.stdin.on('error', () => {});
  return guard;
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
