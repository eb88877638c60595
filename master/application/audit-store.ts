/** What the application needs of the store of changes that people have made: see `ports.ts`. */
import type { AuditRecord } from '../domain/model/audit.ts';
import type { Position } from '../domain/queue/window.ts';

/** All that are null ask for nothing. */
export interface AuditQuery {
  readonly from: number | null;
  readonly to: number | null;
  readonly actor: string | null;
  /** Or what is before its dot. */
  readonly action: string | null;
  readonly target: string | null;
  /** Only older ones. */
  readonly before: Position | null;
  readonly limit: number;
  /** Rows to look at: actor, action and target have no index. */
  readonly lookCount: number;
}

export interface AuditPage {
  /** Newest first; fewer than asked for, or none, where too many were looked at. */
  readonly records: readonly AuditRecord[];
  /** Where the next page begins, as `AuditQuery.before`; null: this is the last. */
  readonly before: Position | null;
}

/** What was found of a piece of the chain. */
export interface AuditCheck {
  readonly count: number;
  /** Instants of the first and the last that was looked at; null: there was none. */
  readonly from: number | null;
  readonly to: number | null;
  /** Behind which number to go on; null: this was the last piece, or it does not fit. */
  readonly next: number | null;
  /** The first number that is not as it was written, and why it cannot be; null: all of them are. */
  readonly misfit: {
    readonly seq: number;
    readonly at: number | null;
    readonly why: string;
  } | null;
}

/** Who has changed what, of all namespaces: each row, with those of its commit, follows from the one before. */
export interface AuditStore {
  append(record: AuditRecord): Promise<void>;
  list(query: AuditQuery): Promise<AuditPage>;
  /** Whether what is there is what was written, from the oldest or behind a number: some thousand rows. */
  verify(after: number | null): Promise<AuditCheck>;
  /**
   * Removes some of the oldest, those that were written before then; returns how many.
   * @param now what is of a later time was written by a clock that was ahead: it goes with what follows it.
   */
  drop(before: number, now: number): Promise<number>;
}
