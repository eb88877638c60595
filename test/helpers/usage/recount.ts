/**
 * Counts again, in SQL, what was counted as it happened: from what the feed tells of every task, and from what is left of
 * those that are kept. Knows nothing of the code that counts.
 */
import type { Database } from '../../../master/infrastructure/sql/database.ts';
import type { Row } from '../../../master/infrastructure/sql/rows.ts';
import { KEPT } from './random-tasks.ts';

const DAY_MS = 86_400_000;
/** Of Asia/Shanghai, at any time of the year. */
const OFFSET_MS = 8 * 3_600_000;

type Counts = Record<string, number>;

const nameOf = (row: Row): string => `${row['type'] as string} ${row['user_group'] as string}`;

/** `encode news 2027-01-15 submitted`: how many, as it was counted. */
export async function asCounted(database: Database): Promise<Counts> {
  const rows = await database.rows('SELECT * FROM usage_day');
  const counts: Counts = {};
  for (const row of rows) {
    for (const [figure, value] of Object.entries(row)) {
      if (KEYS.includes(figure) || figure.endsWith('_ms') || Number(value) === 0) continue;
      add(counts, `${nameOf(row)} ${row['day'] as string} ${figure}`, Number(value));
    }
  }
  return counts;
}

/** The same, counted again. */
export async function asTold(database: Database): Promise<Counts> {
  const midnight = `told_at - (told_at + ${OFFSET_MS}) % ${DAY_MS}`;
  const rows = await database.rows(
    `SELECT ${midnight} AS midnight, type, user_group, kind, data, COUNT(*) AS event_count FROM feed_event
     WHERE task_id IS NOT NULL GROUP BY midnight, type, user_group, kind, data`,
  );
  const counts: Counts = {};
  for (const row of rows) {
    const day = new Date(Number(row['midnight']) + OFFSET_MS).toISOString().slice(0, 10);
    const data = JSON.parse((row['data'] as string | null) ?? '{}') as Record<string, string>;
    for (const figure of figuresOf(row['kind'] as string, data)) {
      add(counts, `${nameOf(row)} ${day} ${figure}`, Number(row['event_count']));
    }
  }
  return counts;
}

/** Milliseconds for which tasks have run that are still there, as counted and as their rows say. */
export async function runTimes(database: Database): Promise<readonly [number, number]> {
  const [counted] = await database.rows('SELECT SUM(run_ms) AS ms FROM usage_day WHERE type = ?', [
    KEPT,
  ]);
  let ms = 0;
  for (const table of await database.dialect.listTables(database, 'task_history_')) {
    const [ended] = await database.rows(
      `SELECT SUM(finished_at - started_at) AS ms FROM ${table} WHERE type = ? AND state = 'succeeded'`,
      [KEPT],
    );
    const [failed] = await database.rows(
      `SELECT SUM(ended_at - task_attempt.started_at) AS ms FROM task_attempt
       JOIN ${table} AS ended ON ended.seq = task_seq
       WHERE type = ? AND outcome NOT IN ('rejected', 'assign_timeout')`,
      [KEPT],
    );
    ms += Number(ended?.['ms'] ?? 0) + Number(failed?.['ms'] ?? 0);
  }
  return [Number(counted?.['ms'] ?? 0), ms];
}

const KEYS = ['ns', 'day', 'type', 'user_group', 'user_project', 'user_env', 'user_name'];

function add(counts: Counts, name: string, count: number): void {
  counts[name] = (counts[name] ?? 0) + count;
}

function figuresOf(kind: string, { state = '', outcome = '' }: Record<string, string>): string[] {
  switch (kind) {
    case 'task.submitted':
      return ['submitted'];
    case 'task.finished':
      return state === 'succeeded' ? [state, 'attempts'] : [state];
    case 'task.attempt_ended':
      return ['attempts', ...figureOf(outcome)];
    case 'task.callback_tried':
      return outcome === 'delivered' ? ['callbacks_delivered'] : [];
    case 'task.callback_gave_up':
      return ['callbacks_gave_up'];
    default:
      return [];
  }
}

/** Whether a lost one was lost with its executor is decided later, and counts as one here. */
function figureOf(outcome: string): string[] {
  if (outcome === 'lost' || outcome === 'lost_contact') return ['lost'];
  return outcome === 'timed_out' ? [outcome] : [];
}
