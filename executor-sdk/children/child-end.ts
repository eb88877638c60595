/** How a program ends that was started with `ctx.spawn`: to wait for it, and to make it end before its attempt does. */
import type { ChildProcess } from 'node:child_process';
import { KILL_GRACE_MS } from './child-groups.ts';
import { signalGroup } from './signal-group.ts';

/** How long the pipes of an ended program are read on, where a grandchild that has left its group holds them open. */
const DRAIN_MS = 1_000;

export interface ChildEnd {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * Resolves once a program has exited, whatever its exit code, and what it has written has been read; but it waits no longer than a
 * second for somebody else who holds its pipes open. Call it at once, before anything is awaited.
 * @throws {Error} the program cannot be started: it is not there, or may not be run.
 */
export async function childEnd(child: ChildProcess): Promise<ChildEnd> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = await new Promise<ChildEnd>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', reject);
  });
  const pipes = [child.stdout, child.stderr];
  const giveUp = (): void => {
    // What has come while this thread was busy is read first.
    setImmediate(() => {
      if (pipes.some((pipe) => (pipe?.readableLength ?? 0) > 0)) timer.refresh();
      else for (const pipe of pipes) pipe?.destroy();
    });
  };
  const timer = setTimeout(giveUp, DRAIN_MS);
  await closed;
  clearTimeout(timer);
  return end;
}

/**
 * Tells a program of `ctx.spawn` to end, though its attempt goes on: its process group gets SIGTERM, and SIGKILL where it has
 * not exited `killGraceMs` later (default 5,000).
 */
export function endChild(child: ChildProcess, killGraceMs = KILL_GRACE_MS): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  signalGroup(pid, 'SIGTERM');
  const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), killGraceMs);
  child.once('exit', () => clearTimeout(timer));
}
