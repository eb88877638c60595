/** What a submitter may do with tasks that are in: read, cancel, retry, change, delete, redeliver. */
import { API_BASE, HTTP_LIMITS, TASK_ID_PATTERN } from '@soda-scheduler/protocol';
import {
  attemptView as attemptViewSchema,
  cancelRequest,
  patchRequest,
  taskCommandResponse,
  taskView as taskViewSchema,
} from '@soda-scheduler/protocol/schemas';
import type { CommandAnswer, ScopedMaster } from '../scoped-master.ts';
import type { ShownTask } from '../../application/ports.ts';
import { refusalInWords } from '../../domain/effects.ts';
import type { QueueEnd } from '../../domain/queue/window.ts';
import { answers } from '../http/answers.ts';
import { invalidFields, Problem } from '../http/problem.ts';
import { validate } from '../body/fields.ts';
import { RulesOfTypes } from '../body/type-rules.ts';
import { etagOf, ifMatch, ifNoneMatch, versionOf } from '../http/etag.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../http/route.ts';
import type { RefusalOf } from './submission.ts';
import { excessErrors } from '../body/excess-uses.ts';
import { changeFor, readPatch } from './task-change.ts';
import { attemptViewText, taskViewText } from './views.ts';

const bytesMax = HTTP_LIMITS.bodyBytesMax;

/** @param refusalOf Why the receiver of a callback would be refused, if that is known already. */
export function taskRoutes(refusalOf: RefusalOf): NamespaceRoute[] {
  return [...readRoutes, changeRoute(refusalOf), ...commandRoutes()];
}

const readRoutes: readonly NamespaceRoute[] = [
  {
    method: 'GET',
    path: `${API_BASE}/task/{task_id}`,
    summary: 'A task: its state, progress, timeline, result or error, and its callback.',
    headers: ifNoneMatch,
    replies: { done: taskViewSchema, unchanged: null },
    handle: (request, master) => show(master, taskIdOf(request)),
  },
  {
    method: 'GET',
    path: `${API_BASE}/task/{task_id}/attempt/{attempt}`,
    summary: 'One attempt of a task, with all the details of its error.',
    replies: { done: attemptViewSchema },
    handle: (request, master) => showAttempt(master, taskIdOf(request), attemptOf(request)),
  },
];

function commandRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'POST',
      path: `${API_BASE}/task/{task_id}/cancel`,
      summary: 'Cancel a task. A running attempt is told to end; the answer does not wait for it.',
      body: { schema: cancelRequest, bytesMax, optional: true },
      replies: { done: taskCommandResponse },
      handle: async (request, master) => {
        const { reason } = validate(cancelRequest, request.body);
        const reply = await command(request, (taskId) => master.cancel(taskId, reason));
        return { ...reply, logged: { reason } };
      },
    },
    {
      method: 'DELETE',
      path: `${API_BASE}/task/{task_id}`,
      summary: 'Forget a terminal task, and all that is known of it. Its id is free then.',
      replies: { done: taskCommandResponse },
      handle: (request, master) => command(request, (taskId) => master.delete(taskId)),
    },
    {
      method: 'POST',
      path: `${API_BASE}/task/{task_id}/suspend`,
      summary:
        'Set a task aside until it is resumed. A running attempt is told to end; its last checkpoint stays.',
      body: { schema: cancelRequest, bytesMax, optional: true },
      replies: { done: taskCommandResponse },
      handle: async (request, master) => {
        const { reason } = validate(cancelRequest, request.body);
        const reply = await command(request, (taskId) => master.suspend(taskId, reason));
        return { ...reply, logged: { reason } };
      },
    },
    {
      method: 'POST',
      path: `${API_BASE}/task/{task_id}/resume`,
      summary: 'Put a suspended task back to its place.',
      replies: { done: taskCommandResponse },
      handle: (request, master) => command(request, (taskId) => master.resume(taskId)),
    },
    moveRoute('first', 'Put a waiting task before all of its type that are due.'),
    moveRoute('last', 'Put a waiting task behind all of its type that are due.'),
    {
      method: 'POST',
      path: `${API_BASE}/task/{task_id}/retry`,
      summary: 'Run a terminal task again, under the same id, with fresh attempts.',
      replies: { done: taskCommandResponse },
      handle: (request, master) => command(request, (taskId) => master.retry(taskId)),
    },
    {
      method: 'POST',
      path: `${API_BASE}/task/{task_id}/redeliver`,
      summary: 'Send the callback of a terminal task again.',
      replies: { done: taskCommandResponse },
      handle: (request, master) => command(request, (taskId) => master.redeliver(taskId)),
    },
  ];
}

function moveRoute(to: QueueEnd, summary: string): NamespaceRoute {
  return {
    method: 'POST',
    path: `${API_BASE}/task/{task_id}/${to}`,
    summary,
    replies: { done: taskCommandResponse },
    handle: (request, master) => command(request, (taskId) => master.move(taskId, to)),
  };
}

function changeRoute(refusalOf: RefusalOf): NamespaceRoute {
  const rules = new RulesOfTypes();
  return {
    method: 'PATCH',
    path: `${API_BASE}/task/{task_id}`,
    summary: 'Change a waiting task: any field of a submit but its id and its type.',
    headers: ifMatch,
    body: { schema: patchRequest, bytesMax },
    replies: { done: taskCommandResponse },
    handle: async (request, master) => {
      const version = versionOf(request);
      const patch = readPatch(request.body);
      const { task } = await found(master, taskIdOf(request), 0);
      const type = master.typeOf(task.type);
      const ofType = type && rules.of(master.namespace, type);
      const change = changeFor(patch, ofType, refusalOf);
      const excess = excessErrors(change.uses ?? [], master, 'uses');
      if (excess.length > 0) throw invalidFields(excess);
      // Another one may have come under its id.
      const seen = { seq: task.seq, version };
      return command(request, (taskId) => master.change(taskId, change, seen));
    },
  };
}

async function command(
  request: ApiRequest,
  run: (taskId: string) => Promise<CommandAnswer>,
): Promise<Reply> {
  const taskId = taskIdOf(request);
  const outcome = await run(taskId);
  if (outcome.kind !== 'done') {
    const { kind, message } = outcome;
    const field = 'field' in outcome ? outcome.field : undefined;
    const errors = field === undefined ? undefined : [{ field, message }];
    const limit = kind === 'limited' ? outcome.limit : undefined;
    throw new Problem(kind, refusalInWords(outcome), { taskId, limit, errors });
  }
  const { version } = outcome;
  const body = { task_id: taskId, code: answers.done.status, version };
  return version === undefined ? { body } : { body, headers: { ETag: etagOf(version) } };
}

async function show(master: ScopedMaster, taskId: string): Promise<Reply> {
  const shown = await found(master, taskId, 'all');
  const { task } = shown;
  const text = taskViewText(shown, master.outlook(task), master.namespace);
  return { ...jsonReply(text), headers: { ETag: etagOf(task.version, text) } };
}

/** @throws {Problem} 404 */
export async function found(
  master: ScopedMaster,
  taskId: string,
  attempt: 'all' | number,
): Promise<ShownTask> {
  const shown = await master.find(taskId, attempt);
  if (shown === null) throw noTask(taskId);
  return shown;
}

export function noTask(taskId: string): Problem {
  return new Problem('unknown', 'No such task is retained.', { taskId });
}

async function showAttempt(master: ScopedMaster, taskId: string, attempt: number): Promise<Reply> {
  const shown = await master.find(taskId, attempt);
  const text = shown && attemptViewText(shown, attempt);
  if (text === null) throw new Problem('unknown', 'No such attempt is retained.', { taskId });
  return jsonReply(text);
}

/** Of JSON that is text already. */
export function jsonReply(text: string): Reply {
  return { body: `${text}\n`, contentType: 'application/json' };
}

function attemptOf({ params }: ApiRequest): number {
  const { attempt = '' } = params;
  if (/^[1-9]\d{0,8}$/.test(attempt)) return Number(attempt);
  throw invalidFields([{ field: 'attempt', message: 'expected the number of an attempt, from 1' }]);
}

export function taskIdOf({ params }: ApiRequest): string {
  const taskId = params['task_id'] ?? '';
  if (TASK_ID_PATTERN.test(taskId)) return taskId;
  const message = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -';
  throw invalidFields([{ field: 'task_id', message }]);
}
