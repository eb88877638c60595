/** Pauses of groups, of labels, and what a namespace knows of that of all namespaces, as rows. */
import type { PauseRow } from '../../../domain/model/pause.ts';
import type { Types } from '../dialects/dialect.ts';
import { isNamed, type Read } from '../database.ts';
import { columns, type Row } from '../rows.ts';
import type { WholeTable } from './table.ts';

/** By number: to MySQL groups are the same that differ in spaces at their end. */
export const pauseDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  id ${t.instant} NOT NULL,
  scope ${t.key(16)} NOT NULL,
  value ${t.name(64)} NOT NULL,
  paused_at ${t.instant} NOT NULL,
  paused_by ${t.name(64)} NULL,
  paused_reason ${t.text} NULL,
  paused_until ${t.instant} NULL,
  PRIMARY KEY (ns, id)`;

const pauseColumns = columns<PauseRow>(
  ['ns', 'integer', (_, ns) => ns],
  ['id', 'integer', (row) => row.id],
  ['scope', 'text', (row) => row.scope],
  ['value', 'text', (row) => row.value],
  ['paused_at', 'integer', (row) => row.at],
  ['paused_by', 'text', (row) => row.by],
  ['paused_reason', 'text', (row) => row.reason],
  ['paused_until', 'integer', (row) => row.until],
);

export const pause: WholeTable<'pause'> = {
  place: 'pause',
  key: [
    { name: 'ns', kind: 'integer' },
    { name: 'id', kind: 'integer' },
  ],
  columns: pauseColumns,
  of(row: Row) {
    const get = <T>(name: string): T => row[name] as T;
    return {
      id: get('id'),
      scope: get('scope'),
      value: get('value'),
      at: get('paused_at'),
      by: get('paused_by'),
      reason: get('paused_reason'),
      until: get('paused_until'),
    };
  },
};

/** Of tasks but those with a limit for their start that was not over when their group, or a label of theirs, was paused. */
export function notPaused(rows: readonly PauseRow[]): Read {
  const each = rows.flatMap(({ scope, value, at }): Read[] => {
    if (scope === 'group') {
      const { sql, values } = isNamed('user_group', value);
      return [{ sql, values: [...values, at] }];
    }
    const within = `"${value}"`;
    const having = '(INSTR(requires, ?) > 0 OR INSTR(labels, ?) > 0)';
    return scope === 'all' ? [] : [{ sql: having, values: [within, within, at] }];
  });
  const sql = each.map((one) => ` AND NOT (${one.sql} AND end_by > ?)`).join('');
  return { sql, values: each.flatMap(({ values }) => [...values]) };
}
