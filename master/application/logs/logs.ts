/** The logs of the tasks of a namespace, for whoever reads them, and for whoever waits for more. */
import { LOG_CHUNK_COUNT_MAX } from '../../domain/bounds.ts';
import { isEnd } from '../../domain/logs/attempt-log.ts';
import { type LogFilter, type LogLine, fits, linesOf } from '../../domain/logs/log-line.ts';
import type { Clock } from '../ports.ts';
import type { LogPlace, LogStore, StoredChunk } from './log-store.ts';
import type { TaskLogs } from './task-logs.ts';

export interface LogQuery extends LogFilter {
  readonly taskSeq: number;
  /** Null: of the newest that has a log, or what comes after `after` in whichever. */
  readonly attempt: number | null;
  /** Null: from the first line. */
  readonly after: LogPlace | null;
  readonly limit: number;
  /** Nothing more comes: what its executor has said beyond the newest line is lost. */
  readonly isOver?: boolean;
}

export interface PlacedLine extends LogLine {
  readonly attempt: number;
  /** Of its page, between the line before and this one. */
  readonly droppedCount?: number;
}

export interface LogPage {
  /** By attempt and number; fewer than asked for, or none, where too many were looked at. */
  readonly lines: readonly PlacedLine[];
  /** Lines that were looked for and are missing. */
  readonly droppedCount: number;
  /** Of these, at the end of an attempt: then they are all that the page tells of. */
  readonly lostCount: number;
  /** Up to where it has looked: the next page is what comes after it. */
  readonly next: LogPlace;
  /** It has come to the end of what is written. */
  readonly isAtEnd: boolean;
}

export interface LogsHandle {
  /** @throws {Unavailable} also where too many ask. */
  read(query: LogQuery): Promise<LogPage>;
  /**
   * Resolves when more of the attempt is written than up to that line, after so long at the latest, or when this master
   * stops. @param attempt Null: of any.
   */
  news(taskSeq: number, attempt: number | null, after: LogPlace, withinMs: number): Promise<void>;
  /** Whether anything of the attempt has come just now, or is not written yet. @param attempt Null: of any. */
  mayGrow(taskSeq: number, attempt: number | null): boolean;
  /** By the clock of `news`. */
  now(): number;
  /** No more will be written by this master. */
  readonly isOver: boolean;
}

interface Written {
  readonly logs: Pick<TaskLogs, 'news' | 'mayGrow' | 'isOver'>;
  readonly store: Pick<LogStore, 'readLogChunks'>;
  readonly clock: Pick<Clock, 'now'>;
}

export class Logs implements LogsHandle {
  readonly #of: Written;
  readonly #inTurn: <T>(work: () => Promise<T>) => Promise<T>;

  /** @param inTurn reads a page when it is its turn. */
  constructor(of: Written, inTurn: <T>(work: () => Promise<T>) => Promise<T>) {
    this.#of = of;
    this.#inTurn = inTurn;
  }

  get isOver(): boolean {
    return this.#of.logs.isOver;
  }

  now(): number {
    return this.#of.clock.now();
  }

  mayGrow(taskSeq: number, attempt: number | null): boolean {
    return this.#of.logs.mayGrow(taskSeq, attempt);
  }

  news(taskSeq: number, attempt: number | null, after: LogPlace, withinMs: number): Promise<void> {
    return this.#of.logs.news(taskSeq, attempt, after, withinMs);
  }

  async read(query: LogQuery): Promise<LogPage> {
    const { taskSeq, attempt, after, limit } = query;
    const asked = { taskSeq, attempt, after, limit: LOG_CHUNK_COUNT_MAX };
    const chunks = await this.#inTurn(() => this.#of.store.readLogChunks(asked));
    const lines: PlacedLine[] = [];
    let droppedCount = 0;
    /** Of these, with a line that is shown. */
    let placedCount = 0;
    let next = after ?? { attempt: attempt ?? 0, n: 0 };
    const lastOf = (chunk: StoredChunk) => (chunk.attempt === next.attempt ? next.n : 0);
    const short = () => ({ lines, droppedCount, lostCount: 0, next, isAtEnd: false });
    for (const [at, chunk] of chunks.entries()) {
      const lostCount = isEnd(chunk) ? chunk.lastN - lastOf(chunk) : 0;
      // Its lines may be on their way, unless another attempt has followed it.
      if (lostCount > 0 && (query.isOver === true || at < chunks.length - 1)) {
        if (lines.length > 0 || droppedCount > 0) return short();
        next = { attempt: chunk.attempt, n: chunk.lastN };
        return { lines, droppedCount: lostCount, lostCount, next, isAtEnd: false };
      }
      for (const line of linesOf(chunk.text)) {
        const last = lastOf(chunk);
        if (line.n <= last) continue;
        if (lines.length === limit) return short();
        droppedCount += line.n - last - 1;
        next = { attempt: chunk.attempt, n: line.n };
        if (!fits(query, line)) continue;
        const before = droppedCount - placedCount;
        placedCount = droppedCount;
        lines.push({
          attempt: chunk.attempt,
          ...line,
          ...(before > 0 && { droppedCount: before }),
        });
      }
    }
    const isAtEnd = chunks.length < LOG_CHUNK_COUNT_MAX;
    return { lines, droppedCount, lostCount: 0, next, isAtEnd };
  }
}
