/**
 * Takes the logs of a namespace from its executors and writes them, now and then and a little at a time: whatever they
 * say, the commits of the engine find one small transaction before them at most. What there is no room for is
 * dropped; its numbers are missing then. Says who waits for more that there is some.
 */
import {
  type Fill,
  LOG_HELD_BYTES_MAX,
  LOG_OPEN_COUNT_MAX,
  LOG_WRITE_BYTES_MAX,
  LOG_WRITE_COUNT_MAX,
  type Tally,
} from '../../domain/bounds.ts';
import { AttemptLog, type NumberedLine } from '../../domain/logs/attempt-log.ts';
import type { Clock, Log } from '../ports.ts';
import type { LogPlace, LogStore, LogWrite } from './log-store.ts';

/** Between two writes. */
const PACE_MS = 250;
/** An executor that has more of an attempt to say says it within this. */
const QUIET_MS = 1_000;
/** After one that failed. */
const REPEAT_MS = 1_000;

/** Of what is held, what is written already: the rest is for what has yet to be. */
const IDLE_BYTES_MAX = LOG_HELD_BYTES_MAX / 2;

/** An attempt, by what it is called outside and inside. */
export interface LoggedAttempt {
  readonly taskId: string;
  readonly taskSeq: number;
  readonly attempt: number;
}

interface Open extends LoggedAttempt {
  /** Null: what is written of it has to be read first. */
  log: AttemptLog | null;
  /** Lines that wait for that. */
  readonly waiting: NumberedLine[];
  heldBytes: number;
  takenAt: number;
  /** Number of the newest line that is written, by this master. */
  writtenN: number;
}

export interface TaskLogsOptions {
  readonly store: LogStore;
  readonly clock: Clock;
  readonly log: Log;
  /** That are kept of an attempt; 0: nothing is taken. */
  readonly bytesMax: number;
  /** Of what is held, here and in other namespaces. */
  readonly held?: Tally;
}

export class TaskLogs {
  readonly #options: TaskLogsOptions;
  readonly #held: Tally;
  /** The one that had a line last is the last. */
  readonly #open = new Map<string, Open>();
  /** Those with something to write. */
  readonly #dirty = new Set<Open>();
  /** What was taken of them to be written, and is not written yet. */
  #unwritten: (LogWrite & { readonly open: Open })[] = [];
  readonly #waiting = new Map<number, Set<() => void>>();
  #callOff: (() => void) | null = null;
  #writing: Promise<boolean> | null = null;
  /** It is said once that the store takes nothing. */
  #isFailing = false;
  #isOver = false;

  constructor(options: TaskLogsOptions) {
    this.#options = options;
    this.#held = options.held ?? { bytes: 0 };
  }

  get isTaken(): boolean {
    return this.#options.bytesMax > 0;
  }

  /** No more will be written by this master. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** So much waits to be written that nothing more should even be read. */
  get isFull(): boolean {
    return this.#held.bytes >= LOG_HELD_BYTES_MAX;
  }

  fills(): Fill[] {
    return [{ bound: 'log_held_bytes', used: this.#held.bytes, limit: LOG_HELD_BYTES_MAX }];
  }

  /** Lines of an attempt that was proven; those that it has already are passed over. */
  take(of: LoggedAttempt, lines: readonly NumberedLine[]): void {
    if (!this.isTaken || this.#isOver || this.isFull || lines.length === 0) return;
    const open = this.#openOf(of, lines[0]?.n === 1);
    if (open.log === null) open.waiting.push(...lines);
    else open.log.add(lines);
    open.takenAt = this.#options.clock.now();
    this.#recount(open);
    this.#dirty.add(open);
    this.#schedule(PACE_MS);
  }

  /** Whether anything of the attempt has come just now, or has yet to be written. @param attempt Null: of any. */
  mayGrow(taskSeq: number, attempt: number | null): boolean {
    const now = this.#options.clock.now();
    for (const open of this.#open.values()) {
      if (!isOf(open, taskSeq, attempt)) continue;
      if (now - open.takenAt < QUIET_MS || this.#isBusy(open)) return true;
    }
    return false;
  }

  #isBusy(open: Open): boolean {
    return this.#dirty.has(open) || this.#unwritten.some((one) => one.open === open);
  }

  /** Until there is more of the attempt than up to that line, or so long. @param attempt Null: of any. */
  news(taskSeq: number, attempt: number | null, after: LogPlace, withinMs: number): Promise<void> {
    const { clock } = this.#options;
    const isNew = [...this.#open.values()].some(
      (open) => isOf(open, taskSeq, attempt) && isBeyond(open, after),
    );
    if (isNew || this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(taskSeq) ?? new Set();
      this.#waiting.set(taskSeq, waiting);
      const wake = (): void => {
        callOff();
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(taskSeq);
        resolve();
      };
      const callOff = clock.wakeAt(clock.now() + withinMs, wake);
      waiting.add(wake);
    });
  }

  /** Writes what there is, once; what the store does not take is lost. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#callOff?.();
    let isWritten = (await this.#writing) !== false;
    while (isWritten && this.#isLeft) isWritten = await this.#write();
    for (const open of this.#open.values()) this.#held.bytes -= open.heldBytes;
    this.#open.clear();
    for (const waiting of [...this.#waiting.values()]) for (const wake of [...waiting]) wake();
  }

  get #isLeft(): boolean {
    return this.#dirty.size > 0 || this.#unwritten.length > 0;
  }

  #openOf(of: LoggedAttempt, isFirst: boolean): Open {
    const key = keyOf(of);
    const known = this.#open.get(key);
    if (known?.taskSeq === of.taskSeq) {
      this.#open.delete(key);
      this.#open.set(key, known);
      return known;
    }
    if (known !== undefined) this.#forget(key, known);
    const { taskId, taskSeq, attempt } = of;
    // Of one whose first line comes now nothing is written.
    const log = isFirst ? new AttemptLog(this.#options.bytesMax) : null;
    const since = { heldBytes: 0, takenAt: 0, writtenN: 0 };
    const open: Open = { taskId, taskSeq, attempt, log, waiting: [], ...since };
    this.#forgetOldest();
    this.#open.set(key, open);
    return open;
  }

  /**
   * Until there is room for one more. What comes of them later is read again, as far as it is written. After each write
   * too: where all is full nothing is taken, and whatever namespace wrote last has left the others room.
   */
  #forgetOldest(): void {
    for (const [key, open] of this.#open) {
      if (this.#open.size < LOG_OPEN_COUNT_MAX && this.#held.bytes <= IDLE_BYTES_MAX) return;
      if (!this.#isBusy(open)) this.#forget(key, open);
    }
  }

  #forget(key: string, open: Open): void {
    this.#open.delete(key);
    this.#dirty.delete(open);
    this.#held.bytes -= open.heldBytes;
    open.heldBytes = 0;
  }

  #recount(open: Open): void {
    const waiting = open.waiting.reduce((sum, { bytes }) => sum + bytes, 0);
    const bytes = waiting + (open.log?.heldBytes ?? 0);
    this.#held.bytes += bytes - open.heldBytes;
    open.heldBytes = bytes;
  }

  #schedule(afterMs: number): void {
    if (this.#callOff !== null || this.#isOver) return;
    const { clock } = this.#options;
    this.#callOff = clock.wakeAt(clock.now() + afterMs, () => {
      this.#writing = this.#write().then((isWritten) => {
        this.#writing = null;
        this.#callOff = null;
        if (this.#isLeft) this.#schedule(isWritten ? PACE_MS : REPEAT_MS);
        return isWritten;
      });
    });
  }

  /** So much as one transaction may have. False: the store did not take it. */
  async #write(): Promise<boolean> {
    const { store, log } = this.#options;
    try {
      if (this.#unwritten.length === 0) await this.#gather();
      const writes = this.#unwritten.map(({ open: _, ...write }) => write);
      if (writes.length > 0) await store.writeLogs(writes);
    } catch (error) {
      const about = { event: 'logs', error: String(error) };
      if (!this.#isFailing) log.warn('logs of tasks are not written', about);
      this.#isFailing = true;
      return false;
    }
    this.#isFailing = false;
    for (const { open, put } of this.#unwritten) {
      open.writtenN = Math.max(open.writtenN, put.at(-1)?.lastN ?? 0);
      for (const wake of [...(this.#waiting.get(open.taskSeq) ?? [])]) wake();
    }
    this.#unwritten = [];
    this.#forgetOldest();
    return true;
  }

  /** In turn: whoever says much does not keep the others from being written. */
  async #gather(): Promise<void> {
    const { store, bytesMax } = this.#options;
    let left = LOG_WRITE_BYTES_MAX;
    for (const open of [...this.#dirty].slice(0, LOG_WRITE_COUNT_MAX)) {
      if (left <= 0) return;
      const { taskSeq, attempt } = open;
      if (open.log === null) {
        open.log = new AttemptLog(bytesMax, await store.readLogHeads(taskSeq, attempt));
        open.log.add(open.waiting.splice(0));
      }
      // Forgotten while this one, or one before it, was read: it is counted no more.
      if (this.#open.get(keyOf(open)) !== open) continue;
      const change = open.log.takeChange(left);
      left -= change.put.reduce((sum, { bytes }) => sum + bytes, 0);
      this.#unwritten.push({ ...change, taskSeq, attempt, open });
      this.#dirty.delete(open);
      if (open.log.isDirty) this.#dirty.add(open);
      this.#recount(open);
    }
  }
}

const keyOf = ({ taskId, attempt }: Pick<LoggedAttempt, 'taskId' | 'attempt'>): string =>
  `${taskId}#${attempt}`;

const isOf = (open: Open, taskSeq: number, attempt: number | null): boolean =>
  open.taskSeq === taskSeq && (attempt === null || open.attempt === attempt);

const isBeyond = ({ attempt, writtenN }: Open, after: LogPlace): boolean =>
  attempt > after.attempt ? writtenN > 0 : attempt === after.attempt && writtenN > after.n;
