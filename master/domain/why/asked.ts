/**
 * What the rules are asked about one task that waits. Whoever wants to know what one change would do asks the same
 * of a copy in which that one thing is changed: the state itself is read, and never changed.
 */
import type { Quota, ReachedLimit } from '../limits/quota.ts';
import type { Executor } from '../model/executor.ts';
import type { ScopedPause } from '../model/pause.ts';
import type { NotificationState, Task } from '../model/task.ts';
import type { Kind } from '../queue/lane.ts';
import type { State } from '../state/state.ts';

export interface Asked {
  /** As it is, or a shallow copy with other settings, pauses or shared limits. */
  readonly state: State;
  readonly task: Task;
  /** Null: no lane is known for it. */
  readonly kind: Kind | null;
  /** How far what is set for its type is used; null: nothing is set. */
  readonly quota: Quota | null;
  /** The newest process of each id. */
  readonly fleet: readonly Executor[];
  /** So many others are connected, which do not run its type and are not among them. */
  readonly othersCount: number;
  /** So many more are free for it that are not among them. */
  readonly moreCount: number;
  readonly now: number;
  /** Other tasks are named, not only counted. */
  readonly isNaming: boolean;
  /** Where it is held: how many of its gate are let in before it, by their rows. */
  readonly heldBefore: number;
}

export function askedOf(state: State, task: Task, now: number, isNaming: boolean): Asked {
  const kind = state.lanes.get(task.lane)?.kind ?? null;
  const quota = state.quotas.get(task.type) ?? null;
  const fleet = [...state.executors.values()];
  const none = { othersCount: 0, moreCount: 0, heldBefore: 0 };
  return { state, task, kind, quota, fleet, now, isNaming, ...none };
}

/** The same with other settings, pauses or shared limits. */
export function withState(
  asked: Asked,
  change: Partial<Pick<State, 'settings' | 'pauses' | 'supplies'>>,
): Asked {
  return { ...asked, state: { ...asked.state, ...change } };
}

/** What keeps a task from being offered. */
export type ObstacleReason =
  | 'suspended'
  | 'held'
  | 'not_due'
  | 'backing_off'
  | 'draining'
  | 'paused'
  | 'no_executor'
  | 'labels_unmatched'
  | 'reserved'
  | 'not_ready'
  | 'limited'
  | 'all_busy'
  | 'kept'
  | 'cooling_down';

export interface Obstacle {
  readonly reason: ObstacleReason;
  /** Tells it from others of that reason. */
  readonly key: string;
  /** One sentence or two, with numbers. */
  readonly message: string;
  readonly facts: Facts;
  /** Each with one thing changed, the least first. None: nobody can do anything. */
  readonly remedies: () => Iterable<Remedy>;
  /** What is to be hoped for, where no remedy is. */
  readonly otherwise?: string;
}

/** What somebody might change, and the question as it were then: whether that is enough shows when it is asked. */
export interface Remedy {
  readonly change: Change;
  readonly asked: Asked;
}

export interface Change {
  readonly action:
    | 'wait_until'
    | 'resume'
    | 'raise_limit'
    | 'start_executor'
    | 'add_label'
    | 'undrain'
    | 'none';
  /** `type/transcode`, `group/news`, `executor/gpu-1`, `limit/drm`, `namespace`, `all`, `task`. */
  readonly target: string | null;
  readonly value: number | readonly string[] | Started | null;
  readonly message: string;
}

/** Executors to be started. */
export interface Started {
  readonly count: number;
  readonly type: string;
  readonly labels: readonly string[];
  /** The only one that will do. */
  readonly executorId: string | null;
}

/** Beside the sentence; each reason has its own. Instants are epoch milliseconds. */
export interface Facts {
  /** Until when it is so, if nothing is changed. */
  readonly until?: number | null;
  readonly since?: number | null;
  /** All that concern it. */
  readonly pauses?: readonly ScopedPause[];
  readonly limit?: ReachedLimit;
  /** What limits it is not what its type defines, but an operator's layer over that. */
  readonly isOverridden?: boolean;
  /** Attempts that count towards the limit: of its group and type, of its type in other groups, of other types. */
  readonly usedBy?: UsedBy;
  readonly executors?: Partial<Record<Standing, number>>;
  /** Of those that run its type, which comes nearest, and what it has too few or too many of. */
  readonly nearest?: {
    readonly executorId: string;
    readonly lacksLabels: readonly string[];
    readonly reservedFor: readonly string[];
  };
  readonly executorId?: string;
  readonly attempt?: number;
  /** Of the value by which it is held. */
  readonly concurrency?: Concurrency;
  /** What went wrong last. */
  readonly error?: string | null;
  readonly diskBytes?: number;
  readonly progress?: { readonly percent: number | null; readonly at: number } | null;
  /** Which booking keeps it from executors, or it is of; null: one that the asker may not see. */
  readonly booking?: string | null;
  readonly callback?: Callback;
  readonly failureReason?: string | null;
}

/** Of how many executors what is true; each is one of those before it. */
type Standing = 'connected' | 'of_type' | 'fitting' | 'serving' | 'ready' | 'able' | 'free';

export interface UsedBy {
  readonly ownGroup: number;
  readonly ownType: number;
  readonly others: number;
}

interface Concurrency {
  readonly pointer: string;
  readonly value: string;
  readonly max: number;
  /** Tasks with the value that come first, and those that are held as well. */
  readonly holderCount: number;
  readonly heldCount: number;
  readonly holders: readonly string[];
}

interface Callback {
  readonly state: NotificationState;
  readonly tries: number;
  readonly nextTryAt: number | null;
  readonly lastError: string | null;
}
