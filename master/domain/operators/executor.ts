/**
 * What operators decide about an executor: that it is to be given no tasks, and which labels count in
 * place of its own. It outlives connections and masters, and the process where its id does.
 */
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event } from '../events.ts';
import { tell } from '../feed/tell.ts';
import { type Executor, type ExecutorRecord, NO_OVERRIDE } from '../model/executor.ts';
import type { State } from '../state/state.ts';
import { changePool, forget, watchDrain } from '../steps/fleet.ts';
import { becomeIdle, leaveIdle } from '../steps/occupation.ts';

const NO_EXECUTOR: CommandOutcome = { kind: 'unknown', message: 'no such executor' };
const NOT_DRAINED = {
  drainedAt: null,
  drainedBy: null,
  drainReason: null,
  drainDeadlineAt: null,
} as const;

/** A process that was silent for its lease may still come back, and is to stay as it was set then. */
const RECORD_KEEP_MS = 3_600_000;

type OnExecutor<T extends Event['type']> = Extract<Event, { readonly type: T }>;

/** A command on one executor, and its answer. */
export function onExecutor(
  state: State,
  event: OnExecutor<'drainRequested' | 'resumeRequested' | 'relabelRequested' | 'removeRequested'>,
  now: number,
  out: Output,
): void {
  const reply = outcomeOf(state, event, now, out);
  out.effects.push({ type: 'reply', request: event.request, reply });
}

function outcomeOf(
  state: State,
  event: Parameters<typeof onExecutor>[1],
  now: number,
  out: Output,
): CommandOutcome {
  switch (event.type) {
    case 'drainRequested':
      return drainRequested(state, event, now, out);
    case 'resumeRequested':
      return resumeRequested(state, event, now, out);
    case 'relabelRequested':
      return relabelRequested(state, event, now, out);
    case 'removeRequested':
      return removeRequested(state, event, now, out);
  }
}

/**
 * Takes an executor out of work until it is resumed, whatever becomes of its connections, its process
 * and the master; what it still runs after the timeout is given back.
 */
function drainRequested(
  state: State,
  event: OnExecutor<'drainRequested'>,
  now: number,
  out: Output,
): CommandOutcome {
  const { executorId, timeoutMs, by: drainedBy, reason: drainReason } = event;
  const drainedAt = state.executorRecords.get(executorId)?.drainedAt ?? now;
  const drainDeadlineAt = timeoutMs === null ? null : now + timeoutMs;
  const drain = { drainedAt, drainedBy, drainReason, drainDeadlineAt };
  const record = decide(state, executorId, drain, out);
  if (record === null) return NO_EXECUTOR;
  const how = { reason: drainReason, until: drainDeadlineAt };
  tell(state, out, 'executor.drained', now, { executorId }, how);
  const executor = state.executors.get(executorId);
  if (executor !== undefined) {
    setDrain(executor, record, out);
    leaveIdle(state, executor);
    watchDrain(state, executor);
  }
  return { kind: 'done', lasting: record.lasting };
}

/** Gives an executor work again, also one that is to come back. */
function resumeRequested(
  state: State,
  event: OnExecutor<'resumeRequested'>,
  now: number,
  out: Output,
): CommandOutcome {
  const { executorId } = event;
  const record = decide(state, executorId, NOT_DRAINED, out);
  if (record === null) return NO_EXECUTOR;
  tell(state, out, 'executor.resumed', now, { executorId });
  const executor = state.executors.get(executorId);
  if (executor !== undefined) {
    setDrain(executor, record, out);
    becomeIdle(state, executor);
  }
  return { kind: 'done' };
}

/** Sets which labels count, of an executor that may be away. What it runs goes on. */
function relabelRequested(
  state: State,
  event: OnExecutor<'relabelRequested'>,
  now: number,
  out: Output,
): CommandOutcome {
  const { executorId, override, by: overrideBy } = event;
  const record = decide(state, executorId, { ...override, overrideBy }, out);
  if (record === null) return NO_EXECUTOR;
  tell(state, out, 'executor.changed', now, { executorId });
  const executor = state.executors.get(executorId);
  if (executor !== undefined) {
    changePool(state, executor);
    becomeIdle(state, executor);
  }
  return { kind: 'done', lasting: record.lasting };
}

/** One that is gone is known no more, nor what was decided about it. */
function removeRequested(
  state: State,
  { executorId }: OnExecutor<'removeRequested'>,
  now: number,
  out: Output,
): CommandOutcome {
  const newest = state.executors.get(executorId);
  const elders = [...state.elders.values()].filter(({ id }) => id === executorId);
  const processes = newest === undefined ? elders : [newest, ...elders];
  if (processes.length === 0 && !state.executorRecords.has(executorId)) return NO_EXECUTOR;
  if (newest?.connected) return { kind: 'conflict', message: 'it is connected: stop it first' };
  for (const { occupation } of processes) {
    if (occupation === null) continue;
    const { taskId, attempt } = occupation;
    const message = `until its lease ends it may still run attempt ${attempt} of ${taskId}`;
    return { kind: 'conflict', message };
  }
  forgetRecord(state, executorId, out);
  tell(state, out, 'executor.removed', now, { executorId });
  for (const executor of processes) {
    const { sessionId } = executor;
    // What it was told, and what it may resume, is over with it: it comes back as a new one.
    if (sessionId !== null) out.effects.push({ type: 'closeSession', sessionId, reason: 'silent' });
    forget(state, executor);
  }
  return { kind: 'done' };
}

/** The record as it is now; it is kept while it says anything. Null: there is no such executor. */
function decide(
  state: State,
  executorId: string,
  change: Partial<ExecutorRecord>,
  out: Output,
): ExecutorRecord | null {
  const executor = state.executors.get(executorId);
  const known = state.executorRecords.get(executorId);
  if (executor === undefined && known === undefined) return null;
  const lasting = executor?.lasting ?? known?.lasting ?? true;
  const nothing = { ...NOT_DRAINED, ...NO_OVERRIDE, overrideBy: null };
  const decided = { ...nothing, ...known, executorId, lasting, ...change };
  const { drainedAt, labels, reserve } = decided;
  const isOverridden = labels !== null || reserve !== null;
  const record = isOverridden ? decided : { ...decided, overrideBy: null };
  if (drainedAt === null && !isOverridden) {
    forgetRecord(state, executorId, out);
  } else {
    state.executorRecords.set(executorId, record);
    out.changes.push({ op: 'put', table: 'executor', key: executorId, row: record });
  }
  return record;
}

function setDrain(executor: Executor, record: ExecutorRecord, out: Output): void {
  executor.drainRequested = record.drainedAt !== null;
  executor.drainDeadlineAt = record.drainDeadlineAt;
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

/** Tells an executor whether it is to be given tasks. */
export function sendDrain(executor: Executor, out: Output): void {
  if (executor.sessionId === null) return;
  out.effects.push({
    type: 'sendToExecutor',
    sessionId: executor.sessionId,
    command: { type: 'drain', draining: executor.drainRequested },
  });
}
