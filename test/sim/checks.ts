/**
 * Compares a master's memory with the rows, at the end of a turn: everything it has decided is
 * committed then, and nothing is stepped. That is when they must agree.
 */
import { mayRun } from '../../master/domain/executor.ts';
import { violations } from '../../master/domain/invariants.ts';
import { isBefore } from '../../master/domain/queue/window.ts';
import type { State } from '../../master/domain/state.ts';
import type { Task } from '../../master/domain/task.ts';
import type { Ledger } from './ledger.ts';
import type { World } from './world.ts';

/** A task that is due may be found this late where it was not in memory. */
const HIDDEN_TOLERANCE_MS = 3_000;

export function checkTurn(world: World, ledger: Ledger, state: State): void {
  // A deposed master may believe what it likes; its commits are refused.
  if (ledger.term !== state.term) return;
  for (const { invariant, what } of violations(state)) world.violate(invariant, what);
  checkMirror(world, ledger, state);
  checkCounts(world, ledger, state);
  checkOrder(world, ledger, state);
}

function checkMirror(world: World, ledger: Ledger, state: State): void {
  for (const [id, task] of state.tasks) {
    const row = ledger.live.get(task.seq);
    if (row === undefined) {
      world.violate('M1', `${id} is ${task.state} in memory and not among the live rows`);
    } else if (!isMirror(task, row, state.unwritten.has(task))) {
      const held = JSON.stringify(task);
      world.violate('M1', `${id} in memory differs from its row: ${held}, ${JSON.stringify(row)}`);
    }
  }
  for (const row of ledger.live.values()) {
    if (state.tasks.has(row.id)) continue;
    if (row.state !== 'waiting') {
      world.violate('M1', `${row.id} is ${row.state} and not in memory`);
    } else if (!mayBeHidden(state, row, world.now)) {
      world.violate('M2', `${row.id} waits, is covered by its window, and is not in memory`);
    }
  }
}

function isMirror(task: Task, row: Task, isAhead: boolean): boolean {
  const isSame =
    task.version === row.version &&
    task.attempt === row.attempt &&
    task.executorId === row.executorId &&
    task.orderTime === row.orderTime &&
    task.dueAt === row.dueAt &&
    task.attemptsUsed === row.attemptsUsed &&
    task.cancelReason === row.cancelReason &&
    task.checkpoint === row.checkpoint;
  if (!isSame) return false;
  return isAhead || (task.state === row.state && task.startedAt === row.startedAt);
}

/** Beyond the end of the window it belongs to. */
function mayBeHidden(state: State, row: Task, now: number): boolean {
  if (!state.delayed.covers({ time: row.dueAt, seq: row.seq })) {
    const isNew = row.dueAt > state.lastTickAt - HIDDEN_TOLERANCE_MS;
    return isNew || state.delayedLoading || !laneCovers(state, row);
  }
  // It was due before its lane was read, or the tick that moves it there is yet to come.
  return row.dueAt <= now && !laneCovers(state, row);
}

function laneCovers(state: State, row: Task): boolean {
  const lane = state.lanes.get(row.lane);
  return lane === undefined || lane.ready.covers({ time: row.orderTime, seq: row.seq });
}

function checkCounts(world: World, ledger: Ledger, state: State): void {
  const counts = new Map<string, number>();
  for (const row of ledger.live.values()) {
    if (row.state === 'waiting') counts.set(row.lane, (counts.get(row.lane) ?? 0) + 1);
  }
  for (const [key, lane] of state.lanes) {
    const count = counts.get(key) ?? 0;
    if (lane.waitingCount !== count) {
      world.violate('S3', `lane ${key} counts ${lane.waitingCount} waiting tasks, not ${count}`);
    }
    counts.delete(key);
  }
  for (const [key, count] of counts) world.violate('S3', `lane ${key} of ${count} is unknown`);
}

/** I10: what was offered in this turn came first among what its executor might have had. */
function checkOrder(world: World, ledger: Ledger, state: State): void {
  for (const offered of ledger.takeOffered()) {
    const executor = state.executors.get(offered.executorId ?? '');
    const row = ledger.live.get(offered.seq);
    if (executor === undefined || row?.attempt !== offered.attempt) continue;
    const offeredAt = offered.offeredAt ?? world.now;
    for (const lane of state.lanes.values()) {
      if (executor.poolKey === '' || !mayRun(executor, lane)) continue;
      for (const other of lane.ready) {
        if (!isBefore(positionOf(other), positionOf(offered))) break;
        const sinceAt = Math.max(ledger.visibleSince(other), other.dueAt);
        // What became visible together may be told apart by chance.
        if (sinceAt + 200 > offeredAt) continue;
        if ((executor.coolDowns.get(other.id) ?? 0) > offeredAt) continue;
        const what = `${offered.id} went to ${executor.id} before ${other.id}`;
        world.violate('I10', `${what}, which was there since ${sinceAt}`);
      }
    }
  }
}

function positionOf(task: Task): { time: number; seq: number } {
  return { time: task.orderTime, seq: task.seq };
}
