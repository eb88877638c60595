/**
 * The queries and bodies of the HTTP API by which tasks are found. As in `api/tasks.ts`, the master validates with
 * these schemas and generates OpenAPI from them.
 */
import { z } from 'zod';
import { countInQuery, instantInQuery, label, text } from './fields.ts';
import { taskState, taskView } from './tasks.ts';
import {
  EXECUTOR_ID_PATTERN,
  HTTP_LIMITS,
  JOB_NAME_PATTERN,
  TASK_TYPE_PATTERN,
  VIEW_NAME_PATTERN,
} from '../limits.ts';
import { endedStates, failureReasons, notificationStates } from '../words.ts';

const ATTEMPTS_MAX = 1_000_000;
const NAME_EXPECTED = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -';

/** What tasks may be looked for by: all that are given have to fit. */
const filters = {
  state: taskState.optional(),
  type: z.string().regex(TASK_TYPE_PATTERN).optional(),
  group: text(64).optional(),
  project: text(64).optional(),
  env: text(64).optional(),
  user: text(64).optional(),
  label: label.optional().describe('One of its labels.'),
  requires: label.optional().describe('One of the labels that it requires.'),
  executor_id: z
    .string()
    .regex(EXECUTOR_ID_PATTERN, NAME_EXPECTED)
    .optional()
    .describe('Who has its newest attempt, or had it.'),
  id_prefix: z
    .string()
    .regex(/^[A-Za-z0-9_.:-]{1,64}$/, NAME_EXPECTED)
    .optional()
    .describe('How its id begins.'),
  error: text(256)
    .optional()
    .describe('What the JSON of its error has somewhere, in just these characters.'),
  failure_reason: z.enum(failureReasons).optional(),
  notification: z
    .enum(notificationStates)
    .optional()
    .describe('Ended tasks whose callback is still tried, was taken, or was given up.'),
  from: instantInQuery
    .optional()
    .describe('Ended not before this instant; of a task that has not: submitted.'),
  to: instantInQuery.optional().describe('Ended before this instant; or submitted.'),
  min_attempts: countInQuery(ATTEMPTS_MAX).optional().describe('So many attempts at least.'),
  job: z
    .string()
    .regex(JOB_NAME_PATTERN, NAME_EXPECTED)
    .optional()
    .describe('Of which job it is a run.'),
} as const;

const page = {
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: z.string().max(256).optional(),
} as const;

const sort = z
  .enum(['newest', 'order'])
  .describe('`order`: those that wait, by their order time; held ones are left out.');

export const listQuery = z.strictObject({ ...filters, sort: sort.default('newest'), ...page });

export const viewRequest = z.strictObject({
  query: z
    .strictObject({ ...filters, sort: sort.optional() })
    .describe('What `GET /tasks` takes, but for `limit` and `cursor`.'),
});

export const viewView = viewRequest.extend({ name: z.string() });

export const viewListQuery = z.strictObject({
  limit: page.limit,
  cursor: z.string().regex(VIEW_NAME_PATTERN).optional().describe('`next_cursor` of a page.'),
});

export const viewList = z.object({
  views: z.array(viewView).describe('By name.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

/** The answer to the deletion of a view. */
export const viewCommandResponse = z.object({ name: z.string(), code: z.literal(200) });

/** Those that counters do not know are told apart from what is not known at all. */
export const countQuery = z.strictObject(filters);

export const taskCount = z.object({
  count: z.int().describe('Of all these states.'),
  exact: z.boolean().describe('False: there may be more, or the store does not answer.'),
  states: z.record(z.string(), z.int()).describe('How many there are in each.'),
});

export const errorQuery = z.strictObject({
  type: filters.type,
  group: filters.group,
  from: instantInQuery.optional().describe('Of tasks that have failed not before this instant.'),
  to: instantInQuery.optional().describe('Before this instant.'),
  cursor: page.cursor,
});

export const errorList = z.object({
  errors: z
    .array(
      z.object({
        error: z.string().describe('The message, with # for numbers, ids, times and paths.'),
        count: z.int(),
        sample: z.array(z.string()).describe('Ids of the newest of these tasks.'),
        search: z
          .string()
          .nullable()
          .describe('What all of these messages have, as the `error` of a list; null: too little.'),
      }),
    )
    .describe('The most frequent first.'),
  looked_at: z.int().describe('Failed tasks that were looked at.'),
  next_cursor: z.string().nullable().describe('Where the next ones are; null: that is all.'),
});

export const historyQuery = z.strictObject({
  state: z.enum(endedStates).optional(),
  type: filters.type,
  group: filters.group,
  from: instantInQuery.optional().describe('Ended not before this instant.'),
  to: instantInQuery.optional().describe('Ended before this instant.'),
  ...page,
});

export const historyPage = z.object({
  tasks: z
    .array(taskView)
    .describe(
      'As `GET /task/{task_id}` has them: by the day on which they ended, and then in no order.',
    ),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

/** In a query everything is text; whoever makes one need not know. */
export type ListQuery = Omit<
  z.input<typeof listQuery>,
  'limit' | 'min_attempts' | 'from' | 'to'
> & {
  readonly limit?: number | undefined;
  readonly min_attempts?: number | undefined;
  /** ISO 8601 with a zone, or epoch milliseconds. */
  readonly from?: string | number | undefined;
  readonly to?: string | number | undefined;
};
export type CountQuery = Pick<ListQuery, 'state' | 'type' | 'group'>;
export type TaskCount = z.infer<typeof taskCount>;
export type ErrorQuery = Pick<ListQuery, 'type' | 'group' | 'from' | 'to' | 'cursor'>;
export type ErrorList = z.infer<typeof errorList>;
export type HistoryQuery = Pick<
  ListQuery,
  'type' | 'group' | 'from' | 'to' | 'cursor' | 'limit'
> & { readonly state?: (typeof endedStates)[number] | undefined };
export type HistoryPage = z.infer<typeof historyPage>;
/** What a view is saved with. */
export type ViewQuery = Omit<ListQuery, 'limit' | 'cursor'>;
export interface ViewView {
  readonly name: string;
  readonly query: ViewQuery;
}
