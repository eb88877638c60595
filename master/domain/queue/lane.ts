/**
 * Kinds, lanes and pools: which waiting tasks may go to which executors. Tasks of one kind have the
 * same type, required labels and labels; executors of one pool have the same types, labels and
 * reservations. A kind and a pool that fit meet in a junction (`junctions.ts`), and a type without
 * executors never delays another. The tasks of a kind wait in lanes, one for
 * each group.
 */
import { type GroupQuota, groupHasRoom, groupHasRoomForBooked } from '../limits/quota.ts';
import { type Executor, pinnedTo } from '../model/executor.ts';
import { NO_USES, type Use } from '../model/shared-limit.ts';
import { diskClassOf, type Task } from '../model/task.ts';
import { Agenda, OUT, positionOf, rankOf, type Standing } from './agenda.ts';
import { IdleExecutors } from './idle.ts';
import type { Ring } from './ring.ts';
import { Window } from './window.ts';

export interface Kind {
  readonly key: string;
  readonly type: string;
  readonly requires: readonly string[];
  readonly labels: readonly string[];
  /** Free disk that executors of these tasks must report (`diskClassOf`); null: any will do. */
  readonly diskBytes: number | null;
  /** What each of them takes of shared limits. */
  readonly uses: readonly Use[];
  /** Of which booking they are; null: of none. */
  readonly booking: string | null;
  /** The executor that they name (`pinnedTo`); null: none. */
  readonly pin: string | null;
  /** By group. */
  readonly lanes: Map<string, Lane>;
  /** Of all its lanes. */
  waitingCount: number;
  heldCount: number;
  suspendedCount: number;
  /** Those of which a task may be offered. */
  readonly open: Agenda<Lane>;
  /** Where it meets the pools whose executors may run these tasks. */
  readonly stands: Stand[];
  /** Lanes that run low and are not read, because nobody was idle that might have what comes. */
  readonly hungry: Set<Lane>;
}

/** Its numbers come from the same counter as those of tasks. */
export interface LaneRow {
  readonly id: number;
  /** `kindKeyOf`. */
  readonly kind: string;
  readonly group: string;
}

/** The tasks of one kind that one group has submitted. */
export interface Lane extends Standing {
  readonly id: number;
  readonly group: string;
  readonly kind: Kind;
  /** Tasks that are due, in order. */
  readonly ready: Window<Task>;
  /** Every waiting task of the lane: due or not, in memory or only in the store, held or not. */
  waitingCount: number;
  /** Those of them that are held. */
  heldCount: number;
  /** Beside those: they wait for nothing, and the lane is kept for them. */
  suspendedCount: number;
  /** When the first of them is due, until a page was read; null: that is not known. */
  storedDueAt: number | null;
  /** A page has been asked for. */
  loading: boolean;
  /** Its group is paused, or a label of its kind. */
  isPaused: boolean;
  /** What its group has of the limits of its type; null where nothing is set for that. */
  quota: GroupQuota | null;
}

/** Executors with the same types, labels and reservations: any of them will do. */
export interface Pool {
  readonly key: string;
  readonly types: readonly string[];
  readonly labels: readonly string[];
  readonly reserve: readonly string[];
  /** To which its executors are bound; null: to none. */
  readonly booking: string | null;
  readonly idle: IdleExecutors;
  readonly members: Set<Executor>;
  /** Where it meets the kinds that its executors may serve. */
  readonly junctions: Junction[];
}

/** A kind, as it stands in a junction. */
export interface Stand extends Standing {
  readonly kind: Kind;
  readonly junction: Junction;
}

/** A kind and a pool that fit meet in exactly one; those that meet in one need not fit. */
export interface Junction {
  readonly key: string;
  /** Of all its kinds. */
  readonly type: string;
  /** Of kinds and pools of a booking alone; null: of none. */
  readonly booking: string | null;
  kindCount: number;
  /** Kinds of which a task may be offered. */
  readonly open: Agenda<Stand>;
  /** Kinds with hungry lanes. */
  readonly hungry: Set<Kind>;
  readonly pools: Set<Pool>;
  /** Of the members of these; null until a sticky route asks for one. */
  ring: Ring | null;
  /** Those with an idle executor, in their order of service. */
  readonly idle: Pool[];
}

/** The next task of a lane; undefined: there is none, or none that may be offered. */
export function headOfLane({ ready, quota, isPaused, kind }: Lane): Task | undefined {
  if (isPaused) return undefined;
  if (quota === null) return ready.first();
  const hasRoom = kind.booking === null ? groupHasRoom : groupHasRoomForBooked;
  return hasRoom(quota) ? ready.first() : undefined;
}

/** When the first of those that wait and are not held is due, or will be; null: none is, as far as that is known. */
export function dueAtOf({ ready, storedDueAt }: Lane): number | null {
  return ready.first()?.dueAt ?? storedDueAt;
}

export function headOfKind({ open }: Kind): Task | undefined {
  const lane = open.first();
  return lane && headOfLane(lane);
}

/** Without lanes. */
export function createKind(
  key: string,
  spec: Pick<Task, 'type' | 'requires' | 'labels'> &
    Partial<Pick<Task, 'diskBytes' | 'uses' | 'booking'>>,
): Kind {
  const { type, requires, labels, diskBytes = null, uses = NO_USES } = spec;
  const { booking = null } = spec;
  return {
    key,
    type,
    requires,
    labels,
    diskBytes: diskBytes && diskClassOf(diskBytes),
    uses,
    booking,
    pin: pinnedTo(requires),
    lanes: new Map(),
    waitingCount: 0,
    heldCount: 0,
    suspendedCount: 0,
    open: new Agenda(headOfLane, rankOf),
    stands: [],
    hungry: new Set(),
  };
}

/** Without tasks. */
export function createLane(id: number, group: string, kind: Kind): Lane {
  const ready = new Window<Task>(positionOf);
  const lane: Lane = {
    id,
    group,
    kind,
    ready,
    waitingCount: 0,
    heldCount: 0,
    suspendedCount: 0,
    storedDueAt: null,
    loading: false,
    isPaused: false,
    quota: null,
    ...OUT,
  };
  kind.lanes.set(group, lane);
  return lane;
}

/** It has no tasks any more, nor has its kind use for it. */
export function removeLane(lane: Lane): void {
  const { kind } = lane;
  kind.lanes.delete(lane.group);
  kind.open.remove(lane);
  kind.hungry.delete(lane);
}

/** Without members. */
export function createPool(
  executor: Pick<Executor, 'types' | 'labels' | 'reserve'> & Partial<Pick<Executor, 'booking'>>,
  key: string,
): Pool {
  return {
    key,
    types: executor.types,
    labels: executor.labels,
    reserve: executor.reserve,
    booking: executor.booking ?? null,
    idle: new IdleExecutors(),
    members: new Set(),
    junctions: [],
  };
}
