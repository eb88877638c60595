/** How params and settings are refused: each wrong field, and what was expected there. */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';

export function problemsOf(error: z.ZodError): string[] {
  return error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`);
}

/** @throws {NonRetryableError} that names each wrong field and what was expected. */
export function parseParams<Schema extends z.ZodType>(
  schema: Schema,
  params: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error).join('; ');
  throw new NonRetryableError(`These parameters cannot be used: ${problems}`);
}

/** What stands in the environment of a program, or among its arguments. */
export const argument = z
  .string()
  .max(16_384)
  .refine((text) => !text.includes('\0'), { error: 'expected text without NUL' });
