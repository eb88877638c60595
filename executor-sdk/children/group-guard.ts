/**
 * Knows the process groups that this process has started and keeps another process, the guard,
 * informed of them: that one kills them when this process is gone, even by SIGKILL, and ends them
 * when they have to be gone and are not, because this process stands still. Children do not die with
 * their parent, and some do not even end when the readers of their pipes do (measured: ffmpeg
 * ignores SIGPIPE).
 * The guard is started with the first group. Nothing here ever waits for it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { GuardOrder } from './countdown.ts';
import { signalGroup } from './signal-group.ts';

const SCRIPT = fileURLToPath(new URL('./guard-process.js', import.meta.url));

export class GroupGuard {
  readonly #groups = new Set<number>();
  #end: Omit<GuardOrder, 'groups'> = {};
  /** Null: there is none yet, it could not be started, or somebody has killed it. */
  #guard: ChildProcess | null = null;

  /** The process of this id leads a group; or it has ended, and nothing is left of that. */
  tell(pid: number, isAlive: boolean): void {
    if (isAlive) this.#groups.add(pid);
    else this.#groups.delete(pid);
    if (isAlive) this.#guard ??= this.#start();
    this.#inform();
  }

  /**
   * The groups get SIGTERM at `endAt` and SIGKILL at `killAt` (of `monotonicClock`), also those that
   * are yet to come, unless this is called again before.
   */
  endBy(endAt: number, killAt: number): void {
    this.#end = { endAt, killAt };
    if (this.#groups.size === 0) return;
    this.#guard ??= this.#start();
    this.#inform();
  }

  /** At once, and by this process. */
  killAll(): void {
    for (const pid of this.#groups) signalGroup(pid, 'SIGKILL');
  }

  /** No group will come any more. Keeps this thread until the guard is gone. */
  close(): void {
    this.#guard?.ref();
    this.#guard?.stdin?.end();
  }

  #inform(): void {
    const stdin = this.#guard?.stdin;
    // A guard that does not read is told the newest once it does.
    if (!stdin || stdin.writableNeedDrain) return;
    const order: GuardOrder = { groups: [...this.#groups], ...this.#end };
    stdin.write(`${JSON.stringify(order)}\n`);
  }

  #start(): ChildProcess | null {
    // There are no process groups on Windows.
    if (process.platform === 'win32') return null;
    const guard = spawn(process.execPath, [SCRIPT], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
    });
    // Without a guard everything else works. What is to be told next tries again.
    const forget = (): void => {
      if (this.#guard === guard) this.#guard = null;
    };
    guard.on('error', forget).once('exit', forget).unref();
    guard.stdin.on('error', () => undefined).on('drain', () => this.#inform());
    (guard.stdin as Socket).unref();
    return guard;
  }
}
