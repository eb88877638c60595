/** From one submit body to what the engine takes: units, defaults, the id; the params as they are. */
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { HTTP_LIMITS, type Range, priorityNames, readTraceparent } from '@soda-scheduler/protocol';
import { submitRequest } from '@soda-scheduler/protocol/schemas';
import type { z } from 'zod';
import type { Submission } from '../../application/master-handle.ts';
import { inOrder } from '../../domain/model/shared-limit.ts';
import {
  KIND_LENGTH_MAX,
  kindKeyOf,
  type RetryPolicy,
  type User,
} from '../../domain/model/task.ts';
import { checkShape, readJson } from '../body/fields.ts';
import { instantOf } from '../body/instants.ts';
import { digestOf } from '../body/request-digest.ts';
import { type TypeRules, withDefaults } from '../body/type-rules.ts';
import { type FieldError, invalidFields, Problem } from '../http/problem.ts';
import { newTaskId } from './task-ids.ts';

type TaskFields = z.output<typeof submitRequest>['task'];
/** Why the receiver of a callback would be refused, if that is known already. */
export type RefusalOf = (url: string) => string | null;
type UserFields = NonNullable<TaskFields['user']>;

const RETRY_ATTEMPTS_DEFAULT = 10;
const RETRY_INTERVAL_DEFAULT_SECONDS = 600;

/**
 * Reads one submit body, which stands in a piece of `bytes`; yields between its steps, each of
 * which takes some milliseconds for the largest of bodies. With an idempotency key and no id the
 * id is derived from the key, so that the key is remembered as durably, and for as long, as the task.
 * @param rulesOf What is set for a type; null: nothing. `traceparent`: of the request; the body may have its own.
 * @throws {BrokenJson} with the place in the whole of `bytes`.
 * Params that do not fit are no reason yet: a task that was taken before may come again.
 * @throws {Problem} 400, with an entry for each field that is wrong; 413 where params are too large.
 */
export function* readSubmission(
  bytes: Buffer,
  range: Range,
  idempotencyKey: string | null,
  refusalOf: RefusalOf,
  rulesOf: (type: string) => TypeRules | null,
  traceparent: string | null = null,
): Generator<void, Submission> {
  const { value, params } = readJson(bytes, range, 'task');
  yield;
  try {
    const body = checkShape(submitRequest, value);
    const submission = yield* submissionOf(body, params ?? 'null', idempotencyKey, rulesOf, {
      traceparent: traceparentIn(body.traceparent) ?? traceparent,
    });
    const refusal = submission.notifyUrl === null ? null : refusalOf(submission.notifyUrl);
    if (refusal === null) return submission;
    throw invalidFields([{ field: 'task.notify_url', message: refusal }]);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.kind, error.message, {
      taskId: claimedIdOf(value),
      errors: error.errors,
    });
  }
}

function* submissionOf(
  { task, user: outerUser }: z.output<typeof submitRequest>,
  params: string,
  idempotencyKey: string | null,
  rulesOf: (type: string) => TypeRules | null,
  { traceparent }: { readonly traceparent: string | null },
): Generator<void, Submission> {
  const user = userOf(outerUser, task.user);
  const id = task.id ?? (idempotencyKey === null ? null : idOfKey(user.group, idempotencyKey));
  const about = { user, id: id ?? newTaskId(), traceparent };
  const asked = fieldsOf(task, params, about);
  const { defaults = null, schema = null } = rulesOf(task.type) ?? {};
  const submission =
    defaults === null ? asked : { asked, ...fieldsOf(withDefaults(task, defaults), params, about) };
  let misfits: readonly FieldError[] = [];
  if (schema !== null) {
    yield;
    misfits = schema.errorsOf(params);
  }
  // A repetition can only meet its first try under the same id.
  if (id === null) {
    if (misfits.length > 0) throw invalidFields(misfits);
    return submission;
  }
  yield;
  const requestHash = digestOf(asked);
  return misfits.length > 0
    ? { misfits, ...submission, requestHash }
    : { ...submission, requestHash };
}

/** @throws {Problem} 400 */
export function idempotencyKeyOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === 'string' && /^[ -~]{1,255}$/.test(header)) return header;
  throw invalidFields([
    { field: 'Idempotency-Key', message: 'expected 1 to 255 printable ASCII characters' },
  ]);
}

/** What is none is ignored, as the standard has it. */
export function traceparentIn(header: string | string[] | undefined): string | null {
  return typeof header === 'string' ? readTraceparent(header) : null;
}

/** The head start in seconds. */
export function priorityOf(priority: TaskFields['priority']): number {
  return typeof priority === 'string' ? priorityNames[priority] : (priority ?? 0);
}

/** Whole milliseconds, at least one. */
export function millisecondsOf(seconds: number | undefined): number | null {
  return seconds === undefined ? null : Math.max(1, Math.round(seconds * 1000));
}

/** The id of a body that may be wrong elsewhere: a refusal names its task where it can. */
function claimedIdOf(body: unknown): string | undefined {
  const id = (body as { task?: { id?: unknown } } | null | undefined)?.task?.id;
  const parsed = submitRequest.shape.task.shape.id.safeParse(id);
  return parsed.success ? parsed.data : undefined;
}

function userOf(outer: UserFields | undefined, inner: UserFields | undefined): User {
  const given = outer ?? inner;
  if (given === undefined) {
    throw invalidFields([{ field: 'user', message: 'required, here or inside `task`' }]);
  }
  const user = userFrom(given);
  if (inner !== undefined && !isDeepStrictEqual(userFrom(inner), user)) {
    throw invalidFields([{ field: 'user', message: 'differs from `task.user`' }]);
  }
  return user;
}

function userFrom(fields: UserFields): User {
  return {
    group: fields.group,
    project: fields.project ?? null,
    env: fields.env ?? null,
    user: fields.user ?? null,
  };
}

/** All fields at once: to add some to a copy is slow where there are many. */
function fieldsOf(
  task: TaskFields,
  params: string,
  { user, id, traceparent }: Pick<Submission, 'user' | 'id' | 'traceparent'>,
): Submission {
  checkParamsSize(params);
  const submission: Submission = {
    id,
    requestHash: '',
    type: task.type,
    params,
    labels: [...new Set(task.labels)],
    requires: [...new Set(task.requires)],
    user,
    notifyUrl: task.notify_url ?? null,
    priority: priorityOf(task.priority),
    runAt: instantOf(task.run_at),
    retry: retryOf(task.retry),
    assignTimeoutMs: millisecondsOf(task.assign_timeout),
    executionTimeoutMs: millisecondsOf(task.execution_timeout),
    stallTimeoutMs: millisecondsOf(task.stall_timeout),
    startTimeoutMs: millisecondsOf(task.start_timeout),
    startTimeoutAction: task.start_timeout_action ?? null,
    diskBytes: task.needs?.disk_bytes ?? null,
    uses: inOrder(task.uses ?? []),
    deadlineAt: instantOf(task.deadline),
    traceparent,
    booking: task.booking ?? null,
  };
  checkTogether(submission);
  return submission;
}

/** Fields that are right by themselves. @throws {Problem} 400 */
export function checkTogether({ type, labels, requires, runAt, deadlineAt }: Submission): void {
  if (kindKeyOf(type, requires, labels).length > KIND_LENGTH_MAX) {
    const message = `expected type, requires and labels of ${KIND_LENGTH_MAX} characters together`;
    throw invalidFields([
      { field: requires.length > 0 ? 'task.requires' : 'task.labels', message },
    ]);
  }
  if (runAt === null || deadlineAt === null || deadlineAt > runAt) return;
  throw invalidFields([{ field: 'task.deadline', message: 'expected later than `run_at`' }]);
}

/** As written, white space and all: so an assign frame carries them. */
export function checkParamsSize(params: string): void {
  const bytes = Buffer.byteLength(params);
  if (bytes <= HTTP_LIMITS.paramsBytesMax) return;
  throw new Problem(
    'tooLarge',
    `The params are ${bytes} bytes of JSON, and ${HTTP_LIMITS.paramsBytesMax} are allowed.`,
  );
}

export function retryOf(retry: TaskFields['retry']): RetryPolicy {
  return {
    maxAttempts: retry?.max_attempts ?? RETRY_ATTEMPTS_DEFAULT,
    interval: retry?.interval ?? RETRY_INTERVAL_DEFAULT_SECONDS,
  };
}

export function idOfKey(group: string, key: string): string {
  return `idem-${hash('sha256', `${group}\n${key}`).slice(0, 40)}`;
}
