/**
 * From one submit body to what the engine takes: units, defaults, the id, and the digest by which
 * a repetition is recognised.
 */
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  HTTP_LIMITS,
  LANE_LENGTH_MAX,
  priorityNames,
  submitRequest,
} from '@soda-scheduler/protocol';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import type { Submission } from '../application/master-handle.ts';
import { laneOf, type RetryPolicy, type User } from '../domain/task.ts';
import { invalidFields, Problem } from './problem.ts';
import { validate } from './request-body.ts';

type TaskFields = z.output<typeof submitRequest>['task'];
type UserFields = NonNullable<TaskFields['user']>;

const RETRY_ATTEMPTS_DEFAULT = 10;
const RETRY_INTERVAL_DEFAULT_SECONDS = 600;

/**
 * With an idempotency key and no id the id is derived from the key, so that the key is remembered
 * as durably, and for as long, as the task.
 * @throws {Problem} 400, with an entry for each field that is wrong; 413 where params are too large.
 */
export function parseSubmission(body: unknown, idempotencyKey: string | null): Submission {
  const { task, user: outerUser } = validate(submitRequest, body);
  const user = userOf(outerUser, task.user);
  const fields = fieldsOf(task, user);
  const id = task.id ?? (idempotencyKey === null ? null : idOfKey(user.group, idempotencyKey));
  // A repetition can only meet its first try under the same id.
  return {
    ...fields,
    id: id ?? uuidv7(),
    requestHash: id === null ? '' : digestOf(fields, task.params ?? null),
  };
}

/** @throws {Problem} 400 */
export function idempotencyKeyOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === 'string' && /^[ -~]{1,255}$/.test(header)) return header;
  throw invalidFields([
    { field: 'Idempotency-Key', message: 'expected 1 to 255 printable ASCII characters' },
  ]);
}

/** The head start in seconds. */
export function priorityOf(priority: TaskFields['priority']): number {
  return typeof priority === 'string' ? priorityNames[priority] : (priority ?? 0);
}

/** Epoch milliseconds of a validated instant; what lies before 1970 counts as 1970. */
export function instantOf(instant: string | number | undefined): number | null {
  if (instant === undefined) return null;
  return typeof instant === 'number' ? instant : Math.max(0, Date.parse(instant));
}

/** Whole milliseconds, at least one. */
function millisecondsOf(seconds: number | undefined): number | null {
  return seconds === undefined ? null : Math.max(1, Math.round(seconds * 1000));
}

/** The id of a body that may be wrong elsewhere: a refusal names its task where it can. */
export function claimedIdOf(body: unknown): string | undefined {
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

function fieldsOf(task: TaskFields, user: User): Omit<Submission, 'id' | 'requestHash'> {
  const labels = [...new Set(task.labels)];
  const requires = [...new Set(task.requires)];
  if (laneOf(task.type, requires, labels).length > LANE_LENGTH_MAX) {
    const message = `expected type, requires and labels of ${LANE_LENGTH_MAX} characters together`;
    throw invalidFields([
      { field: requires.length > 0 ? 'task.requires' : 'task.labels', message },
    ]);
  }
  const runAt = instantOf(task.run_at);
  const deadlineAt = instantOf(task.deadline);
  if (runAt !== null && deadlineAt !== null && deadlineAt <= runAt) {
    throw invalidFields([{ field: 'task.deadline', message: 'expected later than `run_at`' }]);
  }
  return {
    type: task.type,
    params: paramsOf(task.params),
    labels,
    requires,
    user,
    notifyUrl: task.notify_url ?? null,
    priority: priorityOf(task.priority),
    runAt,
    retry: retryOf(task.retry),
    assignTimeoutMs: millisecondsOf(task.assign_timeout),
    executionTimeoutMs: millisecondsOf(task.execution_timeout),
    stallTimeoutMs: millisecondsOf(task.stall_timeout),
    deadlineAt,
  };
}

/** Written out anew, `1e20` takes five times the bytes; and an item of a batch is bounded here only. */
function paramsOf(params: unknown): string {
  const text = JSON.stringify(params ?? null);
  const bytes = Buffer.byteLength(text);
  if (bytes <= HTTP_LIMITS.paramsBytesMax) return text;
  throw new Problem(
    413,
    `The params are ${bytes} bytes of JSON, and ${HTTP_LIMITS.paramsBytesMax} are allowed.`,
  );
}

function retryOf(retry: TaskFields['retry']): RetryPolicy {
  return {
    maxAttempts: retry?.max_attempts ?? RETRY_ATTEMPTS_DEFAULT,
    interval: retry?.interval ?? RETRY_INTERVAL_DEFAULT_SECONDS,
  };
}

function idOfKey(group: string, key: string): string {
  return `idem-${hash('sha256', `${group}\n${key}`).slice(0, 40)}`;
}

/** 128 bits over what the request means: defaults filled in, key order and spelling aside. */
function digestOf(fields: Omit<Submission, 'id' | 'requestHash'>, params: unknown): string {
  const meaning = {
    ...fields,
    params: sortKeys(params),
    labels: [...fields.labels].sort(),
    requires: [...fields.requires].sort(),
  };
  return hash('sha256', JSON.stringify(meaning)).slice(0, 32);
}

/** A copy with the keys of every object in order. The depth was checked: it may recurse. */
function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const sorted: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    sorted[key] = sortKeys(inner);
  }
  return sorted;
}
