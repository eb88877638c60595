/**
 * Runs one ffmpeg or ffprobe to its end. That it ends on abort, and with this process, is the
 * SDK's doing; here it also ends on a stall, and what it writes to stderr is kept bounded. Nothing
 * here knows what the arguments mean.
 */
import { setPriority } from 'node:os';
import {
  childEnd,
  type ChildEnd as HowItEnded,
  ChildGroups,
  endChild,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';

const STDERR_TAIL_LENGTH = 8192;
const NICENESS = 10;

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

export interface ChildEnd extends HowItEnded {
  /** `aborted` and `stalled`: it was made to end. */
  readonly why: 'exited' | 'aborted' | 'stalled';
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
  const ended = childEnd(child).catch((error: Error) => {
    throw new Error(`${program} cannot be started: ${error.message}`, { cause: error });
  });
  const { stdout, stderr: log } = child;
  giveWay(child.pid);
  let why: ChildEnd['why'] = 'exited';
  const onAbort = () => {
    if (why === 'exited') why = 'aborted';
  };
  signal.addEventListener('abort', onAbort);
  const stallTimer = setTimeout(() => {
    if (why !== 'exited') return;
    why = 'stalled';
    endChild(child, killGraceMs);
  }, options.stallMs);

  let stderr = '';
  log?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_TAIL_LENGTH);
    options.onStderr?.(text);
  });
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (options.onStdout?.(text)) stallTimer.refresh();
  });
  options.log?.capture(child, { stderr: 'warn' });
  try {
    const end = await ended;
    return { why, ...end, stderr };
  } finally {
    clearTimeout(stallTimer);
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

/** To the executor, and to whatever else is on the machine: encoding takes all that it gets. */
function giveWay(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already, or is below that.
  }
}
