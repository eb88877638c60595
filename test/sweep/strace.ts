/**
 * Faults of the disk, put by strace into one system call of a real process: the process is killed
 * as it calls, or the call fails. What is counted here is what the process writes to one folder.
 */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { SystemProcess } from '../helpers/system/process.ts';
import { eventually } from '../helpers/system/wait.ts';

/** The calls by which a master changes what is on disk, but for making and removing names. */
export const CALLS = ['fsync', 'fdatasync', 'pwrite64'] as const;
export type Call = (typeof CALLS)[number];

/**
 * `kill`: the process ends at the call. `EIO`: that one call fails. `ENOSPC`: it fails, and so does
 * every later one until the fault is lifted.
 */
export const KINDS = ['kill', 'EIO', 'ENOSPC'] as const;
export type Kind = (typeof KINDS)[number];

export interface Fault {
  readonly kind: Kind;
  readonly call: Call;
  /** Counted from 1, in the thread that calls. */
  readonly nth: number;
}

/** What a skipped suite says; null where there is nothing to say. */
export function straceMissing(): string | null {
  const [program = '', ...args] = recording('/dev/null');
  const { status } = spawnSync(program, [...args, 'true']);
  return status === 0 ? null : 'strace is not installed, too old, or may not trace here';
}

/** strace in the background, so that the process keeps its id, and can be let go of. */
function strace(log: string, calls: readonly string[], more: readonly string[]): string[] {
  return ['strace', '-D', '-I2', '-f', '-qq', '-y', '-o', log, `-etrace=${calls.join()}`, ...more];
}

/**
 * Stops a process at the calls of interest only. Signals cannot be put in like that, and it cannot
 * be lifted: the filter stays with the process, whose calls then fail for want of strace.
 */
const QUICK = '--seccomp-bpf';

/** Calls that write as well, and no fault can be put into: by them a process speaks to others too. */
const UNCOUNTED = ['write', 'writev', 'pwritev', 'pwritev2'];

export const recording = (log: string): string[] => strace(log, [...CALLS, ...UNCOUNTED], [QUICK]);

export function faulty({ kind, call, nth }: Fault, log: string): string[] {
  const inject = (effect: string) => `-einject=${call}:${effect}`;
  if (kind === 'kill') return strace(log, [call], [inject(`signal=SIGKILL:when=${nth}`)]);
  if (kind === 'EIO') return strace(log, [call], [QUICK, inject(`error=EIO:when=${nth}`)]);
  return strace(log, [call], [inject(`error=ENOSPC:when=${nth}+`)]);
}

/** Notes each read of one file, in its order; from the `nth` on they fail, if it is given. */
export function reading(file: string, log: string, nth?: number): string[] {
  const failing = nth === undefined ? [] : [`-einject=pread64:error=EIO:when=${nth}+`];
  return strace(log, ['pread64'], ['-P', file, ...failing]);
}

/** The disk is as it should be again; the process goes on. */
export async function liftFault({ pid }: SystemProcess): Promise<void> {
  const tracer = await tracerOf(pid);
  if (tracer === 0) return;
  process.kill(tracer, 'SIGTERM');
  await eventually('strace has let go', async () => (await tracerOf(pid)) === 0);
}

async function tracerOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^TracerPid:\s+(\d+)/m.exec(status)?.[1] ?? 0);
}

export async function wasInjected(log: string): Promise<boolean> {
  return (await readFile(log, 'utf8')).includes('(INJECTED)');
}

/** The calls in a recording that went to files of the folder. */
export async function callsTo(folder: string, log: string): Promise<Omit<Fault, 'kind'>[]> {
  const counts = new Map<string, number>();
  const found: Omit<Fault, 'kind'>[] = [];
  for (const line of (await readFile(log, 'utf8')).split('\n')) {
    const [, thread, name, path = ''] = /^(\d+) +(\w+)\(\d+<([^>]*)>/.exec(line) ?? [];
    const isOurs = path === folder || path.startsWith(`${folder}/`);
    const call = CALLS.find((known) => known === name);
    if (call === undefined) {
      if (isOurs) throw new Error(`a write that no fault can be put into: ${line}`);
      continue;
    }
    const nth = (counts.get(`${thread} ${call}`) ?? 0) + 1;
    counts.set(`${thread} ${call}`, nth);
    if (isOurs) found.push({ call, nth });
  }
  return found;
}
