/**
 * Keeps count of what the limits of types allow, and tells of room that comes: in the very step that frees a
 * place, raises a limit or ends a pause, so that nobody idles and nobody has to look.
 */
import type { Output } from '../effects.ts';
import {
  createQuota,
  forgetGroup,
  type GroupQuota,
  groupHasRoom,
  groupOf,
  hasRoom,
  isRatedAlike,
  type Quota,
  rateOf,
  type RateUse,
  windowOf,
} from '../limits/quota.ts';
import { windowsAt } from '../limits/windows.ts';
import type { Counted, Occupation } from '../model/executor.ts';
import { effectiveOf, type TaskType } from '../model/task-type.ts';
import type { Task } from '../model/task.ts';
import { countAttempt } from '../limits/places.ts';
import { countLane, rejoin } from '../queue/lanes.ts';
import { idlePools } from '../queue/junctions.ts';
import type { Kind, Pool } from '../queue/lane.ts';
import type { State } from '../state/state.ts';
import { creditAbsence } from './absence.ts';

/** Rows of windows that are over, removed at once. */
const REMOVE_COUNT_MAX = 1_000;

/** Those with an idle executor that may have what has come, or has become free, in this step. */
export function askedPools(
  { pools, junctions, freed, opened }: State,
  kinds: Iterable<Kind>,
): Set<Pool> {
  const asked = new Set<Pool>();
  for (const { poolKey } of freed) {
    const pool = pools.get(poolKey);
    if (pool !== undefined) asked.add(pool);
  }
  for (const kind of kinds) for (const pool of idlePools(kind)) asked.add(pool);
  for (const type of opened) for (const pool of junctions.idlePools(type)) asked.add(pool);
  return asked;
}

/** An executor has got an attempt (1), or is done with one (-1). */
export function countHeld(
  state: State,
  { type, group, gate, booking }: Counted & Pick<Occupation, 'booking'>,
  by: 1 | -1,
): void {
  state.attemptCount += by;
  const bookedBy = booking === null ? 0 : by;
  state.bookings.attemptCount += bookedBy;
  if (gate !== null) countAttempt(state, gate, type, by);
  const quota = state.quotas.get(type);
  if (quota === undefined) return;
  const mine = groupOf(quota, group);
  const hadRoom = hasRoom(quota);
  const hadRoomOfGroup = groupHasRoom(mine);
  quota.attemptCount += by;
  quota.bookedCount += bookedBy;
  mine.attemptCount += by;
  mine.bookedCount += bookedBy;
  // What is booked may have waited for what others had.
  const isFreed = by < 0 && quota.reservedCount > 0;
  if (isFreed || (!hadRoom && hasRoom(quota))) state.opened.add(type);
  if (isFreed) rouseGroup(state, mine);
  if (!hadRoomOfGroup && groupHasRoom(mine)) rouseGroup(state, mine);
  forgetGroup(mine);
}

/** So many more places of the limits of a type and a group are kept for a booking, or fewer. */
export function countReserved(
  state: State,
  { type, group }: { readonly type: string; readonly group: string },
  by: number,
): void {
  state.bookings.reservedCount += by;
  const quota = state.quotas.get(type);
  if (quota === undefined) return;
  const mine = groupOf(quota, group);
  quota.reservedCount += by;
  mine.reservedCount += by;
  if (by > 0) return;
  state.opened.add(type);
  rouseGroup(state, mine);
  forgetGroup(mine);
}

/** One is offered. It counts in the windows of its rates, by the commit that offers it; one that is booked does not. */
export function countOffer(state: State, task: Task, now: number, out: Output): void {
  const quota = state.quotas.get(task.type);
  if (quota === undefined || task.booking !== null) return;
  for (const group of ['', task.user.group]) {
    const rate = rateOf(quota, group);
    if (rate === null) continue;
    const windowAt = windowOf(rate, now);
    const use = quota.rates.get(group) ?? { type: task.type, group, windowAt, count: 0 };
    quota.rates.set(group, use);
    if (use.windowAt < windowAt) use.count = 0;
    // One that is yet to come was counted by another clock, or of another rate: it counts now.
    use.windowAt = windowAt;
    use.count++;
    putRate(use, out);
    wakeAt(state, quota, windowAt + rate.seconds * 1000);
  }
}

/** It was rejected: as if it had not been offered, where it is known to have been counted. */
export function uncountOffer(state: State, task: Task, out: Output): void {
  const quota = state.quotas.get(task.type);
  if (task.booking !== null) return;
  if (quota === undefined || task.offeredAt === null || task.offeredAt <= quota.ratedSince) return;
  for (const group of ['', task.user.group]) {
    const rate = rateOf(quota, group);
    const use = quota.rates.get(group);
    if (rate === null || use?.windowAt !== windowOf(rate, task.offeredAt)) continue;
    if (use.count === 0) continue;
    use.count--;
    putRate(use, out);
    rouse(state, quota, group);
  }
}

function putRate(row: RateUse, out: Output): void {
  out.changes.push({ op: 'put', table: 'rate', key: [row.type, row.group], row });
}

/** Windows of rates may be over, and others of its zones may be open. */
export function quotaDue(state: State, quota: Quota, now: number, out: Output): void {
  for (const at of quota.wakes) if (at <= now) quota.wakes.delete(at);
  refresh(state, quota, now, out);
}

/** By its limits as they are now. */
function refresh(state: State, quota: Quota, now: number, out: Output): void {
  // First: what is over by now leaves room for whoever is roused.
  quota.knownAt = now;
  quota.open = windowsAt(quota.limits.windows, now);
  wakeAt(state, quota, quota.open.until);
  rouse(state, quota, '');
  let removedCount = 0;
  for (const { type, group, windowAt } of quota.rates.values()) {
    const rate = rateOf(quota, group);
    if (rate !== null && windowAt + rate.seconds * 1000 > now) {
      wakeAt(state, quota, windowAt + rate.seconds * 1000);
      continue;
    }
    if (group !== '') rouse(state, quota, group);
    if (++removedCount > REMOVE_COUNT_MAX) continue;
    quota.rates.delete(group);
    out.changes.push({ op: 'remove', table: 'rate', key: [type, group], expect: 'any' });
  }
  if (removedCount > REMOVE_COUNT_MAX) wakeAt(state, quota, now + 1);
}

/** There may be room for more of the group; empty: of the type. */
function rouse(state: State, quota: Quota, group: string): void {
  if (group === '') state.opened.add(quota.taskType.type);
  const mine = quota.groups.get(group);
  if (mine !== undefined) rouseGroup(state, mine);
}

/** Once for each instant, however many wait for it. */
function wakeAt(state: State, { wakes, taskType }: Quota, at: number): void {
  if (!Number.isFinite(at) || wakes.has(at)) return;
  wakes.add(at);
  state.deadlines.push({ at, kind: 'quota', name: taskType.type });
}

/** As a row says. A window that is yet to come is the present one: the clock was set back. */
export function takeRate(state: State, row: RateUse, now: number, out: Output): void {
  const quota = state.quotas.get(row.type);
  const rate = quota && rateOf(quota, row.group);
  const { type, group } = row;
  if (!quota || !rate || row.windowAt + rate.seconds * 1000 <= now) {
    out.changes.push({ op: 'remove', table: 'rate', key: [type, group], expect: 'any' });
    return;
  }
  const windowAt = Math.min(row.windowAt, windowOf(rate, now));
  quota.rates.set(group, { type, group, windowAt, count: row.count });
  wakeAt(state, quota, windowAt + rate.seconds * 1000);
}

/** What is set for a type is another now, or nothing any more: from here on it holds. */
export function typeChanged(
  state: State,
  name: string,
  taskType: TaskType | null,
  now: number,
  out: Output,
): void {
  const quota = state.quotas.get(name);
  if (taskType === null) dropQuota(state, name, out);
  else if (quota === undefined) takeQuota(state, taskType, now);
  if (quota === undefined) return;
  const { taskType: before, limits: limitsBefore, groups } = quota;
  if (taskType !== null) {
    quota.taskType = taskType;
    const { limits } = effectiveOf(taskType);
    if (!isRatedAlike(limits, quota.limits)) quota.ratedSince = now;
    quota.limits = limits;
  }
  const isPaused = taskType !== null && taskType.paused !== null;
  if (before.paused !== null && !isPaused) {
    const { at } = before.paused;
    creditAbsence(state, at, now, out, { scope: 'type', value: name, at });
  }
  if (taskType === null) state.opened.add(name);
  else refresh(state, quota, now, out);
  // What else is set takes no lane out of its kind, and puts none back: there may be thousands.
  const isAlike = JSON.stringify(limitsBefore.perGroup) === JSON.stringify(quota.limits.perGroup);
  if (taskType !== null && isAlike) return;
  for (const group of groups.values()) rouseGroup(state, group);
}

/** What the type has already is counted with it. */
export function takeQuota(state: State, taskType: TaskType, now: number): void {
  const { type } = taskType;
  const quota = createQuota(taskType, now);
  state.quotas.set(type, quota);
  wakeAt(state, quota, quota.open.until);
  for (const kind of state.kinds.values()) {
    if (kind.type !== type) continue;
    for (const lane of kind.lanes.values()) countLane(lane, quota);
  }
  for (const { reserved } of state.bookings.active.values()) {
    if (reserved.type !== type || reserved.count === 0) continue;
    quota.reservedCount += reserved.count;
    groupOf(quota, reserved.group).reservedCount += reserved.count;
  }
  for (const { occupation } of [...state.executors.values(), ...state.elders.values()]) {
    if (occupation?.type !== type) continue;
    const bookedBy = occupation.booking === null ? 0 : 1;
    const mine = groupOf(quota, occupation.group);
    quota.attemptCount++;
    quota.bookedCount += bookedBy;
    mine.attemptCount++;
    mine.bookedCount += bookedBy;
  }
}

function dropQuota(state: State, type: string, out: Output): void {
  for (const group of state.quotas.get(type)?.rates.keys() ?? []) {
    out.changes.push({ op: 'remove', table: 'rate', key: [type, group], expect: 'any' });
  }
  for (const group of state.quotas.get(type)?.groups.values() ?? []) {
    for (const id of group.lanes) {
      const lane = state.lanes.get(id);
      if (lane !== undefined) lane.quota = null;
    }
  }
  state.quotas.delete(type);
}

/** Its lanes may have left their kinds for want of room. */
function rouseGroup(state: State, { lanes }: GroupQuota): void {
  for (const id of lanes) {
    const lane = state.lanes.get(id);
    if (lane !== undefined && rejoin(state, lane)) state.roused.add(lane);
  }
}
