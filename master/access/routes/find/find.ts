/** How tasks are found: lists by any filter, counts, and the errors of those that failed. */
import { API_BASE } from '@soda-scheduler/protocol';
import {
  countQuery,
  errorList,
  errorQuery,
  executorTasksQuery,
  listQuery,
  taskCount,
  taskList,
} from '@soda-scheduler/protocol/schemas';
import type { z } from 'zod';
import type { Position } from '../../../application/ports.ts';
import { ENDED_COUNT_MAX, ORDERED_LANES_MAX } from '../../../domain/bounds.ts';
import { ANY_TASK, type TaskFilter } from '../../../domain/model/task-filter.ts';
import { isTerminal } from '../../../domain/model/task.ts';
import { checkShape } from '../../body/fields.ts';
import { timesOf } from '../../body/instants.ts';
import { invalidFields, type Problem, wrongCursor } from '../../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../../http/route.ts';
import type { ScopedMaster } from '../../scoped-master.ts';
import { findErrors } from './errors.ts';
import { historyRoute } from './history.ts';
import { taskListText } from '../views.ts';

export function findRoutes(): NamespaceRoute[] {
  return [
    historyRoute,
    {
      method: 'GET',
      path: `${API_BASE}/tasks`,
      summary:
        'Tasks, newest first, without what may be large. A page looks at so many tasks: it may ' +
        'be short, or empty, and the next one goes on where it ended.',
      query: listQuery,
      replies: { done: taskList },
      handle: (request, master) => list(master, request),
    },
    {
      method: 'GET',
      path: `${API_BASE}/tasks/count`,
      summary:
        'How many live tasks there are, by state, type and group; or how many ended ones, up to 10,000.',
      query: countQuery,
      replies: { done: taskCount },
      handle: (request, master) => count(master, request),
    },
    {
      method: 'GET',
      path: `${API_BASE}/tasks/errors`,
      summary: 'The errors of failed tasks, alike ones as one, of so many tasks, the newest first.',
      query: errorQuery,
      replies: { done: errorList },
      handle: async ({ query }, master) => {
        const { type = null, group = null, cursor, ...times } = checkShape(errorQuery, query);
        const filter = { ...ANY_TASK, type, group, ...timesOf(times) };
        const found = await findErrors(master, filter, cursor === undefined ? null : seqIn(cursor));
        const { errors, lookedCount, beforeSeq } = found;
        return { body: { errors, looked_at: lookedCount, next_cursor: cursorOf(beforeSeq) } };
      },
    },
  ];
}

async function list(master: ScopedMaster, request: ApiRequest): Promise<Reply> {
  const query = checkShape(listQuery, request.query);
  const { sort, limit, cursor } = query;
  const filter = checkSearch(query);
  if (sort === 'order') {
    const after = cursor === undefined ? null : placeIn(cursor);
    const page = await master.lists.inOrder({ ...filter, after, limit });
    if (page === null) throw tooBroad();
    return listReply(page.tasks, page.after && cursorTo(page.after), master);
  }
  const beforeSeq = cursor === undefined ? null : seqIn(cursor);
  const page = await master.lists.newest({ ...filter, beforeSeq, limit });
  return listReply(page.tasks, cursorOf(page.beforeSeq), master);
}

function tooBroad(): Problem {
  const message =
    `${ORDERED_LANES_MAX} combinations of type, requires, labels and group at most are listed in order: ` +
    'name a type or a group';
  return invalidFields([{ field: 'sort', message }]);
}

/** Of which the executor has the newest attempt, or had the last one. */
export async function listOfExecutor(
  master: ScopedMaster,
  executorId: string,
  query: ApiRequest['query'],
): Promise<Reply> {
  const { state = null, limit, cursor } = checkShape(executorTasksQuery, query);
  const beforeSeq = cursor === undefined ? null : seqIn(cursor);
  const page = await master.lists.newest({ ...ANY_TASK, state, executorId, beforeSeq, limit });
  return listReply(page.tasks, cursorOf(page.beforeSeq), master);
}

function listReply(
  tasks: Parameters<typeof taskListText>[0],
  next: string | null,
  { namespace }: ScopedMaster,
): Reply {
  const text = taskListText(tasks, next, namespace);
  return { body: `${text}\n`, contentType: 'application/json' };
}

/**
 * What is looked for.
 * @param place of the query: before the names of its fields.
 * @throws {Problem} no task can be found by it.
 */
export function checkSearch(
  query: Filters & { readonly sort?: string | undefined },
  place = '',
): TaskFilter {
  const filter = filterOf(query, place);
  if (query.sort === 'order') checkWaiting(filter, place);
  return filter;
}

function checkWaiting({ state, notification, failureReason }: TaskFilter, place: string): void {
  const errors = [];
  if (state !== null && state !== 'waiting')
    errors.push({ field: 'state', message: 'expected waiting' });
  if (notification !== null) errors.push({ field: 'notification', message: 'expected none' });
  if (failureReason !== null) errors.push({ field: 'failure_reason', message: 'expected none' });
  const why = 'with `sort=order`, which lists tasks that wait';
  if (errors.length === 0) return;
  throw invalidFields(
    errors.map(({ field, message }) => ({ field: place + field, message: `${message} ${why}` })),
  );
}

async function count(master: ScopedMaster, request: ApiRequest): Promise<Reply> {
  const { state, type = null, group = null, ...others } = checkShape(countQuery, request.query);
  const [other] = Object.entries(others).filter(([, value]) => value !== undefined);
  if (other !== undefined) throw notCounted(other[0], 'tasks are counted by state, type and group');
  if (state === undefined || !isTerminal(state)) {
    const live = Object.entries(master.countLive({ type, group }));
    const states = live.filter(([name]) => state === undefined || name === state);
    const total = states.reduce((sum, [, one]) => sum + one, 0);
    // Of those that were taken last some may not be stored, and will be gone.
    const exact = master.status !== 'recovering';
    return { body: { count: total, exact, states: Object.fromEntries(states) } };
  }
  const field = type === null ? 'group' : 'type';
  if (type !== null || group !== null) {
    throw notCounted(field, 'ended tasks are counted by state alone');
  }
  const found = await master.lists.countEnded(state, ENDED_COUNT_MAX);
  return { body: { count: found, exact: found < ENDED_COUNT_MAX, states: { [state]: found } } };
}

function notCounted(field: string, why: string): Error {
  return invalidFields([{ field, message: `not known to counters: ${why}; GET /tasks lists` }]);
}

type Filters = Omit<z.output<typeof listQuery>, 'sort' | 'limit' | 'cursor'>;

/** What is left out may be anything. @throws {Problem} there is no time between `from` and `to`. */
export function filterOf(query: Filters, place: string): TaskFilter {
  return {
    state: query.state ?? null,
    type: query.type ?? null,
    group: query.group ?? null,
    project: query.project ?? null,
    env: query.env ?? null,
    user: query.user ?? null,
    label: query.label ?? null,
    requires: query.requires ?? null,
    executorId: query.executor_id ?? null,
    idPrefix: query.id_prefix ?? null,
    error: query.error ?? null,
    failureReason: query.failure_reason ?? null,
    notification: query.notification ?? null,
    ...timesOf(query, place),
    minAttempts: query.min_attempts ?? null,
    job: query.job ?? null,
  };
}

/** Opaque to clients, so that what it holds may change. */
function cursorOf(seq: number | null): string | null {
  return seq === null ? null : Buffer.from(`before:${seq}`).toString('base64url');
}

function cursorTo({ time, seq }: Position): string {
  return Buffer.from(`after:${time}:${seq}`).toString('base64url');
}

function seqIn(cursor: string): number {
  const [seq] = numbersIn(cursor, /^before:(\d{1,15})$/);
  return seq ?? 0;
}

function placeIn(cursor: string): Position {
  const [time = 0, seq = 0] = numbersIn(cursor, /^after:(-?\d{1,15}):(\d{1,15})$/);
  return { time, seq };
}

/** @throws {Problem} it is of no such page. */
function numbersIn(cursor: string, form: RegExp): number[] {
  const parts = form.exec(Buffer.from(cursor, 'base64url').toString());
  if (parts !== null) return parts.slice(1).map(Number);
  throw wrongCursor();
}
