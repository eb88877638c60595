/** What is set for types, as rows. */
import { layerIn, settingsIn, type TaskType } from '../../../domain/model/task-type.ts';
import type { Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from './table.ts';

export const typeDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  type ${t.key(64)} NOT NULL,
  version ${t.instant} NOT NULL,
  definition ${t.text} NOT NULL,
  paused_at ${t.instant} NULL,
  paused_by ${t.name(64)} NULL,
  paused_reason ${t.text} NULL,
  paused_until ${t.instant} NULL,
  override_text ${t.text} NULL,
  override_at ${t.instant} NULL,
  override_by ${t.name(64)} NULL,
  override_reason ${t.text} NULL,
  override_until ${t.instant} NULL,
  PRIMARY KEY (ns, type)`;

const typeColumns = columns<TaskType>(
  ['ns', 'integer', (_, ns) => ns],
  ['type', 'text', (row) => row.type],
  ['version', 'integer', (row) => row.version],
  ['definition', 'text', (row) => row.text],
  ['paused_at', 'integer', (row) => row.paused?.at ?? null],
  ['paused_by', 'text', (row) => row.paused?.by ?? null],
  ['paused_reason', 'text', (row) => row.paused?.reason ?? null],
  ['paused_until', 'integer', (row) => row.paused?.until ?? null],
  ['override_text', 'text', (row) => row.override?.text ?? null],
  ['override_at', 'integer', (row) => row.override?.at ?? null],
  ['override_by', 'text', (row) => row.override?.by ?? null],
  ['override_reason', 'text', (row) => row.override?.reason ?? null],
  ['override_until', 'integer', (row) => row.override?.until ?? null],
);

export const type: WholeTable<'type'> = {
  place: 'task_type',
  key: [
    { name: 'ns', kind: 'integer' },
    { name: 'type', kind: 'text' },
  ],
  columns: typeColumns,
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    const layer = (name: string) => ({
      at: get<number>(`${name}_at`),
      by: get<string | null>(`${name}_by`),
      until: get<number | null>(`${name}_until`),
    });
    const text = get<string>('definition');
    const override = get<string | null>('override_text');
    return {
      type: get('type'),
      version: get('version'),
      text,
      ...settingsIn(text),
      paused:
        get('paused_at') === null ? null : { ...layer('paused'), reason: get('paused_reason') },
      override:
        override === null
          ? null
          : {
              text: override,
              ...layerIn(override),
              ...layer('override'),
              reason: get('override_reason'),
            },
    };
  },
};
