/**
 * Whether the store answers, as those who wait for it are to know it. A question that stays open
 * is not given up here: it may be a slow disk, and a commit that is given up costs a rebuild. But
 * those who wait behind it for long are told that the outcome is unknown, and where the database is silent,
 * and the question does not wait in a line of our own, nobody else is let in. Decides nothing about the state.
 */
import { Unavailable } from './master-handle.ts';
import { type Clock, CommitConflict, type Log, TermLost } from './ports.ts';

/** An open question of this age, of which the database has been silent for as long: the store does not answer. */
const SILENT_MS = 1_500;
/** Nobody waits longer behind an open question; looked at again and again. */
const PATIENCE_MS = 3_500;
const LOOK_AGAIN_MS = 1_000;
const DISK_FULL = /^(SQLITE_FULL|ENOSPC|EDQUOT|ER_DISK_FULL|ER_RECORD_FILE_FULL)$/;

const DISK_IS_FULL = 'its disk is full';

/** Since when the store does not answer, and why: in words for everybody, without its address. */
export interface StoreTrouble {
  /** What failed last. */
  readonly reason: string;
  readonly since: number;
  /** Said by any of what failed: it is the disk of all namespaces. */
  readonly isDiskFull: boolean;
}

export class StoreWatch {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #owedMs: () => number;
  #trouble: StoreTrouble | null = null;
  /** Since then. */
  #refusedCount = 0;
  /** How to tell those who wait. */
  readonly #waiting = new Set<(error: Error) => void>();

  /** @param owedMs of the store. */
  constructor(clock: Clock, log: Log, owedMs: () => number) {
    this.#clock = clock;
    this.#log = log;
    this.#owedMs = owedMs;
  }

  /** False from a question that failed, or of which the database is silent, until one is answered. */
  get answers(): boolean {
    return this.#trouble === null;
  }

  /** Null while it answers; else since when it does not, and what failed last. */
  get trouble(): StoreTrouble | null {
    return this.#trouble;
  }

  /** Puts one question, and waits for its answer however long it takes. */
  async ask<T>(question: () => Promise<T>): Promise<T> {
    const begun = this.#clock.now();
    const look = (): void => {
      const now = this.#clock.now();
      const leftMs = SILENT_MS - Math.min(now - begun, this.#owedMs());
      // Else it waits here, for others that are answered.
      if (leftMs <= 0) this.#failed(`no answer for ${SILENT_MS} ms`, 'it is silent');
      if (now - begun >= PATIENCE_MS) this.#tellAll();
      const patienceMs = begun + PATIENCE_MS - now;
      const next = [leftMs, patienceMs].filter((ms) => ms > 0);
      callOff = this.#clock.wakeAt(now + Math.min(LOOK_AGAIN_MS, ...next), look);
    };
    let callOff = this.#clock.wakeAt(begun + SILENT_MS, look);
    try {
      const answer = await question();
      this.#heard();
      return answer;
    } catch (error) {
      // These two are answers.
      if (error instanceof TermLost || error instanceof CommitConflict) this.#heard();
      else this.#failed(error, reasonOf(error));
      throw error;
    } finally {
      callOff();
    }
  }

  #failed(error: unknown, reason: string): void {
    const isFirst = this.#trouble === null;
    const { since = this.#clock.now(), isDiskFull: wasFull = false } = this.#trouble ?? {};
    this.#trouble = { reason, since, isDiskFull: wasFull || reason === DISK_IS_FULL };
    if (!isFirst) return;
    this.#log.warn('the store does not answer', { event: 'store', error: String(error) });
  }

  /**
   * What `work` comes to, unless an open question ends the patience with it; `work` goes on.
   * @param withinMs how long the work itself may take.
   * @throws {Unavailable}
   */
  whileItAnswers<T>(work: Promise<T>, withinMs = Number.POSITIVE_INFINITY): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.add(reject);
      const callOff = Number.isFinite(withinMs)
        ? this.#clock.wakeAt(this.#clock.now() + withinMs, () => reject(this.#unknown()))
        : () => undefined;
      work.then(resolve, reject).finally(() => {
        callOff();
        this.#waiting.delete(reject);
      });
    }).catch((error: unknown) => {
      if (this.#trouble !== null) this.#refusedCount += 1;
      throw error;
    });
  }

  #heard(): void {
    if (this.#trouble === null) return;
    const away_ms = this.#clock.now() - this.#trouble.since;
    const counts = { away_ms, refused_count: this.#refusedCount };
    this.#log.info('the store answers again', { event: 'store', ...counts });
    this.#trouble = null;
    this.#refusedCount = 0;
  }

  #tellAll(): void {
    for (const tell of this.#waiting) tell(this.#unknown(2));
    this.#waiting.clear();
  }

  #unknown(retryAfterSeconds?: number): Unavailable {
    return new Unavailable(this.answers ? UNKNOWN_YET : UNKNOWN, retryAfterSeconds);
  }
}

/** The code at most: the message may hold addresses and names. The log has it whole. */
function reasonOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code !== 'string' || !/^[A-Z][A-Z0-9_]+$/.test(code)) {
    return cause === undefined ? 'the log says why' : reasonOf(cause);
  }
  return DISK_FULL.test(code) ? DISK_IS_FULL : code;
}

/** For whoever asked for a change: it may or may not have been made. */
export const UNKNOWN =
  'the store does not answer, and the outcome is unknown: ask again, with the same id';
/** The same where it waits here for others, which are answered. */
const UNKNOWN_YET =
  'the store is busy with others, and the outcome is unknown: ask again, with the same id';
