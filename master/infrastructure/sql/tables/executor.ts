/** What operators have decided about executors, as rows. */
import type { ExecutorRecord } from '../../../domain/model/executor.ts';
import type { Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from './table.ts';

export const executorDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  id ${t.key(64)} NOT NULL,
  lasting ${t.integer} NOT NULL,
  drained_at ${t.instant} NULL,
  drained_by ${t.name(64)} NULL,
  drain_reason ${t.text} NULL,
  drain_deadline_at ${t.instant} NULL,
  labels ${t.text} NULL,
  reserve ${t.text} NULL,
  override_by ${t.name(64)} NULL,
  PRIMARY KEY (ns, id)`;

type List = readonly string[] | null;
const listText = (list: List): string | null => (list === null ? null : JSON.stringify(list));
const listOf = (text: string | null): List => (text === null ? null : (JSON.parse(text) as List));

const executorColumns = columns<ExecutorRecord>(
  ['ns', 'integer', (_, ns) => ns],
  ['id', 'text', (record) => record.executorId],
  ['lasting', 'integer', (record) => (record.lasting ? 1 : 0)],
  ['drained_at', 'integer', (record) => record.drainedAt],
  ['drained_by', 'text', (record) => record.drainedBy],
  ['drain_reason', 'text', (record) => record.drainReason],
  ['drain_deadline_at', 'integer', (record) => record.drainDeadlineAt],
  ['labels', 'text', (record) => listText(record.labels)],
  ['reserve', 'text', (record) => listText(record.reserve)],
  ['override_by', 'text', (record) => record.overrideBy],
);

export const executor: WholeTable<'executor'> = {
  place: 'executor',
  key: [
    { name: 'ns', kind: 'integer' },
    { name: 'id', kind: 'text' },
  ],
  columns: executorColumns,
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    return {
      executorId: get('id'),
      lasting: get('lasting') === 1,
      drainedAt: get('drained_at'),
      drainedBy: get('drained_by'),
      drainReason: get('drain_reason'),
      drainDeadlineAt: get('drain_deadline_at'),
      labels: listOf(get('labels')),
      reserve: listOf(get('reserve')),
      overrideBy: get('override_by'),
    };
  },
};
