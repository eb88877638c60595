/**
 * The bodies of the HTTP API about bookings: executors that are kept for a window of time. As in `api/tasks.ts`, the
 * master validates with these schemas and generates OpenAPI from them.
 */
import { z } from 'zod';
import { countInQuery, instant, instantInQuery, label, text } from './fields.ts';
import {
  BOOKING_LIMITS,
  EXECUTOR_ID_PATTERN,
  HTTP_LIMITS,
  NEW_TASK_TYPE_PATTERN,
  TASK_TYPE_EXPECTED,
  TASK_TYPE_PATTERN,
} from '../limits.ts';
import { bookingStates, unreadyReasons } from '../words.ts';

const labels = z.array(label).max(8);
const seconds = (max: number) => z.number().min(0).max(max);

export const bookingRequest = z.strictObject({
  type: z.string().regex(NEW_TASK_TYPE_PATTERN, TASK_TYPE_EXPECTED),
  requires: labels.optional().describe('Labels that its executors must have, all of them.'),
  labels: labels
    .optional()
    .describe('As of tasks: executors that are reserved for these may be booked too.'),
  from: instant.describe('To come: when the window begins.'),
  to: instant.describe('When it ends. Two windows that touch do not overlap.'),
  count: z.int().min(1).max(BOOKING_LIMITS.countMax).default(1).describe('Executors.'),
  group: text(64).describe('Whose tasks may be of it.'),
  lead: seconds(BOOKING_LIMITS.leadSecondsMax)
    .optional()
    .describe('Seconds before `from` at which executors are bound. Default 30.'),
  hold: seconds(BOOKING_LIMITS.holdSecondsMax)
    .optional()
    .describe(
      'Seconds before `from` from which they take only what ends in time. Default: `hold` of the type, else 900.',
    ),
  overrun: z
    .enum(['end', 'allow'])
    .default('end')
    .describe(
      'What becomes of its tasks at `to`: `allow`: they go on until another booking follows.',
    ),
  every: z
    .int()
    .min(60)
    .max(BOOKING_LIMITS.everySecondsMax)
    .optional()
    .describe('Seconds from one window to the next; at least as long as a window. Default: once.'),
  zone: z
    .string()
    .max(64)
    .optional()
    .describe(
      'Of the IANA, for an `every` of whole days: the window keeps its local time there. Default UTC.',
    ),
  maintenance: z.boolean().default(false).describe('Its executors are given nothing at all.'),
});

/** The answer to a booking. */
export const bookingResponse = z.object({ booking_id: z.string(), code: z.literal(201) });

const window = z.object({ from: z.string(), to: z.string() });

/** What else a refused booking is answered with. */
export const freeWindows = z
  .array(window.extend({ count: z.int().describe('So many executors are free in all of it.') }))
  .describe(
    'Windows of that length that would be taken, the earliest first; of what recurs first ones, with which all would be.',
  );

export const bookingView = z.object({
  booking_id: z.string(),
  state: z.enum(bookingStates),
  risk: z.string().nullable().describe('Why it is at risk, in words; null: it is not.'),
  type: z.string(),
  requires: z.array(z.string()),
  labels: z.array(z.string()),
  group: z.string(),
  from: z.string().describe('Of the window that is next, or open; of one that is over: the last.'),
  to: z.string(),
  count: z.int(),
  lead: z.number(),
  hold: z.number(),
  overrun: z.enum(['end', 'allow']),
  every: z.int().nullable(),
  zone: z.string().nullable(),
  maintenance: z.boolean(),
  skipped: z.array(z.string()).describe('Windows to come that are left out, by their `from`.'),
  windows: z
    .array(window)
    .describe('Those that follow this one, as far as they are planned: up to 29.'),
  executors: z.array(z.string()).describe('That are bound.'),
  unready: z
    .array(
      z.object({
        executor_id: z.string(),
        reason: z.enum(unreadyReasons),
        message: z.string().nullable().describe('In its own words.'),
      }),
    )
    .describe('Of these, who cannot serve now: the next that is free takes the place of each.'),
  short: z.int().describe('Executors that it should have bound by now, and has not.'),
  tasks: z.int().describe('Its tasks that have not ended.'),
  created_at: z.string(),
  created_by: z.string().nullable().describe('The token; null: none was needed.'),
});

export const bookingList = z.object({
  bookings: z.array(bookingView).describe('By `from`, the latest first.'),
  next_cursor: z.string().nullable().describe('Where the next page begins; null: the last.'),
});

export const bookingListQuery = z.strictObject({
  type: z.string().regex(TASK_TYPE_PATTERN).optional(),
  group: text(64).optional(),
  executor: z
    .string()
    .regex(EXECUTOR_ID_PATTERN, 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -')
    .optional()
    .describe('That it has bound.'),
  from: instantInQuery.optional().describe('Those with a window that ends after this instant.'),
  to: instantInQuery.optional().describe('Those with a window that begins before this instant.'),
  limit: countInQuery(HTTP_LIMITS.listCountMax).default(50),
  cursor: z.string().max(256).optional(),
});

export const bookingSkipRequest = z.strictObject({
  from: instant.describe('Of the window of a recurring booking that is to be left out.'),
});

/** The answer to a cancel and a skip. */
export const bookingCommandResponse = z.object({ booking_id: z.string(), code: z.literal(200) });

export type BookingRequest = z.input<typeof bookingRequest>;
export type BookingResponse = z.infer<typeof bookingResponse>;
export type BookingView = z.infer<typeof bookingView>;
export type BookingList = z.infer<typeof bookingList>;
export type BookingListQuery = z.input<typeof bookingListQuery>;
export type FreeWindow = z.infer<typeof freeWindows>[number];
