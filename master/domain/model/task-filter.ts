/** Which tasks somebody looks for. The same question is put to databases, so it asks for columns only. */
import type { FailureReason, Notification, NotificationState, Task, TaskState } from './task.ts';

/** Types and groups that somebody may see and touch: one of each list; null: any. */
export interface Sight {
  readonly types: readonly string[] | null;
  readonly groups: readonly string[] | null;
}

export const ALL: Sight = { types: null, groups: null };

export function seesAll({ types, groups }: Sight): boolean {
  return types === null && groups === null;
}

export function sees({ types, groups }: Sight, type: string, group: string): boolean {
  return (types?.includes(type) ?? true) && (groups?.includes(group) ?? true);
}

/** All that is not null has to fit. */
export interface TaskFilter {
  readonly state: TaskState | null;
  readonly type: string | null;
  readonly group: string | null;
  readonly project: string | null;
  readonly env: string | null;
  readonly user: string | null;
  /** One of its labels. */
  readonly label: string | null;
  /** One of the labels that it requires. */
  readonly requires: string | null;
  /** Who has its newest attempt, or had it. */
  readonly executorId: string | null;
  /** How its id begins. */
  readonly idPrefix: string | null;
  /** What its error has, as JSON writes it; of one that has succeeded none is looked at. */
  readonly error: string | null;
  readonly failureReason: FailureReason | null;
  /** Only ended tasks whose callback is so. */
  readonly notification: NotificationState | null;
  /** Ended not before this instant; of one that has not: submitted. */
  readonly from: number | null;
  /** Ended before this instant; of one that has not: submitted. */
  readonly to: number | null;
  readonly minAttempts: number | null;
  /** Of which job it is a run. */
  readonly job: string | null;
  /** Only of these, whatever `type` and `group` say. */
  readonly within?: Sight;
}

/** Any task fits. */
export const ANY_TASK: TaskFilter = {
  state: null,
  type: null,
  group: null,
  project: null,
  env: null,
  user: null,
  label: null,
  requires: null,
  executorId: null,
  idPrefix: null,
  error: null,
  failureReason: null,
  notification: null,
  from: null,
  to: null,
  minAttempts: null,
  job: null,
};

/** What of it was asked for, by the names of the API; instants in epoch milliseconds. */
export function filterFields({ within: _, ...asked }: TaskFilter): Record<string, string | number> {
  const named = Object.entries(asked).flatMap(([name, value]) => {
    const field = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return value === null ? [] : [[field, value] as const];
  });
  return Object.fromEntries(named);
}

export function isSeen({ type, user }: Pick<Task, 'type' | 'user'>, sight: Sight = ALL): boolean {
  return sees(sight, type, user.group);
}

export function matches(
  filter: TaskFilter,
  task: Task,
  notification: Notification | null,
): boolean {
  const { user } = task;
  const equal: readonly (readonly [wanted: string | null, is: string | null | undefined])[] = [
    [filter.state, task.state],
    [filter.type, task.type],
    [filter.group, user.group],
    [filter.project, user.project],
    [filter.env, user.env],
    [filter.user, user.user],
    [filter.executorId, task.executorId],
    [filter.failureReason, task.failureReason],
    [filter.notification, notification?.state],
    [filter.job, task.job?.name],
  ];
  const { label, requires, idPrefix, minAttempts } = filter;
  return (
    equal.every(([wanted, is]) => wanted === null || wanted === is) &&
    isSeen(task, filter.within) &&
    (label === null || task.labels.includes(label)) &&
    (requires === null || task.requires.includes(requires)) &&
    (idPrefix === null || task.id.startsWith(idPrefix)) &&
    (minAttempts === null || task.attempt >= minAttempts) &&
    (filter.error === null || hasError(task, inJson(filter.error))) &&
    isWithin(filter, task.finishedAt ?? task.submittedAt)
  );
}

/** As it stands in a string of JSON. */
export function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function hasError({ state, error }: Task, wanted: string): boolean {
  if (error === null || state === 'succeeded') return false;
  const { message, name = '', details = '' } = error;
  return [inJson(message), inJson(name), details].some((text) => text.includes(wanted));
}

function isWithin({ from, to }: TaskFilter, at: number): boolean {
  return (from === null || at >= from) && (to === null || at < to);
}
