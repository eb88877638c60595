/**
 * `FILE.lock`: one export at a time writes a file. It says which process does, so that of one that was killed it keeps
 * nobody.
 *
 * Not `proper-lockfile` (4.1.2: with its three dependencies 22 KB of the bundle). That goes by the time of a folder that its
 * holder touches again and again: whoever stands still for longer, by Ctrl-Z or a laptop that sleeps, loses it and writes
 * on, and of one that was killed it keeps others for as long.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ExitCode, Failure } from '../exit-code.ts';

interface Holder {
  readonly pid: number;
  readonly host: string;
}

/** @throws {Failure} another process writes the file, or may do so. */
export async function lockFile(name: string): Promise<void> {
  const lock = lockOf(name);
  const own: Holder = { pid: process.pid, host: hostname() };
  const text = JSON.stringify(own);
  if (await isMade(lock, text)) return;
  if (!isGone(await holderOf(lock))) throw await refusal(name);
  // Two may have seen that: what is moved away is looked at once more.
  const old = `${lock}.${process.pid}`;
  await rename(lock, old).catch(() => undefined);
  const moved = await holderOf(old);
  if (moved !== null && !isGone(moved)) {
    await rename(old, lock);
    throw await refusal(name);
  }
  await rm(old, { force: true });
  if (!(await isMade(lock, text))) throw await refusal(name);
}

export async function unlockFile(name: string): Promise<void> {
  await rm(lockOf(name), { force: true });
}

const lockOf = (name: string): string => `${name}.lock`;

async function isMade(lock: string, text: string): Promise<boolean> {
  try {
    await writeFile(lock, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Null: nobody knows. */
async function holderOf(lock: string): Promise<Holder | null> {
  try {
    return JSON.parse(await readFile(lock, 'utf8')) as Holder | null;
  } catch {
    return null;
  }
}

/** Of another host nobody here knows. */
function isGone(holder: Holder | null): boolean {
  if (holder === null || holder.host !== hostname()) return false;
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

async function refusal(name: string): Promise<Failure> {
  const lock = lockOf(name);
  const holder = await holderOf(lock);
  const who = holder === null ? '' : ` (process ${holder.pid} on ${holder.host})`;
  const message = `another export writes ${name}${who}: wait for it, or name another file; if there is none, delete ${lock}`;
  return new Failure(message, ExitCode.usage);
}
