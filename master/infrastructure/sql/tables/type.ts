/** What is set for types, as rows. */
import { layerIn, settingsIn, type TaskType } from '../../../domain/model/task-type.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from './table.ts';

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
