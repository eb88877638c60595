/** What operators have decided about executors, as rows. */
import type { ExecutorRecord } from '../../../domain/executor.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from './table.ts';

const executorColumns = columns<ExecutorRecord>(
  ['id', 'text', (record) => record.executorId],
  ['lasting', 'integer', (record) => (record.lasting ? 1 : 0)],
  ['drained_at', 'integer', (record) => record.drainedAt],
  ['drain_deadline_at', 'integer', (record) => record.drainDeadlineAt],
);

export const executor: WholeTable<'executor'> = {
  place: 'executor',
  key: [{ name: 'id', kind: 'text' }],
  columns: executorColumns,
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    return {
      executorId: get('id'),
      lasting: get('lasting') === 1,
      drainedAt: get('drained_at'),
      drainDeadlineAt: get('drain_deadline_at'),
    };
  },
};
