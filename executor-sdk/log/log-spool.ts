/**
 * Lines of logs that have yet to go to the master: kept while it is away or behind, up to a bound, beyond which the oldest
 * are dropped. They go out a frame at a time, at a rate, only while nothing else waits for the socket: whatever else this executor
 * has to say comes first. A frame that is lost with its connection is not sent again.
 */
import { SESSION_LIMITS } from '@soda-scheduler/protocol';
import type { AttemptKey } from '../thread-messages.ts';
import { keyOf } from '../thread-messages.ts';
import type { Clock } from '../session/clock.ts';
import type { Dialled } from '../session/dial.ts';

const SPOOL_BYTES_MAX = 16 * 1024 * 1024;
/** Of a frame, unless one line is longer: the master takes it in a piece, and all else that is said to it waits. */
const LINES_BYTES_MAX = 12 * 1024;
/** Lines that come together go together, behind a result that comes with them. */
const GATHER_MS = 20;
/** Between two frames, while there are whole ones to go. */
const FULL_PACE_MS = 10;
/** Between two frames otherwise. */
const PACE_MS = 100;

/** An attempt, and its proof: an id may be given again to another task, once it is forgotten. */
interface Provable extends AttemptKey {
  readonly mac: string;
}

interface Batch extends Provable {
  /** Number of its first line in the attempt. */
  readonly n: number;
  readonly lines: string[];
  bytes: number;
}

export interface LogSpoolOptions {
  readonly clock: Clock;
  /** Of a session that has begun; null: there is none now. */
  readonly connection: () => Pick<Dialled, 'send' | 'unsentBytes'> | null;
  readonly onEmpty: () => void;
}

export class LogSpool {
  readonly #options: LogSpoolOptions;
  /** Oldest first. */
  readonly #batches: Batch[] = [];
  #bytes = 0;
  /** The attempt of which lines came last, and how many. */
  #newest: (Provable & { lineCount: number }) | null = null;
  /** The attempt of which lines were sent last, and the number of the line after them. */
  #sent: (Provable & { next: number }) | null = null;
  #isTaken = false;
  #allowedBytes: number = SESSION_LIMITS.logBurstBytes;
  #allowedAt: number;
  #sentAt = Number.NEGATIVE_INFINITY;
  #callOff: (() => void) | null = null;

  constructor(options: LogSpoolOptions) {
    this.#options = options;
    this.#allowedAt = options.clock.now();
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  /** A session has begun or goes on; false: that master takes no logs. */
  connected(isTaken: boolean): void {
    this.#isTaken = isTaken;
    if (isTaken) return this.#schedule(0);
    this.#batches.length = 0;
    this.#bytes = 0;
  }

  /** Lines of an attempt, as JSON. */
  add(key: AttemptKey, mac: string | undefined, lines: readonly string[]): void {
    if (!this.#isTaken || mac === undefined) return;
    const attempt = { ...keyOf(key), mac };
    const newest = isOf(this.#newest, attempt) ? this.#newest : { ...attempt, lineCount: 0 };
    this.#newest = newest;
    for (const line of lines) {
      const bytes = Buffer.byteLength(line) + 1;
      const batch = this.#batchFor(newest, bytes);
      batch.lines.push(line);
      batch.bytes += bytes;
      this.#bytes += bytes;
      newest.lineCount += 1;
    }
    while (this.#bytes > SPOOL_BYTES_MAX) this.#dropOldest();
    this.#schedule(GATHER_MS);
  }

  /** Lines that were said in the attempt, those that were dropped too; undefined: none is known. */
  lineCountOf(key: AttemptKey, mac: string | undefined): number | undefined {
    const isNewest = mac !== undefined && isOf(this.#newest, { ...keyOf(key), mac });
    return isNewest ? this.#newest?.lineCount : undefined;
  }

  stop(): void {
    this.#callOff?.();
    this.#callOff = null;
  }

  #batchFor(newest: Provable & { lineCount: number }, bytes: number): Batch {
    const last = this.#batches.at(-1);
    if (isOf(last, newest) && last.bytes + bytes <= LINES_BYTES_MAX) return last;
    const { lineCount, ...attempt } = newest;
    const batch = { ...attempt, n: lineCount + 1, lines: [], bytes: 0 };
    this.#batches.push(batch);
    return batch;
  }

  /** Of each attempt the last lines stay, where what went wrong stands, and by whose number it shows what was dropped. */
  #dropOldest(): void {
    const isFollowed = (batch: Batch, at: number) => isOf(this.#batches[at + 1], batch);
    const at = Math.max(0, this.#batches.findIndex(isFollowed));
    const [dropped] = this.#batches.splice(at, 1);
    if (dropped === undefined) return;
    this.#bytes -= dropped.bytes;
  }

  #schedule(afterMs: number): void {
    if (this.#callOff !== null || this.isEmpty || !this.#isTaken) return;
    const { clock } = this.#options;
    this.#callOff = clock.wakeAt(clock.now() + afterMs, () => {
      this.#callOff = null;
      this.#sendSome();
    });
  }

  #sendSome(): void {
    const { clock, connection, onEmpty } = this.#options;
    for (let [batch] = this.#batches; batch !== undefined; [batch] = this.#batches) {
      const socket = connection();
      if (socket === null) return;
      const waitMs = socket.unsentBytes > 0 ? GATHER_MS : this.#waitMs(batch);
      if (waitMs > 0) return this.#schedule(waitMs);
      this.#batches.shift();
      this.#bytes -= batch.bytes;
      this.#allowedBytes -= batch.bytes;
      this.#sentAt = clock.now();
      const { taskId, attempt, mac, n, lines } = batch;
      socket.send(frameOf(batch, n - (isOf(this.#sent, batch) ? this.#sent.next : 1)));
      this.#sent = { taskId, attempt, mac, next: n + lines.length };
    }
    onEmpty();
  }

  /** Until this may be sent. */
  #waitMs({ bytes }: Batch): number {
    const { logBytesPerSecond, logBurstBytes } = SESSION_LIMITS;
    const now = this.#options.clock.now();
    const earned = ((now - this.#allowedAt) * logBytesPerSecond) / 1000;
    this.#allowedBytes = Math.min(logBurstBytes, this.#allowedBytes + earned);
    this.#allowedAt = now;
    const paceMs = this.#batches.length > 1 ? FULL_PACE_MS : PACE_MS;
    const missing = bytes - this.#allowedBytes;
    return Math.ceil(
      Math.max(0, this.#sentAt + paceMs - now, (missing * 1000) / logBytesPerSecond),
    );
  }
}

function isOf<T extends Provable>(one: T | null | undefined, other: Provable): one is T {
  return one?.taskId === other.taskId && one.attempt === other.attempt && one.mac === other.mac;
}

function frameOf({ taskId, attempt, mac, n, lines }: Batch, dropped: number): string {
  const head = { type: 'log', task_id: taskId, attempt, mac, n, dropped };
  return `${JSON.stringify(head).slice(0, -1)},"lines":[${lines.join(',')}]}`;
}
