/**
 * The processes that a handler starts, and that end with its attempt: each leads a process group
 * of its own, and signals go to the whole group. They are told to end when the attempt is, are
 * killed when that takes too long or the attempt is over, and die with this process, however it
 * dies. Nothing here knows what they do.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/** From SIGTERM to SIGKILL. The thread of the session kills earlier where the lease asks for it. */
const KILL_GRACE_MS = 5_000;

/** Those of `node:child_process`, but for what is decided here. */
export type ChildOptions = Omit<SpawnOptions, 'detached' | 'killSignal' | 'signal' | 'timeout'>;

export class ChildGroups {
  readonly #signal: AbortSignal;
  readonly #tell: (pid: number, isAlive: boolean) => void;
  readonly #running = new Map<ChildProcess, ChildProcess>();
  #killTimer: NodeJS.Timeout | undefined;

  /** `tell`: where groups are known that have to be killed while this thread is blocked. */
  constructor(signal: AbortSignal, tell: (pid: number, isAlive: boolean) => void) {
    this.#signal = signal;
    this.#tell = tell;
    signal.addEventListener('abort', this.#onAbort);
  }

  /** @throws {TaskAborted} the attempt has to end. */
  spawn(command: string, args: readonly string[] = [], options: ChildOptions = {}): ChildProcess {
    this.#signal.throwIfAborted();
    const child = spawn(command, [...args], { ...options, detached: true });
    const { pid } = child;
    // It could not be started, and will say so by its event `error`.
    if (pid === undefined) return child;
    this.#tell(pid, true);
    this.#running.set(child, guardGroup(pid));
    child.once('exit', () => this.#end(child));
    return child;
  }

  /** The attempt is over, and with it whatever it has left behind. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    for (const child of this.#running.keys()) this.#end(child);
  }

  readonly #onAbort = (): void => {
    for (const child of this.#running.keys()) signalGroup(child, 'SIGTERM');
    this.#killTimer = setTimeout(() => {
      for (const child of this.#running.keys()) signalGroup(child, 'SIGKILL');
    }, KILL_GRACE_MS);
    this.#killTimer.unref();
  };

  /** A grandchild may have survived its parent; it must neither run on nor hold the pipes. */
  #end(child: ChildProcess): void {
    const guard = this.#running.get(child);
    if (guard === undefined) return;
    this.#running.delete(child);
    signalGroup(child, 'SIGKILL');
    guard.kill('SIGKILL');
    if (child.pid !== undefined) this.#tell(child.pid, false);
    if (this.#running.size === 0) clearTimeout(this.#killTimer);
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
