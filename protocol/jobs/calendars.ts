/**
 * The bodies of the HTTP API about calendars, and times at which no job is fired. As in `api/tasks.ts`, the master
 * validates with these schemas and generates OpenAPI from them.
 */
import { z } from 'zod';
import { countInQuery, instant, text } from '../api/fields.ts';
import { CALENDAR_NAME_PATTERN, HTTP_LIMITS, JOB_LIMITS } from '../limits.ts';

const calendarName = z
  .string()
  .regex(CALENDAR_NAME_PATTERN, 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -, not . or ..');

const day = z.strictObject({
  date: z.iso.date({ error: 'expected a date as 2026-10-01' }),
  kind: z.enum(['off', 'work']).describe('`work`: also on a weekend, such as a make-up Saturday.'),
  label: text(64).optional(),
});

const fields = {
  days: z.array(day).max(JOB_LIMITS.calendarDayCountMax).describe('Each date once.'),
  weekend: z
    .array(z.int().min(0).max(6))
    .max(7)
    .optional()
    .describe('Days of the week that are off, 0: Sunday. Default [6, 0].'),
  description: text(1024).optional(),
};

/** The whole of a calendar: what is left out is not set. */
export const calendarRequest = z.strictObject(fields);

export const calendarView = z.object({
  name: z.string(),
  version: z.int().describe('Its ETag.'),
  ...fields,
  weekend: z.array(z.int()),
  from: z.string().nullable().describe('The first date that it says something of.'),
  to: z.string().nullable().describe('The last one.'),
  changed_at: z.string(),
  by: z.string().nullable(),
  warnings: z.array(z.string()).describe('Such as that the coming year is missing.'),
});

export const calendarSummary = calendarView
  .omit({ days: true })
  .extend({ day_count: z.int(), work_count: z.int() });

export const calendarListQuery = z.strictObject({
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: calendarName.optional().describe('`next_cursor` of a page.'),
});

export const calendarList = z.object({
  calendars: z.array(calendarSummary).describe('By name.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

export const calendarDeleteQuery = z.strictObject({
  force: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: also while triggers name it, which fire on no day by it then.'),
});

/** The answer to the deletion of a calendar. */
export const calendarCommandResponse = z.object({ name: z.string(), code: z.literal(200) });

export const blackoutsRequest = z.strictObject({
  blackouts: z
    .array(z.strictObject({ from: instant, to: instant, reason: text(256).optional() }))
    .max(JOB_LIMITS.blackoutCountMax)
    .describe('Nothing is fired from `from` up to `to`, of any job.'),
});

export const blackoutsView = z.object({
  version: z.int(),
  blackouts: z.array(z.object({ from: z.string(), to: z.string(), reason: z.string().nullable() })),
});

export type CalendarRequest = z.input<typeof calendarRequest>;
export type CalendarView = z.infer<typeof calendarView>;
export type CalendarSummary = z.infer<typeof calendarSummary>;
export type CalendarList = z.infer<typeof calendarList>;
export type CalendarCommandResponse = z.infer<typeof calendarCommandResponse>;
export type BlackoutsRequest = z.input<typeof blackoutsRequest>;
export type BlackoutsView = z.infer<typeof blackoutsView>;
