/** What is over for its task and has not been reported by its executor, as rows. */
import type { Leftover } from '../../../domain/model/executor.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from './table.ts';

const leftoverColumns = columns<Leftover>(
  ['ns', 'integer', (_, ns) => ns],
  ['task_id', 'text', (row) => row.taskId],
  ['attempt', 'integer', (row) => row.attempt],
  ['executor_id', 'text', (row) => row.executorId],
  ['incarnation', 'text', (row) => row.incarnation],
  ['type', 'text', (row) => row.type],
  ['user_group', 'text', (row) => row.group],
);

export const leftover: WholeTable<'leftover'> = {
  place: 'leftover',
  key: [
    { name: 'ns', kind: 'integer' },
    { name: 'task_id', kind: 'text' },
    { name: 'attempt', kind: 'integer' },
  ],
  columns: leftoverColumns,
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    return {
      taskId: get('task_id'),
      attempt: get('attempt'),
      executorId: get('executor_id'),
      incarnation: get('incarnation'),
      type: get('type'),
      group: get('user_group'),
    };
  },
};
