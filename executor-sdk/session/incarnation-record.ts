/**
 * What the processes of one executor id leave behind on their host, so that the next of them can
 * tell the master which of the others are dead for certain: then what they ran starts elsewhere at
 * once, and not after their lease. Only for an id that was given by an operator, since one that was
 * made up never comes again. Whoever cannot write or read it claims nothing.
 */
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionSettings } from '../thread-messages.ts';
import type { Fenced, Predecessors } from './handshake.ts';

const LIVES_COUNT_MAX = 16;

/** One process. */
interface Life {
  readonly incarnation: string;
  readonly bootId: string;
  readonly pid: number;
  /** Ticks since the host started, as the kernel says it: a process id may be used again. */
  readonly startedAt: string;
  /** Attempts that it ended together with itself for a lost lease. */
  readonly fenced: readonly Fenced[];
}

export class IncarnationRecord implements Predecessors {
  readonly bootId: string;
  readonly died: readonly string[];
  readonly fenced: readonly Fenced[];
  /** Null: nothing can be recorded here. */
  readonly #path: string | null;
  readonly #incarnation: string;

  private constructor(
    path: string | null,
    incarnation: string,
    bootId: string,
    dead: readonly Life[],
  ) {
    this.#path = path;
    this.#incarnation = incarnation;
    this.bootId = bootId;
    this.died = dead.map((life) => life.incarnation);
    this.fenced = dead.flatMap((life) => life.fenced);
  }

  /** Reads what there is, and adds this process. Never throws. */
  static begin({ executorId, incarnation, isLastingId, url }: SessionSettings): IncarnationRecord {
    const bootId = readBootId();
    const startedAt = readStartedAt(process.pid);
    if (bootId === '' || startedAt === null || !isLastingId) {
      return new IncarnationRecord(null, incarnation, bootId, []);
    }
    try {
      const name = createHash('sha256').update(`${url}\n${executorId}`).digest('hex');
      const path = join(ownDirectory(), `${name.slice(0, 32)}.json`);
      const lives = readLives(path);
      const self: Life = { incarnation, bootId, pid: process.pid, startedAt, fenced: [] };
      writeLives(path, [...lives, self]);
      const dead = lives.filter((life) => life.bootId === bootId && isGone(life));
      return new IncarnationRecord(path, incarnation, bootId, dead);
    } catch {
      return new IncarnationRecord(null, incarnation, bootId, []);
    }
  }

  onTold(): void {
    this.#rewrite((life) => (this.died.includes(life.incarnation) ? null : life));
  }

  /** This process is about to end itself under this attempt, whose lease it has lost. */
  willEnd(fenced: Fenced): void {
    this.#rewrite((life) => {
      return life.incarnation === this.#incarnation ? { ...life, fenced: [fenced] } : life;
    });
  }

  /** This process has said goodbye: nobody will ask what became of it. */
  left(): void {
    this.#rewrite((life) => (life.incarnation === this.#incarnation ? null : life));
  }

  #rewrite(change: (life: Life) => Life | null): void {
    if (this.#path === null) return;
    try {
      const lives = readLives(this.#path)
        .map(change)
        .filter((life) => life !== null);
      if (lives.length > 0) writeLives(this.#path, lives);
      else rmSync(this.#path);
    } catch {
      // The next process then claims less than it could.
    }
  }
}

/** Empty where there is no telling: then process ids mean nothing. */
function readBootId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // Processes of another container have ids of their own. `pid:[4026531836]`
    const space = /\d+/.exec(readlinkSync('/proc/self/ns/pid'));
    return space === null ? '' : `${boot}/${space[0]}`.slice(0, 64);
  } catch {
    return '';
  }
}

/** Null: there is no such process, or it cannot be looked at. */
function readStartedAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The 22nd field; the second is a name in brackets, which may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function isGone({ pid, startedAt }: Life): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const now = readStartedAt(pid);
  return now !== null && now !== startedAt;
}

/** @throws where somebody else could write into it: what it says is believed. */
function ownDirectory(): string {
  const uid = process.getuid?.() ?? -1;
  const path = join(process.env['XDG_RUNTIME_DIR'] ?? tmpdir(), `soda-executor-${uid}`);
  makeDirectory(path);
  const stat = lstatSync(path);
  if (!stat.isDirectory() || stat.uid !== uid || (stat.mode & 0o077) !== 0) {
    throw new Error(`${path} is not ours alone`);
  }
  return path;
}

/** Its parent has to be there: told to make that as well, Node tries for ever below `/proc`. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function readLives(path: string): Life[] {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return [];
  }
  return Array.isArray(read) ? read.filter(isLife) : [];
}

function isLife(value: unknown): value is Life {
  const life = value as Partial<Record<keyof Life, unknown>> | null;
  return (
    typeof life?.incarnation === 'string' &&
    typeof life.bootId === 'string' &&
    Number.isSafeInteger(life.pid) &&
    typeof life.startedAt === 'string' &&
    Array.isArray(life.fenced)
  );
}

/** As a whole or not at all. */
function writeLives(path: string, lives: readonly Life[]): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(lives.slice(-LIVES_COUNT_MAX)), { mode: 0o600 });
  renameSync(temporary, path);
}
