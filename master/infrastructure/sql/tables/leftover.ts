/** What is over for its task and has not been reported by its executor, as rows. */
import type { Leftover } from '../../../domain/model/executor.ts';
import type { Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from './table.ts';

export const leftoverDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  task_id ${t.key(64)} NOT NULL,
  attempt ${t.integer} NOT NULL,
  executor_id ${t.key(64)} NOT NULL,
  incarnation ${t.name(64)} NOT NULL,
  type ${t.key(64)} NOT NULL,
  user_group ${t.name(64)} NOT NULL,
  gate ${t.instant} NULL,
  PRIMARY KEY (ns, task_id, attempt)`;

const leftoverColumns = columns<Leftover>(
  ['ns', 'integer', (_, ns) => ns],
  ['task_id', 'text', (row) => row.taskId],
  ['attempt', 'integer', (row) => row.attempt],
  ['executor_id', 'text', (row) => row.executorId],
  ['incarnation', 'text', (row) => row.incarnation],
  ['type', 'text', (row) => row.type],
  ['user_group', 'text', (row) => row.group],
  ['gate', 'integer', (row) => row.gate],
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
      gate: get('gate'),
    };
  },
};
