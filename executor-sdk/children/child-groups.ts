/**
 * The processes that a handler starts, and that end with its attempt: each leads a process group
 * of its own, and signals go to the whole group. They are told to end when the attempt is, are
 * killed when that takes too long or the attempt is over, and die with this process, however it
 * dies. Nothing here knows what they do.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { GroupGuard } from './group-guard.ts';
import { signalGroup } from './signal-group.ts';

/** From SIGTERM to SIGKILL, unless it is said otherwise. */
export const KILL_GRACE_MS = 5_000;

/** Those of `node:child_process`, but for what is decided here. */
export interface ChildOptions
  extends Omit<SpawnOptions, 'detached' | 'killSignal' | 'signal' | 'timeout'> {
  /** From SIGTERM to SIGKILL; a lease that is almost over makes it shorter. Default 5,000. */
  readonly killGraceMs?: number;
}

/** For groups of this thread that belong to no session. */
let ownGuard: GroupGuard | undefined;

interface Running {
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

  /** `tell`: who ends them while this thread cannot. Default: a guard for when this process dies. */
  constructor(signal: AbortSignal, tell?: (pid: number, isAlive: boolean) => void) {
    this.#signal = signal;
    this.#tell = tell ?? ((pid, isAlive) => (ownGuard ??= new GroupGuard()).tell(pid, isAlive));
  }

  /** @throws {TaskAborted} the attempt has to end. */
  spawn(command: string, args: readonly string[] = [], options: ChildOptions = {}): ChildProcess {
    this.#signal.throwIfAborted();
    // Most handlers start none. Once, however often it is said.
    this.#signal.addEventListener('abort', this.#onAbort);
    const { killGraceMs = KILL_GRACE_MS, ...others } = options;
    const child = spawn(command, [...args], { ...others, detached: true });
    const { pid } = child;
    // It could not be started, and will say so by its event `error`.
    if (pid === undefined) return child;
    this.#tell(pid, true);
    this.#running.set(child, { killGraceMs });
    child.once('exit', () => this.#end(child));
    return child;
  }

  /** The attempt is over, and with it whatever it has left behind. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    for (const child of this.#running.keys()) this.#end(child);
  }

  readonly #onAbort = (): void => {
    for (const [{ pid }, running] of this.#running) {
      if (pid === undefined) continue;
      signalGroup(pid, 'SIGTERM');
      running.killTimer = setTimeout(() => signalGroup(pid, 'SIGKILL'), running.killGraceMs);
    }
  };

  /** A grandchild may have survived its parent; it must neither run on nor hold the pipes. */
  #end(child: ChildProcess): void {
    const running = this.#running.get(child);
    if (running === undefined) return;
    this.#running.delete(child);
    clearTimeout(running.killTimer);
    if (child.pid === undefined) return;
    signalGroup(child.pid, 'SIGKILL');
    this.#tell(child.pid, false);
  }
}
