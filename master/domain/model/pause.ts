/** Pauses: of all tasks, or of those of one type, group or label. */
import { startByAfter, type Task, type TaskSpec, type User } from './task.ts';

/** Nothing is offered. What is offered may start, what runs goes on, and so does everything else. */
export interface Pause {
  readonly at: number;
  /** The name of the token of whoever did it; null: of somebody who needs none, or it was not kept. */
  readonly by: string | null;
  readonly reason: string | null;
  /** When it ends by itself. */
  readonly until: number | null;
}

/** Whose pause has a row of its own. `all`: of all namespaces; each has a row of it, from when it knew. */
export type RowScope = 'group' | 'label' | 'all';
/** A namespace has its pause among its settings, and a type among what is set for it. */
export type PauseScope = RowScope | 'namespace' | 'type';

/** A row. Another one takes its place; none is changed. */
export interface PauseRow extends Pause {
  readonly id: number;
  readonly scope: RowScope;
  /** The group or the label; empty: of all. */
  readonly value: string;
}

/** Whatever says so. */
export interface ScopedPause extends Pause {
  readonly scope: PauseScope;
  /** Empty for all of the namespace, and for all namespaces. */
  readonly value: string;
}

/** Of a task: what tells which pauses concern it. */
export type Concerned = Pick<TaskSpec, 'type' | 'labels' | 'requires'> & {
  readonly user: Pick<User, 'group'>;
};

/** A pause of some tasks, as far as it concerns their limits for starts. */
export interface Since {
  readonly scope: 'type' | 'group' | 'label';
  readonly value: string;
  readonly at: number;
}

/** Of all of them but those of all tasks. */
export function* pausesOfSome(
  rows: Iterable<PauseRow>,
  types: Iterable<{ readonly type: string; readonly paused: Pause | null }>,
): Generator<Since> {
  for (const { scope, value, at } of rows) if (scope !== 'all') yield { scope, value, at };
  for (const { type: value, paused } of types) {
    if (paused !== null) yield { scope: 'type', value, at: paused.at };
  }
}

/** Instants between which nothing could be offered. */
export interface Absence {
  readonly from: number;
  readonly until: number;
  /** Nothing of these, of each since then: pauses that have ended together. Absent: nothing at all. */
  readonly of?: readonly Since[];
  /** Pauses that go on: the time from when they began is credited when they end, so that none counts twice. */
  readonly besides?: readonly Since[];
}

/** The same time, each piece of it credited once: pauses that have ended one after another at one instant are one. */
export function joined(absences: readonly Absence[]): readonly Absence[] {
  const all: Absence[] = [];
  for (const next of absences) {
    const last = all.at(-1);
    if (last?.of === undefined || next.of === undefined || last.until !== next.until) {
      all.push(next);
      continue;
    }
    const { until, besides } = next;
    const from = Math.min(last.from, next.from);
    // Those that ended later in it went on beside the earlier ones only.
    const both = { from, until, of: [...last.of, ...next.of] };
    all[all.length - 1] = besides === undefined ? both : { ...both, besides };
  }
  return all;
}

/** The clock was set back by so much: it has lasted as long as it had. */
export function pauseMoved<P extends Pause>(pause: P | null, backMs: number): P | null {
  return pause && { ...pause, at: pause.at - backMs };
}

/** Labels are those that it requires, and its own: executors may be reserved for these. */
export function labelsOf({ requires, labels }: Pick<Concerned, 'requires' | 'labels'>): string[] {
  return [...requires, ...labels];
}

/** Since when the first of those began that concern a task; Infinity: none does. */
export function sinceOf(pauses: Iterable<Since>): (task: Concerned) => number {
  const none = () => new Map<string, number>();
  const since = { type: none(), group: none(), label: none() };
  for (const { scope, value, at } of pauses)
    since[scope].set(value, Math.min(at, since[scope].get(value) ?? at));
  const { type: types, group: groups, label: labels } = since;
  return (task) => {
    let first = types.get(task.type) ?? Number.POSITIVE_INFINITY;
    first = Math.min(first, groups.get(task.user.group) ?? first);
    if (labels.size === 0) return first;
    for (const label of labelsOf(task)) first = Math.min(first, labels.get(label) ?? first);
    return first;
  };
}

/** By when a task is to be started after it: `startBy`, moved by what of it was its own. */
export function creditOf({
  from,
  until,
  of,
  besides = [],
}: Absence): (task: Concerned & Pick<Task, 'startBy' | 'dueAt' | 'deadlineAt'>) => number | null {
  const begun = of === undefined ? () => from : sinceOf(of);
  const since = sinceOf(besides);
  return (task) => {
    if (task.startBy === null) return null;
    const begin = begun(task);
    const end = Math.min(until, since(task));
    return end > begin ? startByAfter(task, begin, end) : task.startBy;
  };
}
