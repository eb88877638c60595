/**
 * The bodies of the HTTP API about jobs: what is submitted again and again, when, and what has become of each time.
 * As in `api/tasks.ts`, the master validates with these schemas and generates OpenAPI from them.
 */
import { z } from 'zod';
import { countInQuery, instant, instantInQuery, label, text } from '../api/fields.ts';
import { submitRequest, taskState } from '../api/tasks.ts';
import {
  CALENDAR_NAME_PATTERN,
  HTTP_LIMITS,
  JOB_LIMITS,
  JOB_NAME_PATTERN,
  TRIGGER_NAME_PATTERN,
} from '../limits.ts';
import { endedStates, misfires, occurrenceStates, YEAR_SECONDS } from '../words.ts';

const NAME_EXPECTED = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -, not . or ..';

const jobName = z.string().regex(JOB_NAME_PATTERN, NAME_EXPECTED);
const triggerName = z
  .string()
  .regex(TRIGGER_NAME_PATTERN, 'expected 1 to 32 characters of A-Z a-z 0-9 _ -');
const calendarName = z.string().regex(CALENDAR_NAME_PATTERN, NAME_EXPECTED);
const seconds = (min: number) => z.number().min(min).max(YEAR_SECONDS);
const zone = z.string().max(64).describe('Of the IANA: `Asia/Shanghai`. Default: UTC.');
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'expected a time as 08:30');

const misfire = z
  .enum(misfires)
  .describe(
    'What becomes of times that are noticed later than `grace`: none is run, the newest, all of them (so many at ' +
      'most), or the newest once those that run have ended. Default once.',
  );

const overlap = z
  .string()
  .regex(
    /^(queue|queue_one|skip|replace|allow|max:[1-9]\d{0,3})$/,
    'expected queue, queue_one, skip, replace, allow or max:n (max:1 to max:9999)',
  )
  .describe(
    'What becomes of a time that comes while a run of the job has not ended: it waits, or one does, or it is ' +
      'skipped, or the run is canceled for it, or both run, or so many at most. Default queue_one.',
  );

/** Which days of a calendar: its working days, those off, or those that it has labelled so. */
const daysOf = z.union(
  [
    calendarName,
    z.strictObject({
      calendar: calendarName,
      days: z.enum(['work', 'off']).optional(),
      label: text(64).optional().describe('Only days that the calendar has labelled so.'),
    }),
  ],
  { error: 'expected the name of a calendar, or { "calendar": "china", "days": "work" }' },
);

const rotate = z
  .strictObject({
    minutes: z.int().min(1).max(525_600).optional(),
    days: z.int().min(1).max(366).optional(),
    at: timeOfDay.optional().describe('With `days`: the time of day, in the zone of the trigger.'),
  })
  .refine(({ minutes, days }) => (minutes === undefined) !== (days === undefined), {
    error: 'expected `minutes` or `days`',
  });

const triggerFields = {
  name: triggerName.optional().describe('Unique in its job. Default, for a sole one: `default`.'),
  cron: z.string().min(1).max(256).optional().describe('5 fields, or 6 with seconds first.'),
  zone: zone.optional(),
  every: seconds(1).optional().describe('Seconds, counted from `start_at`, without drift.'),
  delay: seconds(1).optional().describe('Seconds after the end of the last run.'),
  at: instant.optional().describe('Once.'),
  rotate: rotate.optional(),
  on: z
    .strictObject({ job: jobName, state: z.enum(endedStates).default('succeeded') })
    .optional()
    .describe('Whenever a run of another job ends so.'),
  start_at: instant.optional(),
  end_at: instant.optional(),
  max_runs: z.int().min(1).max(1_000_000_000).optional(),
  jitter: z.number().min(0).max(86_400).optional().describe('Up to so many seconds later.'),
  misfire: misfire.optional().describe('Default: that of the job.'),
  grace: z.number().min(0).max(YEAR_SECONDS).optional().describe('Default: that of the job.'),
  overlap: overlap.optional().describe('Default: that of the job.'),
  enabled: z.boolean().optional().describe('Default true.'),
  only_on: daysOf.optional().describe('Only on these days. Of a name alone: its working days.'),
  except: daysOf.optional().describe('Not on these days. Of a name alone: its days off.'),
  shift: z
    .enum(['skip', 'next', 'previous'])
    .optional()
    .describe('What becomes of a time on a day that is left out. Default skip.'),
} as const;

/** How a trigger fires: one of these fields says so. */
const triggerKinds = ['cron', 'every', 'delay', 'at', 'rotate', 'on'] as const;

export const triggerRequest = z
  .strictObject(triggerFields)
  .refine((body) => triggerKinds.filter((kind) => body[kind] !== undefined).length === 1, {
    error: `expected one of ${triggerKinds.join(', ')}`,
  });

const blackout = z
  .strictObject({ from: instant, to: instant, reason: text(256).optional() })
  .describe('From and to, the end not in it: nothing is fired in between.');

const jobFields = {
  triggers: z.array(triggerRequest).max(JOB_LIMITS.triggerCountMax).optional(),
  overlap: overlap.optional(),
  misfire: misfire.optional(),
  grace: z
    .number()
    .min(0)
    .max(YEAR_SECONDS)
    .optional()
    .describe('Seconds by which a time may be noticed late and still be in time. Default 60.'),
  blackouts: z.array(blackout).max(JOB_LIMITS.blackoutCountMax).optional(),
  enabled: z.boolean().optional().describe('False: no trigger fires it. Default true.'),
  tags: z.array(label).max(JOB_LIMITS.tagCountMax).optional(),
  description: text(1024).optional(),
  pause_after: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe('A trigger of which so many runs in a row have failed is paused.'),
} as const;

const template = submitRequest
  .omit({ traceparent: true })
  .describe('The body of a submit. An `id` in it is refused: each run has one of its own.');

/** The whole of a job: what is left out is not set. */
export const jobRequest = z.strictObject({
  name: jobName.optional().describe('That of the path.'),
  template,
  ...jobFields,
});

const nextFire = z.object({
  trigger: z.string(),
  nominal: z.string().describe('The time as the trigger has it: what an occurrence is named by.'),
  to: z.string().describe('The last time that this stands for: of several that are not fired.'),
  count: z.int().describe('How many it stands for.'),
  at: z.string().nullable().describe('When it is fired, with shift and jitter; null: it is not.'),
  local: z.string().nullable().describe('The same by the clocks of the zone of the trigger.'),
  zone: z.string(),
  outcome: z.enum(['runs', 'shifted', 'skipped', 'merged']),
  reason: z.string().nullable().describe('Why it is shifted or skipped, for people.'),
  calendar: z.string().nullable().describe('The calendar that has decided so.'),
});

const triggerView = z.object({
  ...triggerFields,
  name: z.string(),
  kind: z.enum(triggerKinds),
  zone: z.string(),
  misfire,
  grace: z.number(),
  overlap: z.string(),
  enabled: z.boolean(),
  next_at: z
    .string()
    .nullable()
    .describe('When it fires next; null: not by itself, or nobody has looked so far ahead.'),
  next_nominal: z.string().nullable(),
  last_at: z.string().nullable().describe('The newest time that has been decided.'),
  runs: z.int().describe('How often it has fired: what `max_runs` counts.'),
  failures_in_row: z.int(),
  paused: z
    .object({ at: z.string(), reason: z.string() })
    .nullable()
    .describe('By `pause_after`: until its job is enabled, or the trigger changed.'),
  skipped: z.array(z.string()).describe('Times to come that somebody has skipped.'),
});

const runView = z.object({
  task_id: z.string(),
  state: taskState.nullable().describe('Null: the task is not kept any more.'),
  trigger: z.string().nullable().describe('Null: somebody has run it.'),
  nominal: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
});

export const jobSummary = z.object({
  name: z.string(),
  version: z.int().describe('Its ETag; no other of it has the same.'),
  enabled: z.boolean(),
  tags: z.array(z.string()),
  description: z.string().nullable(),
  type: z.string().describe('Of its tasks.'),
  group: z.string(),
  triggers: z.array(triggerView),
  next_at: z.string().nullable().describe('The first of those of its triggers.'),
  last_started_at: z.string().nullable(),
  last_ended_at: z.string().nullable(),
  running: z.int().describe('Runs that have not ended: those that wait in the queue too.'),
  pending: z.int().describe('Times that wait for a run to end, by `overlap`.'),
  succeeded: z.int().describe('Of its recent runs.'),
  failed: z.int().describe('Of its recent runs: those that have ended in another way.'),
  recent: z.array(z.enum(endedStates)).describe('How its newest runs have ended, newest first.'),
  changed_at: z.string(),
  created_at: z.string(),
});

export const jobView = jobSummary.extend({
  template,
  overlap: z.string(),
  misfire,
  grace: z.number(),
  blackouts: z.array(z.object({ from: z.string(), to: z.string(), reason: z.string().nullable() })),
  pause_after: z.int().nullable(),
  by: z.string().nullable().describe('Who has made this version: the name of a token.'),
  next: z.array(nextFire).describe('The next five times of its triggers.'),
  fires: z
    .array(nextFire)
    .describe('Of each trigger the first time that is fired, whatever is left out before.'),
  runs: z.array(runView).describe('The newest of its runs, newest first.'),
  warnings: z.array(z.string()).describe('What may not be meant: a calendar that ends, say.'),
  request: z.unknown().describe('The body of the `PUT` that has made it, as it is kept.'),
});

const textInQuery = text(64);

export const jobListQuery = z.strictObject({
  tag: label.optional(),
  text: textInQuery.optional().describe('What its name or description has somewhere.'),
  enabled: z.enum(['true', 'false']).optional(),
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: jobName.optional().describe('`next_cursor` of a page.'),
});

export const jobList = z.object({
  jobs: z.array(jobSummary).describe('By name. May be fewer than the limit before the end.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

export const jobPutQuery = z.strictObject({
  dry_run: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: says what it would be, and changes nothing.'),
});

export const jobRunRequest = z.strictObject({
  params: z.unknown().optional().describe('In place of those of the template.'),
  key: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected 1 to 64 characters of A-Z a-z 0-9 _ -')
    .optional()
    .describe('The same key never makes two runs. Default: each request makes one.'),
});

/** The answer to a run, and to what is started by hand. */
export const jobRunResponse = z.object({
  task_id: z.string(),
  code: z.literal(202),
  occurrence: z
    .string()
    .nullable()
    .describe(
      'The instant of it, as `nominal` in the list of occurrences; null: this key had run it before.',
    ),
});

export const jobRollbackRequest = z.strictObject({ version: z.int().min(1) });

const versionView = z.object({
  version: z.int(),
  at: z.string(),
  by: z.string().nullable(),
  request: z.unknown().describe('The body of the `PUT` that has made it, as it is kept.'),
});

export const jobVersions = z.object({
  versions: z.array(versionView).describe('The newest thirty, newest first.'),
});

export const jobNextQuery = z.strictObject({
  count: countInQuery(JOB_LIMITS.nextCountMax).default(5),
  trigger: triggerName.optional(),
  from: instantInQuery.optional().describe('Times after this instant. Default: now.'),
});

export const jobNext = z.object({
  next: z.array(nextFire),
  fires: z
    .array(nextFire)
    .describe('Of each trigger the first time after `from` that is fired, also behind these.'),
});

export const occurrenceQuery = z.strictObject({
  trigger: triggerName.optional(),
  from: instantInQuery.optional().describe('Nominal times not before this instant.'),
  to: instantInQuery.optional().describe('Before this instant.'),
  state: z.enum(occurrenceStates).optional(),
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: z.string().max(256).optional(),
});

export const occurrenceView = z.object({
  trigger: z.string(),
  nominal: z.string().describe('The first, where it stands for several.'),
  rerun: z.int().describe('0; of one that is run again its number.'),
  state: z.enum(occurrenceStates),
  reason: z.string().nullable(),
  message: z
    .string()
    .nullable()
    .describe('The reason in a sentence for people. Null: nothing has kept it from its time.'),
  calendar: z.string().nullable().describe('The calendar that has decided.'),
  to: z.string().describe('The last nominal time that it stands for.'),
  count: z.int().describe('How many it stands for.'),
  task_id: z.string().nullable(),
  noticed_at: z.string().describe('When it was decided.'),
});

export const occurrenceList = z.object({
  occurrences: z.array(occurrenceView).describe('Newest first, by nominal time.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

export const skipRequest = z.strictObject({
  trigger: triggerName.optional().describe('Default, for a sole one: that.'),
  nominal: instant,
});

/** The answer to the deletion of a job, and to what is skipped. */
export const jobCommandResponse = z.object({ name: z.string(), code: z.literal(200) });

export type TriggerRequest = z.input<typeof triggerRequest>;
export type JobRequest = z.input<typeof jobRequest>;
export type TriggerView = z.infer<typeof triggerView>;
export type NextFire = z.infer<typeof nextFire>;
export type RunView = z.infer<typeof runView>;
export type JobSummary = z.infer<typeof jobSummary>;
export type JobView = z.infer<typeof jobView>;
export type JobList = z.infer<typeof jobList>;
export type JobRunRequest = z.input<typeof jobRunRequest>;
export type JobRunResponse = z.infer<typeof jobRunResponse>;
export type JobRollbackRequest = z.input<typeof jobRollbackRequest>;
export type JobVersions = z.infer<typeof jobVersions>;
export type JobNext = z.infer<typeof jobNext>;
export type OccurrenceView = z.infer<typeof occurrenceView>;
export type OccurrenceList = z.infer<typeof occurrenceList>;
export type SkipRequest = z.input<typeof skipRequest>;
export type JobCommandResponse = z.infer<typeof jobCommandResponse>;
