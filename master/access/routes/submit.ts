/** `POST /task/submit`, `/task/submit-batch` and copies: 202 is said only after the engine's commit. */
import {
  API_BASE,
  BrokenJson,
  type BatchResult,
  HTTP_LIMITS,
  type Range,
  RefusedJson,
} from '@soda-scheduler/protocol';
import {
  batchRequest,
  batchResponse,
  conflictResponse,
  copyRequest,
  submitRequest,
  submitResponse,
} from '@soda-scheduler/protocol/schemas';
import { type Submission, Unavailable } from '../../application/master-handle.ts';
import { PART_PARAMS_LENGTH_MAX, SMALL_BODY_BYTES_MAX } from '../../domain/bounds.ts';
import { answers } from '../http/answers.ts';
import { invalidFields, Problem } from '../http/problem.ts';
import { findItems } from '../body/batch-items.ts';
import { withExcess } from '../body/excess-uses.ts';
import { problemOfBroken, problemOfRefused } from '../body/fields.ts';
import { findBreak } from '../body/json-break.ts';
import { Pieces, runAtOnce } from '../body/pieces.ts';
import { isSameRequest } from '../body/request-digest.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../http/route.ts';
import { RulesOfTypes } from '../body/type-rules.ts';
import type { ScopedMaster, SubmitAnswer } from '../scoped-master.ts';
import { idempotencyKeyOf, readSubmission, type RefusalOf, traceparentIn } from './submission.ts';
import { readCopy } from './task-change.ts';
import { found, taskIdOf } from './tasks.ts';

/** A body that is read in less than a millisecond need not wait for a turn. */
const AT_ONCE_BYTES_MAX = 16 * 1024;
const nothing = Buffer.alloc(0);

/** As `readSubmission`. */
type Read = (bytes: Buffer, range: Range, key: string | null) => Generator<void, Submission>;

/** @param refusalOf Why the receiver of a callback would be refused, if that is known already. */
export function submitRoutes(refusalOf: RefusalOf): NamespaceRoute[] {
  const pieces = new Pieces();
  const rules = new RulesOfTypes();
  const rulesIn = (master: ScopedMaster) => (name: string) => {
    const type = master.typeOf(name);
    return type === null ? null : rules.of(master.namespace, type);
  };
  const readFor = (master: ScopedMaster, { headers }: ApiRequest): Read => {
    const rulesOf = rulesIn(master);
    const traceparent = traceparentIn(headers['traceparent']);
    return function* (bytes, range, key) {
      const reading = readSubmission(bytes, range, key, refusalOf, rulesOf, traceparent);
      return withExcess(yield* reading, master);
    };
  };
  return [
    {
      method: 'POST',
      path: `${API_BASE}/task/submit`,
      hot: true,
      summary: 'Submit a task. 202 means that it is stored and will run until it is terminal.',
      headers: { ...idempotencyKey, ...trace },
      body: { schema: submitRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
      replies: { accepted: submitResponse, taken: conflictResponse },
      handle: (request, master) => submitOne(master, pieces, readFor(master, request), request),
    },
    {
      method: 'POST',
      path: `${API_BASE}/task/submit-batch`,
      hot: true,
      summary: 'Submit up to 1000 tasks. Each has its own result; a bad one spoils no other.',
      headers: trace,
      body: { schema: batchRequest, bytesMax: HTTP_LIMITS.batchBytesMax },
      replies: { done: batchResponse },
      handle: (request, master) => submitBatch(master, pieces, readFor(master, request), request),
    },
    {
      method: 'POST',
      path: `${API_BASE}/task/{task_id}/copy`,
      summary:
        'Submit a task again under another id, as it was submitted and changed, but for what `task` ' +
        'says: due at once, and without a checkpoint.',
      headers: { ...idempotencyKey, ...trace },
      body: { schema: copyRequest, bytesMax: HTTP_LIMITS.bodyBytesMax, optional: true },
      replies: { accepted: submitResponse, taken: conflictResponse },
      handle: async (request, master) => {
        const key = idempotencyKeyOf(request.headers['idempotency-key']);
        const { task } = await found(master, taskIdOf(request), 0);
        const traceparent = traceparentIn(request.headers['traceparent']);
        const from = { ...task, traceparent };
        const reading = readCopy(request.body, key, from, rulesIn(master)(task.type), refusalOf);
        return answerTo(master, withExcess(await pieces.run(reading), master), key);
      },
    },
  ];
}

const idempotencyKey = {
  'Idempotency-Key':
    'Makes a repetition safe where the task has no id: the same key and body answer as the ' +
    'first time did, the same key with another body answers 422.',
};

const trace = {
  traceparent:
    'Of the trace that the submit is part of (W3C): it is handed on to executors and in the callback.',
};

async function submitOne(
  master: ScopedMaster,
  pieces: Pieces,
  read: Read,
  { body = nothing, headers }: ApiRequest,
): Promise<Reply> {
  const key = idempotencyKeyOf(headers['idempotency-key']);
  const reading = readOne(body, key, read);
  const isShort = body.length <= AT_ONCE_BYTES_MAX;
  const isSmall = body.length <= SMALL_BODY_BYTES_MAX;
  return answerTo(master, isShort ? runAtOnce(reading) : await pieces.run(reading, isSmall), key);
}

async function answerTo(
  master: ScopedMaster,
  submission: Submission,
  key: string | null,
): Promise<Reply> {
  const [outcome] = await master.submit([submission]);
  if (outcome === undefined) throw new Error('The engine gave no outcome for a task.');
  const { taskId } = outcome;
  switch (outcome.kind) {
    case 'accepted':
      return accepted(taskId);
    case 'taken': {
      const sameRequest = isSameRequest(submission, outcome.holderHash);
      if (key === null) return { kind: 'taken', body: conflict(taskId, sameRequest) };
      if (sameRequest) return accepted(taskId);
      const detail = 'This Idempotency-Key was used before, with another request.';
      throw new Problem('keyReused', detail, { taskId });
    }
    case 'misfit':
      throw misfit(submission, outcome);
    case 'overdue':
      throw pastDeadline(submission, outcome.now);
    case 'limited':
      throw new Problem('limited', outcome.message, { taskId, limit: outcome.limit });
    default:
      throw new Problem(outcome.kind, outcome.message, { taskId });
  }
}

function* readOne(body: Buffer, key: string | null, read: Read): Generator<void, Submission> {
  try {
    return yield* read(body, { start: 0, end: body.length }, key);
  } catch (error) {
    throw error instanceof BrokenJson ? yield* problemOfBroken(body, error.at) : error;
  }
}

function misfit(
  { id, misfits = [] }: Submission,
  { missingLimit: limit, wrong }: Extract<SubmitAnswer, { kind: 'misfit' }>,
): Problem {
  if (wrong !== undefined) return invalidFields([wrong], id);
  if (limit === undefined) return invalidFields(misfits, id);
  return invalidFields([{ field: 'task.uses', message: `there is no limit ${limit}` }], id);
}

function pastDeadline({ id, deadlineAt }: Submission, now: number): Problem {
  const [given, read] = [deadlineAt ?? 0, now].map((at) => new Date(at).toISOString());
  const message = `expected later than now, which is ${read}: given ${given}`;
  return invalidFields([{ field: 'task.deadline', message }], id);
}

function accepted(taskId: string): Reply {
  return { kind: 'accepted', body: { task_id: taskId, code: answers.accepted.status } };
}

function conflict(taskId: string, sameRequest: boolean) {
  return {
    task_id: taskId,
    code: answers.taken.status,
    message: `task id conflict: ${taskId}`,
    same_request: sameRequest,
  };
}

async function submitBatch(
  master: ScopedMaster,
  pieces: Pieces,
  read: Read,
  { body = nothing, headers }: ApiRequest,
): Promise<Reply> {
  if (headers['idempotency-key'] !== undefined) {
    const message = 'not for batches: give each task an id';
    throw invalidFields([{ field: 'Idempotency-Key', message }]);
  }
  const isShort = body.length <= AT_ONCE_BYTES_MAX;
  const batch = await pieces.run(readBatch(body, read), isShort);
  const outcomes = await submitInParts(master, batch.submissions);
  await pieces.run(addResults(batch, outcomes), isShort);
  return { body: { results: batch.results } };
}

/**
 * One part after another, each in a commit that takes no longer than others may wait. Once a part
 * has been accepted, those after it that could not be are refused by themselves.
 */
async function submitInParts(
  master: ScopedMaster,
  submissions: readonly Submission[],
): Promise<BatchOutcome[]> {
  const outcomes: BatchOutcome[] = [];
  while (outcomes.length < submissions.length) {
    const part = partOf(submissions, outcomes.length);
    try {
      outcomes.push(...(await master.submit(part)));
    } catch (error) {
      if (outcomes.length === 0 || !(error instanceof Unavailable)) throw error;
      const { message } = error;
      outcomes.push(
        ...part.map(({ id }) => ({ taskId: id, kind: 'unavailable' as const, message })),
      );
    }
  }
  return outcomes;
}

function partOf(submissions: readonly Submission[], from: number): readonly Submission[] {
  let paramsLength = 0;
  let end = from;
  do paramsLength += submissions[end++]?.params.length ?? 0;
  while (end < submissions.length && paramsLength < PART_PARAMS_LENGTH_MAX);
  return submissions.slice(from, end);
}

function* addResults(
  { submissions, places, results }: Batch,
  outcomes: readonly BatchOutcome[],
): Generator<void, void> {
  for (const [index, submission] of submissions.entries()) {
    yield;
    const outcome = outcomes[index];
    const place = places[index];
    if (outcome === undefined || place === undefined) throw new Error('A task has no outcome.');
    results[place] = resultOf(submission, outcome);
  }
}

/** Of a task whose part of the batch met no master that works, nothing is known. */
type BatchOutcome =
  | SubmitAnswer
  | { readonly taskId: string; readonly kind: 'unavailable'; readonly message: string };

interface Batch {
  readonly submissions: Submission[];
  /** Of each submission in the batch. */
  readonly places: number[];
  /** Of the items that are refused, in their places. */
  readonly results: BatchResult[];
}

/** Yields after each item. @throws {Problem} what is wrong is not the fault of one item alone. */
function* readBatch(bytes: Buffer, read: Read): Generator<void, Batch> {
  const batch: Batch = { submissions: [], places: [], results: [] };
  const items: Range[] = [];
  try {
    yield* findItems(bytes, items);
    for (const [place, item] of items.entries()) {
      yield;
      yield* readItem(read(bytes, item, null), bytes, item, place, batch);
    }
    return batch;
  } catch (error) {
    if (error instanceof RefusedJson) throw problemOfRefused(error);
    if (!(error instanceof BrokenJson)) throw error;
    throw yield* problemOfBroken(bytes, (yield* firstBreak(bytes, items)) ?? error.at);
  }
}

/** What is broken in an item may be noticed only behind it, where a bracket is missing. */
function* firstBreak(bytes: Buffer, items: readonly Range[]): Generator<void, number | null> {
  for (const item of items) {
    const at = yield* findBreak(bytes, item);
    if (at !== null && at < item.end) return at;
  }
  return null;
}

function* readItem(
  reading: Generator<void, Submission>,
  bytes: Buffer,
  item: Range,
  place: number,
  batch: Batch,
): Generator<void, void> {
  try {
    checkItemSize(item);
    batch.submissions.push(yield* reading);
    batch.places.push(place);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // It may have been refused before its end: a body that is not JSON must not be taken in part.
    const at = yield* findBreak(bytes, item);
    if (at !== null) throw new BrokenJson(at);
    batch.results[place] = refused(error);
  }
}

/** Before anything looks into it: an item is read in one piece. */
function checkItemSize({ start, end }: Range): void {
  const { itemBytesMax } = HTTP_LIMITS;
  if (end - start <= itemBytesMax) return;
  throw new Problem(
    'tooLarge',
    `The item is ${end - start} bytes, and ${itemBytesMax} are allowed.`,
  );
}

function refused(problem: Problem): BatchResult {
  const reasons = problem.errors?.map((error) => `${error.field}: ${error.message}`).join('; ');
  return {
    task_id: problem.taskId ?? null,
    code: problem.status,
    message: reasons ?? problem.message,
  };
}

function resultOf(submission: Submission, outcome: BatchOutcome): BatchResult {
  const { taskId } = outcome;
  const code = answers[outcome.kind].status;
  switch (outcome.kind) {
    case 'accepted':
      return { task_id: taskId, code };
    case 'taken':
      return conflict(taskId, isSameRequest(submission, outcome.holderHash));
    case 'misfit':
      return refused(misfit(submission, outcome));
    case 'overdue':
      return refused(pastDeadline(submission, outcome.now));
    default:
      return { task_id: taskId, code, message: outcome.message };
  }
}
