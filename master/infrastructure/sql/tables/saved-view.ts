/** Saved views as rows. */
import type { SavedView } from '../../../domain/model/saved-view.ts';
import type { Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from './table.ts';

export const viewDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  name ${t.key(64)} NOT NULL,
  query ${t.text} NOT NULL,
  PRIMARY KEY (ns, name)`;

const viewColumns = columns<SavedView>(
  ['ns', 'integer', (_, ns) => ns],
  ['name', 'text', (row) => row.name],
  ['query', 'text', (row) => row.query],
);

export const view: WholeTable<'view'> = {
  place: 'saved_view',
  key: [
    { name: 'ns', kind: 'integer' },
    { name: 'name', kind: 'text' },
  ],
  columns: viewColumns,
  of: (row) => ({ name: row['name'] as string, query: row['query'] as string }),
};
