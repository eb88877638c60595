/** The text of a frame, checked. */
import type { z } from 'zod';

/**
 * Parses and validates the text of one frame. The second form says in a few words what was
 * wrong, fit for a close reason.
 */
export function decodeFrame<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): { readonly frame: z.output<Schema> } | { readonly problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problem: 'not JSON' };
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return { frame: parsed.data };
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'frame';
  return { problem: `${where}: ${issue?.message ?? 'invalid'}`.slice(0, 120) };
}
