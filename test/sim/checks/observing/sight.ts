/** What there is to be told of at one moment, by the rows and by what executors have said of themselves. */
import { type Executor, pinOf } from '../../../../master/domain/model/executor.ts';
import { isAtRest, type Task } from '../../../../master/domain/model/task.ts';
import type { State } from '../../../../master/domain/state/state.ts';
import type { Ledger } from '../../ledger.ts';

/** Of more kinds of one type a master does not look at all. */
const LANES_OF_TYPE_MAX = 8;

export interface Sight {
  readonly now: number;
  /** Attempts that executors have, as `job/1`. */
  readonly withExecutors: ReadonlySet<string>;
  /** Of all tasks. */
  readonly attemptCount: number;
  /** Rows that wait and are due. */
  readonly due: readonly Due[];
  /** Of which a lane may have something due, for all that memory knows. */
  readonly vagueTypes: ReadonlySet<string>;
  /** The namespace is paused, or all are. */
  readonly isPaused: boolean;
}

export interface Due {
  readonly task: Task;
  /** Nobody is there who might have it, whatever he is at work on. */
  readonly isHopeless: boolean;
  /** Who is idle and might have it is kept for a booking, and it may not be over by then. */
  readonly isKeptFrom: boolean;
  /** Somebody is free who may have it, and nobody has set anything that might keep it from him. */
  readonly isStartable: boolean;
  /** Nobody has set anything that might keep it, and there are few kinds of its type. */
  readonly isPlain: boolean;
  /** It stands for its lane, in memory. */
  readonly isFirst: boolean;
}

export function sightOf(state: State, ledger: Ledger, now: number): Sight {
  const rows = [...ledger.live.values()];
  const withExecutors = rows.filter((row) => !isAtRest(row));
  const executors = [...state.executors.values()].filter(isThere);
  const isAnythingSet = state.pauses.size > 0 || ledger.settings.maxRunning !== null;
  const due = rows.filter((row) => row.state === 'waiting' && row.dueAt <= now);
  const laneCounts = new Map<string, number>();
  const vagueTypes = new Set<string>();
  for (const { kind, waitingCount, ready, storedDueAt } of state.lanes.values()) {
    if (waitingCount > 0) laneCounts.set(kind.type, (laneCounts.get(kind.type) ?? 0) + 1);
    const isKnown = ready.first() !== undefined || ready.complete || storedDueAt !== null;
    if (waitingCount > 0 && !isKnown) vagueTypes.add(kind.type);
  }
  return {
    now,
    attemptCount: [...rows, ...ledger.history.values()].reduce(
      (sum, { attempt }) => sum + attempt,
      0,
    ),
    withExecutors: new Set(withExecutors.map(({ id, attempt }) => `${id}/${attempt}`)),
    due: due.map((task) => {
      const takers = executors.filter((one) => mayHave(one, task));
      const idle = takers.filter(({ occupation }) => occupation === null);
      const isFree = takers.some((one) => isIdle(one) && !hasRefused(one, now));
      const isLimited = ledger.typeOf(task.type) !== undefined || task.uses.length > 0;
      const isFew = (laneCounts.get(task.type) ?? 0) <= LANES_OF_TYPE_MAX;
      const isPlain = !isLimited && !isAnythingSet && state.accepting;
      return {
        task,
        isHopeless: takers.length === 0,
        isKeptFrom: idle.length > 0 && idle.every(({ keptUntil }) => keptUntil !== null),
        isStartable: isFree && isPlain,
        isPlain: isPlain && isFew,
        isFirst: isFirst(state, task),
      };
    }),
    vagueTypes,
    isPaused: ledger.settings.paused !== null || [...state.pauses.values()].some(isOfAll),
  };
}

const isOfAll = ({ scope }: { readonly scope: string }): boolean => scope === 'all';

function isThere({ connected, drainRequested, leaving, readiness }: Executor): boolean {
  return connected && !drainRequested && !leaving && readiness.ok;
}

function mayHave(
  executor: Executor,
  { type, requires, labels, diskBytes, booking }: Task,
): boolean {
  const had = [...executor.labels, pinOf(executor.id)];
  return (
    executor.types.includes(type) &&
    executor.booking === booking &&
    requires.every((label) => had.includes(label)) &&
    executor.reserve.every((label) => labels.includes(label)) &&
    (diskBytes === null || (executor.readiness.diskBytes ?? 0) >= diskBytes)
  );
}

/** And is not kept for a booking. */
function isIdle({ occupation, keptUntil }: Executor): boolean {
  return occupation === null && keptUntil === null;
}

function hasRefused({ coolDowns, restUntil }: Executor, now: number): boolean {
  return coolDowns.size > 0 || restUntil > now;
}

function isFirst({ lanes, tasks }: State, { lane, id }: Task): boolean {
  return tasks.has(id) && lanes.get(lane)?.ready.first()?.id === id;
}
