/**
 * Everything the API refuses, as RFC 9457 problems. Handlers throw a `Problem`; one place turns
 * it into bytes. A problem repeats nothing that the client sent but names of fields, numbers, and the name
 * of a namespace, in which nothing can hide.
 */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { API_BASE, type Problem as ProblemBody } from '@soda-scheduler/protocol';
import { TooManyOfAlerts } from '../../application/alerts/named.ts';
import { Unavailable } from '../../application/master-handle.ts';
import { NamespaceLimit } from '../../application/ports.ts';
import {
  NamespaceEnding,
  NamespaceInUse,
  PauseOver,
  TooManyNamespaces,
  UnknownNamespace,
} from '../../application/process/namespaces-handle.ts';
import { TokenRefused } from '../../application/process/tokens.ts';
import { type AnswerKind, answers } from './answers.ts';

export interface FieldError {
  /** Where in the body (`task.retry.interval`, `tasks[3]`), in the query, or the header's name. */
  readonly field: string;
  readonly message: string;
  /** What it is for programs, and what the message names; of few. */
  readonly kind?: Fault['kind'];
  readonly values?: Fault['values'];
}

type Fault = NonNullable<ProblemBody['errors']>[number];

interface ProblemExtras {
  readonly taskId?: string | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  /** What an operator has set, by its name. */
  readonly limit?: string | undefined;
  /** For programs, where the status says less than they want to know. */
  readonly reason?: ProblemBody['reason'];
  /** When there would be room for a booking that is refused. */
  readonly free?: ProblemBody['free'];
  /** In seconds, where this case knows better than its kind. */
  readonly retryAfter?: number;
  /** Beside those of its kind. */
  readonly headers?: Readonly<Record<string, string>>;
}

export class Problem extends Error {
  override readonly name = 'Problem';
  readonly kind: AnswerKind;
  readonly status: number;
  readonly taskId: string | undefined;
  readonly errors: readonly FieldError[] | undefined;
  readonly limit: string | undefined;
  readonly reason: ProblemBody['reason'];
  readonly free: ProblemBody['free'];
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: AnswerKind, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    const answer = answers[kind];
    const retryAfter = extras.retryAfter ?? answer.retryAfter;
    this.kind = kind;
    this.status = answer.status;
    this.taskId = extras.taskId;
    this.errors = extras.errors;
    this.limit = extras.limit;
    this.reason = extras.reason;
    this.free = extras.free;
    this.headers = {
      ...answer.headers,
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
      ...extras.headers,
    };
  }
}

export function invalidFields(errors: readonly FieldError[], taskId?: string): Problem {
  const names = [...new Set(errors.map((error) => error.field))].join(', ');
  return new Problem('invalid', `The request is not valid: ${names}.`, { taskId, errors });
}

/** A cursor that is of no such page. */
export function wrongCursor(): Problem {
  return invalidFields([{ field: 'cursor', message: 'expected the `next_cursor` of a page' }]);
}

/** What whoever asked is told of an error of any kind. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Unavailable) {
    return new Problem('unavailable', error.message, { retryAfter: error.retryAfterSeconds });
  }
  if (error instanceof UnknownNamespace) {
    const how = `PUT ${API_BASE}/namespace/${error.namespace}, or soda namespace set ${error.namespace}`;
    const detail = `There is no namespace ${error.namespace}. With the admin token one is made by ${how}.`;
    return new Problem('unknown', detail);
  }
  if (error instanceof PauseOver) {
    const message = 'expected an instant that is yet to come';
    return invalidFields([{ field: 'paused.until', message }]);
  }
  if (
    error instanceof NamespaceEnding ||
    error instanceof NamespaceInUse ||
    error instanceof TooManyNamespaces ||
    error instanceof NamespaceLimit ||
    error instanceof TokenRefused
  ) {
    return new Problem('conflict', error.message);
  }
  if (error instanceof TooManyOfAlerts) return new Problem('full', error.message);
  return new Problem('fault', 'The request failed inside the master; its log says why.');
}

export function bodyOf(problem: Problem): ProblemBody {
  return {
    type: 'about:blank',
    title: STATUS_CODES[problem.status] ?? 'Error',
    status: problem.status,
    detail: problem.message,
    code: problem.status,
    ...(problem.taskId === undefined ? {} : { task_id: problem.taskId }),
    ...(problem.limit === undefined ? {} : { limit: problem.limit }),
    ...(problem.free === undefined ? {} : { free: problem.free }),
    ...(problem.reason === undefined ? {} : { reason: problem.reason }),
    ...(problem.errors === undefined ? {} : { errors: [...problem.errors] }),
  };
}

/** It ends its line: a person with `curl` finds the prompt on the next one. */
export function jsonLine(body: unknown): string {
  return `${JSON.stringify(body)}\n`;
}

/** The last words on a connection that has no response to say them. */
export function answerSocket(socket: Duplex, problem: Problem): void {
  const body = bodyOf(problem);
  const text = jsonLine(body);
  const head = [
    `HTTP/1.1 ${body.status} ${body.title}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...Object.entries(problem.headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}
