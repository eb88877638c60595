/** How busy each type was: in each minute, in each hour, and ever. */
import { LOAD_PEAKS, LOAD_SUMS } from '../../../domain/load/figures.ts';
import type { Columns, Index, Types } from '../dialects/dialect.ts';

export const LOAD_TABLE = 'load_sample';

/** `span`: minutes that it is about; 0: ever, and then it begins at 0. */
export const loadDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  span ${t.integer} NOT NULL,
  type ${t.key(64)} NOT NULL,
  begin_at ${t.instant} NOT NULL,
  ${[...LOAD_SUMS, ...LOAD_PEAKS].map((name) => `${name} ${t.instant} NOT NULL`).join(',\n  ')},
  PRIMARY KEY (ns, span, type, begin_at)`;

/** In which old rows are found. */
export const loadIndexes: readonly Index[] = [{ name: 'begin', columns: 'ns, span, begin_at' }];

export const loadKey: Columns = [
  { name: 'ns', kind: 'integer' },
  { name: 'span', kind: 'integer' },
  { name: 'type', kind: 'text' },
  { name: 'begin_at', kind: 'integer' },
];

const integers = (names: readonly string[]): Columns =>
  names.map((name) => ({ name, kind: 'integer' }) as const);

export const loadSums = integers(LOAD_SUMS);
export const loadPeaks = integers(LOAD_PEAKS);
