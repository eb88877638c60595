/** Reports of what was used. As in `api/tasks.ts`, the master validates with these schemas. */
import { z } from 'zod';
import { countInQuery, instantInQuery, text } from './fields.ts';
import { HTTP_LIMITS, TASK_TYPE_PATTERN } from '../limits.ts';
import { reportFields } from '../words.ts';

const day = z
  .union([z.iso.date(), instantInQuery], {
    error: 'expected a day (2030-01-31), ISO 8601 with a zone, or epoch milliseconds',
  })
  .describe('A day, or an instant of it, in the zone of reports.');

const asked = {
  from: day.optional().describe('The first day; an instant stands for its day. Default: today.'),
  to: day.optional().describe('The last day. Default: today.'),
  type: z.string().regex(TASK_TYPE_PATTERN).optional().describe('Of tasks of this type only.'),
  group: text(64).optional().describe('Of tasks of this group only.'),
} as const;

export const usageQuery = z.strictObject({
  ...asked,
  by: z
    .preprocess(
      (given) => (typeof given === 'string' ? given.split(',') : given),
      z
        .array(z.enum(reportFields, `expected some of ${reportFields.join(', ')}, with commas`))
        .min(1)
        .refine((list) => new Set(list).size === list.length, { error: 'expected each once' }),
    )
    .default(['group', 'type'])
    .describe('What is told apart, with commas.'),
  format: z.enum(['json', 'csv']).default('json').describe('`csv`: all rows, in one page.'),
  limit: countInQuery(HTTP_LIMITS.reportRowsMax).default(HTTP_LIMITS.listCountMax),
  cursor: z.string().max(2048).optional().describe('`next_cursor` of a page.'),
});

export const dailyQuery = z.strictObject(asked);

/** As the master counts them; a test compares the two. */
export const usageFigures = z.object({
  submitted: z.int().describe('Tasks that were accepted.'),
  succeeded: z.int(),
  failed: z.int(),
  canceled: z.int(),
  expired: z.int(),
  attempts: z
    .int()
    .describe('Attempts that have ended, whatever became of them; not offers that were rejected.'),
  timed_out: z.int().describe('Of these, those that took too long or stood still.'),
  lost: z.int().describe('And those whose executor was lost.'),
  wait_ms: z.int().describe('From due to started, of all these attempts together.'),
  run_ms: z.int().describe('From started to ended.'),
  callbacks_delivered: z.int(),
  callbacks_gave_up: z.int(),
  booked_idle_ms: z.int().describe('For which executors were booked, and ran nothing of it.'),
});

export const usageRow = usageFigures.extend({
  day: z.string().optional(),
  group: z.string().optional(),
  project: z.string().nullable().optional(),
  env: z.string().nullable().optional(),
  user: z.string().nullable().optional(),
  type: z.string().optional(),
});

const span = {
  from: z.string().describe('The first day.'),
  to: z.string().describe('The last day.'),
  zone: z.string().describe('In which days begin: `SODA_REPORT_ZONE`.'),
} as const;

export const usageReport = z.object({
  ...span,
  by: z.array(z.string()),
  total: usageFigures.describe('Of all rows, on whichever page.'),
  usage: z.array(usageRow).describe('By the fields of `by`, in their order.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

export const dailyReport = z.object({
  ...span,
  total: usageFigures,
  days: z
    .array(
      usageFigures.extend({
        day: z.string(),
        success_share: z
          .number()
          .nullable()
          .describe('Succeeded, of those that succeeded, failed or expired; null: there are none.'),
      }),
    )
    .describe('Each day, also those on which nothing happened.'),
});

export type UsageQuery = Omit<z.input<typeof usageQuery>, 'by'> & {
  /** What is told apart: several with commas, or a list. */
  readonly by?: string | readonly ReportField[] | undefined;
};
export type ReportField = (typeof reportFields)[number];
export type UsageFigures = z.infer<typeof usageFigures>;
export type UsageRow = z.infer<typeof usageRow>;
export type UsageReport = z.infer<typeof usageReport>;
export type DailyQuery = z.input<typeof dailyQuery>;
export type DailyReport = z.infer<typeof dailyReport>;
