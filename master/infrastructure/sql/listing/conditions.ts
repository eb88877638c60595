/** What is asked of each row that a list looks at. */
import { inJson, type TaskFilter } from '../../../domain/model/task-filter.ts';
import type { TaskState } from '../../../domain/model/task.ts';
import { isAmong, isNamed, type Read } from '../database.ts';
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

/** Whether tasks that ended on that day may fit. */
export function includesDay({ from, to }: TaskFilter, { day }: Segment): boolean {
  return (from === null || from < (day + 1) * DAY_MS) && (to === null || to > day * DAY_MS);
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
  return {
    sql: all.map(({ sql }) => ` AND ${sql}`).join(''),
    values: all.flatMap(({ values }) => values),
  };
}

/** Of a day in the middle each row fits. */
function endConditions({ from, to }: TaskFilter, { day }: Segment): [string, Value | null][] {
  return [
    ['finished_at >= ?', from !== null && from > day * DAY_MS ? from : null],
    ['finished_at < ?', to !== null && to < (day + 1) * DAY_MS ? to : null],
  ];
}
