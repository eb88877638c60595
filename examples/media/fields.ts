/**
 * What fields of several task types may hold, and how params are refused. Every value is a bounded number or comes from a
 * list, so that nothing a client writes can reach ffmpeg as an option, a filter or a URL.
 */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { PIXELS_MAX } from './input-guard.ts';

/** Control characters, and halves of characters: no name of a file, and no URL, has them. */
export const NOT_WRITTEN = /[\p{Cc}\p{Cs}]/u;

/** Inside the media root; see `MediaRoot` for what is checked against the file system. */
export const mediaPath = z
  .string()
  .min(1)
  .max(1024)
  .refine((path) => !NOT_WRITTEN.test(path), {
    error: 'expected a path without control characters',
  })
  .refine((path) => !/^[a-z][a-z0-9+.-]*:/i.test(path), {
    error: 'expected a path, not a URL or an ffmpeg protocol; of a file with such a name: ./name',
  });

/** Of what is written: people read it in lists, where it must not seem to be another one. */
const DISGUISING = /[\p{Bidi_Control}\p{Zl}\p{Zp}]/u;

export function undisguised(name: z.ZodString): z.ZodString {
  return name.refine((text) => !DISGUISING.test(text), {
    error:
      'expected a name without characters that change the direction of text or break its lines',
  });
}

export const outputPath = undisguised(mediaPath);

export const resolution = z
  .string()
  .regex(/^\d{2,4}x\d{2,4}$/, 'expected WIDTHxHEIGHT, such as 854x480')
  .refine((text) => text.split('x').every((side) => Number(side) % 2 === 0 && +side >= 16), {
    error: 'expected an even width and height of at least 16',
  })
  .refine((text) => text.split('x').reduce((area, side) => area * Number(side), 1) <= PIXELS_MAX, {
    error: `expected up to ${PIXELS_MAX} pixels (8192x4320)`,
  });

/** For decoding, filters and encoding each. The executor may have a smaller bound. */
export const threads = z.int().min(1).max(64);

/** @throws {NonRetryableError} that names each wrong field and what was expected. */
export function parseWith<Schema extends z.ZodType>(
  schema: Schema,
  params: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    (issue) => `${issue.path.join('.') || 'params'}: ${issue.message}`,
  );
  throw new NonRetryableError(`These parameters cannot be used: ${problems.join('; ')}`);
}

/** How many threads a task gets: what it asks for, but never more than the executor's; null leaves it to ffmpeg. */
export function threadsFor(asked: number | undefined, most: number | null): number | null {
  return asked === undefined || most === null ? (asked ?? most) : Math.min(asked, most);
}
