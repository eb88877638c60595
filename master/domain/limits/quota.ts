/**
 * How far the limits of a type are used, in all and by each of its groups. There is a quota for each type of
 * which anything is set (`state.types`), so that types of which nothing is set cost nothing. It counts, and
 * says whether there is room; who is told of room that comes is the matter of `steps/limits.ts`.
 */
import {
  effectiveOf,
  type GroupLimits,
  type RateLimit,
  type TaskType,
  type TypeLimits,
} from '../model/task-type.ts';
import { type OpenWindows, windowsAt } from './windows.ts';

/** Offers in one window of a rate: a row. The windows follow one another since the epoch. */
export interface RateUse {
  readonly type: string;
  /** Empty: of the rate of the type; no group has such a name. */
  readonly group: string;
  /** When the window began. */
  windowAt: number;
  count: number;
}

/** What counts towards limits. */
export interface Usage {
  /** Tasks that wait, also those only in the store. */
  waitingCount: number;
  /** Attempts that executors have: from the offer until they have reported, or their lease has ended. */
  attemptCount: number;
  /** Those of them that are booked, and how many may be: these count for the others, whether they run or not. */
  bookedCount: number;
  reservedCount: number;
}

export interface Quota extends Usage {
  /** As its row is now. */
  taskType: TaskType;
  /** What holds of it. */
  limits: TypeLimits;
  /** Those with a lane, or with an attempt that an executor has. */
  readonly groups: Map<string, GroupQuota>;
  /** By group, as `RateUse` names them. */
  readonly rates: Map<string, RateUse>;
  /** Offers from then on are counted by its rates as they are. */
  ratedSince: number;
  /** Windows of rates that were over by then are known to be. */
  knownAt: number;
  /** What the windows in the zones of the type say. */
  open: OpenWindows;
  /** Instants at which it is looked at again. */
  readonly wakes: Set<number>;
}

/** What one group has of it. */
export interface GroupQuota extends Usage {
  readonly group: string;
  readonly quota: Quota;
  /** Numbers of its lanes. */
  readonly lanes: Set<number>;
}

/** A limit that is reached: its name is the way to it in what is set for the type. */
export interface ReachedLimit {
  readonly name: string;
  readonly max: number;
  readonly used: number;
}

/** Nothing is counted yet. */
export function createQuota(taskType: TaskType, now: number): Quota {
  const { limits } = effectiveOf(taskType);
  return {
    taskType,
    limits,
    groups: new Map(),
    waitingCount: 0,
    attemptCount: 0,
    bookedCount: 0,
    reservedCount: 0,
    rates: new Map(),
    ratedSince: now,
    knownAt: now,
    open: windowsAt(limits.windows, now),
    wakes: new Set(),
  };
}

/** What it has of it; made where it had nothing. */
export function groupOf(quota: Quota, group: string): GroupQuota {
  const known = quota.groups.get(group);
  if (known !== undefined) return known;
  const counts = { waitingCount: 0, attemptCount: 0, bookedCount: 0, reservedCount: 0 };
  const made = { group, quota, lanes: new Set<number>(), ...counts };
  quota.groups.set(group, made);
  return made;
}

/** Where it has nothing of it any more. */
export function forgetGroup(mine: GroupQuota): void {
  const { quota, group, lanes, attemptCount, reservedCount } = mine;
  if (lanes.size + attemptCount + reservedCount === 0) quota.groups.delete(group);
}

/** What counts for a task that is not booked: what is kept for others counts as if it ran. */
export function usedOf({
  attemptCount,
  bookedCount,
  reservedCount,
}: Omit<Usage, 'waitingCount'>): number {
  return attemptCount - bookedCount + Math.max(bookedCount, reservedCount);
}

/** Whether a task of the type may be offered that is not booked, whatever its group. */
export function hasRoom(quota: Quota): boolean {
  return quota.taskType.paused === null && reachedBy(quota) === null;
}

/** The same of one that is booked: no rate keeps it, and what is kept for it may be taken, as far as there is any. */
export function hasRoomForBooked({ taskType, limits, open, attemptCount }: Quota): boolean {
  if (taskType.paused !== null) return false;
  return isBelow(limits.maxRunning, attemptCount) && isBelow(open.maxRunning, attemptCount);
}

/** And as far as that is the matter of its group. */
export function groupHasRoomForBooked({ quota, attemptCount }: GroupQuota): boolean {
  return isBelow(quota.limits.perGroup?.maxRunning ?? null, attemptCount);
}

const isBelow = (max: number | null, used: number): boolean => max === null || used < max;

/** The same of a type, be anything set for it or not. */
export function isTypeOpen(
  quotas: ReadonlyMap<string, Quota>,
  { type, booking }: { readonly type: string; readonly booking: string | null },
): boolean {
  const quota = quotas.get(type);
  if (quota === undefined) return true;
  return booking === null ? hasRoom(quota) : hasRoomForBooked(quota);
}

/** Whether one of the group may be offered, as far as that is the matter of its group. */
export function groupHasRoom(group: GroupQuota): boolean {
  return reachedByGroup(group) === null;
}

/** Why none of the type may be offered; a pause aside. */
export function reachedBy(quota: Quota): ReachedLimit | null {
  const { limits, open } = quota;
  const used = usedOf(quota);
  const max = open.maxRunning;
  if (max !== null && used >= max && max < (limits.maxRunning ?? max + 1)) {
    return { name: 'limits.windows', max, used };
  }
  return reachedOf('limits', limits, used) ?? rateReached('limits', quota, '');
}

/** Why none of this group may be. */
export function reachedByGroup(mine: GroupQuota): ReachedLimit | null {
  const { quota, group } = mine;
  const { perGroup } = quota.limits;
  if (perGroup === null) return null;
  const of = 'limits.per_group';
  return reachedOf(of, perGroup, usedOf(mine)) ?? rateReached(of, quota, group);
}

function reachedOf(of: string, { maxRunning }: GroupLimits, used: number): ReachedLimit | null {
  if (maxRunning === null || used < maxRunning) return null;
  return { name: `${of}.max_running`, max: maxRunning, used };
}

/** As many were begun in this window as may be. */
function rateReached(of: string, quota: Quota, group: string): ReachedLimit | null {
  const rate = rateOf(quota, group);
  const use = quota.rates.get(group);
  if (rate === null || use === undefined || use.count < rate.count) return null;
  if (use.windowAt + rate.seconds * 1000 <= quota.knownAt) return null;
  return { name: `${of}.rate`, max: rate.count, used: use.count };
}

/** Whether an offer counts in the same windows by both. */
export function isRatedAlike(one: TypeLimits, other: TypeLimits): boolean {
  const ratesOf = ({ rate, perGroup }: TypeLimits) => JSON.stringify([rate, perGroup?.rate]);
  return ratesOf(one) === ratesOf(other);
}

/** @param group As `RateUse` names it. */
export function rateOf({ limits }: Quota, group: string): RateLimit | null {
  return group === '' ? limits.rate : (limits.perGroup?.rate ?? null);
}

/** When the window began in which that instant is. */
export function windowOf({ seconds }: RateLimit, at: number): number {
  return at - (at % (seconds * 1000));
}

/** Why no further task of the group may begin to wait. */
export function fullFor(quota: Quota, group: string): ReachedLimit | null {
  const { limits, waitingCount } = quota;
  const { maxWaiting } = limits;
  if (maxWaiting !== null && waitingCount >= maxWaiting) {
    return { name: 'limits.max_waiting', max: maxWaiting, used: waitingCount };
  }
  return fullGroup(quota, group);
}

/** The same of one of the type that waits already, in another group. */
export function fullGroup({ limits, groups }: Quota, group: string): ReachedLimit | null {
  const max = limits.perGroup?.maxWaiting ?? null;
  const used = groups.get(group)?.waitingCount ?? 0;
  return max === null || used < max ? null : { name: 'limits.per_group.max_waiting', max, used };
}
