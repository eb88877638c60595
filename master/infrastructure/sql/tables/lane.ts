/** Lanes in which tasks wait, or did, as rows. */
import type { LaneRow } from '../../../domain/queue/lane.ts';
import type { Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';
import { USES_LENGTH_MAX } from './limit.ts';
import type { WholeTable } from './table.ts';

export const laneDefinition = (t: Types): string => `
  seq ${t.seq},
  ns ${t.integer} NOT NULL,
  kind ${t.key(272 + 1 + USES_LENGTH_MAX)} NOT NULL,
  user_group ${t.name(64)} NOT NULL`;

const laneColumns = columns<LaneRow>(
  ['seq', 'integer', (lane) => lane.id],
  ['ns', 'integer', (_, ns) => ns],
  ['kind', 'text', (lane) => lane.kind],
  ['user_group', 'text', (lane) => lane.group],
);

export const lane: WholeTable<'lane'> = {
  place: 'lane',
  key: [{ name: 'seq', kind: 'integer' }],
  columns: laneColumns,
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    return { id: get('seq'), kind: get('kind'), group: get('user_group') };
  },
};
