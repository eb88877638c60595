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
} from '../limits/quota.ts';
import type { Counted } from '../model/executor.ts';
import { effectiveOf, type TaskType } from '../model/task-type.ts';
import { countLane } from '../queue/lanes.ts';
import { headOfLane } from '../queue/lane.ts';
import { creditPause } from '../queue/waiting.ts';
import type { State } from '../state/state.ts';

/** An executor has got an attempt (1), or is done with one (-1). */
export function countHeld(state: State, { type, group }: Counted, by: 1 | -1): void {
  state.heldCount += by;
  const quota = state.quotas.get(type);
  if (quota === undefined) return;
  const mine = groupOf(quota, group);
  const hadRoom = hasRoom(quota);
  const hadRoomOfGroup = groupHasRoom(mine);
  quota.heldCount += by;
  mine.heldCount += by;
  if (!hadRoom && hasRoom(quota)) state.opened.add(type);
  if (!hadRoomOfGroup && groupHasRoom(mine)) rouseGroup(state, mine);
  forgetGroup(mine);
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
  if (taskType === null) dropQuota(state, name);
  else if (quota === undefined) takeQuota(state, taskType);
  if (quota === undefined) return;
  const { taskType: before, groups } = quota;
  if (taskType !== null) {
    quota.taskType = taskType;
    quota.limits = effectiveOf(taskType).limits;
  }
  const isPaused = taskType !== null && taskType.paused !== null;
  if (before.paused !== null && !isPaused) creditPause(state, name, before.paused.at, now, out);
  state.opened.add(name);
  for (const group of groups.values()) rouseGroup(state, group);
}

/** What the type has already is counted with it. */
export function takeQuota(state: State, taskType: TaskType): void {
  const { type } = taskType;
  const quota = createQuota(taskType);
  state.quotas.set(type, quota);
  for (const kind of state.kinds.values()) {
    if (kind.type !== type) continue;
    for (const lane of kind.lanes.values()) countLane(lane, quota);
  }
  for (const { occupation } of [...state.executors.values(), ...state.elders.values()]) {
    if (occupation?.type !== type) continue;
    quota.heldCount++;
    groupOf(quota, occupation.group).heldCount++;
  }
}

function dropQuota(state: State, type: string): void {
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
    const head = lane && headOfLane(lane);
    if (lane === undefined || head === undefined) continue;
    lane.kind.open.announce(lane, head);
    state.shares.get(lane.kind.type)?.announce(lane);
    state.roused.add(lane);
  }
}
