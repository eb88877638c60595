/** Shared limits, and what attempts have taken of them, as rows. */
import type { Holding, Per, SharedLimit, Taken } from '../../../domain/model/shared-limit.ts';
import type { Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from './table.ts';

/** Of the text of what a task uses: eight names of 64 characters, with numbers of seven digits. */
export const USES_LENGTH_MAX = 8 * (64 + 1 + 7 + 1);

export const limitDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  name ${t.key(64)} NOT NULL,
  max_count ${t.integer} NOT NULL,
  per ${t.key(80)} NOT NULL,
  PRIMARY KEY (ns, name)`;

export const holdingDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  task_id ${t.key(64)} NOT NULL,
  attempt ${t.integer} NOT NULL,
  taken ${t.text} NOT NULL,
  PRIMARY KEY (ns, task_id, attempt)`;

const LABEL = 'label:';
const perText = (per: Per): string => (typeof per === 'string' ? per : LABEL + per.label);
function perOf(text: string): Per {
  return text.startsWith(LABEL) ? { label: text.slice(LABEL.length) } : (text as Per);
}

const limitColumns = columns<SharedLimit>(
  ['ns', 'integer', (_, ns) => ns],
  ['name', 'text', (row) => row.name],
  ['max_count', 'integer', (row) => row.max],
  ['per', 'text', (row) => perText(row.per)],
);

export const limit: WholeTable<'limit'> = {
  place: 'shared_limit',
  key: [
    { name: 'ns', kind: 'integer' },
    { name: 'name', kind: 'text' },
  ],
  columns: limitColumns,
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    return { name: get('name'), max: get('max_count'), per: perOf(get('per')) };
  },
};

const holdingColumns = columns<Holding>(
  ['ns', 'integer', (_, ns) => ns],
  ['task_id', 'text', (row) => row.taskId],
  ['attempt', 'integer', (row) => row.attempt],
  ['taken', 'text', (row) => JSON.stringify(row.taken)],
);

export const holding: WholeTable<'holding'> = {
  place: 'holding',
  key: [
    { name: 'ns', kind: 'integer' },
    { name: 'task_id', kind: 'text' },
    { name: 'attempt', kind: 'integer' },
  ],
  columns: holdingColumns,
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    const taken = JSON.parse(get('taken')) as Taken[];
    return { taskId: get('task_id'), attempt: get('attempt'), taken };
  },
};
