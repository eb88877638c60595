/** What the application needs of a store for the logs of tasks: part of the ports. */
import type { LogChange, LogChunk, LogHead } from '../../domain/logs/attempt-log.ts';

/** A line of a task: in that attempt, with that number. */
export interface LogPlace {
  readonly attempt: number;
  readonly n: number;
}

export interface LogWrite extends LogChange {
  readonly taskSeq: number;
  readonly attempt: number;
}

export interface ChunkQuery {
  readonly taskSeq: number;
  /** Null: of the newest that has a log, or what comes after `after` in whichever. */
  readonly attempt: number | null;
  /** Null: from the first line. */
  readonly after: LogPlace | null;
  readonly limit: number;
}

export interface StoredChunk extends LogChunk {
  readonly attempt: number;
}

/**
 * Logs go with the records of their attempts: with a task that is deleted, with the segment of its history, and where
 * an attempt is too old to be kept.
 */
export interface LogStore {
  /** By themselves, beside all commits. What is of tasks that have been deleted is left out. */
  writeLogs(writes: readonly LogWrite[]): Promise<void>;
  /** Which chunks there are of an attempt, by `n`. */
  readLogHeads(taskSeq: number, attempt: number): Promise<readonly LogHead[]>;
  /** Those with lines after that place, by attempt and `n`. */
  readLogChunks(query: ChunkQuery): Promise<readonly StoredChunk[]>;
}
