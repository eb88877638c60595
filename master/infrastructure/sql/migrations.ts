/**
 * The schema, as the steps that led to it. Forward only: a step, once released, is never edited. A step takes place as
 * a whole on SQLite; each of its statements can be run again, because MySQL commits after every one of them. The result
 * is described in `/schema.sql`; a test compares the two.
 */
import { inNamespace, StoreUnusable } from '../../application/ports.ts';
import { addSilencedIndex, createAlerts } from './alerts/alert-tables.ts';
import { createAudit } from './audit/append.ts';
import type { Database } from './database.ts';
import type { Dialect, Index, Types } from './dialects/dialect.ts';
import { createFeed } from './feed/event-table.ts';
import { addCalendaredIndex, addDecided, addedJobColumns, createJobs } from './jobs/create.ts';
import { addColumns, type Columns, type Existing } from './rows.ts';
import {
  addedBookingColumns,
  addedUsageColumns,
  createBookings,
} from './bookings/booking-table.ts';
import { addedOwnedColumns } from './jobs/job-tables.ts';
import { installationDefinition } from './installation.ts';
import { LOG_TABLE, logDefinition } from './logs/log-table.ts';
import { definitions } from './tables/all.ts';
import { addedAttemptColumns, attemptDefinition } from './tables/attempt.ts';
import { executorDefinition } from './tables/executor.ts';
import { laneDefinition } from './tables/lane.ts';
import { leftoverDefinition } from './tables/leftover.ts';
import { holdingDefinition, limitDefinition, USES_LENGTH_MAX } from './tables/limit.ts';
import { pauseDefinition } from './tables/pause.ts';
import { rateDefinition } from './tables/rate.ts';
import { addedLiveColumns, taskIndexes } from './tables/task.ts';
import { tokenDefinition } from './tables/token.ts';
import { typeDefinition } from './tables/type.ts';
import { viewDefinition } from './tables/saved-view.ts';
import { LOAD_TABLE, loadDefinition, loadIndexes } from './load/load-table.ts';
import { deltaDefinition, usageDefinition } from './usage/usage-table.ts';
import { workDefinition } from './long-work/work-table.ts';
import { namesByTable, placeholders } from './dialects/dialect.ts';
import { segmentNamed } from './segments.ts';
import { historyIndexes, oldHistoryIndexes } from './tables/history.ts';

/** As 2.0.0 made them. What came since stands behind the columns of every table, old or new. */
export const liveTaskColumns = (t: Types): string => `
  seq ${t.seq},
  id ${t.key(64)} NOT NULL,
  type ${t.key(64)} NOT NULL,
  lane ${t.key(255)} NOT NULL,
  state ${t.key(16)} NOT NULL,
  version ${t.integer} NOT NULL,
  priority ${t.integer} NOT NULL,
  order_time ${t.instant} NOT NULL,
  due_at ${t.instant} NOT NULL,
  attempt ${t.integer} NOT NULL,
  attempts_used ${t.integer} NOT NULL,
  crash_count ${t.integer} NOT NULL,
  executor_id ${t.key(64)} NULL,
  offered_at ${t.instant} NULL,
  started_at ${t.instant} NULL,
  cancel_requested_at ${t.instant} NULL,
  cancel_reason ${t.key(32)} NULL,
  last_outcome ${t.key(32)} NULL,
  progress_percent ${t.real} NULL,
  progress_at ${t.instant} NULL,
  submitted_at ${t.instant} NOT NULL,
  max_attempts ${t.integer} NOT NULL,
  retry_interval ${t.key(1024)} NOT NULL,
  assign_timeout_ms ${t.instant} NOT NULL,
  execution_timeout_ms ${t.instant} NULL,
  stall_timeout_ms ${t.instant} NULL,
  deadline_at ${t.instant} NULL,
  request_hash ${t.key(128)} NOT NULL,
  labels ${t.key(1024)} NOT NULL,
  requires ${t.key(1024)} NOT NULL,
  user_group ${t.name(64)} NOT NULL,
  user_project ${t.name(64)} NULL,
  user_env ${t.name(64)} NULL,
  user_name ${t.name(64)} NULL,
  notify_url ${t.text} NULL,
  progress_state ${t.text} NULL,
  error ${t.text} NULL,
  checkpoint ${t.text} NULL,
  params ${t.text} NOT NULL`;

export const addedTaskColumns = (t: Types): Columns => [
  ['ns', `${t.integer} NOT NULL DEFAULT 0`],
  ['incarnation', `${t.name(64)} NULL`],
  ['contact_count', `${t.integer} NOT NULL DEFAULT 0`],
  ['hidden_ms', `${t.instant} NOT NULL DEFAULT 0`],
  ['stall_hidden_ms', `${t.instant} NOT NULL DEFAULT 0`],
  ['start_timeout_ms', `${t.instant} NULL`],
  ['start_timeout_action', `${t.key(16)} NULL`],
  ['end_by', `${t.instant} NULL`],
  ['disk_bytes', `${t.instant} NULL`],
  ['uses', `${t.key(USES_LENGTH_MAX)} NULL`],
  ['lane_seq', `${t.instant} NULL`],
  ['progress_detail', `${t.text} NULL`],
  ['traceparent', `${t.key(55)} NULL`],
];

/** Of segments alone, as 2.0.0 made them. */
export const endColumns = (t: Types): string => `
  finished_at ${t.instant} NOT NULL,
  failure_reason ${t.key(32)} NULL,
  notify_state ${t.key(16)} NULL,
  notify_tries ${t.integer} NULL,
  notify_next_at ${t.instant} NULL,
  notify_status ${t.integer} NULL,
  notify_error ${t.text} NULL,
  delivered_at ${t.instant} NULL,
  result ${t.text} NULL`;

export const addedEndColumns = (t: Types): Columns => [['notify_since', `${t.instant} NULL`]];

/**
 * Makes a segment of history, or of one that is there what it lacks: 2.0.0 may have left it half made,
 * and made its indexes for one namespace. A step that changes the columns of tasks must also alter the
 * segments that exist.
 * @param made the names of its indexes; undefined: there is no such table.
 */
export function makeSegment(
  dialect: Dialect,
  table: string,
  made: ReadonlySet<string> | undefined,
): string[] {
  const t = dialect.types;
  const added = [
    ...addedTaskColumns(t),
    ...addedEndColumns(t),
    ...addedJobColumns(t),
    ...addedBookingColumns(t),
  ];
  const columns = [liveTaskColumns(t), endColumns(t), ...added.map((one) => one.join(' '))].join();
  if (made === undefined) return dialect.createTable(table, columns, historyIndexes);
  return replaceIndexes(dialect, table, made, historyIndexes, oldHistoryIndexes);
}

/** What is new comes before what is old goes: reads go by one of them. */
function replaceIndexes(
  dialect: Dialect,
  table: string,
  made: ReadonlySet<string>,
  wanted: readonly Index[],
  old: readonly string[],
): string[] {
  const isMade = (name: string) => made.has(`${table}_${name}`);
  const unwanted = old.filter((name) => wanted.every((index) => index.name !== name));
  return [
    ...wanted.filter(({ name }) => !isMade(name)).map((index) => dialect.createIndex(table, index)),
    ...unwanted.filter(isMade).map((name) => dialect.dropIndex(table, name)),
  ];
}

/** Of 2.0.0. */
const masterColumns = (t: Types): string => `
  id ${t.integer} NOT NULL PRIMARY KEY,
  term ${t.instant} NOT NULL,
  owner ${t.name(255)} NOT NULL,
  started_at ${t.instant} NOT NULL`;

export const namespaceColumns = (t: Types): string => `
  id ${t.integer} NOT NULL PRIMARY KEY,
  name ${t.key(32)} NOT NULL,
  created_at ${t.instant} NOT NULL,
  is_deleted ${t.integer} NOT NULL,
  term ${t.instant} NOT NULL,
  owner ${t.name(255)} NOT NULL,
  started_at ${t.instant} NOT NULL,
  next_seq ${t.instant} NOT NULL,
  next_event_seq ${t.instant} NOT NULL DEFAULT 1,
  alive_at ${t.instant} NULL,
  writer ${t.instant} NULL,
  unfinished ${t.text} NULL,
  paused_at ${t.instant} NULL,
  paused_by ${t.name(64)} NULL,
  paused_reason ${t.text} NULL,
  paused_until ${t.instant} NULL,
  retention ${t.key(16)} NOT NULL,
  max_waiting ${t.integer} NULL,
  max_running ${t.integer} NULL`;

const versionColumns = (t: Types): string => `
  id ${t.integer} NOT NULL PRIMARY KEY,
  version ${t.integer} NOT NULL`;

/**
 * A master of 2.0.0 that still runs is deposed before anything is read, whenever this is begun again:
 * it may have begun a term in between.
 */
function fenceBefore(existing: Existing): string[] {
  if (!existing.has('master')) return [];
  return [`UPDATE master SET term = term + 1, owner = '' WHERE id = 1 AND term > 0`];
}

/** What the row of the term says becomes that of `default`. */
function makeNamespaces(dialect: Dialect, existing: Existing, now: number): string[] {
  const table = dialect.createTable('namespace', namespaceColumns(dialect.types), [
    { name: 'name', columns: 'name', unique: true },
  ]);
  const row = `INSERT INTO namespace
    (id, name, created_at, is_deleted, term, owner, started_at, next_seq, retention)
    SELECT 0, 'default', ${now}, 0, 0, '', 0, 1, 'normal' FROM (SELECT 1) AS one
    WHERE NOT EXISTS (SELECT id FROM namespace WHERE id = 0)`;
  if (!existing.has('master')) return [...table, row];
  const term = '(SELECT term FROM master WHERE id = 1)';
  return [...table, row, `UPDATE namespace SET term = ${term} WHERE id = 0 AND term < ${term}`];
}

/** Of `default`, whose tasks all of 2.0.0 are; whatever is deleted later. */
function countSeqs(tables: readonly string[]): string[] {
  return tables.map((table) => {
    const newest = `(SELECT MAX(seq) FROM ${table} WHERE seq < ${inNamespace(1, 0)})`;
    return `UPDATE namespace SET next_seq = ${newest} + 1 WHERE id = 0 AND next_seq <= ${newest}`;
  });
}

/**
 * What 2.0.0 named by type, required labels and labels gets a number for each group, behind those of all tasks.
 * Tasks that run get one too: they may have to wait again.
 */
function numberLanes(dialect: Dialect): string[] {
  return [
    ...dialect.createTable('lane', laneDefinition(dialect.types), [
      // Not unique: to MySQL groups are the same that differ in spaces at their end.
      { name: 'ns_kind', columns: 'ns, kind, user_group' },
    ]),
    // A 2.0.0 that went on after a step that was cut off may have given numbers of lanes to tasks.
    ...countSeqs(['lane']),
    `INSERT INTO lane (seq, ns, kind, user_group)
     SELECT (SELECT next_seq FROM namespace WHERE id = 0) - 1
       + ROW_NUMBER() OVER (ORDER BY named.kind, named.user_group), 0, named.kind, named.user_group
     FROM (SELECT DISTINCT lane AS kind, user_group FROM task WHERE lane_seq IS NULL) AS named
     WHERE NOT EXISTS (SELECT seq FROM lane AS known
       WHERE known.ns = 0 AND known.kind = named.kind AND known.user_group = named.user_group)`,
    ...countSeqs(['lane']),
    `UPDATE task SET lane_seq = (SELECT MIN(lane.seq) FROM lane
       WHERE lane.ns = 0 AND lane.kind = task.lane AND lane.user_group = task.user_group),
       queue_time = order_time WHERE lane_seq IS NULL`,
  ];
}

const steps: readonly ((dialect: Dialect, existing: Existing, now: number) => string[])[] = [
  (dialect) => [
    ...dialect.createTable('master', masterColumns(dialect.types), []),
    // A term that is there stays: whoever holds it, or held it, must never meet it again.
    `INSERT INTO master (id, term, owner, started_at) SELECT 1, 0, '', 0 FROM (SELECT 1) AS one
     WHERE NOT EXISTS (SELECT id FROM master)`,
    ...dialect.createTable('task', liveTaskColumns(dialect.types), [
      { name: 'id', columns: 'id', unique: true },
      { name: 'lane', columns: 'state, lane, order_time, seq, due_at' },
      { name: 'due', columns: 'due_at, seq' },
      { name: 'deadline', columns: 'deadline_at' },
    ]),
    ...dialect.createTable('task_attempt', attemptDefinition(dialect.types), []),
  ],
  (dialect, existing, now) => {
    const t = dialect.types;
    const segments = [...existing.keys()].filter((table) => segmentNamed(table) !== null);
    return [
      ...fenceBefore(existing),
      ...makeNamespaces(dialect, existing, now),
      ...['task', ...segments].flatMap((table) => addColumns(existing, table, addedTaskColumns(t))),
      ...addColumns(existing, 'task', addedLiveColumns(t)),
      ...segments.flatMap((table) => addColumns(existing, table, addedEndColumns(t))),
      // The earlier of the deadline and the limit for the start.
      'UPDATE task SET end_by = deadline_at WHERE deadline_at IS NOT NULL AND end_by IS NULL',
      ...countSeqs(['task', ...segments]),
      ...numberLanes(dialect),
      ...replaceIndexes(dialect, 'task', existing.get('task') ?? new Set(), taskIndexes, [
        'id',
        'lane',
        'due',
        'deadline',
      ]),
      ...addColumns(existing, 'task_attempt', addedAttemptColumns(t)),
      ...dialect.createTable('executor', executorDefinition(t), []),
      ...dialect.createTable('leftover', leftoverDefinition(t), []),
      ...dialect.createTable('rate', rateDefinition(t), [], { isByKey: true }),
      ...dialect.createTable('shared_limit', limitDefinition(t), []),
      ...dialect.createTable('holding', holdingDefinition(t), [], { isByKey: true }),
      ...dialect.createTable('task_type', typeDefinition(t), []),
      ...dialect.createTable('pause', pauseDefinition(t), []),
      ...dialect.createTable('saved_view', viewDefinition(t), []),
      ...dialect.createTable('installation', installationDefinition(t), []),
      ...dialect.createTable('token', tokenDefinition(t), []),
      ...createAudit(dialect),
      ...createFeed(dialect),
      ...dialect.createTable('work', workDefinition(t), []),
      ...createAlerts(dialect),
      ...dialect.createTable(LOG_TABLE, logDefinition(t), []),
      ...dialect.createTable('usage_delta', deltaDefinition(t), [], { isByKey: true }),
      ...dialect.createTable('usage_day', usageDefinition(t), []),
      ...dialect.createTable(LOAD_TABLE, loadDefinition(t), loadIndexes),
      // Last: as long as it is there, whoever begins again deposes its masters.
      'DROP TABLE IF EXISTS master',
    ];
  },
  (dialect, existing) => [
    ...[...existing.keys()]
      .filter((table) => table === 'task' || segmentNamed(table) !== null)
      .flatMap((table) => addColumns(existing, table, addedJobColumns(dialect.types))),
    ...createJobs(dialect),
  ],
  (dialect, existing) => [
    ...addColumns(existing, 'job', addedOwnedColumns(dialect.types)),
    // What they were before nobody has noted.
    'UPDATE job SET owned_at = changed_at WHERE owned_at = 0',
  ],
  (dialect, existing) => [
    ...[...existing.keys()]
      .filter((table) => table === 'task' || segmentNamed(table) !== null)
      .flatMap((table) => addColumns(existing, table, addedBookingColumns(dialect.types))),
    ...addColumns(existing, 'usage_day', addedUsageColumns(dialect.types)),
    ...createBookings(dialect, existing.get('task')),
  ],
  (dialect, existing) => addCalendaredIndex(dialect, existing.get('job_trigger')),
  (dialect, existing) => addSilencedIndex(dialect, existing.get('alert')),
  addDecided,
];

export const SCHEMA_VERSION = steps.length;

/** What a step may have made; so far it has told of it in `schema_version`. */
const OURS = new RegExp(
  `^(${['master', 'namespace', 'task', 'task_attempt', ...Object.keys(definitions)].join('|')}|task_history_((short|long)_)?\\d{8})$`,
);

/**
 * Brings the schema to this version. Masters that start together take turns.
 * @throws {StoreUnusable} a newer version has been here: its rows may mean what this one ignores;
 *   or nothing says which version has.
 */
export async function migrate(database: Database, now: number): Promise<void> {
  await database.exclusively(async (alone) => {
    const version = await readVersion(alone);
    if (version > SCHEMA_VERSION) {
      throw new StoreUnusable(
        `the database has schema version ${version}, this master knows ${SCHEMA_VERSION}: ` +
          'start the newer master again, or restore a backup from before the upgrade',
      );
    }
    for (const [index, step] of steps.entries()) {
      if (index < version) continue;
      const raise = `UPDATE schema_version SET version = ${index + 1} WHERE id = 1 AND version = ${index}`;
      const statements = step(alone.dialect, await readNames(alone), now);
      await alone.changeSchema([...statements, raise]);
    }
  });
}

/** Of all tables, or of some: their columns and indexes. */
export async function readNames(database: Database, tables?: readonly string[]): Promise<Existing> {
  const { selectNames } = database.dialect;
  const rows =
    tables === undefined
      ? await database.rows(selectNames)
      : await database.rows(
          `SELECT * FROM (${selectNames}) AS made
           WHERE table_name IN ${placeholders(1, tables.length)}`,
          tables,
        );
  return namesByTable(rows);
}

/** 0 for a database without tables. */
async function readVersion(database: Database): Promise<number> {
  const { dialect } = database;
  const tables = await dialect.listTables(database, '');
  if (tables.includes('schema_version')) {
    const [row] = await database.rows('SELECT version FROM schema_version WHERE id = 1');
    if (row !== undefined) return Number(row['version']);
  }
  const ours = tables.filter((table) => OURS.test(table)).sort();
  // The first step would adopt them as they are, and begin the count of terms again.
  if (ours.length > 0) {
    throw new StoreUnusable(
      `the database has ${ours.join(', ')}, and no row in schema_version that says what made them: ` +
        'restore a backup, or use a database without tables of these names',
    );
  }
  // A server's database may be shared; a file is of one program.
  if (dialect.isInProcess && tables.length > 0) {
    throw new StoreUnusable(
      `the file holds the database of another program, with ${tables.slice(0, 3).join(', ')}: ` +
        'use a file of its own, by SODA_DATA_DIR or SODA_DATABASE_URL',
    );
  }
  await database.changeSchema([
    ...dialect.createTable('schema_version', versionColumns(dialect.types), []),
    'INSERT INTO schema_version (id, version) VALUES (1, 0)',
  ]);
  return 0;
}
