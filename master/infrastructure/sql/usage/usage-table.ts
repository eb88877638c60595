/** What commits have counted, as they have written it, and what that comes to by day. */
import type { UsageField } from '../../../application/reports/usage-query.ts';
import { FIGURES, type UsageDelta } from '../../../domain/usage/usage.ts';
import type { Columns, Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';
import type { Table } from '../tables/table.ts';

export const deltaDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  term ${t.instant} NOT NULL,
  delta ${t.instant} NOT NULL,
  counts ${t.text} NOT NULL,
  PRIMARY KEY (ns, term, delta)`;

/** Empty where a task has none of these: no task has an empty one. */
export const usageDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  day ${t.key(10)} NOT NULL,
  user_group ${t.exactName(64)} NOT NULL,
  user_project ${t.exactName(64)} NOT NULL,
  user_env ${t.exactName(64)} NOT NULL,
  user_name ${t.exactName(64)} NOT NULL,
  type ${t.key(64)} NOT NULL,
  ${FIGURES.map((name) => `${name} ${t.instant} NOT NULL`).join(',\n  ')},
  PRIMARY KEY (ns, day, user_group, user_project, user_env, user_name, type)`;

export const deltaKey: Columns = [
  { name: 'ns', kind: 'integer' },
  { name: 'term', kind: 'integer' },
  { name: 'delta', kind: 'integer' },
];

export const usage: Table<'usage'> = {
  place: 'usage_delta',
  key: deltaKey,
  columns: columns<UsageDelta>(
    ['ns', 'integer', (_, ns) => ns],
    ['term', 'integer', ({ term }) => term],
    ['delta', 'integer', ({ number }) => number],
    ['counts', 'text', ({ counts }) => JSON.stringify([...counts.values()])],
  ),
};

/** Where a row has what a report is asked by. */
export const fieldColumns: Readonly<Record<UsageField, string>> = {
  group: 'user_group',
  project: 'user_project',
  env: 'user_env',
  user: 'user_name',
  type: 'type',
};

export const usageKey: Columns = [
  { name: 'ns', kind: 'integer' },
  { name: 'day', kind: 'text' },
  ...Object.values(fieldColumns).map(
    (name) => ({ name, kind: name === fieldColumns.type ? 'text' : 'bytes' }) as const,
  ),
];

export const figureColumns: Columns = FIGURES.map((name) => ({ name, kind: 'integer' }) as const);
