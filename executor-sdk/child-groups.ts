/**
 * The processes that a handler starts, and that end with its attempt: each leads a process group
 * of its own, and signals go to the whole group. They are told to end when the attempt is, are
 * killed when that takes too long or the attempt is over, and die with this process, however it
 * dies. Nothing here knows what they do.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

const KILL_GRACE_MS = 5_000;

/** Those of `node:child_process`, but for what is decided here. */
export interface ChildOptions
  extends Omit<SpawnOptions, 'detached' | 'killSignal' | 'signal' | 'timeout'> {
  /** From SIGTERM to SIGKILL; a lease that is almost over makes it shorter. Default 5,000. */
  readonly killGraceMs?: number;
}

interface Running {
  readonly guard: ChildProcess;
  readonly killGraceMs: number;
  killTimer?: NodeJS.Timeout;
}

/**
 * What `ctx.spawn` of an attempt uses. A program that is no handler makes one of its own: then the
 * signal says when to end, and `close` that nothing is needed any more.
 */
export class ChildGroups {
  readonly #signal: AbortSignal;
  readonly #tell: (pid: number, isAlive: boolean) => void;
  readonly #running = new Map<ChildProcess, Running>();

  /** `tell`: where groups are known that have to be killed while this thread is blocked. */
  constructor(
    signal: AbortSignal,
    tell: (pid: number, isAlive: boolean) => void = () => undefined,
  ) {
    this.#signal = signal;
    this.#tell = tell;
    signal.addEventListener('abort', this.#onAbort);
  }

  /** @throws {TaskAborted} the attempt has to end. */
  spawn(command: string, args: readonly string[] = [], options: ChildOptions = {}): ChildProcess {
    this.#signal.throwIfAborted();
    const { killGraceMs = KILL_GRACE_MS, ...others } = options;
    const child = spawn(command, [...args], { ...others, detached: true });
    const { pid } = child;
    // It could not be started, and will say so by its event `error`.
    if (pid === undefined) return child;
    this.#tell(pid, true);
    this.#running.set(child, { guard: guardGroup(pid), killGraceMs });
    child.once('exit', () => this.#end(child));
    return child;
  }

  /** The attempt is over, and with it whatever it has left behind. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    for (const child of this.#running.keys()) this.#end(child);
  }

  readonly #onAbort = (): void => {
    for (const [child, running] of this.#running) {
      signalGroup(child, 'SIGTERM');
      running.killTimer = setTimeout(() => signalGroup(child, 'SIGKILL'), running.killGraceMs);
    }
  };

  /** A grandchild may have survived its parent; it must neither run on nor hold the pipes. */
  #end(child: ChildProcess): void {
    const running = this.#running.get(child);
    if (running === undefined) return;
    this.#running.delete(child);
    clearTimeout(running.killTimer);
    signalGroup(child, 'SIGKILL');
    running.guard.kill('SIGKILL');
    if (child.pid !== undefined) this.#tell(child.pid, false);
  }
}

/**
 * Ends a process group when this process is gone, even by SIGKILL: a shell waits on a pipe that
 * only this process holds. Children do not die with their parent, and some do not even end when
 * the readers of their pipes do (measured: ffmpeg ignores SIGPIPE).
 */
function guardGroup(pid: number): ChildProcess {
  const script = 'read -r _; kill -s KILL -- "-$1"';
  const guard = spawn('/bin/sh', ['-c', script, 'group-guard', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  // Without a shell there is no guard; everything else works.
  guard.on('error', () => undefined);
  guard.stdin?.on('error', () => undefined);
  return guard;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The whole group is gone, which is what was wanted.
  }
}
