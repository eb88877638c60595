/** The bodies of the HTTP API about one command on many tasks. As in `api/tasks.ts`. */
import { z } from 'zod';
import { countInQuery, text } from './fields.ts';
import { countQuery } from './find.ts';
import { patchRequest, taskState } from './tasks.ts';
import { HTTP_LIMITS, OPERATION_ID_PATTERN, TASK_ID_PATTERN } from '../limits.ts';
import { bulkActions, operationActions } from '../words.ts';

const taskId = z
  .string()
  .regex(TASK_ID_PATTERN, 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -');

export const bulkRequest = z
  .strictObject({
    action: z.enum(bulkActions),
    filter: countQuery
      .optional()
      .describe('As of the list: all that is named must fit. An empty one is refused.'),
    ids: z.array(taskId).min(1).max(HTTP_LIMITS.bulkCountMax).optional(),
    all: z.literal(true).optional().describe('All tasks to which the action can be done.'),
    change: patchRequest
      .optional()
      .describe('Of the action `change`: as of one task, without `params`, and each with a value.'),
    reason: text(256).nullable().optional(),
    token: z
      .string()
      .max(1024)
      .optional()
      .describe('That of a preview of this very request: it begins the operation.'),
  })
  .describe('One of `filter`, `ids` and `all` says which tasks are meant.');

export const bulkPreview = z.object({
  count: z.int().describe('Tasks to which the action can be done; of `ids`, how many were named.'),
  exact: z.boolean().describe('False: an estimate, as of more than 100,000.'),
  sample: z
    .array(
      z.object({
        task_id: z.string(),
        type: z.string(),
        state: taskState,
        group: z.string(),
        submitted_at: z.string(),
      }),
    )
    .describe('The first ten of them.'),
  token: z.string().describe('With it the same request begins the operation.'),
  expires_at: z.string(),
});

export const operationBegun = z.object({ operation_id: z.string() });

const operationState = z.enum(['running', 'paused', 'done', 'canceled']);

/** A row of the list. */
export const operationSummary = z.object({
  operation_id: z.string(),
  action: z.enum(operationActions),
  state: operationState,
  total: z.int().describe('What is expected; once it is done, what it came to.'),
  exact: z.boolean().describe('Of `total`. False: an estimate.'),
  done: z.int(),
  asked: z.int().describe('They run, and were told to end.'),
  skipped: z.int().describe('Their state did not allow it any more, or they were not there.'),
  failed: z.int().describe('A limit did not allow it.'),
  reason: z.string().nullable(),
  by: z.string().nullable().describe('The name of a token; null: none was needed.'),
  created_at: z.string(),
  ended_at: z.string().nullable(),
});

export const operationView = operationSummary.extend({
  filter: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .nullable()
    .describe('Empty: all tasks. Null: the tasks were named. Of `backfill`: what was asked for.'),
  problems: z
    .array(
      z.object({
        task_id: z.string().nullable(),
        kind: z.enum(['skipped', 'failed']),
        message: z.string(),
      }),
    )
    .describe('The first hundred.'),
});

export const operationList = z.object({
  operations: z.array(operationSummary),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

export const operationListQuery = z.strictObject({
  state: operationState.optional(),
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: z.string().regex(OPERATION_ID_PATTERN, 'expected the `next_cursor` of a page').optional(),
});

export type BulkRequest = z.input<typeof bulkRequest>;
export type BulkPreview = z.infer<typeof bulkPreview>;
export type OperationBegun = z.infer<typeof operationBegun>;
export type OperationSummary = z.infer<typeof operationSummary>;
export type OperationView = z.infer<typeof operationView>;
export type OperationList = z.infer<typeof operationList>;
