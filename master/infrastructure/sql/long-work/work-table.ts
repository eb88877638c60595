/** Long work and how far it is, as rows. */
import type { Work, WorkCounts, WorkProblem } from '../../../domain/long-work/work.ts';
import type { Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from '../tables/table.ts';

export const workDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  id ${t.key(64)} NOT NULL,
  kind ${t.key(16)} NOT NULL,
  state ${t.key(16)} NOT NULL,
  request ${t.text} NOT NULL,
  ids ${t.text} NULL,
  place ${t.key(255)} NULL,
  counts ${t.text} NOT NULL,
  is_exact ${t.integer} NOT NULL,
  problems ${t.text} NOT NULL,
  created_by ${t.name(64)} NULL,
  created_at ${t.instant} NOT NULL,
  ended_at ${t.instant} NULL,
  PRIMARY KEY (ns, id)`;

const workColumns = columns<Work>(
  ['ns', 'integer', (_, ns) => ns],
  ['id', 'text', (row) => row.id],
  ['kind', 'text', (row) => row.kind],
  ['state', 'text', (row) => row.state],
  ['request', 'text', (row) => JSON.stringify(row.request)],
  ['ids', 'text', (row) => row.ids && JSON.stringify(row.ids)],
  ['place', 'text', (row) => row.cursor],
  ['counts', 'text', (row) => JSON.stringify(row.counts)],
  ['is_exact', 'integer', (row) => (row.isExact ? 1 : 0)],
  ['problems', 'text', (row) => JSON.stringify(row.problems)],
  ['created_by', 'text', (row) => row.by],
  ['created_at', 'integer', (row) => row.createdAt],
  ['ended_at', 'integer', (row) => row.endedAt],
);

export const work: WholeTable<'work'> = {
  place: 'work',
  key: [
    { name: 'ns', kind: 'integer' },
    { name: 'id', kind: 'text' },
  ],
  columns: workColumns,
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    const json = <T>(name: string): T => JSON.parse(get(name)) as T;
    return {
      id: get('id'),
      kind: get('kind'),
      state: get('state'),
      request: json('request'),
      ids: get('ids') === null ? null : json<string[]>('ids'),
      cursor: get('place'),
      counts: json<WorkCounts>('counts'),
      isExact: get('is_exact') === 1,
      problems: json<WorkProblem[]>('problems'),
      by: get('created_by'),
      createdAt: get('created_at'),
      endedAt: get('ended_at'),
    } as Work;
  },
};
