/**
 * The event feed: what it tells, and how it is asked for. As in `api/tasks.ts`, the master validates with these
 * schemas. Which kinds there are is in `event-kinds.ts`.
 */
import { z } from 'zod';
import { eventKinds } from '../event-kinds.ts';
import { countInQuery, text, waitInQuery } from './fields.ts';
import { HTTP_LIMITS, TASK_ID_PATTERN, TASK_TYPE_PATTERN } from '../limits.ts';

/** Of the number of an event, in text. */
const AFTER = /^\d{1,15}$/;

/** What an executor calls its own nobody knows before. */
function isKind(kind: string): boolean {
  if (kind in eventKinds || kind === 'user' || kind.startsWith('user.')) return true;
  return Object.keys(eventKinds).some((one) => one.startsWith(`${kind}.`));
}

const asked = {
  after: z
    .preprocess(
      (given) => (typeof given === 'string' && AFTER.test(given) ? Number(given) : given),
      z.union([z.int().min(0), z.literal('now')], {
        error: 'expected the `next` of a page, the `seq` of an event, or now',
      }),
    )
    .optional()
    .describe(
      'Only later ones, by number; `now`: what comes from now on. Default: all that are kept.',
    ),
  kind: z
    .string()
    .regex(/^[a-z]{1,16}(\.[a-z0-9_]{1,47})?$/, {
      error: 'expected task.finished, or task for all of these',
      // Else what is no name at all would be said to be no kind, too.
      abort: true,
    })
    .refine(isKind, 'there is no such kind: expected task.finished, or task for all of these')
    .optional(),
  limit: countInQuery(HTTP_LIMITS.eventPageMax).default(100),
  wait: waitInQuery,
} as const;

export const eventQuery = z.strictObject({
  ...asked,
  task: z.string().regex(TASK_ID_PATTERN).optional().describe('Of this task, by its id.'),
  type: z.string().regex(TASK_TYPE_PATTERN).optional().describe('Of tasks of this type, or of it.'),
  group: text(64).optional().describe('Of tasks of this group, or of it.'),
});
/** Of one task. */
export const taskEventQuery = z.strictObject(asked);

export const eventView = z.object({
  seq: z.int().describe('From 1, in the order of commits, without gaps.'),
  at: z.string(),
  kind: z.string().describe('As `task.finished`; `user.<name>`: told by an executor.'),
  task_id: z.string().optional(),
  type: z.string().optional(),
  group: z.string().optional(),
  attempt: z.int().optional(),
  executor_id: z.string().optional(),
  actor: z.string().optional().describe('Whose command it follows from, by the name of a token.'),
  data: z.record(z.string(), z.unknown()).describe('What else there is to say of that kind.'),
});
export const eventPage = z.object({
  events: z.array(eventView).describe('By number.'),
  next: z.int().describe('Up to which number it has looked: the `after` of the next page.'),
  oldest: z.int().describe('The first number that is kept.'),
  newest: z
    .int()
    .optional()
    .describe('The last one of the namespace, whatever was asked for: `next` comes up to it.'),
  level: z.enum(['all', 'ends', 'none']).describe('What is told, as the master is set.'),
});

export type EventQuery = z.input<typeof eventQuery>;
export type EventView = z.infer<typeof eventView>;
export type EventPage = z.infer<typeof eventPage>;
