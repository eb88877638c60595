/** How busy the master was, and what has happened lately. As in `api/tasks.ts`, the master validates with these schemas. */
import { z } from 'zod';
import { countInQuery, instantInQuery } from './fields.ts';
import { HTTP_LIMITS, TASK_TYPE_PATTERN } from '../limits.ts';

const type = z.string().regex(TASK_TYPE_PATTERN).optional();

export const loadQuery = z.strictObject({
  type: type.describe('Of tasks of this type only. Default: of all that the token may see.'),
  from: instantInQuery.optional().describe('Default: 24 hours before `to`.'),
  to: instantInQuery.optional().describe('Default: now.'),
});

export const loadPoint = z.object({
  at: z.string().describe('When it begins.'),
  samples: z.int().describe('How often it was looked how things stand: once a minute.'),
  accepted: z.int(),
  started: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  canceled: z.int(),
  expired: z.int(),
  attempts_failed: z.int().describe('Attempts that failed, took too long or were lost.'),
  waiting: z
    .number()
    .describe('Tasks that waited, on average; and so for all up to `executors_idle`.'),
  held: z.number().describe('That wait until another with the same value has ended.'),
  paused: z.number().describe('Of those that waited, whom a pause kept.'),
  limited: z.number().describe('Whom a limit kept.'),
  no_executor: z.number().describe('For whom there was no executor.'),
  all_busy: z.number().describe('For whom no executor was free.'),
  running: z.number(),
  executors_idle: z.number().nullable().describe('Null: of some types only nobody can say.'),
  oldest_wait_ms: z.int().describe('The longest that a task that was due had waited.'),
  start_delay_p95_ms: z
    .int()
    .nullable()
    .describe('Within so long after they were due 95 % have started, about; null: none has.'),
  start_delay_max_ms: z.int().nullable(),
});

export const loadReport = z.object({
  from: z.string(),
  to: z.string(),
  type: z.string().nullable().describe('Null: of all types.'),
  resolution_ms: z
    .int()
    .describe('How long a point is: a minute, an hour or a day (of UTC), as the span is long.'),
  points: z
    .array(loadPoint)
    .describe('In order. One that is not there is of a time of which nothing is known.'),
});

export const recentQuery = z.strictObject({
  type: type.describe('This one only.'),
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(HTTP_LIMITS.listCountMax),
  cursor: z.string().max(64).optional().describe('`next_cursor` of a page.'),
});

export const recentType = z.object({
  type: z.string(),
  accepted: z.int(),
  started: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  last_started_at: z.string().nullable().describe('When a task of it was started last, ever.'),
  last_ended_at: z.string().nullable(),
});

export const recentReport = z.object({
  since: z.string().describe('From when on it is counted: an hour ago, to the minute.'),
  types: z.array(recentType).describe('By name: those of which there was something.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

export type LoadQuery = z.input<typeof loadQuery>;
export type LoadPoint = z.infer<typeof loadPoint>;
export type LoadReport = z.infer<typeof loadReport>;
export type RecentQuery = z.input<typeof recentQuery>;
export type RecentType = z.infer<typeof recentType>;
export type RecentReport = z.infer<typeof recentReport>;
