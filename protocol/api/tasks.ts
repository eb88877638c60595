/**
 * The bodies of the HTTP API: the master validates with these schemas and generates OpenAPI from
 * them; clients take the types. Times of input may be ISO 8601 or epoch milliseconds; times of
 * output are ISO 8601 in UTC. Durations are seconds, fractions allowed.
 */
import { z } from 'zod';
import { freeWindows } from './bookings.ts';
import { startTimeoutAction, taskChange, taskFields, userInfo } from './fields.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { failureReasons, faultKinds, notificationStates, taskStates } from '../words.ts';

export const taskInfo = z.strictObject({ ...taskFields, user: userInfo.optional() });

export const submitRequest = z.strictObject({
  task: taskInfo,
  user: userInfo.optional().describe('Required here or inside `task`.'),
  traceparent: z
    .string()
    .max(256)
    .optional()
    .describe(
      'In place of the header of this name, for the tasks of a batch. See W3C Trace Context.',
    ),
});

export const batchRequest = z.strictObject({
  tasks: z.array(z.unknown()).min(1).max(HTTP_LIMITS.batchCountMax),
});

export const patchRequest = taskChange.refine((body) => Object.keys(body).length > 0, {
  error: 'expected `priority`, `run_at` or another field of a submit but `id` and `type`',
});

export const copyRequest = z.strictObject({
  id: taskFields.id,
  task: taskChange.optional().describe('What of the copy is not as it was of the task.'),
});

export const cancelRequest = z.strictObject({
  reason: z.string().max(256).nullable().optional(),
});

/** The answer to cancel, retry, redeliver, delete and change. */
export const taskCommandResponse = z.object({
  task_id: z.string(),
  code: z.literal(200),
  version: z.int().optional().describe('Of a task that was changed: its ETag.'),
});

export const submitResponse = z.object({ task_id: z.string(), code: z.literal(202) });

export const conflictResponse = z.object({
  task_id: z.string(),
  code: z.literal(409),
  message: z.string(),
  same_request: z.boolean().describe('True: this very request was accepted before.'),
});

const batchResult = z.object({
  task_id: z.string().nullable(),
  code: z.int(),
  message: z.string().optional(),
  same_request: z.boolean().optional(),
});
export const batchResponse = z.object({ results: z.array(batchResult) });

export const taskState = z.enum(taskStates);

export const attemptOutcome = z.enum([
  'succeeded',
  'failed',
  'timed_out',
  'lost',
  'lost_contact',
  'rejected',
  'assign_timeout',
  'canceled',
  'returned',
]);

const errorView = z.object({
  message: z.string(),
  name: z.string().optional(),
  details: z.unknown().optional(),
});

/** One of many: its attempt, asked for alone, has all of it. */
const briefErrorView = errorView.extend({
  message: z.string().describe('Cut at 1,024 characters, with … at the end.'),
  details: z.unknown().optional().describe('Left out where its JSON has more than 1 KiB.'),
  details_bytes: z.int().optional().describe('The size of details that were left out.'),
});

export const attemptView = z.object({
  attempt: z.int(),
  executor_id: z.string(),
  outcome: attemptOutcome.nullable().describe('Null while it runs.'),
  offered_at: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  error: errorView.nullable(),
});

export const waitingReason = z.enum([
  'not_due',
  'no_executor',
  'labels_unmatched',
  'all_busy',
  'draining',
  'paused',
  'limited',
  'held',
  'suspended',
  'not_ready',
  'reserved',
  'cooling_down',
  'about_to_start',
]);

export const pauseView = z.object({
  at: z.string(),
  by: z.string().nullable().describe('The token that has paused; null: none was needed.'),
  reason: z.string().nullable(),
  until: z.string().nullable().describe('When it ends by itself.'),
});

/** A pause, and what is paused. */
export const scopedPause = pauseView.extend({
  scope: z.enum(['all', 'namespace', 'type', 'group', 'label']),
  value: z.string().nullable().describe('The type, the group or the label; null: all tasks.'),
});

/** What it waits for, and what comes before it. */
export const waitingView = z.object({
  reason: waitingReason,
  message: z.string(),
  ahead: z.int().nullable(),
  pauses: z.array(scopedPause).optional().describe('All that concern it, where it is `paused`.'),
  limit: z
    .object({
      name: z
        .string()
        .describe(
          'Of all tasks, or the way to it in what is set for the type; `limit/<name>`: a shared one.',
        ),
      max: z.int(),
      used: z.int(),
    })
    .optional(),
});

export const taskJob = z.object({
  name: z.string(),
  version: z.int(),
  trigger: z.string().nullable().describe('Null: somebody has run it.'),
  nominal: z.string().describe('The time that it was run for.'),
  rerun: z.int().describe('0; of a backfill: the how manieth run of that time again.'),
  operation_id: z.string().nullable().describe('Of the backfill; null: of none.'),
});

export const taskView = z.object({
  task_id: z.string(),
  type: z.string(),
  state: taskState,
  namespace: z.string(),
  version: z.int().describe('Raised by whatever is written of it: what `If-Match` names.'),
  user: userInfo,
  job: taskJob.nullable().describe('Of which job it is a run; null: of none.'),
  booking: z.string().nullable().describe('Of which booking it is; null: of none.'),
  params: z.unknown(),
  labels: z.array(z.string()),
  requires: z.array(z.string()),
  priority: z.int(),
  place: z
    .enum(['first', 'last'])
    .nullable()
    .describe('Where somebody has put it among those of its type; null: it stands where it came.'),
  attempt: z.int().describe('The number of the newest attempt; 0 before the first.'),
  attempts_used: z.int().describe('Attempts that count against max_attempts.'),
  executor_id: z.string().nullable().describe('Of the newest attempt; null before the first.'),
  submitted_at: z.string(),
  due_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  deadline: z.string().nullable(),
  cancel_requested_at: z.string().nullable(),
  suspended: z
    .object({
      at: z.string(),
      by: z.string().nullable().describe('The token that has asked for it; null: none was needed.'),
      reason: z.string().nullable(),
    })
    .nullable()
    .describe('Of one that is suspended, or about to be.'),
  retry: z
    .object({ max_attempts: z.int(), interval: z.union([z.number(), z.array(z.number())]) })
    .describe('What counts: as submitted, or the default. So are the timeouts, in seconds.'),
  assign_timeout: z.number(),
  execution_timeout: z.number().nullable(),
  stall_timeout: z.number().nullable(),
  start_timeout: z.number().nullable(),
  start_timeout_action: startTimeoutAction,
  needs: z.object({ disk_bytes: z.int().nullable() }),
  uses: z
    .array(z.object({ limit: z.string(), n: z.int() }))
    .describe('What it takes of shared limits: what was asked for, and what its type took then.'),
  progress: z
    .object({
      percent: z.number().nullable().describe('As reported; 100 once the task has succeeded.'),
      state: z.unknown(),
      at: z.string(),
      parts: z
        .array(z.object({ name: z.string(), percent: z.number() }))
        .optional()
        .describe('What the work is made of, where its executor says so; done at 100.'),
      speed: z.number().optional().describe('As reported: of media, multiples of real time.'),
      eta_seconds: z.number().optional().describe('As reported: from `at` to the end.'),
      estimate: z
        .object({ end_at: z.string(), low: z.string(), high: z.string() })
        .optional()
        .describe('When the attempt ends if it goes on as it has; not in lists.'),
    })
    .nullable(),
  trace_id: z
    .string()
    .nullable()
    .describe('Of the trace that its submit was part of (W3C); null: of none.'),
  checkpoint_bytes: z.int(),
  result: z.unknown(),
  error: errorView.nullable(),
  failure_reason: z.enum(failureReasons).nullable(),
  waiting: waitingView.nullable().describe('Why the task does not run yet; null unless it waits.'),
  timeline: z
    .array(attemptView.extend({ error: briefErrorView.nullable() }))
    .describe('The newest 200 attempts, oldest first, without what may be large.'),
  notification: z
    .object({
      url: z.string(),
      state: z.enum(notificationStates).nullable().describe('Null until the end.'),
      tries: z.int(),
      last_status: z.int().nullable(),
      last_error: z.string().nullable(),
      next_try_at: z.string().nullable(),
      delivered_at: z.string().nullable(),
    })
    .nullable(),
});

/** A row of the list: the task without what may be large, such as the details of its error. */
export const taskSummary = taskView.omit({
  params: true,
  result: true,
  retry: true,
  assign_timeout: true,
  execution_timeout: true,
  stall_timeout: true,
  start_timeout: true,
  start_timeout_action: true,
  needs: true,
  uses: true,
  trace_id: true,
  checkpoint_bytes: true,
  timeline: true,
  waiting: true,
});

export const taskList = z.object({
  tasks: z.array(taskSummary).describe('May be fewer than the limit, or none, before the end.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

const fieldFault = z.object({
  field: z.string(),
  message: z.string().describe('For people, in English.'),
  kind: z.enum(faultKinds).optional().describe('The same for programs, where it is one of these.'),
  values: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .optional()
    .describe('What the message names: of a bound `limit` and `of`, of a list `words`.'),
});

/** RFC 9457, `application/problem+json`. */
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.int(),
  task_id: z.string().optional(),
  limit: z
    .string()
    .optional()
    .describe('What an operator has set and this would exceed, or what leaves a booking no room.'),
  free: freeWindows.optional(),
  reason: z.enum(['token_expired']).optional().describe('What the status does not tell.'),
  errors: z
    .array(fieldFault)
    .optional()
    .describe('One entry for each field that was wrong, with what was expected.'),
});

/** What `notify_url` receives, signed as Standard Webhooks. */
export const callbackBody = z.object({
  task_id: z.string(),
  type: z.string(),
  code: z
    .int()
    .describe(
      '200 succeeded, 500 failed, 501 executor lost, 408 timed out or expired, 499 canceled.',
    ),
  state: z.enum(['succeeded', 'failed', 'canceled', 'expired']),
  namespace: z.string(),
  result: z.unknown().optional(),
  error: errorView.optional(),
  attempts: z.int(),
  job: z.string().optional().describe('Of which job it is a run.'),
  user: userInfo,
  submitted_at: z.string(),
  finished_at: z.string(),
});

export type SubmitRequest = z.input<typeof submitRequest>;
export type TaskCommandResponse = z.infer<typeof taskCommandResponse>;
export type SubmitResponse = z.infer<typeof submitResponse>;
export type ConflictResponse = z.infer<typeof conflictResponse>;
export type BatchResponse = z.infer<typeof batchResponse>;
export type BatchResult = z.infer<typeof batchResult>;
export type PatchRequest = z.input<typeof patchRequest>;
export type CopyRequest = z.input<typeof copyRequest>;
export type TaskInfo = z.infer<typeof taskInfo>;
export type UserInfo = z.infer<typeof userInfo>;
export type TaskView = z.infer<typeof taskView>;
export type AttemptView = z.infer<typeof attemptView>;
export type TaskSummary = z.infer<typeof taskSummary>;
export type TaskList = z.infer<typeof taskList>;
export type Problem = z.infer<typeof problem>;
export type CallbackBody = z.infer<typeof callbackBody>;
