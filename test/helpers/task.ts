/** Tasks and an executor made by hand, for tests that begin behind the rules by which they come to be. */
import type { Ran, ShownTask } from '../../master/application/ports.ts';
import { WHOLE_TABLES, type WholeRows } from '../../master/domain/changes.ts';
import {
  type Executor,
  type ExecutorRecord,
  NO_OVERRIDE,
  READY,
} from '../../master/domain/model/executor.ts';
import type { ExecutorHello, NewTask, Seen, TaskChange } from '../../master/domain/events.ts';
import { defaultPolicy, type Policy } from '../../master/domain/state/policy.ts';
import { kindKeyOf, type Notification, type Task } from '../../master/domain/model/task.ts';

/** Of the tables that memory holds whole. */
export const noRows = Object.fromEntries(
  WHOLE_TABLES.map((name) => [name, []]),
) as unknown as WholeRows;

/** Noon, UTC: when a sample was submitted. */
export const NOW = Date.UTC(2026, 10, 20, 12);

const laneNumbers = new Map<string, number>();

/** Of the only lane of a kind, the same whenever it is asked for. */
export function laneNumber(kind: string): number {
  const known = laneNumbers.get(kind) ?? laneNumbers.size + 1;
  laneNumbers.set(kind, known);
  return known;
}

/** What a submit asks for, with the least that it needs. */
export function newTask(fields: Partial<NewTask> = {}): NewTask {
  return {
    id: 'a',
    type: 'echo',
    params: '{}',
    labels: [],
    requires: [],
    user: { group: 'g', project: null, env: null, user: null },
    notifyUrl: null,
    requestHash: `hash of ${fields.id ?? 'a'}`,
    priority: 0,
    runAt: null,
    retry: { maxAttempts: 10, interval: 600 },
    assignTimeoutMs: null,
    executionTimeoutMs: null,
    stallTimeoutMs: null,
    startTimeoutMs: null,
    startTimeoutAction: null,
    diskBytes: null,
    uses: [],
    deadlineAt: null,
    traceparent: null,
    ...fields,
  };
}

/** A command: of whichever task has the id, unless it says more. */
export function changing(taskId: string, change: TaskChange, seen: Partial<Seen> = {}) {
  const any = { seq: null, version: null };
  return { type: 'changeRequested', taskId, change, seen: { ...any, ...seen } } as const;
}

/** A task as submitted, at version 1. */
export function sampleTask(change: Partial<Task> = {}): Task {
  const { type = 'video.push', requires = [], labels = [], diskBytes = null, uses = [] } = change;
  const { booking = null } = change;
  return {
    seq: 1,
    id: 'a',
    type,
    params: '{}',
    labels,
    requires,
    lane: laneNumber(kindKeyOf(type, requires, labels, diskBytes, uses, booking)),
    user: { group: 'media', project: null, env: null, user: null },
    notifyUrl: null,
    requestHash: '',
    submittedAt: NOW,
    retry: { maxAttempts: 10, interval: 600 },
    assignTimeoutMs: 5_000,
    executionTimeoutMs: null,
    stallTimeoutMs: null,
    startTimeoutMs: null,
    startTimeoutAction: 'fail',
    diskBytes,
    uses,
    booking,
    startBy: null,
    deadlineAt: null,
    traceparent: null,
    job: null,
    state: 'waiting',
    gate: null,
    version: 1,
    priority: 0,
    orderTime: NOW,
    queueTime: change.orderTime ?? NOW,
    dueAt: NOW,
    attempt: 0,
    attemptsUsed: 0,
    crashCount: 0,
    contactCount: 0,
    executorId: null,
    incarnation: null,
    hiddenMs: 0,
    stallHiddenMs: 0,
    offeredAt: null,
    startedAt: null,
    cancelRequestedAt: null,
    cancelReason: null,
    suspension: null,
    progressPercent: null,
    progressState: null,
    progressDetail: null,
    progressAt: null,
    checkpoint: null,
    eventCount: 0,
    error: null,
    lastOutcome: null,
    result: null,
    finishedAt: null,
    retention: (change.finishedAt ?? null) === null ? null : 'normal',
    failureReason: null,
    ...change,
  };
}

/** With a lease that the numbers of the tests go by. */
export const testPolicy: Policy = { ...defaultPolicy, leaseMs: 15_000 };

/** The callback of an ended task, before its first try. */
export function notificationOf(ended: Task, change: Partial<Notification> = {}): Notification {
  return {
    taskSeq: ended.seq,
    taskId: ended.id,
    url: ended.notifyUrl ?? '',
    finishedAt: ended.finishedAt ?? 0,
    retention: ended.retention ?? 'normal',
    type: ended.type,
    user: ended.user,
    state: 'pending',
    tries: 0,
    triesSince: ended.finishedAt ?? 0,
    nextTryAt: ended.finishedAt ?? 0,
    lastStatus: null,
    lastError: null,
    deliveredAt: null,
    ...change,
  };
}

/** In the middle of an attempt. */
export const sampleExecutor: Executor = {
  id: 'gpu-1',
  incarnation: 'i',
  sessionId: 's',
  connected: true,
  types: ['transcode'],
  own: { labels: ['gpu'], reserve: [] },
  override: NO_OVERRIDE,
  labels: ['gpu'],
  reserve: [],
  isPinned: false,
  booking: null,
  keptUntil: null,
  poolKey: '',
  bareKey: '',
  host: 'h',
  pid: 7,
  sdk: 'soda/2',
  version: '1.4',
  bootId: '',
  usesMac: true,
  leaseMs: 30_000,
  leaseCheckAt: 0,
  connectedAt: NOW,
  isUnheard: false,
  lastSeenAt: NOW + 1000,
  occupation: {
    taskId: 'job-1',
    attempt: 2,
    accepted: true,
    type: 'echo',
    group: 'g',
    gate: null,
    booking: null,
    taken: [],
  },
  lasting: true,
  ending: null,
  isFrozen: false,
  hasFenced: false,
  drainRequested: false,
  drainDeadlineAt: null,
  leaving: false,
  readiness: READY,
  coolDowns: new Map(),
  refusalCount: 0,
  restUntil: 0,
  missedCount: 0,
  loopLagMs: 1.5,
  rssBytes: 1000,
  cpuPercent: 42,
  idHash: 1,
  offeredAt: NOW,
  failures: 0,
  past: [],
};

/** What operators have decided about an executor: nothing, unless told otherwise. */
export function recordOf(executorId: string, fields: Partial<ExecutorRecord> = {}): ExecutorRecord {
  const nothing = {
    lasting: true,
    drainedAt: null,
    drainedBy: null,
    drainReason: null,
    drainDeadlineAt: null,
    overrideBy: null,
    ...NO_OVERRIDE,
  };
  return { executorId, ...nothing, ...fields };
}

/** What an executor says of itself, unless told otherwise. */
export function hello(fields: Partial<ExecutorHello> = {}): ExecutorHello {
  const executorId = fields.executorId ?? 'x';
  return {
    executorId,
    incarnation: `${executorId} one`,
    sessionId: `${executorId}/1`,
    types: ['echo'],
    labels: [],
    reserve: [],
    running: [],
    host: 'host',
    pid: 1,
    sdk: 'test',
    version: '',
    lasting: true,
    bootId: '',
    usesMac: false,
    leaseMs: testPolicy.leaseMs,
    booking: null,
    died: [],
    fenced: [],
    ready: READY,
    ...fields,
  };
}

/** As the contract of stores has it. */
export function hasRan({ executorId, from, to }: Ran, { task, attempts }: ShownTask): boolean {
  const who = [task, ...attempts].map((one) => one.executorId);
  return (
    task.attempt > 0 &&
    (executorId === null || who.includes(executorId)) &&
    (from === null || (task.finishedAt ?? Infinity) >= from) &&
    (to === null || task.submittedAt < to)
  );
}
