/** The answer of the HTTP API to why a task is where it is. As in `tasks.ts`, the master makes OpenAPI from this. */
import { z } from 'zod';
import { notificationStates } from '../words.ts';
import { scopedPause, taskJob, taskState, waitingReason, waitingView } from './tasks.ts';

export const whyReason = z.enum([
  ...waitingReason.options,
  'backing_off',
  'kept',
  'offered',
  'running',
  'ending',
  'ended',
  'callback_pending',
  'callback_gave_up',
]);

const executors = z
  .object({
    connected: z.int(),
    of_type: z.int(),
    fitting: z.int(),
    serving: z.int(),
    ready: z.int(),
    able: z.int(),
    free: z.int(),
  })
  .partial()
  .describe(
    'How many are connected; of these run its type; of these have its labels; take new tasks; are ready; have the disk; are free.',
  );

const concurrency = z
  .object({
    pointer: z.string(),
    value: z.string(),
    max: z.int(),
    first: z.int().describe('Tasks with this value that come first.'),
    held: z.int().describe('Tasks that are held by it, this one too.'),
    names: z
      .array(z.string())
      .describe(
        'Some of those that come first; none, where the scope of the token is limited to groups.',
      ),
  })
  .describe('The value by which it is held.');

const nearest = z
  .object({
    executor_id: z.string(),
    lacks_labels: z.array(z.string()),
    reserved_for: z.array(z.string()).describe('Labels that the task has not.'),
  })
  .describe('Of the executors of its type, the one that comes nearest to fitting.');

const callback = z.object({
  state: z.enum(notificationStates),
  tries: z.int(),
  next_try_at: z.string().nullable(),
  last_error: z.string().nullable(),
});

/** Each reason has its own of these. */
export const reasonDetails = z.object({
  until: z.string().nullable().optional().describe('Until when it is so, if nothing is changed.'),
  since: z.string().nullable().optional(),
  pauses: z.array(scopedPause).optional(),
  limit: waitingView.shape.limit,
  overridden: z
    .literal(true)
    .optional()
    .describe('An override of its type says so, not its definition.'),
  used_by: z
    .object({ own_group: z.int(), own_type: z.int(), others: z.int() })
    .optional()
    .describe(
      'Attempts under that limit: of its type and group, of its type in other groups, of other types.',
    ),
  executors: executors.optional(),
  nearest: nearest.optional(),
  executor_id: z.string().optional(),
  attempt: z.int().optional(),
  concurrency: concurrency.optional(),
  error: z.string().nullable().optional(),
  disk_bytes: z.int().optional(),
  progress: z.object({ percent: z.number().nullable(), at: z.string() }).nullable().optional(),
  failure_reason: z.string().nullable().optional(),
  booking: z
    .string()
    .nullable()
    .optional()
    .describe(
      'The booking that keeps it from executors, or whose task it is; null: of another group.',
    ),
  callback: callback.optional(),
});

const whyDetails = reasonDetails.extend({
  job: taskJob.optional().describe('Of which job it is a run. Absent: of none.'),
  ahead_at_least: z
    .literal(true)
    .optional()
    .describe(
      'More may come first: not all of them are in memory, or there are too many to count.',
    ),
  behind: z
    .array(z.object({ reason: whyReason, message: z.string(), details: reasonDetails }))
    .describe(
      'What else keeps it once the change is made, in its order; empty: the change starts it.',
    ),
});

const estimate = z.object({
  start_at: z.string(),
  low: z.string().describe('One in ten starts earlier.'),
  high: z.string().describe('One in ten starts later.'),
});

const change = z.object({
  action: z.enum([
    'wait_until',
    'resume',
    'raise_limit',
    'start_executor',
    'add_label',
    'undrain',
    'none',
  ]),
  target: z
    .string()
    .nullable()
    .describe(
      '`task`, `namespace`, `all`, or `type/`, `group/`, `label/`, `limit/`, `executor/` and its name.',
    ),
  value: z
    .union([
      z.int(),
      z.string(),
      z.array(z.string()),
      z.object({
        count: z.int(),
        type: z.string(),
        labels: z.array(z.string()),
        executor_id: z.string().nullable(),
      }),
    ])
    .nullable()
    .describe('The limit, the instant, all labels of the executor, or what is to be started.'),
  message: z.string(),
});

export const whyView = z.object({
  task_id: z.string(),
  state: taskState,
  reason: whyReason,
  message: z.string().describe('For people, with numbers.'),
  details: whyDetails,
  ahead: z
    .int()
    .nullable()
    .describe('Tasks that come first for the executors that may have it; null: it is in no order.'),
  estimate: estimate
    .nullable()
    .describe('When it is likely to start as things are; null: too little is known for that.'),
  change: change
    .nullable()
    .describe('The least that would start it; null: it is not to be started.'),
});

export type WhyView = z.infer<typeof whyView>;
