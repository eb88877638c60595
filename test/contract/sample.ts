/** Tasks, attempts, notifications and commits for the tests of stores. */
import type { Commit } from '../../master/application/ports.ts';
import type { AttemptRecord, Notification, Task } from '../../master/domain/task.ts';
import { laneOf } from '../../master/domain/task.ts';

export const DAY_MS = 86_400_000;
/** Noon, UTC. */
export const NOW = Date.UTC(2026, 10, 20, 12);

/** A task as submitted, at version 1. */
export function task(seq: number, change: Partial<Task> = {}): Task {
  const type = change.type ?? 'video.push';
  const requires = change.requires ?? [];
  const labels = change.labels ?? [];
  return {
    seq,
    id: `t-${seq}`,
    type,
    params: '{}',
    labels,
    requires,
    lane: laneOf(type, requires, labels),
    user: { group: 'media', project: null, env: null, user: null },
    notifyUrl: null,
    requestHash: `hash-${seq}`,
    submittedAt: NOW,
    retry: { maxAttempts: 10, interval: 600 },
    assignTimeoutMs: 5_000,
    executionTimeoutMs: null,
    stallTimeoutMs: null,
    deadlineAt: null,
    state: 'waiting',
    version: 1,
    priority: 0,
    orderTime: NOW,
    dueAt: NOW,
    attempt: 0,
    attemptsUsed: 0,
    crashCount: 0,
    executorId: null,
    offeredAt: null,
    startedAt: null,
    cancelRequestedAt: null,
    cancelReason: null,
    progressPercent: null,
    progressState: null,
    progressAt: null,
    checkpoint: null,
    error: null,
    lastOutcome: null,
    result: null,
    finishedAt: null,
    failureReason: null,
    ...change,
  };
}

/** The task after its next write. */
export function next(before: Task, change: Partial<Task>): Task {
  return { ...before, version: before.version + 1, ...change };
}

export function finished(before: Task, change: Partial<Task> = {}): Task {
  return next(before, {
    state: 'succeeded',
    attempt: before.attempt + 1,
    executorId: 'x-1',
    offeredAt: NOW,
    startedAt: NOW + 1,
    lastOutcome: 'succeeded',
    result: '{"ok":true}',
    finishedAt: NOW + 2,
    ...change,
  });
}

export function attemptOf(before: Task, change: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    taskSeq: before.seq,
    attempt: 1,
    executorId: 'x-1',
    outcome: 'failed',
    offeredAt: NOW,
    startedAt: NOW + 1,
    endedAt: NOW + 2,
    error: { message: 'no such file', name: 'Error', details: { path: '/a' } },
    ...change,
  };
}

export function notificationFor(ended: Task, change: Partial<Notification> = {}): Notification {
  return {
    taskSeq: ended.seq,
    taskId: ended.id,
    url: ended.notifyUrl ?? '',
    finishedAt: ended.finishedAt ?? 0,
    state: 'pending',
    tries: 0,
    nextTryAt: ended.finishedAt ?? 0,
    lastStatus: null,
    lastError: null,
    deliveredAt: null,
    ...change,
  };
}

export function commit(term: number, change: Partial<Commit>): Commit {
  return {
    term,
    now: NOW,
    inserts: [],
    updates: [],
    checkpoints: [],
    finishes: [],
    reopens: [],
    attempts: [],
    notifications: [],
    ...change,
  };
}

export const finish = (
  ended: Task,
  notification: Notification | null = null,
  stored = true,
): Commit['finishes'][number] => ({ task: ended, stored, notification });
