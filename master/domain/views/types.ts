/** Which types there are, whoever knows of them, and what waits and runs of each. */
import { currentTask } from '../steps/occupation.ts';
import { type TaskType, unregistered } from '../model/task-type.ts';
import type { Task } from '../model/task.ts';
import { comesFirst } from '../queue/agenda.ts';
import type { State } from '../state/state.ts';
import { explain, explainType, type WaitingReason } from './explain.ts';

/** A type, as it is set and as it is seen. */
export interface SeenType {
  readonly taskType: TaskType;
  /** Without those that are held. */
  readonly waitingCount: number;
  readonly heldCount: number;
  readonly runningCount: number;
  /** Connected ones that run tasks of it. */
  readonly executorCount: number;
}

/** The same, and what keeps the first of its tasks from being offered, as far as memory knows; null: nothing does. */
export interface SeenTypeInDetail extends SeenType {
  readonly constraint: WaitingReason | null;
}

/** Up to `count` of them by name, after that one, of those named; null: of all. What is registered, waits, or has executors. */
export function typesAfter(
  state: State,
  after: string,
  count: number,
  among: readonly string[] | null,
): readonly SeenType[] {
  const names = new Set<string>();
  const see = (name: string) => {
    if (name > after) names.add(name);
  };
  for (const name of state.types.keys()) see(name);
  for (const kind of state.kinds.values()) if (kind.waitingCount > 0) see(kind.type);
  for (const executor of state.executors.values()) executor.types.forEach(see);
  const asked = among === null ? [...names] : among.filter((name) => names.has(name));
  const page = asked.sort().slice(0, count);
  return seenTypes(state, page);
}

/** Null: nobody knows of it. */
export function seenType(state: State, name: string, now: number): SeenTypeInDetail | null {
  const [seen] = seenTypes(state, [name]);
  if (seen === undefined) return null;
  const { waitingCount, heldCount, runningCount, executorCount } = seen;
  const count = waitingCount + heldCount + runningCount + executorCount;
  const isSeen = state.types.has(name) || count > 0;
  return isSeen ? { ...seen, constraint: constraintOn(state, name, now) } : null;
}

/** What holds for the first task that is due holds for the type. */
function constraintOn(state: State, name: string, now: number): WaitingReason | null {
  let head: Task | undefined;
  let isWaiting = false;
  for (const { type, lanes } of state.kinds.values()) {
    for (const { ready, waitingCount } of type === name ? lanes.values() : []) {
      const first = ready.first();
      isWaiting ||= waitingCount > 0;
      if (first !== undefined && (head === undefined || comesFirst(first, head))) head = first;
    }
  }
  if (head === undefined) return isWaiting ? explainType(state, name, now) : null;
  const constraint = explain(state, head, now);
  return constraint.reason === 'about_to_start' ? null : constraint;
}

/** In one pass over everything, however many there are. */
function seenTypes(state: State, names: readonly string[]): SeenType[] {
  const seen = new Map(
    names.map((name) => [
      name,
      {
        taskType: state.types.get(name) ?? unregistered(name),
        waitingCount: 0,
        heldCount: 0,
        runningCount: 0,
        executorCount: 0,
      },
    ]),
  );
  for (const { type, waitingCount, heldCount } of state.kinds.values()) {
    const one = seen.get(type);
    if (one === undefined) continue;
    one.waitingCount += waitingCount - heldCount;
    one.heldCount += heldCount;
  }
  for (const executor of [...state.executors.values(), ...state.elders.values()]) {
    const { occupation, types, connected } = executor;
    const task = occupation && currentTask(state, executor, occupation);
    const running = task ? seen.get(task.type) : undefined;
    if (running !== undefined) running.runningCount++;
    for (const type of connected ? types : []) {
      const one = seen.get(type);
      if (one !== undefined) one.executorCount++;
    }
  }
  return [...seen.values()];
}
