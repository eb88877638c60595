/** Executors as people see them: with what was decided about each, and what it is at work on. */
import { elderKey, type Executor, type ExecutorRecord } from '../model/executor.ts';
import type { State } from '../state/state.ts';
import { currentTask } from '../steps/occupation.ts';

/** The attempt that an executor has. */
export interface CurrentAttempt {
  readonly taskId: string;
  readonly attempt: number;
  readonly type: string;
  readonly group: string;
  /** `over`: for its task, though the executor may still run it. */
  readonly state: 'offered' | 'running' | 'over';
  /** When it was offered, or began to run; null: not known any more. */
  readonly since: number | null;
}

export interface SeenExecutor {
  readonly executor: Executor;
  readonly record: ExecutorRecord | null;
  /** Another process has its id: it is there until its lease ends. */
  readonly isSuperseded: boolean;
  readonly current: CurrentAttempt | null;
}

/** All that are here and come `after` that key, in no order. */
export function seenExecutors(state: State, after = ''): SeenExecutor[] {
  const comesAfter = ({ id, incarnation }: Executor) => elderKey(id, incarnation) > after;
  const executors = [...state.executors.values()].filter(comesAfter);
  const elders = [...state.elders.values()].filter(comesAfter);
  return [
    ...executors.map((executor) => seen(state, executor, false)),
    ...elders.map((executor) => seen(state, executor, true)),
  ];
}

/** The newest process of that id; null: there is none here. */
export function seenExecutor(state: State, executorId: string): SeenExecutor | null {
  const executor = state.executors.get(executorId);
  return executor === undefined ? null : seen(state, executor, false);
}

/** What is remembered of those that are not. */
export function goneExecutors({ executorRecords, executors }: State): ExecutorRecord[] {
  return [...executorRecords.values()].filter(({ executorId }) => !executors.has(executorId));
}

function seen(state: State, executor: Executor, isSuperseded: boolean): SeenExecutor {
  const record = state.executorRecords.get(executor.id) ?? null;
  return { executor, record, isSuperseded, current: currentOf(state, executor) };
}

function currentOf(state: State, executor: Executor): CurrentAttempt | null {
  const { occupation } = executor;
  if (occupation === null) return null;
  const { taskId, attempt, type, group, accepted } = occupation;
  const task = currentTask(state, executor, occupation);
  const isOffered = task !== null && !accepted;
  const since = task === null ? null : isOffered ? task.offeredAt : task.startedAt;
  const now = isOffered ? 'offered' : 'running';
  return { taskId, attempt, type, group, state: task === null ? 'over' : now, since };
}
