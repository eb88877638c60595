/** What the access layer may ask about operations on many tasks. Implemented by `operations.ts`. */
import type { CommandOutcome } from '../../domain/effects.ts';
import type { Bulk, Work } from '../../domain/long-work/work.ts';
import type { SearchCount } from '../ports.ts';

/** To which tasks: those of a filter, or those with these ids; one of the two is null. */
export interface AskedBulk extends Pick<Bulk, 'action' | 'filter'> {
  readonly ids: readonly string[] | null;
}

/** As a preview has counted, and frozen it. */
export type Frozen = Pick<Bulk, 'seqMax' | 'endedBefore'> & Pick<SearchCount, 'count' | 'isExact'>;

export type BulkPreview = Frozen & Pick<SearchCount, 'sample'>;

export interface BegunBulk extends Frozen, Pick<Bulk, 'change' | 'reason'> {
  readonly by: string | null;
}

/** As somebody sees them: those that could touch nothing that he may not. */
export interface OperationsHandle {
  /** What previews are signed with, base64url, newest first. Never to be logged. @throws {Unavailable} */
  secrets(): Promise<readonly string[]>;
  /** Changes nothing. @throws {Unavailable} also where too many ask. */
  preview(asked: AskedBulk): Promise<BulkPreview>;
  /** One with that id is begun once. Resolves once it is durable. @throws {Unavailable} */
  begin(workId: string, asked: AskedBulk & BegunBulk): Promise<CommandOutcome>;
  /** Newest first, as the rows have them. @throws {Unavailable} */
  all(): Promise<readonly Work[]>;
  /** Null: there is none that he sees. @throws {Unavailable} */
  of(workId: string): Promise<Work | null>;
  /** What it has done stays. @throws {Unavailable} */
  steer(workId: string, to: 'running' | 'paused' | 'canceled'): Promise<CommandOutcome>;
}
