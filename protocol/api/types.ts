/**
 * The bodies of the HTTP API about types, what is set for all tasks of one, and about shared limits, of which
 * tasks of many types take while they run. As in `api/tasks.ts`, the master
 * validates with these schemas and generates OpenAPI from them.
 */
import { z } from 'zod';
import { countInQuery, instant, needs, text, uses } from './fields.ts';
import { pauseView, taskInfo, waitingView } from './tasks.ts';
import {
  BOOKING_LIMITS,
  HTTP_LIMITS,
  LABEL_PATTERN,
  LIMIT_NAME_PATTERN,
  NEW_TASK_TYPE_PATTERN,
  TASK_TYPE_EXPECTED,
  TASK_TYPE_PATTERN,
} from '../limits.ts';
import { YEAR_SECONDS } from '../words.ts';

const count = z.int().min(0).max(1_000_000_000);
/** Tasks with the same value beside each other: those that wait with a place are gone through. */
const CONCURRENCY_MAX = 10_000;

const pointer = z
  .string()
  .max(256)
  .regex(/^(\/([^~/]|~[01])*)*$/, 'expected a JSON pointer into the params, as /camera/id');
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'expected a time as 08:30');

const rate = z
  .strictObject({ count: z.int().min(1).max(1_000_000_000), seconds: z.int().min(1).max(86_400) })
  .describe('So many are begun within so many seconds, in windows that follow one another.');

const groupLimits = {
  max_running: count.nullable().optional().describe('Tasks that may run at the same time.'),
  max_waiting: count.nullable().optional().describe('Tasks that may wait: others get 429.'),
  rate: rate.nullable().optional(),
};

const limitWindow = z
  .strictObject({
    days: z.array(z.int().min(1).max(7)).min(1).max(7).optional().describe('1: Monday.'),
    from: timeOfDay,
    to: timeOfDay.describe('Up to this time, of the next day if it is not later than `from`.'),
    zone: z.string().max(64).describe('Of the IANA: `Europe/Berlin`.'),
    max_running: count.optional(),
    paused: z.boolean().optional(),
  })
  .refine((body) => (body.max_running === undefined) !== (body.paused === undefined), {
    error: 'expected `max_running` or `paused`',
  });

const limits = z
  .strictObject({
    ...groupLimits,
    per_group: z.strictObject(groupLimits).nullable().optional().describe('For each group.'),
    concurrency: z
      .strictObject({ pointer, max: z.int().min(1).max(CONCURRENCY_MAX) })
      .nullable()
      .optional()
      .describe('So many at a time for each value that the params have there; others are held.'),
    windows: z.array(limitWindow).max(16).optional(),
  })
  .describe('A task that a limit keeps from starting waits, and says which.');

const route = z
  .strictObject({
    rule: z.enum(['longest_idle', 'last_used', 'round_robin', 'random', 'least_failed', 'sticky']),
    pointer: pointer
      .optional()
      .describe('For `sticky`: tasks with the same value belong together.'),
    wait: z.number().min(0).max(60).optional().describe('Seconds, for `sticky`. Default 2.'),
  })
  .describe('Which of several idle executors is given a task.');

const defaults = taskInfo
  .pick({
    priority: true,
    notify_url: true,
    labels: true,
    requires: true,
    retry: true,
    assign_timeout: true,
    execution_timeout: true,
    stall_timeout: true,
    start_timeout: true,
    start_timeout_action: true,
  })
  .describe('For tasks that do not say. What a task was given is stored with it.');

const pull = z
  .strictObject({
    limit: z.int().min(1).max(1_000_000).optional(),
    interval: z.number().min(0).max(YEAR_SECONDS).optional(),
  })
  .describe(
    'How many tasks a worker that pulls takes at a time, and how often: kept for such workers.',
  );

const definitionFields = {
  description: text(1024).optional(),
  owner: text(256).optional(),
  defaults: defaults.optional(),
  params_schema: z
    .union([z.record(z.string(), z.unknown()), z.boolean()], {
      error: 'expected a JSON schema: an object, true or false',
    })
    .optional()
    .describe('JSON Schema 2020-12: params that do not fit are refused.'),
  limits: limits.optional(),
  uses: uses.optional(),
  needs: needs.optional(),
  fair_by: z.literal('group').optional().describe('Groups take turns.'),
  group_weights: z.record(text(64), z.int().min(1).max(1000)).optional(),
  route: route.optional(),
  pull: pull.optional(),
  capacity: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe('Executors that bookings may count on. Default: those seen in the last ten minutes.'),
  preemptible: z
    .boolean()
    .optional()
    .describe('Its tasks may be given back for a booking, with their checkpoint.'),
  hold: z
    .number()
    .min(0)
    .max(BOOKING_LIMITS.holdSecondsMax)
    .optional()
    .describe('Of bookings of it that say none: seconds, default 900.'),
};

const type = z.string().regex(NEW_TASK_TYPE_PATTERN, TASK_TYPE_EXPECTED);

/** The words of Asyncflow's table of types, for what is meant by them here. */
const sourceFields = {
  max_retry_num: z.int().min(0).max(9_999).optional().describe('`retry.max_attempts` less one.'),
  max_retry_interval: taskInfo.shape.retry.unwrap().shape.interval.describe('`retry.interval`.'),
  max_processing_time: taskInfo.shape.execution_timeout.describe('`execution_timeout`.'),
  schedule_limit: pull.shape.limit.describe('`pull.limit`.'),
  schedule_interval: pull.shape.interval.describe('`pull.interval`.'),
};

/** The whole of a definition: what is left out is not set. */
export const typeDefinition = z.strictObject({
  type: type.optional().describe('That of the path.'),
  ...definitionFields,
  ...sourceFields,
});

export const typePauseRequest = z.strictObject({
  reason: text(256).nullable().optional(),
  until: instant.nullable().optional().describe('When it ends by itself.'),
});

export const typeOverrideRequest = z
  .strictObject({
    limits: limits.optional().describe('Null in place of a limit: there is none.'),
    route: route.optional(),
    reason: text(256),
    until: instant.nullable().optional().describe('When it ends by itself.'),
  })
  .refine(({ limits = {}, route }) => Object.keys(limits).length > 0 || route !== undefined, {
    error: 'expected `limits`, `route` or both',
  });

const overrideView = z.object({
  limits: limits.optional(),
  route: route.optional(),
  at: z.string(),
  by: z.string().nullable(),
  reason: z.string(),
  until: z.string().nullable(),
});

export const typeView = z.object({
  type: z.string(),
  registered: z.boolean().describe('False: it is only known from tasks, executors or operators.'),
  version: z
    .int()
    .describe('Of its definition, and its ETag; no other has the same. 0: it is not registered.'),
  ...definitionFields,
  paused: pauseView.nullable(),
  overrides: z.array(overrideView).describe('What operators have set: it holds before the rest.'),
  counts: z.object({ waiting: z.int(), running: z.int(), held: z.int() }),
  executors: z.int().describe('Those that are connected and run tasks of it.'),
  constraint: waitingView
    .omit({ ahead: true })
    .nullable()
    .optional()
    .describe('What the first of its tasks waits for; null where none does.'),
});

export const typeListQuery = z.strictObject({
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: z.string().regex(TASK_TYPE_PATTERN).optional().describe('`next_cursor` of a page.'),
});

export const typeList = z.object({
  types: z.array(typeView).describe('By name, without their `params_schema` and `constraint`.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

export const typePutQuery = z.strictObject({
  dry_run: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: says what it would be, and changes nothing.'),
});

export const typeDeleteQuery = z.strictObject({
  force: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: also while tasks of it wait or run, which go on without its settings.'),
});

/** The answer to the deletion of a type. */
export const typeCommandResponse = z.object({ type: z.string(), code: z.literal(200) });

const limitName = z
  .string()
  .regex(LIMIT_NAME_PATTERN, 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -');

const per = z
  .union(
    [
      z.enum(['cluster', 'host']),
      z.strictObject({ label: z.string().max(62).regex(LABEL_PATTERN) }),
    ],
    { error: 'expected cluster, host, or { "label": "rack" } for each label rack:...' },
  )
  .describe(
    'Where it is counted: in all executors together, on each host of executors, or for each of their ' +
      'labels with this prefix and a colon.',
  );

export const limitRequest = z.strictObject({
  max: z.int().min(0).max(1_000_000).describe('So much may be taken in one place.'),
  per: per.optional().describe('Default: as it is; `cluster` for a new one.'),
});

export const limitView = z.object({
  name: z.string(),
  max: z.int(),
  per,
  used: z.int().describe('What attempts have taken of it, in all places.'),
  places: z
    .array(z.object({ host: z.string().optional(), label: z.string().optional(), used: z.int() }))
    .optional()
    .describe('Where it is in use, the fullest 100; not where it is counted in all.'),
});

export const limitListQuery = z.strictObject({
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: limitName.optional().describe('`next_cursor` of a page.'),
});

export const limitList = z.object({
  limits: z.array(limitView).describe('By name.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

/** The answer to the deletion of a limit. */
export const limitCommandResponse = z.object({ name: z.string(), code: z.literal(200) });

export type TypeDefinition = z.input<typeof typeDefinition>;
export type TypeOverrideRequest = z.input<typeof typeOverrideRequest>;
export type TypePauseRequest = z.input<typeof typePauseRequest>;
export type TypeView = z.infer<typeof typeView>;
export type TypeList = z.infer<typeof typeList>;
export type TypeCommandResponse = z.infer<typeof typeCommandResponse>;
export type LimitRequest = z.input<typeof limitRequest>;
export type LimitView = z.infer<typeof limitView>;
export type LimitList = z.infer<typeof limitList>;
export type LimitCommandResponse = z.infer<typeof limitCommandResponse>;
