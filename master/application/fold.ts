/**
 * Folds the changes of a turn into one transaction: one write per task, whatever happened to it.
 * Raises each task's version to that of the row it will have.
 * Throws rather than drop a change that it has no write for.
 */
import type { Absence, Change } from '../domain/effects.ts';
import type { ExecutorRecord } from '../domain/executor.ts';
import type { State } from '../domain/state.ts';
import type { Notification, Task } from '../domain/task.ts';
import type { Commit } from './ports.ts';

interface Write {
  readonly task: Task;
  inserted: boolean;
  reopenedFrom: number | null;
  checkpointed: boolean;
  finished: boolean;
  notification: Notification | null;
}

/** `saysAlive`: also where nothing changes. */
export function fold(
  changes: readonly Change[],
  { term, lastSeq }: Pick<State, 'term' | 'lastSeq'>,
  now: number,
  saysAlive = false,
): Commit {
  const writes = new Map<Task, Write>();
  const attempts: Commit['attempts'][number][] = [];
  const verdicts: Commit['verdicts'][number][] = [];
  const absences: Absence[] = [];
  const notifications = new Set<Notification>();
  const executors = new Map<string, ExecutorRecord | null>();

  for (const change of changes) {
    if (change.type === 'attemptRecorded') attempts.push(change.attempt);
    else if (change.type === 'attemptDecided') verdicts.push(change);
    else if (change.type === 'absenceCredited') absences.push(change.absence);
    else if (change.type === 'notificationChanged') notifications.add(change.notification);
    else if (change.type === 'executorChanged') executors.set(change.executorId, change.record);
    else note(writeOf(writes, change.task), change);
  }

  const inserts: Task[] = [];
  const updates: Task[] = [];
  const checkpoints: Task[] = [];
  const finishes: Commit['finishes'][number][] = [];
  const reopens: Commit['reopens'][number][] = [];
  for (const write of writes.values()) {
    const { task, notification } = write;
    task.version++;
    // A task is reopened in a turn of its own: its row must be read first, and nothing else is due.
    if (write.finished && write.reopenedFrom !== null) {
      throw new Error(`task ${task.id} was reopened and finished in one turn`);
    }
    if (write.finished) finishes.push({ task, stored: !write.inserted, notification });
    else if (write.reopenedFrom !== null) reopens.push({ task, finishedAt: write.reopenedFrom });
    else if (write.inserted) inserts.push(task);
    else {
      updates.push(task);
      if (write.checkpointed) checkpoints.push(task);
    }
  }
  return {
    term,
    now,
    lastSeq,
    saysAlive,
    inserts,
    updates,
    checkpoints,
    finishes,
    reopens,
    attempts,
    verdicts,
    absences,
    notifications: [...notifications],
    executors: [...executors].map(([executorId, record]) => ({ executorId, record })),
  };
}

function writeOf(writes: Map<Task, Write>, task: Task): Write {
  let write = writes.get(task);
  if (write === undefined) {
    write = {
      task,
      inserted: false,
      reopenedFrom: null,
      checkpointed: false,
      finished: false,
      notification: null,
    };
    writes.set(task, write);
  }
  return write;
}

function note(write: Write, change: Extract<Change, { readonly task: Task }>): void {
  switch (change.type) {
    case 'taskInserted':
      write.inserted = true;
      return;
    case 'taskReopened':
      write.reopenedFrom = change.finishedAt;
      return;
    case 'checkpointSaved':
      write.checkpointed = true;
      return;
    case 'taskFinished':
      write.finished = true;
      write.notification = change.notification;
      return;
    case 'taskUpdated':
  }
}
