/** What the tests of stores put in, and how they ask for it. */
import { expect } from 'chai';
import type { Commit, Position } from '../../master/application/ports.ts';
import type { AttemptRecord, Notification, Task } from '../../master/domain/task.ts';
import { NOW, sampleTask } from '../helpers/task.ts';

export const DAY_MS = 86_400_000;

export function task(seq: number, change: Partial<Task> = {}): Task {
  return sampleTask({ seq, id: `t-${seq}`, requestHash: `hash-${seq}`, ...change });
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
    incarnation: 'x-1 one',
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
    incarnation: 'x-1 one',
    session: 'x-1/1',
    outcome: 'failed',
    offeredAt: NOW,
    startedAt: NOW + 1,
    endedAt: NOW + 2,
    error: { message: 'no such file', name: 'Error', details: '{"path":"/a"}' },
    ...change,
  };
}

export function commit(term: number, change: Partial<Commit>): Commit {
  const { inserts = [], finishes = [] } = change;
  const begun = [...inserts, ...finishes.map((one) => one.task)];
  return {
    term,
    now: NOW,
    lastSeq: Math.max(0, ...begun.map(({ seq }) => seq)),
    saysAlive: false,
    inserts: [],
    updates: [],
    checkpoints: [],
    finishes: [],
    reopens: [],
    attempts: [],
    verdicts: [],
    absences: [],
    notifications: [],
    executors: [],
    ...change,
  };
}

export const finish = (
  ended: Task,
  notification: Notification | null = null,
  stored = true,
): Commit['finishes'][number] => ({ task: ended, stored, notification });

/** The query for all tasks that fit a page. */
export const everything = {
  state: null,
  type: null,
  group: null,
  label: null,
  notification: null,
  beforeSeq: null,
  limit: 200,
  lookCount: 1_000_000,
} as const;

/** Reads to the end, page by page. */
export async function pages<T>(
  read: (after: Position | null, limit: number) => Promise<T[]>,
  position: (item: T) => Position,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await read(last === undefined ? null : position(last), 3);
    all.push(...page);
    if (page.length < 3) return all;
  }
}

export async function failureOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => expect.fail('it succeeded'),
    (error: Error) => error,
  );
}
