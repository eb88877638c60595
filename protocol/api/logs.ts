/** The log of a task: its lines, and how they are asked for. The master validates with these schemas. */
import { z } from 'zod';
import { EXECUTOR_ID_PATTERN, HTTP_LIMITS, TASK_TYPE_PATTERN } from '../limits.ts';
import { logLevels, logStreams } from '../words.ts';
import { countInQuery, instantInQuery, waitInQuery } from './fields.ts';

const filters = {
  level: z.enum(logLevels).optional().describe('Of this level and those above it.'),
  text: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('With this text, whatever the case of its letters.'),
  limit: countInQuery(HTTP_LIMITS.logPageMax).default(200),
} as const;

/** Of one task. */
export const taskLogQuery = z.strictObject({
  ...filters,
  attempt: countInQuery(999_999_999)
    .optional()
    .describe(
      'Of this attempt only. Default: of the newest that has a log, and of those after it.',
    ),
  after: z
    .string()
    .regex(/^\d{1,9}\.\d{1,10}$/, 'expected the `next` of a page')
    .optional()
    .describe('What comes after that: the `next` of a page.'),
  follow: z
    .enum(['0', '1'])
    .default('0')
    .describe('1: as server-sent events, until the task has ended and all of it was sent.'),
  wait: waitInQuery,
});

export const logLine = z.object({
  attempt: z.int(),
  n: z.int().describe('From 1 in each attempt; what is missing was dropped.'),
  at: z.string().describe('By the clock of the executor.'),
  level: z.enum(logLevels),
  stream: z.enum(logStreams).describe('Said by the handler, or written by a child of it.'),
  text: z.string(),
  fields: z.record(z.string(), z.unknown()).optional(),
});

export const logPage = z.object({
  lines: z.array(logLine).describe('By attempt and number.'),
  dropped: z.int().describe('Lines between `after` and `next` that were dropped.'),
  lost_at_end: z
    .int()
    .describe('Of these, behind the last line that is there: so many more the executor has said.'),
  next: z.string().describe('Up to where it has looked: the `after` of the next page.'),
  at_end: z
    .boolean()
    .optional()
    .describe('It has come to the newest line that there was when it was read.'),
  ended: z
    .boolean()
    .describe('The task, or the attempt that is asked for, has ended, and nothing more comes.'),
});

/** Of many. */
export const logSearchQuery = z.strictObject({
  ...filters,
  executor_id: z
    .string()
    .regex(EXECUTOR_ID_PATTERN)
    .optional()
    .describe('Of the attempts that this executor has, or had.'),
  type: z.string().regex(TASK_TYPE_PATTERN).optional().describe('Of tasks of this type.'),
  from: instantInQuery.optional().describe('Said not before this instant.'),
  to: instantInQuery.optional().describe('Said before this instant.'),
  cursor: z.string().max(256).optional(),
});

export const logSearchPage = z.object({
  lines: z
    .array(logLine.extend({ task_id: z.string() }))
    .describe('By task, the newest first, and of each by attempt and number.'),
  next_cursor: z.string().nullable().describe('Where the next ones are; null: that is all.'),
});

export type LogSearchQuery = Omit<z.input<typeof logSearchQuery>, 'limit' | 'from' | 'to'> & {
  readonly limit?: number | undefined;
  /** ISO 8601 with a zone, or epoch milliseconds. */
  readonly from?: string | number | undefined;
  readonly to?: string | number | undefined;
};
export type FoundLogLine = z.infer<typeof logSearchPage>['lines'][number];
export type LogSearchPage = z.infer<typeof logSearchPage>;
export type TaskLogQuery = z.input<typeof taskLogQuery>;
export type LogLine = z.infer<typeof logLine>;
export type LogPage = z.infer<typeof logPage>;
