/** A history of some days, put into a database as commits of a master would. */
import { openSqlStore } from '../master/infrastructure/sql/open.ts';
import { DEFAULT_NAMESPACE_ID, type Store } from '../master/application/ports.ts';
import type { RowWrite } from '../master/domain/changes.ts';
import { randomUUID } from 'node:crypto';
import { sampleTask } from '../test/helpers/task.ts';

const DAY_MS = 86_400_000;
/** Tasks that one commit ends. */
const COMMIT_COUNT = 1_000;

/** `taskCount` tasks that ended in the last `dayCount` days, with no callback; nobody else uses the database. */
export async function fillHistory(
  url: string,
  { taskCount, dayCount }: { readonly taskCount: number; readonly dayCount: number },
): Promise<void> {
  const store = await openSqlStore({ url, allowWeakDurability: false });
  try {
    await fill(store, taskCount, dayCount);
  } finally {
    await store.close();
  }
}

async function fill(store: Store, taskCount: number, dayCount: number): Promise<void> {
  const now = Date.now();
  await store.open(now);
  const tasks = store.tasks(DEFAULT_NAMESPACE_ID);
  const { term, lastSeq } = await tasks.takeTerm('bench', now);
  for (let from = 0; from < taskCount; from += COMMIT_COUNT) {
    const writes = Array.from({ length: Math.min(COMMIT_COUNT, taskCount - from) }, (_, at) => {
      const index = from + at;
      const endedAt = now - Math.floor(((taskCount - index) / taskCount) * dayCount * DAY_MS);
      return endedTask(lastSeq + 1 + index, endedAt);
    });
    const upTo = lastSeq + from + writes.length;
    await tasks.commit({ term, now, lastSeq: upTo, saysAlive: false, writes, absences: [] });
  }
}

function endedTask(seq: number, finishedAt: number): RowWrite {
  const task = sampleTask({
    seq,
    id: randomUUID(),
    type: 'noop',
    params: '{"input":"/media/in.mp4","outputs":[]}',
    user: { group: `group-${seq % 20}`, project: null, env: null, user: null },
    requestHash: `hash-${seq}`,
    submittedAt: finishedAt - 100,
    orderTime: finishedAt - 100,
    queueTime: finishedAt - 100,
    dueAt: finishedAt - 100,
    offeredAt: finishedAt - 90,
    startedAt: finishedAt - 80,
    finishedAt,
    state: 'succeeded',
    attempt: 1,
    attemptsUsed: 1,
    executorId: 'bench-1',
    incarnation: 'bench',
    lastOutcome: 'succeeded',
    result: '1',
    retention: 'normal',
  });
  const key = [seq, finishedAt, 'normal'] as const;
  return { op: 'insert', table: 'history', key, row: { task, notification: null } };
}
