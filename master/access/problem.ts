/**
 * Everything the API refuses, as RFC 9457 problems. Handlers throw a `Problem`; one place turns
 * it into bytes. A problem repeats nothing that the client sent but names of fields and an instant.
 */
import { STATUS_CODES } from 'node:http';
import type { Problem as ProblemBody } from '@soda-scheduler/protocol';

export interface FieldError {
  /** Where in the body (`task.retry.interval`, `tasks[3]`), in the query, or the header's name. */
  readonly field: string;
  readonly message: string;
}

interface ProblemExtras {
  readonly taskId?: string | undefined;
  readonly errors?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
}

export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly taskId: string | undefined;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.status = status;
    this.taskId = extras.taskId;
    this.errors = extras.errors;
    this.headers = extras.headers ?? {};
  }
}

export function invalidFields(errors: readonly FieldError[], taskId?: string): Problem {
  const names = errors.map((error) => error.field).join(', ');
  return new Problem(400, `The request is not valid: ${names}.`, { taskId, errors });
}

/** The backlog is full: it will not be empty in a second. */
export const BACKLOG_RETRY_SECONDS = 10;

export function tryLater(status: 429 | 503, detail: string, seconds: number, taskId?: string) {
  return new Problem(status, detail, { taskId, headers: { 'Retry-After': String(seconds) } });
}

export function bodyOf(problem: Problem): ProblemBody {
  return {
    type: 'about:blank',
    title: STATUS_CODES[problem.status] ?? 'Error',
    status: problem.status,
    detail: problem.message,
    code: problem.status,
    ...(problem.taskId === undefined ? {} : { task_id: problem.taskId }),
    ...(problem.errors === undefined ? {} : { errors: [...problem.errors] }),
  };
}
