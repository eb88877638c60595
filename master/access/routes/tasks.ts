/** What a submitter may do with tasks that are in: read, cancel, retry, change, redeliver. */
import { API_BASE, HTTP_LIMITS, TASK_ID_PATTERN } from '@soda-scheduler/protocol';
import {
  attemptView as attemptViewSchema,
  cancelRequest,
  patchRequest,
  taskCommandResponse,
  taskView as taskViewSchema,
} from '@soda-scheduler/protocol/schemas';
import type { ScopedMaster } from '../scoped-master.ts';
import type { CommandOutcome } from '../../domain/effects.ts';
import { waits } from '../../domain/model/task.ts';
import { answers } from '../http/answers.ts';
import { invalidFields, Problem } from '../http/problem.ts';
import { validate } from '../body/fields.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../http/route.ts';
import { instantOf, priorityOf } from './submission.ts';
import { attemptViewText, taskViewText } from './views.ts';

const bytesMax = HTTP_LIMITS.bodyBytesMax;

export function taskRoutes(): NamespaceRoute[] {
  return [...readRoutes, ...commandRoutes()];
}

const readRoutes: readonly NamespaceRoute[] = [
  {
    method: 'GET',
    path: `${API_BASE}/task/{task_id}`,
    summary: 'A task: its state, progress, timeline, result or error, and its callback.',
    replies: { done: taskViewSchema },
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
        const reply = await command(request, (taskId) => master.cancel(taskId));
        return { ...reply, logged: { reason } };
      },
    },
    {
      method: 'PATCH',
      path: `${API_BASE}/task/{task_id}`,
      summary: 'Change the priority or the due time of a waiting task.',
      body: { schema: patchRequest, bytesMax },
      replies: { done: taskCommandResponse },
      handle: (request, master) => {
        const { priority, run_at } = validate(patchRequest, request.body);
        const seconds = priority === undefined ? null : priorityOf(priority);
        return command(request, (taskId) => master.change(taskId, seconds, instantOf(run_at)));
      },
    },
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

async function command(
  request: ApiRequest,
  run: (taskId: string) => Promise<CommandOutcome>,
): Promise<Reply> {
  const taskId = taskIdOf(request);
  const outcome = await run(taskId);
  if (outcome.kind !== 'done') {
    const limit = outcome.kind === 'limited' ? outcome.limit : undefined;
    throw new Problem(outcome.kind, outcome.message, { taskId, limit });
  }
  return { body: { task_id: taskId, code: answers.done.status } };
}

async function show(master: ScopedMaster, taskId: string): Promise<Reply> {
  const shown = await master.find(taskId, 'all');
  if (shown === null) throw new Problem('unknown', 'No such task is retained.', { taskId });
  const waiting = waits(shown.task) ? master.explain(shown.task) : null;
  return jsonReply(taskViewText(shown, waiting, master.namespace));
}

async function showAttempt(master: ScopedMaster, taskId: string, attempt: number): Promise<Reply> {
  const shown = await master.find(taskId, attempt);
  const text = shown && attemptViewText(shown, attempt);
  if (text === null) throw new Problem('unknown', 'No such attempt is retained.', { taskId });
  return jsonReply(text);
}

function jsonReply(text: string): Reply {
  return { body: `${text}\n`, contentType: 'application/json' };
}

function attemptOf({ params }: ApiRequest): number {
  const { attempt = '' } = params;
  if (/^[1-9]\d{0,8}$/.test(attempt)) return Number(attempt);
  throw invalidFields([{ field: 'attempt', message: 'expected the number of an attempt, from 1' }]);
}

function taskIdOf({ params }: ApiRequest): string {
  const taskId = params['task_id'] ?? '';
  if (TASK_ID_PATTERN.test(taskId)) return taskId;
  const message = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -';
  throw invalidFields([{ field: 'task_id', message }]);
}
