/** What is asked of each row that a list looks at. */
import { inJson, type TaskFilter } from '../../../domain/model/task-filter.ts';
import type { Ran, TaskQuery } from '../../../application/ports.ts';
import type { TaskState } from '../../../domain/model/task.ts';
import { isAmong, isNamed, type Read } from '../database.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Value } from '../rows.ts';
import type { Segment } from '../segments.ts';

const DAY_MS = 86_400_000;
/** Behind all characters that an id has. */
const BEHIND_IDS = '~';

/** Each begins with ` AND `. */
export type Conditions = Read;

/** The state of whatever fits; null: there may be several. */
export function stateOf({ state, failureReason }: TaskFilter): TaskState | null {
  if (state !== null || failureReason === null) return state;
  return failureReason === 'deadline' ? 'expired' : 'failed';
}

/** Ids that begin so: what an index by id is read by. */
export function idsWith(prefix: string): Read {
  return { sql: 'id >= ? AND id < ?', values: [prefix, prefix + BEHIND_IDS] };
}

/** What rows are looked through for. */
export type Sought = TaskFilter & Pick<TaskQuery, 'ran'>;

/** Whether tasks that ended on that day may fit. */
export function includesDay({ from, to, ran }: Sought, { day }: Segment): boolean {
  const isOver = (at: number | null): boolean => at !== null && at >= (day + 1) * DAY_MS;
  return !isOver(from) && !isOver(ran?.from ?? null) && (to === null || to > day * DAY_MS);
}

/**
 * What a row has to fit, the state left out. Those that stand behind params in a row come last: these may be large.
 * @param segment null: live rows.
 */
export function conditionsOf(filter: TaskFilter, segment: Segment | null): Conditions {
  const { type, group, project, env, user, executorId, minAttempts, job } = filter;
  const { label, requires, idPrefix, error, failureReason, notification } = filter;
  const conditions: [sql: string, ...values: (Value | null)[]][] = [
    ['type = ?', type],
    ['executor_id = ?', executorId],
    ['attempt >= ?', minAttempts],
    // Labels are kept as a JSON array; their alphabet has no quote.
    ['INSTR(labels, ?) > 0', label && `"${label}"`],
    ['INSTR(requires, ?) > 0', requires && `"${requires}"`],
    // Its name comes first, and has no quote either.
    ['INSTR(job, ?) = 1', job && `["${job}",`],
    ["INSTR(error, ?) > 0 AND state <> 'succeeded'", error && inJson(error)],
    ...(segment === null
      ? ([
          ['submitted_at >= ?', filter.from],
          ['submitted_at < ?', filter.to],
        ] as [string, Value | null][])
      : endConditions(filter, segment)),
    ['failure_reason = ?', failureReason],
    ['notify_state = ?', notification],
  ];
  const asked = conditions.filter(([, value]) => value !== null);
  const { types = null, groups = null } = filter.within ?? {};
  const names = [
    ['user_group', groups],
    ['user_group', group],
    ['user_project', project],
    ['user_env', env],
    ['user_name', user],
  ] as const;
  const all: Read[] = [
    ...(types === null ? [] : [isAmong('type', types)]),
    ...names.flatMap(([column, some]) => (some === null ? [] : [isNamed(column, some)])),
    ...(idPrefix === null ? [] : [idsWith(idPrefix)]),
    ...asked.map(([sql, ...values]) => ({ sql, values })),
  ];
  return allOf(all);
}

const allOf = (reads: readonly Read[]): Conditions =>
  joined(...reads.map(({ sql, values }) => ({ sql: ` AND ${sql}`, values })));

/** What each says, one after another. */
export function joined(...reads: readonly Read[]): Read {
  return {
    sql: reads.map(({ sql }) => sql).join(''),
    values: reads.flatMap(({ values }) => values),
  };
}

/** The newest attempt stands in the row of its task; those before it have rows of their own. */
export function ranConditions(
  dialect: Dialect,
  { executorId, from, to }: Ran,
  segment: Segment | null,
): Conditions {
  const endsBefore = (at: number): boolean => segment !== null && (segment.day + 1) * DAY_MS <= at;
  const beginsAfter = (at: number): boolean => segment === null || segment.day * DAY_MS >= at;
  const attempts = dialect.readByLongKey('task_attempt');
  // No EXISTS: a server may look through all attempts once instead of those of each task.
  const hadBy = `(executor_id = ? OR (attempt > 1 AND (SELECT 1 FROM ${attempts}
    WHERE task_attempt.task_seq = seq AND task_attempt.executor_id = ? LIMIT 1) = 1))`;
  return allOf([
    { sql: 'attempt > 0', values: [] },
    ...(to === null || endsBefore(to) ? [] : [{ sql: 'submitted_at < ?', values: [to] }]),
    ...(from === null || beginsAfter(from) ? [] : [{ sql: 'finished_at >= ?', values: [from] }]),
    // Last, since it may ask another table.
    ...(executorId === null ? [] : [{ sql: hadBy, values: [executorId, executorId] }]),
  ]);
}

/** Of a day in the middle each row fits. */
function endConditions({ from, to }: TaskFilter, { day }: Segment): [string, Value | null][] {
  return [
    ['finished_at >= ?', from !== null && from > day * DAY_MS ? from : null],
    ['finished_at < ?', to !== null && to < (day + 1) * DAY_MS ? to : null],
  ];
}
