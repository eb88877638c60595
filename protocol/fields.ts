/** What the bodies of the HTTP API are made of: text, labels and instants, as people write them. */
import { z } from 'zod';
import { LABEL_PATTERN, LIMIT_NAME_PATTERN } from './limits.ts';

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
    { error: INSTANT_EXPECTED },
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
