/** How values of the configuration are written, whichever field they are of. */
import { z } from 'zod';

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `expected a whole number from ${min} to ${max}`,
    })
    .transform(Number);

/** Fractions allowed, to whole milliseconds. `why` says what would go wrong with less. */
export const seconds = (min: number, max: number, why = '') =>
  z
    .string()
    .refine(
      (text) => /^\d{1,9}(\.\d{1,3})?$/.test(text) && Number(text) >= min && Number(text) <= max,
      { error: `expected seconds from ${min} to ${max}${why}` },
    )
    .transform((text) => Math.round(Number(text) * 1000));

export const switched = () =>
  z
    .enum(['true', 'false', '1', '0'], { error: 'expected true or false' })
    .transform((text) => text === 'true' || text === '1');

export const commaList = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

const TOKEN_LENGTH_MIN = 16;

export const token = () =>
  z
    .string()
    .regex(/^[!-~]*$/, 'expected printable ASCII without spaces')
    .min(TOKEN_LENGTH_MIN, `expected at least ${TOKEN_LENGTH_MIN} characters`)
    .nullable();

export function works(build: () => unknown): boolean {
  try {
    build();
    return true;
  } catch {
    return false;
  }
}
