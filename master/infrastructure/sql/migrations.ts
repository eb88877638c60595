/**
 * The schema, as the steps that led to it. Forward only: a step, once released, is never edited.
 * A step takes place as a whole on SQLite; each of its statements can be run again, because MySQL
 * commits after every one of them. The result is described in `/schema.sql`; a test compares the
 * two.
 */
import { StoreUnusable } from '../../application/ports.ts';
import type { Database } from './database.ts';
import type { Dialect, Types } from './dialects/dialect.ts';
import { placeholders } from './dialects/dialect.ts';
import { SEGMENT_PREFIX, segmentNamed } from './segments.ts';
import { historyIndexes } from './tables/history.ts';

/** As 2.0.0 made them. What came since stands behind the columns of every table, old or new. */
const liveTaskColumns = (t: Types): string => `
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

const addedTaskColumns = (t: Types): Columns => [
  ['incarnation', `${t.name(64)} NULL`],
  ['contact_count', `${t.integer} NOT NULL DEFAULT 0`],
  ['hidden_ms', `${t.instant} NOT NULL DEFAULT 0`],
  ['stall_hidden_ms', `${t.instant} NOT NULL DEFAULT 0`],
  ['start_timeout_ms', `${t.instant} NULL`],
  ['start_timeout_action', `${t.key(16)} NULL`],
  ['end_by', `${t.instant} NULL`],
];

/** Of segments alone, as 2.0.0 made them. */
const endColumns = (t: Types): string => `
  finished_at ${t.instant} NOT NULL,
  failure_reason ${t.key(32)} NULL,
  notify_state ${t.key(16)} NULL,
  notify_tries ${t.integer} NULL,
  notify_next_at ${t.instant} NULL,
  notify_status ${t.integer} NULL,
  notify_error ${t.text} NULL,
  delivered_at ${t.instant} NULL,
  result ${t.text} NULL`;

const addedEndColumns = (t: Types): Columns => [['notify_since', `${t.instant} NULL`]];

const addedAttemptColumns = (t: Types): Columns => [
  ['incarnation', `${t.name(64)} NULL`],
  ['session', `${t.key(64)} NULL`],
];

const installationColumns = (t: Types): string => `
  name ${t.key(64)} NOT NULL PRIMARY KEY,
  value ${t.text} NOT NULL`;

/**
 * Makes one segment of history, what of it is not there. A step that changes the columns of tasks
 * must also alter the segments that exist.
 */
export function createSegment(dialect: Dialect, table: string): string[] {
  const t = dialect.types;
  const columns = `${liveTaskColumns(t)},${endColumns(t)},
  ${[...addedTaskColumns(t), ...addedEndColumns(t)]
    .map(([name, type]) => `${name} ${type}`)
    .join(',\n  ')}`;
  return dialect.createTable(table, columns, historyIndexes);
}

const masterColumns = (t: Types): string => `
  id ${t.integer} NOT NULL PRIMARY KEY,
  term ${t.instant} NOT NULL,
  owner ${t.name(255)} NOT NULL,
  started_at ${t.instant} NOT NULL`;

const addedMasterColumns = (t: Types): Columns => [
  ['alive_at', `${t.instant} NULL`],
  ['writer', `${t.instant} NULL`],
  ['clock_back', `${t.key(255)} NULL`],
  ['next_seq', `${t.instant} NOT NULL DEFAULT 1`],
];

const attemptColumns = (t: Types): string => `
  task_seq ${t.instant} NOT NULL,
  attempt ${t.integer} NOT NULL,
  executor_id ${t.key(64)} NOT NULL,
  outcome ${t.key(32)} NOT NULL,
  offered_at ${t.instant} NOT NULL,
  started_at ${t.instant} NULL,
  ended_at ${t.instant} NOT NULL,
  error ${t.text} NULL,
  PRIMARY KEY (task_seq, attempt)`;

const executorColumns = (t: Types): string => `
  id ${t.key(64)} NOT NULL PRIMARY KEY,
  lasting ${t.integer} NOT NULL,
  drained_at ${t.instant} NULL,
  drain_deadline_at ${t.instant} NULL,
  labels ${t.text} NULL,
  reserve ${t.text} NULL`;

const versionColumns = (t: Types): string => `
  id ${t.integer} NOT NULL PRIMARY KEY,
  version ${t.integer} NOT NULL`;

/** Names and types. */
type Columns = readonly (readonly [string, string])[];

/** The tables that are there when a step begins, with their columns and indexes. */
type Existing = ReadonlyMap<string, ReadonlySet<string>>;

/** Behind the others, so that no row is written again; those that are there already are left out. */
function addColumns(existing: Existing, table: string, columns: Columns): string[] {
  const missing = columns.filter(([name]) => existing.get(table)?.has(name) !== true);
  return missing.map(([name, type]) => `ALTER TABLE ${table} ADD COLUMN ${name} ${type}`);
}

/** Whatever is deleted later. */
function countSeqs(tables: readonly string[]): string[] {
  return tables.map(
    (table) => `UPDATE master SET next_seq = (SELECT MAX(seq) FROM ${table}) + 1
    WHERE next_seq <= (SELECT MAX(seq) FROM ${table})`,
  );
}

/** From the deadline to the earlier of it and the limit for the start. */
function moveIndexOfLimits(dialect: Dialect, existing: Existing): string[] {
  const isThere = (index: string) => existing.get('task')?.has(index) === true;
  return [
    `UPDATE task SET end_by = deadline_at WHERE deadline_at IS NOT NULL AND end_by IS NULL`,
    ...(isThere('task_end')
      ? []
      : [dialect.createIndex('task', { name: 'end', columns: 'end_by' })]),
    ...(isThere('task_deadline') ? [dialect.dropIndex('task', 'deadline')] : []),
  ];
}

const steps: readonly ((dialect: Dialect, existing: Existing) => string[])[] = [
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
    ...dialect.createTable('task_attempt', attemptColumns(dialect.types), []),
  ],
  (dialect, existing) => {
    const t = dialect.types;
    const segments = [...existing.keys()].filter((table) => table.startsWith(SEGMENT_PREFIX));
    return [
      ...['task', ...segments].flatMap((table) => addColumns(existing, table, addedTaskColumns(t))),
      ...segments.flatMap((table) => addColumns(existing, table, addedEndColumns(t))),
      ...moveIndexOfLimits(dialect, existing),
      ...addColumns(existing, 'task_attempt', addedAttemptColumns(t)),
      ...addColumns(existing, 'master', addedMasterColumns(t)),
      ...countSeqs(['task', ...segments]),
      ...dialect.createTable('executor', executorColumns(t), []),
      ...dialect.createTable('installation', installationColumns(t), []),
    ];
  },
];

/** What a step may have made; so far it has told of it in `schema_version`. */
const OURS = /^(master|executor|task|task_attempt|installation|task_history_\d{8})$/;

/**
 * Brings the schema to this version. Masters that start together take turns.
 * @throws {StoreUnusable} a newer version has been here: its rows may mean what this one ignores;
 *   or nothing says which version has.
 */
export async function migrate(database: Database): Promise<void> {
  await database.exclusively(async (alone) => {
    const version = await readVersion(alone);
    if (version > steps.length) {
      throw new StoreUnusable(
        `the database has schema version ${version}, this master knows ${steps.length}: ` +
          'start the newer master again, or restore a backup from before the upgrade',
      );
    }
    for (const [index, step] of steps.entries()) {
      if (index < version) continue;
      const raise = `UPDATE schema_version SET version = ${index + 1} WHERE id = 1 AND version = ${index}`;
      const statements = step(alone.dialect, await readNames(alone));
      await alone.changeSchema([...statements, raise]);
    }
  });
}

/**
 * Whether everything is there that statements name: a version between two releases, or somebody's
 * hand, may have left it out, and no try would ever succeed. Of segments it looks at the oldest and
 * the newest: there may be a thousand.
 * @throws {StoreUnusable} naming the table and the column, and what to do.
 */
export async function checkColumns(database: Database): Promise<void> {
  const { knex, dialect } = database;
  const listed = (await dialect.listTables(knex, SEGMENT_PREFIX)).filter(segmentNamed).sort();
  const segments = [...new Set([listed.at(0), listed.at(-1)])].filter((name) => name !== undefined);
  const tables = ['master', 'task', 'task_attempt', 'executor', 'installation', ...segments];
  const existing = await readNames(database, tables);
  // Another master may have dropped one meanwhile.
  const kept = segments.filter((table) => existing.has(table));
  for (const { table, made, added } of tablesOf(dialect.types, kept)) {
    const names = existing.get(table);
    const isMissing = (name: string) => names?.has(name) !== true;
    const lost = made.find(isMissing);
    const missing = lost ?? added.find(isMissing);
    if (missing === undefined) continue;
    const what = names === undefined ? `no table ${table}` : `no column ${missing} in ${table}`;
    const last = steps.length - 1;
    const remedy =
      lost === undefined
        ? `UPDATE schema_version SET version = ${last} has the next start add it; or`
        : 'it cannot be made anew:';
    throw new StoreUnusable(
      `the database says schema version ${steps.length}, but has ${what}: a version between two ` +
        `releases has made it, or it was changed by hand. ${remedy} restore a backup, or use ` +
        'another database',
    );
  }
}

/** Each table with the names of its columns; `added`: those that the last step makes. */
function tablesOf(t: Types, segments: readonly string[]) {
  const ofTask = [liveTaskColumns(t), addedTaskColumns(t)] as const;
  const ofSegment = [ofTask[0] + endColumns(t), [...ofTask[1], ...addedEndColumns(t)]] as const;
  const tables: readonly (readonly [string, string, Columns])[] = [
    ['master', masterColumns(t), addedMasterColumns(t)],
    ['task', ...ofTask],
    ['task_attempt', attemptColumns(t), addedAttemptColumns(t)],
    ...segments.map((table) => [table, ...ofSegment] as const),
  ];
  const named = tables.map(([table, made, added]) => ({
    table,
    made: namesIn(made),
    added: added.map(([name]) => name),
  }));
  const executor = { table: 'executor', made: [], added: namesIn(executorColumns(t)) };
  const installation = { table: 'installation', made: [], added: namesIn(installationColumns(t)) };
  return [...named, executor, installation];
}

/** A column stands on a line of its own. */
function namesIn(columns: string): string[] {
  return [...columns.matchAll(/^ {2}([a-z_]+) /gm)].map(([, name]) => name ?? '');
}

/** Of all tables, or of some. */
async function readNames(database: Database, tables?: readonly string[]): Promise<Existing> {
  const { selectNames } = database.dialect;
  const rows =
    tables === undefined
      ? await database.rows(selectNames)
      : await database.rows(
          `SELECT * FROM (${selectNames}) AS made
           WHERE table_name IN ${placeholders(1, tables.length)}`,
          tables,
        );
  const found = new Map<string, Set<string>>();
  for (const row of rows) {
    const table = row['table_name'] as string;
    const names = found.get(table) ?? new Set<string>();
    found.set(table, names.add(row['name'] as string));
  }
  return found;
}

/** 0 for a database without tables. */
async function readVersion(database: Database): Promise<number> {
  const { knex, dialect } = database;
  const tables = await dialect.listTables(knex, '');
  if (tables.includes('schema_version')) {
    const row: unknown = await knex('schema_version').where({ id: 1 }).first('version');
    if (row !== undefined) return (row as { version: number }).version;
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
