/** Executors as people see them: with what was decided about each, and what it is at work on. */
import { bindsAt } from '../booking/booking.ts';
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

/** The booking that has an executor. */
export interface BookedBy {
  /** Null: whoever asks may not see it. */
  readonly id: string | null;
  readonly type: string;
  readonly group: string;
  /** Else it is kept: it takes what is over in time. */
  readonly isBound: boolean;
  /** Of one that is bound, the end of the window; of one that is kept, when it is bound. */
  readonly until: number;
}

export interface SeenExecutor {
  readonly executor: Executor;
  readonly record: ExecutorRecord | null;
  /** Another process has its id: it is there until its lease ends. */
  readonly isSuperseded: boolean;
  readonly current: CurrentAttempt | null;
  readonly booked: BookedBy | null;
}

/** All that are here and come `after` that key, in no order. */
export function seenExecutors(state: State, after = ''): SeenExecutor[] {
  const comesAfter = ({ id, incarnation }: Executor) => elderKey(id, incarnation) > after;
  const executors = [...state.executors.values()].filter(comesAfter);
  const elders = [...state.elders.values()].filter(comesAfter);
  const keepers = keepersIn(state);
  return [
    ...executors.map((executor) => seen(state, executor, false, keepers)),
    ...elders.map((executor) => seen(state, executor, true, keepers)),
  ];
}

/** The newest process of that id; null: there is none here. */
export function seenExecutor(state: State, executorId: string): SeenExecutor | null {
  const executor = state.executors.get(executorId);
  return executor === undefined ? null : seen(state, executor, false, keepersIn(state));
}

/** What is remembered of those that are not. */
export function goneExecutors({ executorRecords, executors }: State): ExecutorRecord[] {
  return [...executorRecords.values()].filter(({ executorId }) => !executors.has(executorId));
}

/** By executor, for which booking it is kept. */
type Keepers = ReadonlyMap<Executor, string>;

function keepersIn({ bookings }: State): Keepers {
  const keepers = new Map<Executor, string>();
  for (const { id, kept } of bookings.active.values()) {
    for (const executor of kept.values()) keepers.set(executor, id);
  }
  return keepers;
}

function seen(
  state: State,
  executor: Executor,
  isSuperseded: boolean,
  keepers: Keepers,
): SeenExecutor {
  const record = state.executorRecords.get(executor.id) ?? null;
  const booked = bookedBy(state, executor, keepers);
  return { executor, record, isSuperseded, current: currentOf(state, executor), booked };
}

function bookedBy({ bookings }: State, executor: Executor, keepers: Keepers): BookedBy | null {
  const booking = bookings.byId.get(executor.booking ?? keepers.get(executor) ?? '');
  if (booking === undefined) return null;
  const { id, type, group, to } = booking;
  const isBound = executor.booking !== null;
  return { id, type, group, isBound, until: isBound ? to : bindsAt(booking) };
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
