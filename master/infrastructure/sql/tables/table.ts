/** What the store knows of one table: all that it writes follows from this. */
import type { TableName, Tables } from '../../../domain/changes.ts';
import type { Columns } from '../dialects/dialect.ts';
import type { Column, Row } from '../rows.ts';
import type { Segment } from '../segments.ts';

export interface Table<N extends TableName> {
  /** What it is called, or in which segment the row of that key is. */
  readonly place: string | ((key: Tables[N]['key']) => Segment);
  /**
   * In the order of the key of a write, behind `ns` where that is part of it; what else a key has tells
   * the place only. A write that expects a version goes by `version` too.
   */
  readonly key: Columns;
  /**
   * What else begins with this key, and goes with a row that is removed, or that is not there to be removed: of removes
   * that expect no version.
   */
  readonly along?: string;
  /** All that a new row has. */
  readonly columns: readonly Column<Tables[N]['row']>[];
  /** What a `set` sets. */
  readonly changing?: readonly Column<Tables[N]['set']>[];
  /** What it sets only where it says `large`, each row by itself. */
  readonly large?: readonly Column<Tables[N]['set']>[];
  /** What it sets only where it says `whole`, each row by itself. */
  readonly fixed?: readonly Column<Tables[N]['set']>[];
}

/** One that is read as a whole, in one piece. */
export interface WholeTable<N extends TableName> extends Table<N> {
  readonly place: string;
  readonly of: (row: Row) => Tables[N]['row'];
}
