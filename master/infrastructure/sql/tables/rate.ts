/** How many offers count in windows of rates, as rows. */
import type { RateUse } from '../../../domain/limits/quota.ts';
import type { Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from './table.ts';

export const rateDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  type ${t.key(64)} NOT NULL,
  user_group ${t.exactName(64)} NOT NULL,
  window_at ${t.instant} NOT NULL,
  offer_count ${t.integer} NOT NULL,
  PRIMARY KEY (ns, type, user_group)`;

const rateColumns = columns<RateUse>(
  ['ns', 'integer', (_, ns) => ns],
  ['type', 'text', (row) => row.type],
  ['user_group', 'bytes', (row) => row.group],
  ['window_at', 'integer', (row) => row.windowAt],
  ['offer_count', 'integer', (row) => row.count],
);

export const rate: WholeTable<'rate'> = {
  place: 'rate',
  key: [
    { name: 'ns', kind: 'integer' },
    { name: 'type', kind: 'text' },
    { name: 'user_group', kind: 'bytes' },
  ],
  columns: rateColumns,
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    return {
      type: get('type'),
      group: String(row['user_group']),
      windowAt: get('window_at'),
      count: get('offer_count'),
    };
  },
};
