/** `POST /task/submit` and `/task/submit-batch`: 202 is said only after the engine's commit. */
import {
  API_BASE,
  batchRequest,
  batchResponse,
  type BatchResult,
  conflictResponse,
  HTTP_LIMITS,
  submitRequest,
  submitResponse,
} from '@soda-scheduler/protocol';
import type { MasterHandle, Submission } from '../application/master-handle.ts';
import type { SubmitOutcome } from '../domain/effects.ts';
import { invalidFields, Problem, tryLater } from './problem.ts';
import { checkShape } from './request-body.ts';
import type { ApiRequest, Reply, Route } from './route.ts';
import { claimedIdOf, idempotencyKeyOf, parseSubmission } from './submission.ts';

/** The backlog is full: it will not be empty in a second. */
const BACKLOG_RETRY_SECONDS = 10;

type RefusalOf = (url: string) => string | null;

/** @param refusalOf Why the receiver of a callback would be refused, if that is known already. */
export function submitRoutes(handle: MasterHandle, refusalOf: RefusalOf): Route[] {
  return [
    {
      method: 'POST',
      path: `${API_BASE}/task/submit`,
      role: 'submit',
      hot: true,
      summary: 'Submit a task. 202 means that it is stored and will run until it is terminal.',
      headers: {
        'Idempotency-Key':
          'Makes a repetition safe where the task has no id: the same key and body answer as the ' +
          'first time did, the same key with another body answers 422.',
      },
      body: { schema: submitRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
      replies: { 202: submitResponse, 409: conflictResponse },
      handle: (request) => submitOne(handle, refusalOf, request),
    },
    {
      method: 'POST',
      path: `${API_BASE}/task/submit-batch`,
      role: 'submit',
      hot: true,
      summary: 'Submit up to 1000 tasks. Each has its own result; a bad one spoils no other.',
      body: { schema: batchRequest, bytesMax: HTTP_LIMITS.batchBytesMax },
      replies: { 200: batchResponse },
      handle: (request) => submitBatch(handle, refusalOf, request),
    },
  ];
}

async function submitOne(
  handle: MasterHandle,
  refusalOf: RefusalOf,
  { body, headers }: ApiRequest,
): Promise<Reply> {
  const key = idempotencyKeyOf(headers['idempotency-key']);
  const submission = parseWithId(body, key, refusalOf);
  const [outcome] = await handle.submit([submission]);
  if (outcome === undefined) throw new Error('The engine gave no outcome for a task.');
  if (outcome.code === 202) return accepted(outcome.taskId);
  if (outcome.code === 409) {
    if (key === null) return { status: 409, body: conflict(outcome.taskId, outcome.sameRequest) };
    if (outcome.sameRequest) return accepted(outcome.taskId);
    const detail = 'This Idempotency-Key was used before, with another request.';
    throw new Problem(422, detail, { taskId: outcome.taskId });
  }
  const seconds = outcome.code === 429 ? BACKLOG_RETRY_SECONDS : 1;
  throw tryLater(outcome.code, outcome.message, seconds, outcome.taskId);
}

function accepted(taskId: string): Reply {
  return { status: 202, body: { task_id: taskId, code: 202 } };
}

function conflict(taskId: string, sameRequest: boolean) {
  return {
    task_id: taskId,
    code: 409,
    message: `task id conflict: ${taskId}`,
    same_request: sameRequest,
  } as const;
}

async function submitBatch(
  handle: MasterHandle,
  refusalOf: RefusalOf,
  { body, headers }: ApiRequest,
): Promise<Reply> {
  if (headers['idempotency-key'] !== undefined) {
    const message = 'not for batches: give each task an id';
    throw invalidFields([{ field: 'Idempotency-Key', message }]);
  }
  // Each item is validated by itself, below.
  const { tasks } = checkShape(batchRequest, body);

  const results: BatchResult[] = [];
  const submissions: Submission[] = [];
  const places: number[] = [];
  for (const [place, item] of tasks.entries()) {
    try {
      submissions.push(parseWithId(item, null, refusalOf));
      places.push(place);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      results[place] = refused(error);
    }
  }
  const outcomes = submissions.length === 0 ? [] : await handle.submit(submissions);
  for (const [index, outcome] of outcomes.entries())
    results[places[index] ?? -1] = resultOf(outcome);
  return { status: 200, body: { results } };
}

function parseWithId(body: unknown, key: string | null, refusalOf: RefusalOf): Submission {
  try {
    const submission = parseSubmission(body, key);
    const refusal = submission.notifyUrl === null ? null : refusalOf(submission.notifyUrl);
    if (refusal === null) return submission;
    throw invalidFields([{ field: 'task.notify_url', message: refusal }]);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.status, error.message, {
      taskId: claimedIdOf(body),
      ...(error.errors === undefined ? {} : { errors: error.errors }),
    });
  }
}

function refused(problem: Problem): BatchResult {
  const reasons = problem.errors?.map((error) => `${error.field}: ${error.message}`).join('; ');
  return {
    task_id: problem.taskId ?? null,
    code: problem.status,
    message: reasons ?? problem.message,
  };
}

function resultOf(outcome: SubmitOutcome): BatchResult {
  if (outcome.code === 202) return { task_id: outcome.taskId, code: 202 };
  if (outcome.code === 409) return conflict(outcome.taskId, outcome.sameRequest);
  return { task_id: outcome.taskId, code: outcome.code, message: outcome.message };
}
