/**
 * What operators decide about an executor: that it is to be given no tasks. It outlives connections
 * and masters, and the process where its id does.
 */
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event } from '../events.ts';
import type { Executor, ExecutorRecord } from '../executor.ts';
import type { State } from '../state.ts';
import { becomeIdle, leaveIdle } from './occupation.ts';

const NO_EXECUTOR: CommandOutcome = { code: 404, message: 'no such executor' };

/** A process that was silent for its lease may still come back, and is to stay drained then. */
const RECORD_KEEP_MS = 3_600_000;

/**
 * Takes an executor out of work until it is resumed, whatever becomes of its connections, its process
 * and the master; what it still runs after the timeout is given back.
 */
export function drainRequested(
  state: State,
  event: Extract<Event, { type: 'drainRequested' }>,
  now: number,
  out: Output,
): CommandOutcome {
  const { executorId, timeoutMs } = event;
  const executor = state.executors.get(executorId);
  const known = state.executorRecords.get(executorId);
  if (executor === undefined && known === undefined) return NO_EXECUTOR;
  const record: ExecutorRecord = {
    executorId,
    lasting: executor?.lasting ?? known?.lasting ?? true,
    drainedAt: known?.drainedAt ?? now,
    drainDeadlineAt: timeoutMs === null ? null : now + timeoutMs,
  };
  state.executorRecords.set(executorId, record);
  out.changes.push({ op: 'put', table: 'executor', key: executorId, row: record });
  if (executor !== undefined) {
    setDrain(executor, record, out);
    leaveIdle(state, executor);
    watchDrain(state, executor);
  }
  return { code: 200, lasting: record.lasting };
}

/** Gives an executor work again, also one that is to come back. */
export function resumeRequested(
  state: State,
  event: Extract<Event, { type: 'resumeRequested' }>,
  out: Output,
): CommandOutcome {
  const { executorId } = event;
  const executor = state.executors.get(executorId);
  if (executor === undefined && !state.executorRecords.has(executorId)) return NO_EXECUTOR;
  forgetRecord(state, executorId, out);
  if (executor !== undefined) {
    setDrain(executor, null, out);
    becomeIdle(state, executor);
  }
  return { code: 200 };
}

function setDrain(executor: Executor, record: ExecutorRecord | null, out: Output): void {
  executor.drainRequested = record !== null;
  executor.drainDeadlineAt = record?.drainDeadlineAt ?? null;
  sendDrain(executor, out);
}

/** What an operator has decided about it is no more. */
export function forgetRecord(state: State, executorId: string, out: Output): void {
  if (!state.executorRecords.delete(executorId)) return;
  out.changes.push({ op: 'remove', table: 'executor', key: executorId, expect: 'any' });
}

/**
 * An id that was made up for one process comes back with it or never: what is kept of one that is
 * not here is forgotten after a while, or every process that was ever drained would leave a row.
 */
export function watchRecord(state: State, executorId: string, now: number): void {
  if (state.executorRecords.get(executorId)?.lasting !== false) return;
  state.deadlines.push({ at: now + RECORD_KEEP_MS, kind: 'record', executorId });
}

/** It has not come back, or has, and perhaps gone again: then it is looked at later. */
export function recordDue(state: State, executorId: string, out: Output): void {
  if (state.executors.has(executorId)) return;
  if (state.executorRecords.get(executorId)?.lasting === false) {
    forgetRecord(state, executorId, out);
  }
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
