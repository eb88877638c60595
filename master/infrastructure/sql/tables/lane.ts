/** Lanes in which tasks wait, or did, as rows. */
import type { LaneRow } from '../../../domain/queue/lane.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from './table.ts';

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
