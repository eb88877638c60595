/**
 * Brings waiting tasks and idle executors together. Runs at the end of every step, and only for
 * what the step has changed: lanes that gained a task, executors that became free. That is
 * enough, because before the step no waiting task fitted an idle executor (invariant I13).
 */
import { taskUpdated } from '../changes.ts';
import { FIRE_COUNT_MAX } from '../bounds.ts';
import type { Output } from '../effects.ts';
import type { Executor } from '../executor.ts';
import { comesFirst, type Lane, type Pool } from '../queue/lane.ts';
import { dequeue, wantsMore } from '../queue/waiting.ts';
import { mayOffer, type State } from '../state.ts';
import type { Task } from '../task.ts';
import { isOverdue, settleOverdue } from './finish.ts';
import { leaveIdle, occupy } from './occupation.ts';

/** Tasks looked at past the head of a lane when an executor may not have the first ones yet. */
const SCAN_MAX = 64;

/**
 * Offers what may be offered now, and asks for rows where a window runs out. What may not be offered
 * yet stays roused: it is looked at once that has changed.
 */
export function assignRoused(state: State, now: number, out: Output): void {
  const { freed, roused, settings } = state;
  if (!state.accepting) {
    freed.clear();
    roused.clear();
  }
  if (!mayOffer(state)) return;
  if (settings.maxRunning === null) {
    for (const executor of freed) assignTo(state, executor, now, out);
  } else {
    // There may be no room for all: then what comes first has it, whoever became free.
    for (const executor of freed) rouseLanesOf(state, executor, now);
  }
  freed.clear();
  const left = assignFrom(state, roused, now, out);
  for (const lane of roused) {
    // Also of those that are empty now: more executors than they had tasks may be idle.
    askForMore(state, lane, out);
    if (!left.has(lane)) roused.delete(lane);
  }
}

function rouseLanesOf(state: State, executor: Executor, now: number): void {
  const pool = state.pools.get(executor.poolKey);
  if (pool === undefined || !pool.idle.has(executor) || executor.restUntil > now) return;
  for (const lane of pool.lanes) state.roused.add(lane);
}

/** A free executor takes the first task, by (orderTime, seq), of all the lanes it may serve. */
function assignTo(state: State, executor: Executor, now: number, out: Output): void {
  const pool = state.pools.get(executor.poolKey);
  if (pool === undefined || !pool.idle.has(executor) || executor.restUntil > now) return;
  for (const lane of pool.lanes) askForMore(state, lane, out);
  const best = bestFor(state, pool, executor, now, out);
  if (best !== undefined) offer(state, best, executor, now, out);
}

/** The first task, by (orderTime, seq), of all the lanes the executor may serve. */
function bestFor(
  state: State,
  pool: Pool,
  executor: Executor,
  now: number,
  out: Output,
): Task | undefined {
  let best: Task | undefined;
  for (const lane of pool.lanes) {
    const task = firstFor(state, lane, executor, now, out);
    if (task !== undefined && (best === undefined || comesFirst(task, best))) best = task;
  }
  return best;
}

/**
 * Tasks of several lanes go to executors one by one, as they come first in all of them (P6). Returns
 * the lanes of which more might be offered, were there room for it.
 */
function assignFrom(
  state: State,
  lanes: Iterable<Lane>,
  now: number,
  out: Output,
): ReadonlySet<Lane> {
  const open = new Set(lanes);
  while (mayOffer(state)) {
    let first: Lane | undefined;
    let firstTask: Task | undefined;
    for (const lane of open) {
      const isWanted = lane.pools.some((pool) => pool.idle.size > 0);
      const task = isWanted ? headOf(state, lane, now, out) : undefined;
      if (task === undefined) {
        open.delete(lane);
      } else if (firstTask === undefined || comesFirst(task, firstTask)) {
        first = lane;
        firstTask = task;
      }
    }
    if (first === undefined) break;
    if (!offerOne(state, first, now, out)) open.delete(first);
  }
  return open;
}

/** To the executor that has been idle longest; false if none may have a task of this lane now. */
function offerOne(state: State, lane: Lane, now: number, out: Output): boolean {
  for (const pool of lane.pools) {
    for (const executor of pool.idle) {
      if (executor.restUntil > now) continue;
      const task = firstFor(state, lane, executor, now, out);
      if (task === undefined) continue;
      // What it has refused, or what waited while it rested, may come before this, in any lane.
      const mayHaveOlder = executor.coolDowns.size > 0 || executor.restUntil > 0;
      const best = mayHaveOlder ? bestFor(state, pool, executor, now, out) : task;
      offer(state, best ?? task, executor, now, out);
      return true;
    }
  }
  return false;
}

function firstFor(
  state: State,
  lane: Lane,
  executor: Executor,
  now: number,
  out: Output,
): Task | undefined {
  const head = headOf(state, lane, now, out);
  if (head === undefined || !isCooling(executor, head, now)) return head;
  let scanned = 0;
  for (const task of lane.ready) {
    if (!isCooling(executor, task, now) && !isOverdue(state, task, now)) return task;
    if (++scanned === SCAN_MAX) return undefined;
  }
  return undefined;
}

/**
 * The first task of the lane. Those before it that are overdue end here: nothing is offered past its
 * deadline or its start limit, be it that a page brought it or that the tick that ends it is yet to come. Where
 * there are too many for one turn, the ticks that follow end the rest.
 */
function headOf(state: State, lane: Lane, now: number, out: Output): Task | undefined {
  for (let count = 0; count < FIRE_COUNT_MAX; count++) {
    const head = lane.ready.first();
    if (head === undefined || !isOverdue(state, head, now)) return head;
    settleOverdue(state, head, now, out);
  }
  return undefined;
}

function isCooling(executor: Executor, task: Task, now: number): boolean {
  return executor.coolDowns.size > 0 && (executor.coolDowns.get(task.id) ?? 0) > now;
}

function offer(state: State, task: Task, executor: Executor, now: number, out: Output): void {
  dequeue(state, task);
  task.state = 'offered';
  task.attempt++;
  task.executorId = executor.id;
  task.incarnation = executor.incarnation;
  task.offeredAt = now;
  task.startedAt = null;
  task.hiddenMs = 0;
  task.stallHiddenMs = 0;
  task.progressPercent = null;
  occupy(state, executor, { taskId: task.id, attempt: task.attempt, accepted: false });
  executor.missedCount = 0;
  leaveIdle(state, executor);
  state.deadlines.push({
    at: now + task.assignTimeoutMs,
    kind: 'assign',
    task,
    attempt: task.attempt,
  });
  out.changes.push(taskUpdated(task));
  if (executor.sessionId !== null) {
    out.effects.push({
      type: 'sendToExecutor',
      sessionId: executor.sessionId,
      command: { type: 'assign', task },
    });
  }
}

/** The window of a lane that executors wait for is running out, and the store has more. */
function askForMore(state: State, lane: Lane, out: Output): void {
  if (!wantsMore(state, lane)) return;
  lane.loading = true;
  out.loads.push({ type: 'lane', lane: lane.key });
}
