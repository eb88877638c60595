/** Rows made by hand, for tests that begin behind the rules by which tasks come to be. */
import { laneOf, type Notification, type Task } from '../../master/domain/task.ts';

/** Noon, UTC: when a sample was submitted. */
export const NOW = Date.UTC(2026, 10, 20, 12);

/** A task as submitted, at version 1. */
export function sampleTask(change: Partial<Task> = {}): Task {
  const { type = 'video.push', requires = [], labels = [] } = change;
  return {
    seq: 1,
    id: 'a',
    type,
    params: '{}',
    labels,
    requires,
    lane: laneOf(type, requires, labels),
    user: { group: 'media', project: null, env: null, user: null },
    notifyUrl: null,
    requestHash: '',
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

/** The callback of an ended task, before its first try. */
export function notificationOf(ended: Task, change: Partial<Notification> = {}): Notification {
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
