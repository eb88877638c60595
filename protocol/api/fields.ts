/** What the bodies of the HTTP API are made of: text, labels, instants, and the fields of a task, as people write them. */
import { z } from 'zod';
import {
  BOOKING_ID_PATTERN,
  HTTP_LIMITS,
  LABEL_PATTERN,
  LIMIT_NAME_PATTERN,
  NEW_TASK_ID_PATTERN,
  NEW_TASK_TYPE_PATTERN,
  TASK_TYPE_EXPECTED,
} from '../limits.ts';
import { YEAR_SECONDS } from '../words.ts';

/** The largest instant that a date can hold, in epoch milliseconds. */
const INSTANT_MAX = 8_640_000_000_000_000;
const INSTANT_EXPECTED =
  'expected ISO 8601 with a zone (2030-01-31T12:00:00Z), or epoch milliseconds';

/** Text that people chose: bounded, without control characters and half surrogate pairs. */
export const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'expected text without control characters');

export const instant = z
  .union(
    [z.int().min(0).max(INSTANT_MAX), z.iso.datetime({ offset: true, error: INSTANT_EXPECTED })],
    { error: ({ input }) => `${input === undefined ? 'required: ' : ''}${INSTANT_EXPECTED}` },
  )
  .describe('An instant: ISO 8601 with a zone, or epoch milliseconds.');

/** What an executor must have at the moment of the offer. */
export const needs = z
  .strictObject({
    disk_bytes: z
      .int()
      .min(1)
      .optional()
      .describe(
        'It goes to executors only that say that so much of their scratch directory is free.',
      ),
  })
  .describe('What an executor must have at that moment.');

/** What a task takes of shared limits while it runs. */
export const uses = z
  .array(
    z.strictObject({
      limit: z
        .string()
        .regex(LIMIT_NAME_PATTERN, 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -'),
      n: z.int().min(1).max(1_000_000).default(1),
    }),
  )
  .max(8)
  .refine((list) => new Set(list.map(({ limit }) => limit)).size === list.length, {
    error: 'expected each limit once',
  })
  .describe('What a task takes of shared limits while it runs: all of it, or it waits.');

export const label = z
  .string()
  .regex(LABEL_PATTERN, 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : = / -');

/** An instant in a query, where epoch milliseconds are text. */
export const instantInQuery = z.preprocess(
  (given) => (typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : given),
  instant,
);

const DECIMAL = /^\d{1,9}$/;

/** A count in a query, where it is text: plain decimal, and nothing else that JavaScript takes for a number. */
export const countInQuery = (max: number) =>
  z.preprocess(
    (given) => (typeof given === 'string' && DECIMAL.test(given) ? Number(given) : given),
    z.int(`expected a whole number from 1 to ${max}, in decimal`).min(1).max(max),
  );

/** Of what comes one by one, and is waited for. */
export const waitInQuery = z.preprocess(
  (given) => (typeof given === 'string' && /^\d{1,2}$/.test(given) ? Number(given) : given),
  z
    .int(`expected a whole number from 0 to ${HTTP_LIMITS.eventWaitSeconds}, in decimal`)
    .min(0)
    .max(HTTP_LIMITS.eventWaitSeconds)
    .default(0)
    .describe('Seconds to wait for the first, where there is none yet.'),
);

const TAKEN_IDS = 'not . or .. and not submit or submit-batch, which are paths of their own';
const seconds = (max: number) => z.number().positive().max(max);
const labelList = z.array(label).max(8);

const priority = z
  .union(
    [z.int().min(-YEAR_SECONDS).max(YEAR_SECONDS), z.enum(['low', 'normal', 'high', 'urgent'])],
    {
      error:
        'expected whole seconds from -31536000 to 31536000, or one of low, normal, high, urgent',
    },
  )
  .describe('Seconds of head start over tasks of the same age, or a name for them.');

const retry = z
  .strictObject({
    max_attempts: z.int().min(0).max(10_000).optional().describe('0: until success. Default 10.'),
    interval: z
      .union(
        [
          z.number().min(-YEAR_SECONDS).max(YEAR_SECONDS),
          z.array(z.number().min(0).max(YEAR_SECONDS)).min(1).max(32),
        ],
        {
          error: 'expected seconds from -31536000 to 31536000, or a list of 1 to 32 from 0 upwards',
        },
      )
      .optional()
      .describe(
        'Seconds. Above 0: attempt n waits min(2^(n-1), interval). Below 0: always |interval|. ' +
          'A list: that list, its last value repeated. Default 600.',
      ),
  })
  .describe('When and how often a failed attempt is followed by another.');

export const userInfo = z.strictObject({
  group: text(64).describe('The project group that the usage is counted for.'),
  project: text(64).optional(),
  env: text(64).optional(),
  user: text(64).optional().describe('A person or a machine.'),
});

export const startTimeoutAction = z.enum(['fail', 'alert']);

/** What a submit may say of a task. */
export const taskFields = {
  id: z
    .string()
    .regex(NEW_TASK_ID_PATTERN, `expected 1 to 64 characters of A-Z a-z 0-9 _ . : -, ${TAKEN_IDS}`)
    .optional()
    .describe(`Unique among live and retained tasks, ${TAKEN_IDS}. Default: a UUIDv7.`),
  type: z.string().regex(NEW_TASK_TYPE_PATTERN, TASK_TYPE_EXPECTED),
  params: z
    .unknown()
    .optional()
    .describe('Any JSON, passed on as it is written; only the executor reads it.'),
  // What a URL parser would drop or change is refused before it sees it.
  notify_url: z
    .string()
    .max(HTTP_LIMITS.notifyUrlBytesMax)
    .regex(/^[!-~]*$/, 'expected ASCII without white space: percent-encode the rest')
    .regex(/^https?:\/\/[^/?#@\\]+([/?#]|$)/i, 'expected http(s)://host without a user name')
    .pipe(z.url({ protocol: /^https?$/, error: 'expected an http or https URL' }))
    .meta({ format: 'uri' })
    .optional(),
  priority: priority.optional(),
  labels: labelList.optional(),
  requires: labelList.optional().describe('Labels that the executor must have, all of them.'),
  run_at: instant.optional().describe('Not before this instant.'),
  retry: retry.optional(),
  assign_timeout: seconds(3600).optional(),
  execution_timeout: seconds(YEAR_SECONDS).optional().describe('For one attempt. Default: none.'),
  stall_timeout: seconds(YEAR_SECONDS)
    .optional()
    .describe('An attempt that reports no progress for so long is ended. Default: none.'),
  start_timeout: seconds(YEAR_SECONDS)
    .optional()
    .describe(
      'From due to started (accepted by an executor), each time that it is to be started: at first, ' +
        'and again after an attempt that had started. Default: none.',
    ),
  start_timeout_action: startTimeoutAction
    .optional()
    .describe('What happens then: the task fails, or it goes on waiting and the master says so.'),
  needs: needs.optional(),
  uses: uses.optional(),
  deadline: instant.optional().describe('To come: the end of the task over all its attempts.'),
  booking: z
    .string()
    .regex(BOOKING_ID_PATTERN, 'expected the id of a booking: bk- and 16 hexadecimal digits')
    .optional()
    .describe('It runs on an executor of this booking, in its window.'),
} as const;

/** The same of one that is there: what is left out stays. */
export const taskChange = z
  .strictObject({
    params: taskFields.params,
    notify_url: taskFields.notify_url.nullable(),
    priority: taskFields.priority.nullable(),
    labels: taskFields.labels.nullable(),
    requires: taskFields.requires.nullable(),
    run_at: taskFields.run_at.nullable(),
    retry: taskFields.retry.nullable(),
    assign_timeout: taskFields.assign_timeout.nullable(),
    execution_timeout: taskFields.execution_timeout.nullable(),
    stall_timeout: taskFields.stall_timeout.nullable(),
    start_timeout: taskFields.start_timeout.nullable(),
    start_timeout_action: taskFields.start_timeout_action.nullable(),
    needs: taskFields.needs.nullable(),
    uses: taskFields.uses.nullable(),
    deadline: taskFields.deadline.nullable(),
    user: z
      .strictObject({
        group: text(64).optional(),
        project: text(64).nullable().optional(),
        env: text(64).nullable().optional(),
        user: text(64).nullable().optional(),
      })
      .optional()
      .describe('What of it is left out stays; null: it has none.'),
  })
  .describe('What is left out stays. Null: as of a task that is submitted without it.');
