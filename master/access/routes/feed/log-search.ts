/**
 * What many tasks have logged: looked for in the log of one after another, as lists find them, so that a scope and the
 * bounds of lists hold by themselves.
 */
import { API_BASE } from '@soda-scheduler/protocol';
import { logSearchPage, logSearchQuery } from '@soda-scheduler/protocol/schemas';
import type { Ran } from '../../../application/ports.ts';
import type { LogPlace } from '../../../application/logs/log-store.ts';
import type { PlacedLine } from '../../../application/logs/logs.ts';
import type { LogFilter } from '../../../domain/logs/log-line.ts';
import { ANY_TASK } from '../../../domain/model/task-filter.ts';
import type { Task } from '../../../domain/model/task.ts';
import { checkShape } from '../../body/fields.ts';
import { timesOf } from '../../body/instants.ts';
import { invalidFields, wrongCursor } from '../../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../../http/route.ts';
import type { ScopedMaster } from '../../scoped-master.ts';
import { lineView } from './logs.ts';

/** Tasks, and pages of their logs, that one request looks at. */
const TASK_COUNT = 100;
const READ_COUNT_MAX = 20;
/** So far the clock of an executor may be from that of the master. */
const CLOCK_MS_MAX = 60_000;

export const logSearchRoute: NamespaceRoute = {
  method: 'GET',
  path: `${API_BASE}/logs`,
  summary:
    'Lines of the logs of many tasks: of an executor or a type, between two instants. A page looks at so much: it ' +
    'may be short, or empty, and the next one goes on where it ended.',
  query: logSearchQuery,
  replies: { done: logSearchPage },
  handle: (request, master) => search(request, master),
};

interface Wanted extends LogFilter {
  readonly executorId: string | null;
  readonly type: string | null;
  readonly limit: number;
}

/** Tasks accepted before that one; of the first of them, if it is that one still, what comes after a line. */
interface Start {
  readonly beforeSeq: number | null;
  readonly within: { readonly seq: number; readonly after: LogPlace } | null;
}

type Line = PlacedLine & { readonly taskId: string };

async function search(request: ApiRequest, master: ScopedMaster): Promise<Reply> {
  const { cursor, limit, ...asked } = checkShape(logSearchQuery, request.query);
  const { executor_id: executorId = null, type = null, level = null, text = null } = asked;
  if (executorId === null && type === null) {
    throw invalidFields([{ field: 'executor_id', message: 'expected this, or `type`, or both' }]);
  }
  const { from, to } = timesOf(asked);
  const wanted = { executorId, type, level, text, from, to, limit };
  const { lines, next } = await find(master, wanted, startIn(cursor));
  const found = lines.map(({ taskId, ...line }) => ({ task_id: taskId, ...lineView(line) }));
  return { body: { lines: found, next_cursor: next && cursorOf(next) } };
}

async function find(
  master: ScopedMaster,
  wanted: Wanted,
  { beforeSeq, within }: Start,
): Promise<{ readonly lines: readonly Line[]; readonly next: Start | null }> {
  const { type, limit } = wanted;
  const lines: Line[] = [];
  let readCount = 0;
  const page = await master.lists.newest({
    ...{ ...ANY_TASK, type, beforeSeq },
    ...{ ran: ranIn(wanted), limit: TASK_COUNT },
  });
  for (const { task } of page.tasks) {
    const { seq, id: taskId } = task;
    if (readCount >= READ_COUNT_MAX) return { lines, next: { beforeSeq: seq + 1, within: null } };
    const last = within?.seq === seq ? within.after : null;
    readCount += task.attempt > 1 ? 1 : 0;
    for (const attempt of await attemptsOf(master, wanted, task)) {
      // A page before has looked through it.
      if (last !== null && attempt !== null && last.attempt > attempt) continue;
      const isNext = attempt === null || last?.attempt === attempt;
      let after = (isNext ? last : null) ?? { attempt: attempt ?? 0, n: 0 };
      for (let isAtEnd = false; !isAtEnd; readCount += 1) {
        if (lines.length >= limit || readCount >= READ_COUNT_MAX) {
          return { lines, next: { beforeSeq: seq + 1, within: { seq, after } } };
        }
        const asked = { ...wanted, taskSeq: seq, attempt, after, limit: limit - lines.length };
        const found = await master.logs.read(asked);
        lines.push(...found.lines.map((line) => ({ taskId, ...line })));
        after = found.next;
        ({ isAtEnd } = found);
      }
    }
  }
  const next = page.beforeSeq === null ? null : { beforeSeq: page.beforeSeq, within: null };
  return { lines, next };
}

/** What executors said, by their clocks, was said by that of the master. */
function ranIn({ executorId, from, to }: Wanted): Ran {
  return { executorId, from: from && from - CLOCK_MS_MAX, to: to && to + CLOCK_MS_MAX };
}

/** Whose log is looked through; null: of each, by its page. */
async function attemptsOf(
  master: ScopedMaster,
  { executorId }: Wanted,
  { id, attempt, executorId: newestBy }: Task,
): Promise<readonly (number | null)[]> {
  if (executorId === null) return [null];
  const newest = newestBy === executorId ? [attempt] : [];
  if (attempt === 1) return newest;
  const records = (await master.find(id, 'all'))?.attempts ?? [];
  const had = records.filter((one) => one.executorId === executorId).map((one) => one.attempt);
  // One that has failed has a record as well.
  return [...new Set([...had, ...newest])];
}

/** Opaque to clients, so that what it holds may change. */
function cursorOf({ beforeSeq, within }: Start): string {
  const { seq, after } = within ?? { seq: 0, after: { attempt: 0, n: 0 } };
  const numbers = [beforeSeq ?? 0, seq, after.attempt, after.n];
  return Buffer.from(`logs:${numbers.join(':')}`).toString('base64url');
}

/** @throws {Problem} it is of no such page. */
function startIn(cursor: string | undefined): Start {
  if (cursor === undefined) return { beforeSeq: null, within: null };
  const form = /^logs:(\d{1,15}):(\d{1,15}):(\d{1,9}):(\d{1,10})$/;
  const parts = form.exec(Buffer.from(cursor, 'base64url').toString());
  if (parts === null) throw wrongCursor();
  const [beforeSeq = 0, seq = 0, attempt = 0, n = 0] = parts.slice(1).map(Number);
  return { beforeSeq, within: { seq, after: { attempt, n } } };
}
