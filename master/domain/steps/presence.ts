/**
 * Executors come, stay, and go. The lease decides: an executor that is not heard of for so long
 * has lost what it ran; until then everything it runs stays its own, whatever its socket does.
 */
import type { Event, ReportedAttempt } from '../events.ts';
import type { Output } from '../effects.ts';
import { type Executor, type Occupation, poolKeyOf } from '../executor.ts';
import { createPool, removePool } from '../queue/lane.ts';
import type { State } from '../state.ts';
import type { Task } from '../task.ts';
import { markRunning, rest } from './attempt.ts';
import { sendCancel } from './cancel.ts';
import { endAttempt } from './finish.ts';
import { becomeIdle, currentTask, leaveIdle, refuseStale } from './occupation.ts';

/** A new session, of an executor that is new, has come back, or takes the place of another. */
export function executorConnected(
  state: State,
  event: Extract<Event, { type: 'executorConnected' }>,
  now: number,
  out: Output,
): void {
  const known = state.executors.get(event.executorId);
  const executor = known ?? createExecutor(state, event.executorId, now);
  if (known !== undefined && known.sessionId !== null && known.sessionId !== event.sessionId) {
    // The newest connection wins.
    out.effects.push({ type: 'closeSession', sessionId: known.sessionId, reason: 'superseded' });
  }
  leavePool(state, executor);
  executor.sessionId = event.sessionId;
  executor.connected = true;
  executor.types = event.types;
  executor.labels = event.labels;
  executor.reserve = event.reserve;
  executor.host = event.host;
  executor.pid = event.pid;
  executor.sdk = event.sdk;
  executor.lasting = event.lasting;
  executor.connectedAt = now;
  executor.lastSeenAt = now;
  executor.leaving = false;
  executor.missedCount = 0;
  joinPool(state, executor);
  reconcile(state, executor, event.running, now, out);
  if (executor.drainRequested) sendDrain(executor, out);
  becomeIdle(state, executor);
  const { executorId, types } = event;
  out.effects.push({ type: 'observe', event: 'executor_joined', executorId, types });
}

/** An executor known only from the row of a task it was running when the master stopped. */
export function createExecutor(state: State, id: string, now: number): Executor {
  const record = state.executorRecords.get(id);
  const executor: Executor = {
    id,
    sessionId: null,
    connected: false,
    types: [],
    labels: [],
    reserve: [],
    poolKey: '',
    host: '',
    pid: 0,
    sdk: '',
    connectedAt: null,
    lastSeenAt: now,
    occupation: null,
    lasting: true,
    drainRequested: (record?.drainedAt ?? null) !== null,
    drainDeadlineAt: record?.drainDeadlineAt ?? null,
    leaving: false,
    coolDowns: new Map(),
    refusalCount: 0,
    restUntil: 0,
    missedCount: 0,
    loopLagMs: null,
    rssBytes: null,
  };
  state.executors.set(id, executor);
  state.deadlines.push({ at: now + state.policy.leaseMs, kind: 'lease', executor });
  watchDrain(state, executor);
  return executor;
}

/** What it says it runs, against what it should run. */
function reconcile(
  state: State,
  executor: Executor,
  running: readonly ReportedAttempt[],
  now: number,
  out: Output,
): void {
  const { occupation } = executor;
  executor.occupation = null;
  for (const { taskId, attempt, state: reported } of running) {
    const task = currentTask(state, executor.id, { taskId, attempt });
    if (task !== null) {
      markRunning(state, task, now, out);
      if (task.cancelReason !== null) sendCancel(state, task, now, out);
    } else if (reported === 'running') {
      // Not its any more. It stays occupied until it reports the end of it.
      executor.occupation ??= { taskId, attempt, accepted: true };
      const { id: executorId, sessionId } = executor;
      refuseStale(state, { executorId, sessionId, taskId, attempt }, out);
    }
  }
  if (occupation === null || mentions(running, occupation)) return;
  const task = currentTask(state, executor.id, occupation);
  if (task === null) return;
  // It may come back like this again and again: each time costs nothing but this.
  if (task.state === 'offered') rest(state, executor, now);
  endUnreported(state, task, 'it came back without it', now, out);
}

function mentions(running: readonly ReportedAttempt[], { taskId, attempt }: Occupation): boolean {
  return running.some((other) => other.taskId === taskId && other.attempt === attempt);
}

/** An offer that never arrived costs nothing; an attempt that had begun is lost. */
function endUnreported(state: State, task: Task, what: string, now: number, out: Output): void {
  const outcome = task.state === 'offered' ? 'returned' : 'lost';
  const message = `executor ${task.executorId}: ${what}`;
  endAttempt(state, task, { outcome, error: outcome === 'lost' ? { message } : null }, now, out);
}

/** The same session on another socket: nothing was missed. */
export function executorResumed(
  state: State,
  event: Extract<Event, { type: 'executorResumed' }>,
  now: number,
): void {
  const executor = bySession(state, event);
  if (executor === undefined) return;
  executor.connected = true;
  executor.connectedAt = now;
  executor.lastSeenAt = now;
  becomeIdle(state, executor);
}

/** It may come back within its lease, unless it `left`. */
export function executorDisconnected(
  state: State,
  event: Extract<Event, { type: 'executorDisconnected' }>,
  now: number,
  out: Output,
): void {
  const executor = bySession(state, event);
  if (executor === undefined) return;
  executor.connected = false;
  leaveIdle(state, executor);
  if (!event.left) return;
  if (!executor.lasting) forgetRecord(state, executor.id, out);
  if (executor.occupation !== null) return loseExecutor(state, executor, 'it left', now, out);
  forget(state, executor);
  out.effects.push({ type: 'observe', event: 'executor_left', executorId: executor.id });
}

/** Renews the lease, and tells whether it still runs what it should. */
export function heartbeatReceived(
  state: State,
  event: Extract<Event, { type: 'heartbeatReceived' }>,
  now: number,
  out: Output,
): void {
  const executor = bySession(state, event);
  if (executor === undefined) return;
  executor.lastSeenAt = now;
  executor.connected = true;
  executor.loopLagMs = event.loopLagMs;
  executor.rssBytes = event.rssBytes;
  if (event.draining !== executor.leaving) {
    executor.leaving = event.draining;
    if (event.draining) leaveIdle(state, executor);
  }
  checkOccupation(state, executor, event.running, now, out);
  becomeIdle(state, executor);
}

/** Twice in a row without a word of the attempt: it is not running there. */
function checkOccupation(
  state: State,
  executor: Executor,
  running: readonly ReportedAttempt[],
  now: number,
  out: Output,
): void {
  const { occupation } = executor;
  if (occupation === null) return;
  if (mentions(running, occupation)) {
    executor.missedCount = 0;
    return;
  }
  const task = currentTask(state, executor.id, occupation);
  // An offer on its way is the business of its assign timeout.
  if (task?.state === 'offered') return;
  if (++executor.missedCount < 2) return;
  executor.occupation = null;
  if (task !== null) endUnreported(state, task, 'it does not run it any more', now, out);
}

/** The lease of a silent executor has ended. */
export function leaseEnded(state: State, executor: Executor, now: number, out: Output): void {
  if (state.executors.get(executor.id) !== executor) return;
  const at = executor.lastSeenAt + state.policy.leaseMs;
  if (at > now) state.deadlines.push({ at, kind: 'lease', executor });
  else loseExecutor(state, executor, 'its lease ended', now, out);
}

function loseExecutor(
  state: State,
  executor: Executor,
  reason: string,
  now: number,
  out: Output,
): void {
  forget(state, executor);
  if (executor.sessionId !== null) {
    const { sessionId } = executor;
    out.effects.push({ type: 'closeSession', sessionId, reason: 'silent' });
  }
  out.effects.push({ type: 'observe', event: 'executor_lost', executorId: executor.id, reason });
  if (executor.occupation === null) return;
  const task = currentTask(state, executor.id, executor.occupation);
  if (task === null) return;
  const outcome = task.state === 'offered' ? 'assign_timeout' : 'lost';
  const error = { message: `executor ${executor.id}: ${reason}` };
  endAttempt(state, task, { outcome, error }, now, out);
}

function forget(state: State, executor: Executor): void {
  leavePool(state, executor);
  state.executors.delete(executor.id);
}

/** What an operator has decided about it is no more. */
export function forgetRecord(state: State, executorId: string, out: Output): void {
  if (!state.executorRecords.delete(executorId)) return;
  out.changes.push({ type: 'executorChanged', executorId, record: null });
}

/** What it still runs is taken back then. */
export function watchDrain(state: State, executor: Executor): void {
  const { drainDeadlineAt: at } = executor;
  if (at !== null) state.deadlines.push({ at, kind: 'drain', executor });
}

/** Tells an executor whether it is to be given tasks. */
export function sendDrain(executor: Executor, out: Output): void {
  if (executor.sessionId === null) return;
  out.effects.push({
    type: 'sendToExecutor',
    sessionId: executor.sessionId,
    command: { type: 'drain', draining: executor.drainRequested },
  });
}

function joinPool(state: State, executor: Executor): void {
  executor.poolKey = poolKeyOf(executor);
  let pool = state.pools.get(executor.poolKey);
  if (pool === undefined) {
    pool = createPool(executor, executor.poolKey, state.lanes.values());
    state.pools.set(pool.key, pool);
  }
  pool.memberCount++;
}

function leavePool(state: State, executor: Executor): void {
  const pool = state.pools.get(executor.poolKey);
  executor.poolKey = '';
  if (pool === undefined) return;
  pool.idle.delete(executor);
  if (--pool.memberCount > 0) return;
  removePool(pool);
  state.pools.delete(pool.key);
}

function bySession(
  state: State,
  event: { executorId: string; sessionId: string },
): Executor | undefined {
  const executor = state.executors.get(event.executorId);
  return executor?.sessionId === event.sessionId ? executor : undefined;
}
