/** Whether the schema is what this version takes it for. Changes nothing. */
import { addedAttemptColumns, attemptDefinition } from './tables/attempt.ts';
import { StoreUnusable } from '../../application/ports.ts';
import type { Database } from './database.ts';
import type { Types } from './dialects/dialect.ts';
import { addedJobColumns } from './jobs/create.ts';
import { addedBookingColumns } from './bookings/booking-table.ts';
import { addedOwnedColumns } from './jobs/job-tables.ts';
import {
  addedEndColumns,
  addedTaskColumns,
  endColumns,
  liveTaskColumns,
  namespaceColumns,
  readNames,
  SCHEMA_VERSION,
} from './migrations.ts';
import type { Columns, Existing } from './rows.ts';
import { SEGMENT_PREFIX, segmentNamed } from './segments.ts';
import { definitions } from './tables/all.ts';
import { addedLiveColumns } from './tables/task.ts';

/** Of 2.0.0: the steps since then can be run again, and make what is missing. */
const RELEASED_VERSION = 1;

/**
 * Whether everything is there that statements name: a version between two releases, or somebody's
 * hand, may have left it out, and no try would ever succeed. Of segments it looks at the oldest and
 * the newest: there may be a thousand.
 * @throws {StoreUnusable} naming the table and the column, and what to do.
 */
export async function checkColumns(database: Database): Promise<void> {
  const { dialect } = database;
  const listed = (await dialect.listTables(database, SEGMENT_PREFIX))
    .map(segmentNamed)
    .filter((segment) => segment !== null)
    .sort((a, b) => a.day - b.day)
    .map(({ table }) => table);
  const segments = [...new Set([listed.at(0), listed.at(-1)])].filter((name) => name !== undefined);
  const tables = ['namespace', 'task', 'task_attempt', ...Object.keys(definitions), ...segments];
  const existing = await readNames(database, tables);
  // Another master may have dropped one meanwhile.
  const kept = segments.filter((table) => existing.has(table));
  for (const { table, made, added } of tablesOf(dialect.types, kept, existing)) {
    const names = existing.get(table);
    const isMissing = (name: string) => names?.has(name) !== true;
    const lost = made.find(isMissing);
    const missing = lost ?? added.find(isMissing);
    if (missing === undefined) continue;
    const what = names === undefined ? `no table ${table}` : `no column ${missing} in ${table}`;
    const remedy =
      lost === undefined
        ? `UPDATE schema_version SET version = ${RELEASED_VERSION} has the next start add it; or`
        : 'it cannot be made anew:';
    throw new StoreUnusable(
      `the database says schema version ${SCHEMA_VERSION}, but has ${what}: a version between two ` +
        `releases has made it, or it was changed by hand. ${remedy} restore a backup, or use ` +
        'another database',
    );
  }
}

/** Each table with the names of its columns; `added`: those that the steps since 2.0.0 make. */
function tablesOf(t: Types, segments: readonly string[], existing: Existing) {
  const added = [...addedTaskColumns(t), ...addedJobColumns(t), ...addedBookingColumns(t)];
  const ofTask = [liveTaskColumns(t), added] as const;
  const ofSegment = [ofTask[0] + endColumns(t), [...ofTask[1], ...addedEndColumns(t)]] as const;
  const tables: readonly (readonly [string, string, Columns])[] = [
    ['task', ofTask[0], [...ofTask[1], ...addedLiveColumns(t)]],
    ['task_attempt', attemptDefinition(t), addedAttemptColumns(t)],
    ...segments.map((table) => [table, ...ofSegment] as const),
  ];
  const named = tables.map(([table, made, added]) => ({
    table,
    made: namesIn(made),
    added: added.map(([name]) => name),
  }));
  // A table is made as a whole; without this one nobody knows terms and numbers any more.
  const whole = (table: string, columns: string) => {
    const names = namesIn(columns);
    const isMade = table === 'namespace' || existing.has(table);
    return { table, made: isMade ? names : [], added: names };
  };
  return [
    whole('namespace', namespaceColumns(t)),
    ...named,
    ...Object.entries(definitions).map(([table, of]) => whole(table, of(t))),
    { table: 'job', made: [], added: addedOwnedColumns(t).map(([name]) => name) },
  ];
}

/** A column stands on a line of its own. */
function namesIn(columns: string): string[] {
  return [...columns.matchAll(/^ {2}([a-z_]+) /gm)].map(([, name]) => name ?? '');
}
