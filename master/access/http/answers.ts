/**
 * Every way in which the API answers, by name: its status, what it means, and whether the same request
 * may do better later. The only place that knows a status code; docs/http-api.md shows this table.
 */
import type { CommandOutcome, SubmitOutcome } from '../../domain/effects.ts';

export interface Answer {
  readonly status: number;
  /** In one sentence, for people. What an answer says of its own case is more precise. */
  readonly means: string;
  /** The same request, sent again, may be answered otherwise without anybody changing anything. */
  readonly again?: true;
  /** Seconds that a client is asked to wait; an answer may know better. */
  readonly retryAfter?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What becomes of a request in the core. */
type OutcomeKind = SubmitOutcome['kind'] | CommandOutcome['kind'];
/** What else may happen on the way there. */
type RequestKind =
  | 'created'
  | 'unchanged'
  | 'gone'
  | 'invalid'
  | 'noToken'
  | 'forbidden'
  | 'noRoute'
  | 'wrongMethod'
  | 'notAcceptable'
  | 'tooSlow'
  | 'tooLarge'
  | 'notJson'
  | 'unmet'
  | 'keyReused'
  | 'headTooLarge'
  | 'fault'
  | 'unavailable';

export type AnswerKind = OutcomeKind | RequestKind;

export const answers: Readonly<Record<AnswerKind, Answer>> = {
  done: { status: 200, means: 'Done.' },
  created: { status: 201, means: 'It was made.' },
  accepted: {
    status: 202,
    means: 'The task, or the operation, is stored: it goes on until it is over.',
  },
  unchanged: { status: 304, means: 'It is still what `If-None-Match` names.' },
  invalid: {
    status: 400,
    means: 'The request is not valid; `errors` names each field that is wrong.',
  },
  misfit: {
    status: 400,
    means:
      'The params do not fit the schema of the type; or it uses a limit that there is not, or names a booking of another type, or that cannot have it.',
  },
  overdue: { status: 400, means: 'The deadline of the task has passed.' },
  noToken: {
    status: 401,
    means: 'No valid token.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  forbidden: {
    status: 403,
    means:
      'The token is of another role, or its scope does not include this; without tokens: a web page asks.',
  },
  noRoute: { status: 404, means: 'No such route.' },
  unknown: {
    status: 404,
    means:
      'No such task, attempt, operation, executor, type, job, calendar, booking, limit, view, alert, rule, receiver, namespace or token. A booking of another group is as one that there is not.',
  },
  wrongMethod: {
    status: 405,
    means: 'The method is not allowed here; `Allow` names those that are.',
  },
  notAcceptable: { status: 406, means: '`Accept` asks for another type than there is.' },
  tooSlow: { status: 408, means: 'The request took longer than 15 s to arrive.', again: true },
  taken: {
    status: 409,
    means: 'The id is in use; `same_request` says whether by this very request.',
  },
  conflict: {
    status: 409,
    means:
      'The task or the operation is in a state that does not allow it; or the namespace, the type, the limit, the executor or the name of a token is in use; or a booking does not fit (`free`), or is over.',
  },
  gone: {
    status: 410,
    means: 'Events after that number are not kept any more, or were never told.',
  },
  stale: {
    status: 412,
    means:
      'It is not at the version that `If-Match` names, in quotes (`"9"`): it has changed since.',
  },
  tooLarge: { status: 413, means: 'The body, or the params in it, are too large.' },
  notJson: { status: 415, means: 'The body is not JSON in UTF-8, or is compressed.' },
  unmet: { status: 417, means: '`Expect` asks for something else than `100-continue`.' },
  keyReused: {
    status: 422,
    means: 'This `Idempotency-Key` came with another request before.',
  },
  full: {
    status: 429,
    means:
      'Too many tasks wait, or there are too many lanes, types, jobs, calendars, bookings, limits, pauses, views, operations, or rules or receivers of alerts; ' +
      'or too many requests of one token wait for events; or too many wrong logins have come from an address.',
    again: true,
    // The backlog will not be empty in a second.
    retryAfter: 10,
  },
  limited: {
    status: 429,
    means: '`limit` names what an operator has set and this would exceed.',
    again: true,
    retryAfter: 10,
  },
  headTooLarge: { status: 431, means: 'The header fields are too large.' },
  fault: { status: 500, means: 'A fault inside the master; its log says which.', again: true },
  closed: { status: 503, means: 'The master is shutting down.', again: true, retryAfter: 1 },
  unavailable: {
    status: 503,
    means:
      'The master is starting, recovering, draining or too busy, or the database does not answer. ' +
      'Where the `detail` says that the outcome is unknown, it may have taken effect: ask again with ' +
      'the same id.',
    again: true,
    retryAfter: 1,
  },
};
