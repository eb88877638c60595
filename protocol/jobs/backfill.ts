/** The bodies of the HTTP API about past times of a job that are run now. As in `api/tasks.ts`. */
import { z } from 'zod';
import { instant, text } from '../api/fields.ts';
import { JOB_LIMITS, TRIGGER_NAME_PATTERN } from '../limits.ts';
import { backfillWhich } from '../words.ts';

export const backfillRequest = z.strictObject({
  trigger: z
    .string()
    .regex(TRIGGER_NAME_PATTERN, 'expected 1 to 32 characters of A-Z a-z 0-9 _ -')
    .optional()
    .describe('Default, for a sole one: that.'),
  from: instant.describe('Nominal times from then on.'),
  to: instant.describe('And before this instant, which has passed.'),
  which: z
    .enum(backfillWhich)
    .default('missing')
    .describe(
      'Times that no run was begun for (skipped, merged, replaced, refused, or without a record), also those of which ' +
        'the newest run has ended without success, or all. What calendars, black-outs and people leave out stays so.',
    ),
  max_running: z
    .int()
    .min(1)
    .max(JOB_LIMITS.backfillRunningMax)
    .default(1)
    .describe('Runs of it that have not ended, at most; `overlap` is not asked.'),
  reason: text(256).nullable().optional(),
  token: z
    .string()
    .max(1024)
    .optional()
    .describe('That of a preview of this very request: it begins the operation.'),
});

export const backfillPreview = z.object({
  count: z.int().describe('Times that would be run.'),
  exact: z
    .boolean()
    .describe('False: at most so many, as of some nobody knows how they ended yet.'),
  first: z.string().nullable().describe('The first of them; null: there is none.'),
  last: z.string().nullable(),
  covered: z.int().describe('Times in between that need no run.'),
  left_out: z.int().describe('Times that calendars, black-outs or people leave out.'),
  trigger: z.string(),
  to: z.string().describe('As asked for, or up to where the times of the trigger are decided.'),
  token: z.string().describe('With it the same request begins the operation.'),
  expires_at: z.string(),
});

export type BackfillRequest = z.input<typeof backfillRequest>;
export type BackfillPreview = z.infer<typeof backfillPreview>;
