/**
 * Executors come, stay, and go. The lease decides: an executor that is not heard of for so long
 * has lost what it ran; until then everything it runs stays its own, whatever its socket does.
 */
import { announce } from '../booking/announce.ts';
import type { Event, ReportedAttempt } from '../events.ts';
import type { Output } from '../effects.ts';
import { tell } from '../feed/tell.ts';
import {
  type Counted,
  diskOf,
  elderKey,
  type Executor,
  maySeeDie,
  type Occupation,
  type Readiness,
} from '../model/executor.ts';
import { gateKeyOf } from '../limits/places.ts';
import { NO_USES, type Taken } from '../model/shared-limit.ts';
import type { State } from '../state/state.ts';
import type { Task } from '../model/task.ts';
import { correctHidden, markRunning, rest } from './attempt.ts';
import { sendCancel } from './cancel.ts';
import { forgetRecord, sendDrain, watchRecord } from '../operators/executor.ts';
import { endAttempt } from './finish.ts';
import { armLease, createExecutor, forget, joinPool, leavePool, setLease } from './fleet.ts';
import { contactRegained, loseAttempt } from './loss.ts';
import {
  becomeIdle,
  bySession,
  currentTask,
  leaveIdle,
  occupy,
  refuseStale,
  rouse,
  seen,
} from './occupation.ts';
import { take, takenFor } from '../limits/supplies.ts';

/** A new session, of an executor that is new, has come back, or takes the place of another. */
export function executorConnected(
  state: State,
  event: Extract<Event, { type: 'executorConnected' }>,
  now: number,
  out: Output,
): void {
  contactRegained(state, event, now, out);
  const executor = processOf(state, event, now, out);
  if (executor.sessionId !== null && executor.sessionId !== event.sessionId) {
    const { sessionId } = executor;
    out.effects.push({ type: 'closeSession', sessionId, reason: 'reattach' });
  }
  leavePool(state, executor);
  executor.incarnation = event.incarnation;
  executor.sessionId = event.sessionId;
  executor.connected = true;
  executor.types = event.types;
  executor.own = { labels: event.labels, reserve: event.reserve };
  executor.host = event.host;
  executor.pid = event.pid;
  executor.sdk = event.sdk;
  executor.version = event.version;
  executor.lasting = event.lasting;
  executor.bootId = event.bootId;
  executor.usesMac = event.usesMac;
  executor.connectedAt = now;
  stay(state, executor, now);
  takeReadiness(state, executor, event.ready, now, out);
  executor.missedCount = 0;
  seen(executor, now);
  setLease(state, executor, event.leaseMs);
  joinPool(state, executor);
  loseDead(state, executor, event, now, out);
  reconcile(state, executor, event.running, now, out);
  executor.isUnheard = false;
  if (executor.drainRequested) sendDrain(executor, out);
  becomeIdle(state, executor);
  if (executor.booking !== null || event.booking !== null) announce(state, executor, out);
  const { executorId, types, host, lasting } = event;
  out.observed.push({ event: 'executor_joined', executorId, types, host, lasting });
  tell(state, out, 'executor.joined', now, { executorId }, { types, host });
}

/** The process that says hello, as it is known, or as a new one that takes over its id. */
function processOf(
  state: State,
  { executorId, incarnation }: Extract<Event, { type: 'executorConnected' }>,
  now: number,
  out: Output,
): Executor {
  const newest = state.executors.get(executorId);
  if (newest?.incarnation === incarnation || newest?.incarnation === '') return newest;
  const key = elderKey(executorId, incarnation);
  const elder = state.elders.get(key);
  state.elders.delete(key);
  const executor = elder ?? createExecutor(state, executorId, incarnation, now);
  if (newest !== undefined) takeOver(state, executor, newest, out);
  state.executors.set(executorId, executor);
  return executor;
}

/** What the other process runs stays its own until its lease ends; it is heard of no more. */
function takeOver(state: State, executor: Executor, newest: Executor, out: Output): void {
  leavePool(state, newest);
  // What it can do may be another: whoever counts on it is to know.
  executor.bareKey = newest.bareKey;
  executor.drainRequested = newest.drainRequested;
  executor.drainDeadlineAt = newest.drainDeadlineAt;
  executor.refusalCount = newest.refusalCount;
  executor.restUntil = newest.restUntil;
  if (executor.past.length === 0) executor.past.push(...newest.past);
  for (const [taskId, until] of newest.coolDowns) {
    executor.coolDowns.set(taskId, until);
    state.deadlines.push({ at: until, kind: 'rested', executor });
  }
  state.deadlines.push({ at: newest.restUntil, kind: 'rested', executor });
  const { sessionId, occupation } = newest;
  if (sessionId !== null) {
    out.effects.push({ type: 'closeSession', sessionId, reason: 'superseded' });
  }
  newest.sessionId = null;
  newest.connected = false;
  // Also an attempt that is over: it may still run.
  if (occupation === null) return;
  state.elders.set(elderKey(newest.id, newest.incarnation), newest);
}

/** Only what is under its own id: this is no way to end what others run. */
function loseDead(
  state: State,
  executor: Executor,
  { died, bootId }: Extract<Event, { type: 'executorConnected' }>,
  now: number,
  out: Output,
): void {
  for (const incarnation of died) {
    const elder = state.elders.get(elderKey(executor.id, incarnation));
    if (elder === undefined || !maySeeDie(bootId, elder)) continue;
    loseExecutor(state, elder, { why: 'its process has ended', isCertain: true }, now, out);
  }
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
  occupy(state, executor, null);
  for (const { taskId, attempt, state: reported, isUnproven, ranMs } of running) {
    const task = isUnproven ? null : currentTask(state, executor, { taskId, attempt });
    if (task !== null) {
      markRunning(state, task, now, out);
      if (ranMs !== undefined) correctHidden(state, task, ranMs, now);
      if (task.cancelReason !== null) sendCancel(state, task, now, out);
    } else if (reported === 'running') {
      // Not its any more. It stays occupied until it reports the end of it.
      if (executor.occupation === null) {
        const isKnown = occupation?.taskId === taskId && occupation.attempt === attempt;
        const { type, group, gate } = isKnown ? occupation : countedAs(state, taskId);
        const booking = isKnown ? occupation.booking : null;
        const taken = isKnown
          ? occupation.taken
          : takeAgain(state, executor, { taskId, attempt }, out);
        const of = { type, group, gate, booking };
        occupy(state, executor, { taskId, attempt, accepted: true, ...of, taken });
      }
      const { id: executorId, sessionId } = executor;
      refuseStale(state, { executorId, sessionId, taskId, attempt }, out);
    }
  }
  if (occupation === null || mentions(running, occupation)) return;
  const task = currentTask(state, executor, occupation);
  if (task === null) return;
  // It may come back like this again and again: each time costs nothing but this.
  if (task.state === 'offered') rest(state, executor, now);
  endUnreported(state, executor, { task, what: 'it came back without it' }, now, out);
}

/** Of an attempt that is over: nobody may know its task any more. */
function countedAs(state: State, taskId: string): Counted {
  const task = state.tasks.get(taskId);
  const gate = task === undefined ? null : gateKeyOf(state, task);
  return { type: task?.type ?? '', group: task?.user.group ?? '', gate };
}

/** It runs what nobody counts any more: it takes what its task uses once more, where that is known. */
function takeAgain(
  state: State,
  executor: Executor,
  ended: { readonly taskId: string; readonly attempt: number },
  out: Output,
): readonly Taken[] {
  const { uses = NO_USES } = state.tasks.get(ended.taskId) ?? {};
  const isCounted = [...state.holdings.values()].some(
    ({ taskId, attempt }) => taskId === ended.taskId && attempt === ended.attempt,
  );
  if (uses.length > 0 && !isCounted) take(state, executor, ended, uses, out);
  return takenFor(state, executor, ended);
}

function mentions(running: readonly ReportedAttempt[], { taskId, attempt }: Occupation): boolean {
  return running.some(
    (other) => !other.isUnproven && other.taskId === taskId && other.attempt === attempt,
  );
}

/** An offer that never arrived costs nothing. One that had begun did not kill it: it is here. */
function endUnreported(
  state: State,
  { isUnheard: isExcused }: Executor,
  { task, what }: { readonly task: Task; readonly what: string },
  now: number,
  out: Output,
): void {
  if (task.state === 'offered') {
    return endAttempt(state, task, { outcome: 'returned', error: null }, now, out);
  }
  const error = { message: `executor ${task.executorId}: ${what}` };
  endAttempt(state, task, { outcome: 'lost_contact', error, isExcused }, now, out);
}

/** The same session on another socket: nothing was missed. */
export function executorResumed(
  state: State,
  event: Extract<Event, { type: 'executorResumed' }>,
  now: number,
  out: Output,
): void {
  const executor = bySession(state, event);
  if (executor === undefined) return;
  executor.connected = true;
  executor.connectedAt = now;
  seen(executor, now);
  if (event.ready !== undefined) takeReadiness(state, executor, event.ready, now, out);
  becomeIdle(state, executor);
}

/** A frame of the attempt can never be taken, and would come again and again: it has failed. */
export function frameRefused(
  state: State,
  event: Extract<Event, { type: 'frameRefused' }>,
  now: number,
  out: Output,
): void {
  const executor = bySession(state, event);
  if (executor === undefined) return;
  executor.connected = false;
  leaveIdle(state, executor);
  const about = event.about ?? executor.occupation;
  const task = about && currentTask(state, executor, about);
  if (!task) return;
  const message = `A frame of attempt ${task.attempt} of ${task.id} was refused: ${event.problem}`;
  const error = { name: 'FrameRefused', message };
  endAttempt(state, task, { outcome: 'failed', error, retryable: false }, now, out);
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
  // Of a lasting id it stays, whatever the process says that had it last.
  const record = state.executorRecords.get(executor.id);
  if (record?.lasting === false) forgetRecord(state, executor.id, out);
  if (executor.occupation !== null)
    return loseExecutor(state, executor, { why: 'it left', isCertain: true }, now, out);
  forget(state, executor);
  const { id: executorId } = executor;
  out.observed.push({ event: 'executor_left', executorId });
  tell(state, out, 'executor.left', now, { executorId });
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
  seen(executor, now);
  executor.connected = true;
  executor.loopLagMs = event.loopLagMs;
  executor.rssBytes = event.rssBytes;
  executor.cpuPercent = event.cpuPercent ?? null;
  if (!event.draining) stay(state, executor, now);
  else if (!executor.leaving) {
    executor.leaving = true;
    leaveIdle(state, executor);
  }
  if (event.ready !== undefined) takeReadiness(state, executor, event.ready, now, out);
  checkOccupation(state, executor, event.running, now, out);
  becomeIdle(state, executor);
}

/** One that is not ready is offered nothing from now on, and goes on with what it has. */
function takeReadiness(
  state: State,
  executor: Executor,
  readiness: Readiness,
  now: number,
  out: Output,
): void {
  const { id: executorId, readiness: before } = executor;
  const { ok, reason } = readiness;
  executor.readiness = readiness;
  state.pools.get(executor.poolKey)?.idle.update(executor);
  // There may be room now for what could not be offered before.
  const isRoomier = diskOf(executor) > diskOf({ readiness: before });
  if (isRoomier) rouse(state, executor);
  if (!ok) leaveIdle(state, executor);
  if (ok === before.ok && reason === before.reason) return;
  out.observed.push({ event: 'executor_readiness', executorId, readiness });
  tell(state, out, 'executor.readiness', now, { executorId }, { ok, reason });
}

/** What it gave back while it was about to leave cost nothing: again and again, it spins. */
function stay(state: State, executor: Executor, now: number): void {
  if (executor.leaving) rest(state, executor, now);
  executor.leaving = false;
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
    executor.isUnheard = false;
    return;
  }
  const task = currentTask(state, executor, occupation);
  // An offer on its way is the business of its assign timeout.
  if (task?.state === 'offered') return;
  if (++executor.missedCount < 2) return;
  occupy(state, executor, null);
  if (task !== null) {
    const what = 'it does not run it any more';
    endUnreported(state, executor, { task, what }, now, out);
  }
}

/** The lease of a silent executor has ended. */
export function leaseEnded(state: State, executor: Executor, now: number, out: Output): void {
  const at = executor.lastSeenAt + executor.leaseMs;
  if (at > now) armLease(state, executor, at);
  else loseExecutor(state, executor, { why: 'its lease ended', isCertain: false }, now, out);
}

function loseExecutor(
  state: State,
  executor: Executor,
  { why: reason, isCertain }: { readonly why: string; readonly isCertain: boolean },
  now: number,
  out: Output,
): void {
  if (executor.sessionId !== null) {
    const { sessionId } = executor;
    out.effects.push({ type: 'closeSession', sessionId, reason: 'silent' });
  }
  const { id: executorId, lastSeenAt } = executor;
  out.observed.push({ event: 'executor_lost', executorId, reason, lastSeenAt });
  tell(state, out, 'executor.lost', now, { executorId }, { reason });
  const task = executor.occupation && currentTask(state, executor, executor.occupation);
  if (task) {
    const message = `executor ${executor.id}: ${reason}`;
    if (task.state === 'running') {
      loseAttempt(state, executor, task, { message, isCertain }, now, out);
    } else {
      endAttempt(state, task, { outcome: 'assign_timeout', error: { message } }, now, out);
    }
  }
  forget(state, executor);
  watchRecord(state, executor.id, now);
}
