/**
 * `FILE.lock`: one export at a time writes a file. It says which process does, so that of one that was killed it keeps
 * nobody.
 *
 * Not `proper-lockfile` (4.1.2: with its three dependencies 22 KB of the bundle). That goes by the time of a folder that its
 * holder touches again and again: whoever stands still for longer, by Ctrl-Z or a laptop that sleeps, loses it and writes
 * on, and of one that was killed it keeps others for as long. Of other hosts and containers, whose processes nobody here
 * knows, it is all there is to go by: there whoever loses it is told before he writes on.
 */
import { readFile, readlink, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { ExitCode, Failure } from '../exit-code.ts';

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Empty where there is no telling. */
  readonly bootId?: string;
  /** Ticks since the host started: another process may have its id by now. Empty where there is no telling. */
  readonly startedAt?: string;
  /** Of the container, if it is one: in another its process id means nothing. Empty where there is no telling. */
  readonly pidSpace?: string;
}

/** A holder on another host, or in another container, is gone once it has not said for so long that it writes. */
const SILENT_MS = 600_000;

/** @returns What the lock says, for those below. @throws {Failure} another process writes the file, or may do so. */
export async function lockFile(name: string): Promise<string> {
  const lock = lockOf(name);
  const { pid } = process;
  const times = { bootId: await bootIdOf(), startedAt: (await processOf(pid)).startedAt };
  const own: Holder = { pid, host: hostname(), ...times, pidSpace: await pidSpaceOf() };
  const text = JSON.stringify(own);
  if (await isMade(lock, text)) return text;
  if (!(await isGone(lock))) throw await refusal(name);
  // Two may have seen that: what is moved away is looked at once more.
  const old = `${lock}.${process.pid}`;
  await rename(lock, old).catch(() => undefined);
  const moved = await readFile(old, 'utf8').catch(() => '');
  if (moved !== '' && !(await isGone(old))) {
    // It is not moved back: a third may have made one meanwhile, which stays.
    await isMade(lock, moved);
    await rm(old, { force: true });
    throw await refusal(name);
  }
  await rm(old, { force: true });
  if (!(await isMade(lock, text))) throw await refusal(name);
  return text;
}

/** Its holder does write. @throws {Failure} it was silent for so long that another writes the file now. */
export async function keepLock(name: string, own: string): Promise<void> {
  const lock = lockOf(name);
  if (await isOfAnother(lock, own)) {
    const message = `another export writes ${name}${await whoHas(lock)}: this one had stood still for too long`;
    throw new Failure(message, ExitCode.conflict);
  }
  const now = new Date();
  await utimes(lock, now, now).catch(() => undefined);
}

/** If it is still its own. */
export async function unlockFile(name: string, own: string): Promise<void> {
  const lock = lockOf(name);
  if (!(await isOfAnother(lock, own))) await rm(lock, { force: true });
}

/** Not where it is moved away, or does not say yet: whoever does that looks at it once more. */
async function isOfAnother(lock: string, own: string): Promise<boolean> {
  const text = await readFile(lock, 'utf8').catch(() => '');
  return text !== '' && text !== own;
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

async function isGone(lock: string): Promise<boolean> {
  const holder = await holderOf(lock);
  if (holder === null) return false;
  const { pid, host, bootId = '', startedAt = '', pidSpace = '' } = holder;
  if (host !== hostname()) return isSilent(lock);
  if (differs(bootId, await bootIdOf())) return true;
  if (differs(pidSpace, await pidSpaceOf())) return isSilent(lock);
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const { state, startedAt: since } = await processOf(pid);
  // One that its parent has yet to ask for its end writes nothing any more.
  return state === 'Z' || differs(startedAt, since);
}

async function isSilent(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => null);
  return found === null || Date.now() - found.mtimeMs > SILENT_MS;
}

const differs = (told: string, found: string): boolean =>
  told !== '' && found !== '' && told !== found;

/** Empty where there is no telling. */
async function bootIdOf(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')).trim();
}

/** As `pid:[4026531836]`; empty where there is no telling. */
const pidSpaceOf = (): Promise<string> => readlink('/proc/self/ns/pid').catch(() => '');

/** Empty: there is no such process, or it cannot be looked at. */
async function processOf(pid: number): Promise<{ state: string; startedAt: string }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The third field, and the 22nd; the second is a name in brackets, which may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startedAt: fields[19] ?? '' };
}

async function refusal(name: string): Promise<Failure> {
  const lock = lockOf(name);
  const message = `another export writes ${name}${await whoHas(lock)}: wait for it, or name another file; if there is none, delete ${lock}`;
  return new Failure(message, ExitCode.usage);
}

async function whoHas(lock: string): Promise<string> {
  const holder = await holderOf(lock);
  return holder === null ? '' : ` (process ${holder.pid} on ${holder.host})`;
}
