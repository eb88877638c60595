/**
 * Makes the lane in which a task is to wait, where there is none yet, and takes out empty ones where there
 * is no room for another. A lane that is in memory has a row.
 */
import { LANE_LOOK_COUNT } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { forgetGroup, groupOf, type Quota } from '../limits/quota.ts';
import { noteKind } from '../limits/supply.ts';
import { pinnedTo } from '../model/executor.ts';
import { rowsOn, type State } from '../state/state.ts';
import { labelsOf, type Since } from '../model/pause.ts';
import { kindKeyOf, type Task } from '../model/task.ts';
import type { TaskType } from '../model/task-type.ts';
import {
  createKind,
  createLane,
  headOfLane,
  type Kind,
  type Lane,
  type LaneRow,
  removeLane,
} from './lane.ts';
import { Shares } from './shares.ts';

type Sorted = Pick<
  Task,
  'type' | 'requires' | 'labels' | 'diskBytes' | 'uses' | 'user' | 'booking'
>;

/** Where this waiting task waits. */
export function laneOf(state: State, task: Pick<Task, 'id' | 'lane'>): Lane {
  const lane = state.lanes.get(task.lane);
  if (lane === undefined) throw new Error(`lane ${task.lane} of task ${task.id} is not known`);
  return lane;
}

/** Where such a task is to wait. Whether there is room for another lane has been asked (`crowdOf`). */
export function laneFor(state: State, task: Sorted, out: Output): Lane {
  const { group } = task.user;
  const key = keyOf(task);
  const known = state.kinds.get(key)?.lanes.get(group);
  if (known !== undefined) return known;
  const row: LaneRow = { id: ++state.lastSeq, kind: key, group };
  out.changes.push({ op: 'insert', table: 'lane', key: row.id, row });
  return takeLane(state, row, task);
}

function keyOf({ type, requires, labels, diskBytes, uses, booking }: Sorted): string {
  return kindKeyOf(type, requires, labels, diskBytes, uses, booking);
}

/** As its row says. */
export function takeLane(state: State, row: LaneRow, of: Omit<Sorted, 'user'>): Lane {
  const { id, kind: key, group } = row;
  let kind = state.kinds.get(key);
  if (kind === undefined) {
    kind = createKind(key, of);
    state.kinds.set(key, kind);
    state.junctions.addKind(kind);
    noteKind(state.supplies, kind, true);
    if (kind.pin !== null) state.pins.kindCount++;
  }
  const lane = createLane(id, group, kind);
  lane.isPaused = isPausedBy(state, lane);
  const quota = state.quotas.get(kind.type);
  if (quota !== undefined) countLane(lane, quota);
  state.lanes.set(id, lane);
  state.emptyLanes.add(lane);
  state.shares.get(kind.type)?.add(lane);
  state.crowd = null;
  return lane;
}

/** Whether its group is paused, or a label that its tasks require or carry. */
export function isPausedBy(state: Pick<State, 'pauses'>, { group, kind }: Lane): boolean {
  return rowsOn(state, group, kind).next().done !== true;
}

/** Where tasks wait that a pause of these concerns. */
export function* lanesOf(
  { lanes, kinds }: Pick<State, 'lanes' | 'kinds'>,
  { scope, value }: Pick<Since, 'scope' | 'value'>,
): Generator<Lane> {
  if (scope === 'group') {
    for (const lane of lanes.values()) if (lane.group === value) yield lane;
    return;
  }
  for (const kind of kinds.values()) {
    const isConcerned = scope === 'type' ? kind.type === value : labelsOf(kind).includes(value);
    if (isConcerned) yield* kind.lanes.values();
  }
}

/** It may have left its kind for want of anything that might be offered. False: there is nothing still. */
export function rejoin({ shares }: State, lane: Lane): boolean {
  const head = headOfLane(lane);
  if (head === undefined) return false;
  lane.kind.open.announce(lane, head);
  shares.get(lane.kind.type)?.announce(lane);
  return true;
}

/** From now on the groups of the type take turns, or do not, as is set for it; null: nothing is. */
export function shareOut(
  state: State,
  type: string,
  settings: Pick<TaskType, 'fairBy' | 'groupWeights'> | null,
): void {
  const shares = state.shares.get(type);
  if (settings === null || settings.fairBy === null) {
    state.shares.delete(type);
    if (shares !== undefined) state.partialShares.delete(shares);
  } else if (shares !== undefined) shares.weigh(settings.groupWeights);
  else {
    const ofType = [...state.lanes.values()].filter(({ kind }) => kind.type === type);
    const made = new Shares(settings.groupWeights, ofType);
    state.shares.set(type, made);
    if (!made.isWhole) state.partialShares.add(made);
  }
}

/** Some more lanes of types whose groups have begun to take turns. */
export function shareOutMore({ partialShares }: State): void {
  for (const shares of partialShares) {
    shares.admitSome();
    if (shares.isWhole) partialShares.delete(shares);
    return;
  }
}

/** Its tasks count towards the limits of their type from here on. */
export function countLane(lane: Lane, quota: Quota): void {
  lane.quota = groupOf(quota, lane.group);
  lane.quota.lanes.add(lane.id);
  lane.quota.waitingCount += lane.waitingCount;
  quota.waitingCount += lane.waitingCount;
}

/** So many more wait in it, or fewer. */
export function countWaiting(state: State, lane: Lane, by: number): void {
  const { kind, quota } = lane;
  lane.waitingCount += by;
  const isFirst = kind.waitingCount === 0;
  kind.waitingCount += by;
  if (kind.pin !== null && isFirst) pin(state, kind.pin, 1);
  else if (kind.pin !== null && kind.waitingCount === 0) pin(state, kind.pin, -1);
  state.waitingCount += by;
  if (quota !== null) {
    quota.waitingCount += by;
    quota.quota.waitingCount += by;
  }
  settleEmpty(state, lane);
}

/** So many more of its tasks are suspended, or fewer. */
export function countSuspended(state: State, lane: Lane, by: number): void {
  lane.suspendedCount += by;
  lane.kind.suspendedCount += by;
  state.suspendedCount += by;
  settleEmpty(state, lane);
}

function settleEmpty({ emptyLanes }: State, lane: Lane): void {
  if (lane.waitingCount + lane.suspendedCount === 0) emptyLanes.add(lane);
  else emptyLanes.delete(lane);
}

/** So many more kinds have tasks that wait for this executor alone, or fewer. */
function pin({ pins: { counts, changed } }: State, executorId: string, by: 1 | -1): void {
  const count = (counts.get(executorId) ?? 0) + by;
  if (count === 0) counts.delete(executorId);
  else counts.set(executorId, count);
  if (count === 0 || count === by) changed.add(executorId);
}

/** Why there is no room for the lane of such a task, or null. Empty ones go to make some. */
export function crowdOf(state: State, task: Sorted, out: Output): string | null {
  const { policy, kinds, lanes, emptyLanes } = state;
  const kind = kinds.get(keyOf(task));
  if (kind?.lanes.has(task.user.group)) return null;
  const isNoLaneLeft = () => lanes.size >= policy.laneCountMax;
  const isNewKind = kind === undefined && pinnedTo(task.requires) === null;
  const isNoKindLeft = () => isNewKind && kindCountOf(state) >= policy.kindCountMax;
  let lookCount = 0;
  for (const lane of emptyLanes) {
    if (!isNoLaneLeft() && !isNoKindLeft()) return null;
    if (++lookCount > LANE_LOOK_COUNT) break;
    // It is no use to a new kind where another lane of its kind stays.
    if (isNoLaneLeft() || lane.kind.waitingCount === 0) forgetLane(state, lane, out);
    else {
      emptyLanes.delete(lane);
      emptyLanes.add(lane);
    }
  }
  if (!isNoLaneLeft() && !isNoKindLeft()) return null;
  state.crowd ??= isNoLaneLeft()
    ? `tasks wait in ${lanes.size} combinations of type, requires, labels and group already, ${mostOf(kinds, ({ lanes: of }) => of.size)}`
    : `tasks wait in ${kindCountOf(state)} combinations of type, requires, labels, needs and uses already, ${mostOf(kinds, () => 1)}`;
  return `${state.crowd}; labels choose executors, they are not tags`;
}

/** Those that name an executor do not count: each has a lane, and these are bounded. */
export function kindCountOf({ kinds, pins }: State): number {
  return kinds.size - pins.kindCount;
}

/** The type that has most, in words. */
function mostOf(kinds: ReadonlyMap<string, Kind>, countOf: (kind: Kind) => number): string {
  const counts = new Map<string, number>();
  let most = '';
  for (const kind of kinds.values()) {
    const { type } = kind;
    counts.set(type, (counts.get(type) ?? 0) + countOf(kind));
    if ((counts.get(type) ?? 0) > (counts.get(most) ?? 0)) most = type;
  }
  return `${counts.get(most) ?? 0} of them with type ${most}`;
}

function forgetLane(state: State, lane: Lane, out: Output): void {
  const { id, kind, quota } = lane;
  if (quota?.lanes.delete(id)) forgetGroup(quota);
  out.changes.push({ op: 'remove', table: 'lane', key: id, expect: 'any' });
  removeLane(lane);
  state.shares.get(kind.type)?.remove(lane);
  state.lanes.delete(id);
  state.emptyLanes.delete(lane);
  state.roused.delete(lane);
  state.crowd = null;
  if (kind.lanes.size > 0) return;
  state.junctions.removeKind(kind);
  noteKind(state.supplies, kind, false);
  if (kind.pin !== null) state.pins.kindCount--;
  state.kinds.delete(kind.key);
}
